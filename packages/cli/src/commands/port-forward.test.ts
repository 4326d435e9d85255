import type { Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { portOf } from './port-forward.ts'

const pod = {
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 8080, name: 'http' }] }] },
} as unknown as Pod

const service = (spec: object = {}) =>
  ({
    kind: 'Service',
    metadata: { name: 'web' },
    spec: {
      ports: [
        { port: 80, name: 'http', targetPort: 'http' },
        { port: 81, targetPort: 9000 },
        { port: 53, protocol: 'UDP' },
      ],
      ...spec,
    },
  }) as unknown as Service

describe('a port of port-forward', () => {
  it.each([
    ['8080', pod, { local: 8080, remote: 8080 }],
    ['80:8080', pod, { local: 80, remote: 8080 }],
    [':8080', pod, { local: 0, remote: 8080 }],
    ['0:8080', pod, { local: 0, remote: 8080 }],
    ['http', pod, { local: 8080, remote: 8080 }],
    ['8888:http', pod, { local: 8888, remote: 8080 }],
    ['80', service(), { local: 80, remote: 8080 }],
    ['http', service(), { local: 80, remote: 8080 }],
    ['8888:81', service(), { local: 8888, remote: 9000 }],
    ['81', service({ clusterIP: 'None' }), { local: 81, remote: 81 }],
  ])('%s of a %o', (text, owner, port) => {
    expect(portOf(text, owner, pod)).toEqual(port)
  })

  it.each([
    ['a:b:c', pod, "invalid port format 'a:b:c'"],
    ['x:80', pod, "error parsing local port 'x': strconv.ParseUint"],
    ['70000:80', pod, "error parsing local port '70000'"],
    ['grpc', pod, "Pod 'web' does not have a named port 'grpc'"],
    ['80:0', pod, 'remote port must be > 0'],
    ['82', service(), 'Service web does not have a service port 82'],
    ['53', service(), 'UDP protocol is not supported for 53'],
  ])('is refused: %s', (text, owner, message) => {
    expect(() => portOf(text, owner, pod)).toThrow(message)
  })
})
