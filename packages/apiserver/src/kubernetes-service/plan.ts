import { isIP } from 'node:net'
import { apiServiceKey, compareText, type EndpointSlice, type Endpoints, type Service } from '@coracle/api'

/** Where a server is reached. */
export interface ServerAddress {
  readonly ip: string
  readonly port: number
}

/** The port that servers have unless told otherwise: what the service leads to by its own account. */
const targetPort = 6443

/** By which slices are found. */
const serviceNameLabel = 'kubernetes.io/service-name'

/** Endpoints with it have slices of their own. */
const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror'

/** The Service by which pods find the API. It has the first address that services can have. */
export function kubernetesServiceOf(clusterIp: string | undefined): Service {
  const labels = { component: 'apiserver', provider: 'kubernetes' }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...apiServiceKey, labels },
    spec: {
      ...(clusterIp === undefined ? {} : { clusterIP: clusterIp }),
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
      ipFamilyPolicy: 'SingleStack',
    },
  } as Service
}

/** The servers by port, in order: those with the same port are one subset, and one slice for each family. */
function byPort(servers: readonly ServerAddress[]): readonly (readonly [number, readonly string[]])[] {
  const ports = [...new Set(servers.map(({ port }) => port))].sort((a, b) => a - b)
  return ports.map((port) => {
    const ips = servers.filter((server) => server.port === port).map(({ ip }) => ip)
    return [port, [...new Set(ips)].sort(compareText)]
  })
}

/** The Endpoints of the servers. */
export function endpointsOf(servers: readonly ServerAddress[]): Endpoints {
  const subsets = byPort(servers).map(([port, ips]) => ({
    addresses: ips.map((ip) => ({ ip })),
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  }))
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...apiServiceKey, labels: { [skipMirrorLabel]: 'true' } },
    ...(subsets.length === 0 ? {} : { subsets }),
  } as Endpoints
}

/**
 * The EndpointSlices of the servers. The first is named as the service is, as upstream's only one; there are more where servers
 * have different ports or families of addresses.
 */
export function slicesOf(servers: readonly ServerAddress[]): readonly EndpointSlice[] {
  const groups = byPort(servers).flatMap(([port, ips]) =>
    (['IPv4', 'IPv6'] as const)
      .map((addressType) => ({
        port,
        addressType,
        ips: ips.filter((ip) => isIP(ip) === (addressType === 'IPv4' ? 4 : 6)),
      }))
      .filter((group) => group.ips.length > 0),
  )
  return groups.map(({ port, addressType, ips }, index): EndpointSlice => {
    const { namespace, name } = apiServiceKey
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace,
        name: index === 0 ? name : `${name}-${addressType.toLowerCase()}-${port}`,
        labels: { [serviceNameLabel]: name },
      },
      addressType,
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    }
  })
}

/** Whether a slice is of the service, and so goes when no server is in it any more. */
export const isSliceOfKubernetes = ({ metadata }: EndpointSlice): boolean =>
  metadata.namespace === apiServiceKey.namespace && metadata.labels?.[serviceNameLabel] === apiServiceKey.name
