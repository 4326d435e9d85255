import type { EndpointSlice } from '@coracle/api'

/** Endpoints that are named in one line. */
const endpointsShownMax = 3

/**
 * Where a port of a Service leads, from its EndpointSlices: `10.0.0.1:80,10.0.0.2:80 + 3 more...`; addresses alone where a
 * slice has no ports (describe.go's formatEndpointSlices).
 */
export function endpointsText(portName: string, slices: readonly EndpointSlice[]): string {
  if (slices.length === 0) return '<none>'
  const candidates = slices.flatMap((slice) => candidatesOf(slice, portName))
  const ready = candidates.flatMap((each) => each ?? [])
  const shown = ready.slice(0, endpointsShownMax).join(',')
  // kubectl says "more" as soon as another endpoint follows the last that is shown, ready or not.
  const fullAt = ready.length < endpointsShownMax ? candidates.length : indexOfReady(candidates, endpointsShownMax)
  return fullAt < candidates.length - 1 ? `${shown} + ${ready.length - endpointsShownMax} more...` : shown
}

/** Each endpoint at each port of this name; undefined for one that is not ready. */
function candidatesOf({ ports, endpoints }: EndpointSlice, portName: string): readonly (string | undefined)[] {
  const suffixes: readonly (number | undefined)[] =
    ports === undefined || ports.length === 0
      ? [undefined]
      : ports.filter(({ name = '' }) => name === portName).map(({ port = 0 }) => port)
  return suffixes.flatMap((port) =>
    (endpoints ?? []).map(({ addresses: [address = ''], conditions }) =>
      conditions?.ready === false ? undefined : port === undefined ? address : hostPort(address, port),
    ),
  )
}

/** Where the `count`th endpoint that is ready stands. */
function indexOfReady(candidates: readonly (string | undefined)[], count: number): number {
  let seen = 0
  return candidates.findIndex((each) => {
    if (each !== undefined) seen += 1
    return seen === count
  })
}

const hostPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
