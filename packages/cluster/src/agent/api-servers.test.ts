import type { EndpointSlice } from '@coracle/api'
import { expect, it } from 'vitest'
import { apiServersOf } from './api-servers.ts'

const slice = (
  addressType: EndpointSlice['addressType'],
  endpoints: EndpointSlice['endpoints'],
  ...ports: readonly number[]
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default' },
  addressType,
  endpoints,
  ports: ports.map((port) => ({ name: 'https', port })),
})

it('gives the addresses of servers that are ready, of either family', () => {
  expect(
    apiServersOf([
      slice('IPv4', [{ addresses: ['10.0.0.1'], conditions: { ready: true } }, { addresses: ['10.0.0.2'] }], 6443),
      slice('IPv4', [{ addresses: ['10.0.0.3'], conditions: { ready: false } }], 6443),
      slice('IPv6', [{ addresses: ['fd00::1'] }], 6443, 8443),
      slice('IPv4', [{ addresses: ['10.0.0.4'] }]),
    ]),
  ).toEqual(['https://10.0.0.1:6443', 'https://10.0.0.2:6443', 'https://[fd00::1]:6443', 'https://[fd00::1]:8443'])
})
