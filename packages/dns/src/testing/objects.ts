import type { Endpoint, EndpointSlice, Namespace, Service, ServiceSpec } from '@coracle/api'

export const makeNamespace = (name: string): Namespace => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

/** A service `shop/web` at 10.96.0.7 whose port 80 is called http, unless said otherwise. */
export function makeService(name = 'web', spec: Partial<ServiceSpec> = {}, namespace = 'shop'): Service {
  const clusterIP = spec.clusterIP ?? '10.96.0.7'
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, uid: `uid-${namespace}-${name}` },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      ...spec,
    },
  }
}

export const headless: Partial<ServiceSpec> = { clusterIP: 'None', clusterIPs: ['None'] }

/** A slice of `shop/SERVICE` whose port http is 8080, unless said otherwise. */
export function makeSlice(
  service: string,
  endpoints: readonly Endpoint[],
  { name = `${service}-1`, ...rest }: Partial<EndpointSlice> & { readonly name?: string } = {},
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    ...rest,
  }
}
