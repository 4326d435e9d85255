import { expect, it } from 'vitest'
import { storedPod } from '../kinds/core/pod/pod-fixtures.ts'
import { type HostPort, hostPortsCollide, hostPortsOf } from './host-ports.ts'

it('finds the ports of containers and sidecars, which stay, and of nothing else', () => {
  const container = (name: string, hostPort: number, more: object = {}, port: object = {}) => ({
    name,
    image: 'nginx:1.27',
    ports: [{ containerPort: 80, hostPort, ...port }, { containerPort: 81 }],
    ...more,
  })
  const { spec } = storedPod({
    containers: [container('web', 8080), container('dns', 53, {}, { protocol: 'UDP', hostIP: '10.0.0.1' })],
    initContainers: [container('migrate', 9000), container('proxy', 15001, { restartPolicy: 'Always' })],
  })
  expect(hostPortsOf(spec)).toEqual([
    { ip: '0.0.0.0', protocol: 'TCP', port: 8080 },
    { ip: '10.0.0.1', protocol: 'UDP', port: 53 },
    { ip: '0.0.0.0', protocol: 'TCP', port: 15001 },
  ])
})

const port = (number: number, more: Partial<HostPort> = {}): HostPort => ({
  ip: '0.0.0.0',
  protocol: 'TCP',
  port: number,
  ...more,
})

it.each<[string, HostPort, HostPort, boolean]>([
  ['the same port', port(80), port(80), true],
  ['another number', port(80), port(81), false],
  ['another protocol', port(80), port(80, { protocol: 'UDP' }), false],
  ['one address of all', port(80), port(80, { ip: '10.0.0.1' }), true],
  ['the same address', port(80, { ip: '10.0.0.1' }), port(80, { ip: '10.0.0.1' }), true],
  ['two addresses', port(80, { ip: '10.0.0.1' }), port(80, { ip: '10.0.0.2' }), false],
])('collides with %s', (_, a, b, collide) => {
  expect(hostPortsCollide(a, b)).toBe(collide)
  expect(hostPortsCollide(b, a)).toBe(collide)
})
