import { compareText } from '../../../compare-text.ts'
import { deepEqual } from '../../../equality.ts'
import type { EndpointAddress, EndpointPort, EndpointSubset } from './endpoints.ts'

/** An address with whether it is ready at a port. */
interface Reached {
  readonly address: EndpointAddress
  readonly isReady: boolean
}

/**
 * The same endpoints with as few subsets as can be: ports that have the same addresses, equally ready, are in one. An address
 * that is there both ready and not ready is not. A subset without any address is left as it is: it is refused. Gives the very
 * list where it is so already. (Upstream: pkg/api/v1/endpoints/util.go.)
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  if (subsets.some((subset) => addressesOf(subset).length === 0)) return subsets
  const repacked = [...groupByAddresses(addressesByPort(subsets))].map(subsetOf).sort(bySubset)
  return deepEqual(repacked, subsets) ? subsets : repacked
}

const addressesOf = ({ addresses = [], notReadyAddresses = [] }: EndpointSubset): readonly EndpointAddress[] => [
  ...addresses,
  ...notReadyAddresses,
]

const portKey = ({ name = '', port, protocol = 'TCP', appProtocol = '' }: EndpointPort): string =>
  JSON.stringify([name, port, protocol, appProtocol])

const addressKey = ({ ip, targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`

interface ReachedPort {
  /** Undefined: the addresses are reached at no port in particular. */
  readonly port: EndpointPort | undefined
  readonly reached: Map<string, Reached>
}

function addressesByPort(subsets: readonly EndpointSubset[]): readonly ReachedPort[] {
  const byPort = new Map<string, ReachedPort>()
  for (const subset of subsets) {
    const ports = subset.ports === undefined || subset.ports.length === 0 ? [undefined] : subset.ports
    for (const port of ports) {
      const key = port === undefined ? '' : portKey(port)
      const { reached } = byPort.get(key) ?? { reached: new Map<string, Reached>() }
      byPort.set(key, { port, reached })
      for (const address of subset.addresses ?? []) {
        if (!reached.has(addressKey(address))) reached.set(addressKey(address), { address, isReady: true })
      }
      for (const address of subset.notReadyAddresses ?? []) {
        const known = reached.get(addressKey(address))?.address ?? address
        reached.set(addressKey(address), { address: known, isReady: false })
      }
    }
  }
  return [...byPort.values()]
}

/** Ports with the same addresses. */
interface PortGroup {
  readonly ports: EndpointPort[]
  readonly reached: readonly Reached[]
}

function groupByAddresses(ports: readonly ReachedPort[]): Iterable<PortGroup> {
  const groups = new Map<string, PortGroup>()
  for (const { port, reached } of ports) {
    const sorted = [...reached].sort(([a], [b]) => compareText(a, b))
    const key = [port === undefined, ...sorted.map(([name, { isReady }]) => `${name} ${isReady}`)].join('\n')
    const group = groups.get(key) ?? { ports: [], reached: sorted.map(([, each]) => each) }
    groups.set(key, group)
    if (port !== undefined) group.ports.push(port)
  }
  return groups.values()
}

function subsetOf({ ports, reached }: PortGroup): EndpointSubset {
  const addresses = reached.filter(({ isReady }) => isReady).map(({ address }) => address)
  const notReadyAddresses = reached.filter(({ isReady }) => !isReady).map(({ address }) => address)
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  }
}

/** An order that depends on nothing but the ports: of no two subsets are they the same. */
const bySubset = (a: EndpointSubset, b: EndpointSubset): number =>
  compareText((a.ports ?? []).map(portKey).join(), (b.ports ?? []).map(portKey).join())
