import type { EndpointSlice, Service } from '@coracle/api'

/** Where a service is reached, or why it is not: reason and words of the condition Available. */
export type ServiceEndpoint =
  | { readonly host: string; readonly port: number }
  | { readonly reason: string; readonly message: string }

export interface ServicePort {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/**
 * Where a port of a service is reached: at one of its endpoints that are ready, since the host of the server need not route to
 * addresses of services. `turn` counts questions, so that endpoints take turns. Pure.
 */
export function serviceEndpoint(
  { namespace, name, port }: ServicePort,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
  turn: number,
): ServiceEndpoint {
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${where} is not present` }
  const { type, externalName = '', ports = [] } = service.spec ?? {}
  if (type === 'ExternalName') return { host: externalName, port }
  const found = ports.find((each) => each.port === port)
  if (found === undefined) return { reason: 'ServicePortError', message: `${where} is not listening on port ${port}` }
  if (slices.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${where}` }
  const portName = found.name ?? ''
  const ready = slices.flatMap((slice) => {
    const endpointPort = slice.ports?.find((each) => (each.name ?? '') === portName)?.port
    if (endpointPort === undefined) return []
    const endpoints = (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
    return endpoints.flatMap(({ addresses: [host] }) => (host === undefined ? [] : [{ host, port: endpointPort }]))
  })
  const message = `endpoints for ${where} have no addresses with port name ${JSON.stringify(portName)}`
  return ready[turn % ready.length] ?? { reason: 'MissingEndpoints', message }
}
