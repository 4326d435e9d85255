import type { Endpoint, EndpointConditions, EndpointSlice, Service, ServicePort, ServiceSpec } from '@coracle/api'

/** A service `default/web` at 10.96.0.7 whose port 80 is called http, unless said otherwise. */
export function makeService(spec: Partial<ServiceSpec> = {}, labels: Readonly<Record<string, string>> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web', labels },
    spec: { type: 'ClusterIP', clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ports: [httpPort], ...spec },
  }
}

export const httpPort: ServicePort = { name: 'http', port: 80, protocol: 'TCP' }

/** An endpoint on a node, ready unless said otherwise. */
export function makeEndpoint(address: string, conditions: EndpointConditions = {}, nodeName = 'node-0'): Endpoint {
  return { addresses: [address], conditions, nodeName }
}

/** A slice of `default/web` whose port http is 8080, unless said otherwise. */
export function makeSlice(
  endpoints: readonly Endpoint[],
  { name = 'web-1', labels = {}, ...rest }: Partial<EndpointSlice> & { name?: string; labels?: object } = {},
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': 'web', ...labels } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    ...rest,
  }
}
