import { expect, it } from 'vitest'
import { storedPod } from '../kinds/core/pod/pod-fixtures.ts'
import { type HostPort, HostPorts, hostPortsOf } from './host-ports.ts'

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
  const collides = (one: HostPort, other: HostPort): boolean => {
    const occupied = new HostPorts()
    occupied.add([one])
    return occupied.collidesWith([port(443), other])
  }
  expect(collides(a, b)).toBe(collide)
  expect(collides(b, a)).toBe(collide)
})

it('has a port as long as one of those who added it has not gone', () => {
  const occupied = new HostPorts()
  occupied.add([port(80), port(80), port(81)])
  occupied.remove([port(80), port(82)])
  expect(occupied.collidesWith([port(80)])).toBe(true)
  occupied.remove([port(80), port(81)])
  expect(occupied).toEqual(new HostPorts())
})

it('looks at each of many ports a few times', () => {
  let looks = 0
  const many = (first: number) =>
    Array.from({ length: 5000 }, (_, index) => ({
      ...port(first),
      get port() {
        looks += 1
        return first + index
      },
    }))
  const occupied = new HostPorts()
  occupied.add(many(10_000))
  expect(occupied.collidesWith(many(20_000))).toBe(false)
  occupied.remove(many(10_000))
  expect(looks).toBeLessThanOrEqual(15_000)
})
