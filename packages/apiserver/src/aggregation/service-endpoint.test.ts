import type { EndpointSlice, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { serviceEndpoint } from './service-endpoint.ts'

const reference = { namespace: 'metrics', name: 'adapter', port: 443 }
const service = (spec: Service['spec']): Service => ({ apiVersion: 'v1', kind: 'Service', metadata: {}, spec })
const https = service({ ports: [{ name: 'https', port: 443 }] } as Service['spec'])
const slice = (
  ports: EndpointSlice['ports'],
  ...endpoints: readonly (readonly [string, boolean?])[]
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {},
  addressType: 'IPv4',
  ports,
  endpoints: endpoints.map(([address, ready]) => ({
    addresses: [address],
    ...(ready === undefined ? {} : { conditions: { ready } }),
  })),
})
const port = (number: number, name = 'https') => [{ name, port: number }]

describe('where a service is reached', () => {
  it.each<[string, Service | undefined, readonly EndpointSlice[], unknown]>([
    [
      'not at all without it',
      undefined,
      [],
      { reason: 'ServiceNotFound', message: 'service/adapter in "metrics" is not present' },
    ],
    [
      'at its other name',
      service({ type: 'ExternalName', externalName: 'example.com' }),
      [],
      { host: 'example.com', port: 443 },
    ],
    [
      'not on a port that it has not',
      service({ ports: [{ port: 80 }] } as Service['spec']),
      [],
      { reason: 'ServicePortError', message: 'service/adapter in "metrics" is not listening on port 443' },
    ],
    [
      'not without slices',
      https,
      [],
      { reason: 'EndpointsNotFound', message: 'cannot find endpointslices for service/adapter in "metrics"' },
    ],
    [
      'not where none is ready',
      https,
      [slice(port(8443), ['10.0.0.1', false])],
      {
        reason: 'MissingEndpoints',
        message: 'endpoints for service/adapter in "metrics" have no addresses with port name "https"',
      },
    ],
    [
      'not on a port of another name',
      https,
      [slice(port(8443, 'metrics'), ['10.0.0.1'])],
      {
        reason: 'MissingEndpoints',
        message: 'endpoints for service/adapter in "metrics" have no addresses with port name "https"',
      },
    ],
    [
      'at an endpoint that is ready, on its own port',
      https,
      [slice(port(8443), ['10.0.0.1', false], ['10.0.0.2', true])],
      { host: '10.0.0.2', port: 8443 },
    ],
    ['at an endpoint that does not say', https, [slice(port(8443), ['10.0.0.1'])], { host: '10.0.0.1', port: 8443 }],
  ])('%s', (_what, of, slices, expected) => {
    expect(serviceEndpoint(reference, of, slices, 0)).toEqual(expected)
  })

  it('is at each endpoint in turn', () => {
    const slices = [slice(port(1), ['10.0.0.1'], ['10.0.0.2']), slice(port(2), ['10.0.0.3'])]
    const hosts = [0, 1, 2, 3].map((turn) => serviceEndpoint(reference, https, slices, turn))
    expect(hosts.map((each) => ('host' in each ? `${each.host}:${each.port}` : each.reason))).toEqual([
      '10.0.0.1:1',
      '10.0.0.2:1',
      '10.0.0.3:2',
      '10.0.0.1:1',
    ])
  })
})
