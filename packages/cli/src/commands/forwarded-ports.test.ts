import type { Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { parsePort, translatePorts } from './forwarded-ports.ts'

const pod = {
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: {
    initContainers: [{ name: 'i', image: 'i', ports: [{ containerPort: 7070, name: 'first' }] }],
    containers: [
      {
        name: 'c',
        image: 'i',
        ports: [
          { containerPort: 8080, name: 'http' },
          { containerPort: 53, name: 'dns', protocol: 'UDP' },
          { containerPort: 54, protocol: 'UDP' },
          { containerPort: 54 },
        ],
      },
    ],
  },
} as unknown as Pod

const service = (spec: object = {}) =>
  ({
    kind: 'Service',
    metadata: { name: 'web' },
    spec: {
      ports: [
        { port: 80, name: 'web', targetPort: 'http' },
        { port: 81, name: 'other', targetPort: 9000 },
        { port: 82, name: 'none', targetPort: 'grpc' },
        { port: 83, name: 'same', targetPort: 0 },
        { port: 53, name: 'dns', protocol: 'UDP' },
        { port: 54, name: 'one', protocol: 'UDP' },
        { port: 54, name: 'both' },
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
    [':first', pod, { local: 0, remote: 7070 }],
    ['54', pod, { local: 54, remote: 54 }],
    ['80:http:x', pod, { local: 80, remote: 80 }],
    ['80', service(), { local: 80, remote: 8080 }],
    ['web', service(), { local: 80, remote: 8080 }],
    [':web', service(), { local: 0, remote: 8080 }],
    ['8888:81', service(), { local: 8888, remote: 9000 }],
    ['83', service(), { local: 83, remote: 83 }],
    ['54', service(), { local: 54, remote: 54 }],
    ['81', service({ clusterIP: 'None' }), { local: 81, remote: 81 }],
    ['82', service({ clusterIP: 'None' }), { local: 82, remote: 82 }],
  ])('%s of a %o', (text, owner, port) => {
    expect(translatePorts([text], owner, pod).map(parsePort)).toEqual([port])
  })

  it.each([
    ['a:b:c', pod, "Pod 'web' does not have a named port 'a'"],
    ['x:80', pod, `error parsing local port 'x': strconv.ParseUint: parsing "x": invalid syntax`],
    ['70000', pod, "error parsing local port '70000': strconv.ParseUint"],
    ['80:70000', pod, "error parsing remote port '70000': strconv.ParseUint"],
    ['80:-1', pod, `error parsing remote port '-1': strconv.ParseUint: parsing "-1": invalid syntax`],
    ['grpc', pod, "Pod 'web' does not have a named port 'grpc'"],
    ['80:', pod, 'remote port cannot be empty'],
    ['80:0', pod, 'remote port must be > 0'],
    ['53', pod, 'UDP protocol is not supported for 53'],
    ['1:dns', pod, 'UDP protocol is not supported for dns'],
    ['84', service(), 'Service web does not have a service port 84'],
    ['82', service(), "Pod 'web' does not have a named port 'grpc'"],
    ['http', service(), "Service 'web' does not have a named port 'http'"],
    ['53', service(), 'UDP protocol is not supported for 53'],
    ['dns', service(), 'UDP protocol is not supported for dns'],
  ])('is refused: %s', (text, owner, message) => {
    expect(() => translatePorts([text], owner, pod).map(parsePort)).toThrow(message)
  })

  it('is looked for before what another says is read', () => {
    expect(() => translatePorts(['x:80', '53'], pod, pod)).toThrow('UDP protocol is not supported for 53')
    expect(() => translatePorts(['x:80', 'grpc'], pod, pod)).toThrow("does not have a named port 'grpc'")
  })
})
