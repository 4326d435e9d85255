import {
  type Endpoint,
  type EndpointSlice,
  formatIp,
  type Namespace,
  noClusterIp,
  parseIp,
  type Service,
} from '@coracle/api'
import { type Informer, keyText } from '@coracle/client'

/** What of a cluster its names are made of. Each answer costs what it gives, however large the cluster is. */
export interface ClusterView {
  hasNamespace(name: string): boolean
  service(namespace: string, name: string): Service | undefined
  /** All slices of a service. */
  slices(namespace: string, service: string): readonly EndpointSlice[]
  /** Those with an endpoint of this name, by `endpointName`. */
  slicesWith(namespace: string, service: string, endpoint: string): readonly EndpointSlice[]
  /** Services with this address, written as `formatIp` does. */
  servicesAt(address: string): readonly Service[]
  /** Slices with an endpoint of a name of its own at this address. */
  slicesAt(address: string): readonly EndpointSlice[]
}

const serviceNameLabel = 'kubernetes.io/service-name'

/** The service of a slice. */
export const serviceOf = ({ metadata: { namespace = '', labels } }: EndpointSlice): string | undefined => {
  const name = labels?.[serviceNameLabel]
  return name === undefined ? undefined : keyText(namespace, name)
}

/** What an endpoint is called within its service: by its own name, or the address with hyphens. */
export function endpointName({ hostname = '' }: Pick<Endpoint, 'hostname'>, address: string): string {
  if (hostname !== '') return hostname
  const dashed = address.replaceAll(/[.:]/g, '-')
  // No label begins or ends with a hyphen: `fd00::` is fd00--0.
  return `${dashed.startsWith('-') ? '0' : ''}${dashed}${dashed.endsWith('-') ? '0' : ''}`
}

const canonical = (address: string): string => {
  if (!address.includes(':')) return address
  const ip = parseIp(address)
  return ip === undefined ? address : formatIp(ip)
}

/** Indexes of slices, by their names. */
export const sliceIndexes = {
  dnsService(slice: EndpointSlice): readonly string[] {
    const key = serviceOf(slice)
    return key === undefined ? [] : [key]
  },
  dnsEndpoint(slice: EndpointSlice): readonly string[] {
    const key = serviceOf(slice)
    if (key === undefined) return []
    return eachShown(slice, (endpoint, address) => `${key}/${endpointName(endpoint, address)}`)
  },
  dnsAddress(slice: EndpointSlice): readonly string[] {
    if (serviceOf(slice) === undefined) return []
    return eachShown(slice, ({ hostname = '' }, address) => (hostname === '' ? undefined : canonical(address)))
  },
} as const

/** Indexes of services, by their names. */
export const serviceIndexes = {
  dnsAddress: ({ spec }: Service): readonly string[] => addressesOf(spec).map(canonical),
  dnsNamespace: ({ metadata: { namespace = '' } }: Service): readonly string[] => [namespace],
} as const

/** The addresses that lead to a service, of each family. */
export const addressesOf = ({ clusterIPs, clusterIP = '' }: Service['spec']): readonly string[] =>
  (clusterIPs ?? [clusterIP]).filter((address) => address !== '' && address !== noClusterIp)

/** The endpoints of a slice that are to be found, with each address that they have: ready ones, and those of a service that publishes others too. */
export function* shownEndpoints({
  addressType,
  endpoints = [],
}: EndpointSlice): Generator<readonly [Endpoint, string]> {
  if (addressType === 'FQDN') return
  for (const endpoint of endpoints) {
    if (endpoint.conditions?.ready === false) continue
    for (const address of endpoint.addresses) yield [endpoint, address]
  }
}

function eachShown(
  slice: EndpointSlice,
  value: (endpoint: Endpoint, address: string) => string | undefined,
): readonly string[] {
  const values = new Set<string>()
  for (const [endpoint, address] of shownEndpoints(slice)) {
    const each = value(endpoint, address)
    if (each !== undefined) values.add(each)
  }
  return [...values]
}

/** The caches that a view reads: with the indexes above. */
export interface ClusterCaches {
  readonly services: Informer<Service>
  readonly slices: Informer<EndpointSlice>
  readonly namespaces: Informer<Namespace>
}

/** What caches show at each moment. */
export function viewOf({ services, slices, namespaces }: ClusterCaches): ClusterView {
  return {
    // Where namespaces may not be read, those are known that have services.
    hasNamespace: (name) => namespaces.get(name) !== undefined || services.byIndex('dnsNamespace', name).length > 0,
    service: (namespace, name) => services.get(keyText(namespace, name)),
    slices: (namespace, service) => slices.byIndex('dnsService', keyText(namespace, service)),
    slicesWith: (namespace, service, endpoint) =>
      slices.byIndex('dnsEndpoint', `${keyText(namespace, service)}/${endpoint}`),
    servicesAt: (address) => services.byIndex('dnsAddress', address),
    slicesAt: (address) => slices.byIndex('dnsAddress', address),
  }
}
