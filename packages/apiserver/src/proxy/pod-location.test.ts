import type { Endpoints, Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod } from '../testing/test-core.ts'
import { podEndpoints, podLocation, servicePortName } from './pod-location.ts'

const at = (ip: string | undefined, ports: readonly number[] = []): Pod =>
  ({
    ...pod('web', {}, {
      containers: [
        { name: 'side', image: 'x' },
        { name: 'main', image: 'x', ports: ports.map((containerPort) => ({ containerPort })) },
      ],
    } as unknown as Pod['spec']),
    status: ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] },
  }) as Pod

describe('where a request to a pod goes', () => {
  it.each([
    ['the first port of its containers', 'web', at('10.0.0.1', [8080, 9090]), 'http', '10.0.0.1:8080', 8080],
    ['the port that is named', 'web:9090', at('10.0.0.1', [8080]), 'http', '10.0.0.1:9090', 9090],
    ['80 where nobody names one', 'web', at('10.0.0.1'), 'http', '10.0.0.1', 80],
    ['443 over TLS', 'https:web:', at('10.0.0.1'), 'https', '10.0.0.1', 443],
    ['an address of six', 'http:web:1', at('fd00::1'), 'http', '[fd00::1]:1', 1],
    ['one of loopback, which pods of real processes have', 'web:1', at('127.1.0.1'), 'http', '127.1.0.1:1', 1],
  ])('%s', (_what, id, of, scheme, host, port) => {
    expect(podLocation(id, of)).toEqual({ scheme, host, port })
  })

  it.each([
    ['a pod that has no address', 'web', at(undefined), 'address not allowed'],
    ['everybody’s address', 'web', at('0.0.0.0'), 'address not allowed'],
    ['an address of a link', 'web', at('169.254.169.254'), 'address not allowed'],
    ['an address of many', 'web', at('ff02::1'), 'address not allowed'],
    ['text for an address', 'web', at('example.com'), 'address not allowed'],
    ['a name for a port', 'web:http', at('10.0.0.1'), 'invalid port "http" of a pod'],
    ['a port beyond all', 'web:65536', at('10.0.0.1'), 'invalid port "65536" of a pod'],
    ['another scheme', 'ftp:web:1', at('10.0.0.1'), 'invalid pod request "ftp:web:1"'],
    ['no name', ':1', at('10.0.0.1'), 'invalid pod request ":1"'],
    ['too much', 'http:web:1:2', at('10.0.0.1'), 'invalid pod request "http:web:1:2"'],
  ])('is refused for %s', (_what, id, of, message) => {
    expect(() => podLocation(id, of)).toThrow(message)
  })
})

describe('the port of a service', () => {
  const ports = [{ port: 80, name: 'http' }, { port: 81 }]
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, spec: { ports } } as Service
  it.each([
    ['80', 'http'],
    ['81', ''],
    ['http', 'http'],
    ['', ''],
  ])('%j is named %j', (port, name) => expect(servicePortName(port, service)).toBe(name))

  it('is refused where the service has none of that number', () => {
    expect(() => servicePortName('82', service)).toThrow('no service port 82 found for service "web"')
  })
})

describe('the endpoints of a service', () => {
  const target = (name: string, namespace = 'default') => ({ kind: 'Pod', name, namespace })
  const endpoints = (...addresses: readonly object[]) =>
    ({
      metadata: { name: 'web', namespace: 'default' },
      subsets: [
        { addresses: [{ ip: '10.0.0.1', targetRef: target('a') }], ports: [{ name: 'other', port: 1 }] },
        { addresses, ports: [{ name: 'http', port: 8080 }] },
      ],
    }) as unknown as Endpoints
  const podOf = (name: string) => (name === 'a' ? at('10.0.0.1') : undefined)

  it('are pods at addresses that they have', () => {
    const found = podEndpoints(endpoints({ ip: '10.0.0.1', targetRef: target('a') }), 'http', podOf)
    expect(found.map(({ host, port }) => [host, port])).toEqual([['10.0.0.1:8080', 8080]])
  })

  it.each([
    ['an address that is no pod’s', { ip: '10.0.0.1' }],
    ['a pod of another namespace', { ip: '10.0.0.1', targetRef: target('a', 'kube-system') }],
    ['a pod that is gone', { ip: '10.0.0.1', targetRef: target('b') }],
    ['an address that the pod has not', { ip: '10.0.0.2', targetRef: target('a') }],
  ])('are not %s', (_what, address) => {
    expect(podEndpoints(endpoints(address), 'http', podOf)).toEqual([])
  })
})
