import { endpointSlices, eventsV1, type Node, nodes, type Service, services } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Balancer } from './balancer.ts'
import { idOf } from './frontends.ts'
import { createServiceProxy, type ServiceProxy, type ServiceProxyOptions } from './service-proxy.ts'
import { httpPort, makeEndpoint, makeService, makeSlice } from './testing/objects.ts'

let environment: VirtualEnvironment
let client: FakeClient
let proxy: ServiceProxy
let told: string[]
/** What cannot be listened to, and why. */
let refused: Map<string, string>

beforeEach(async () => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  told = []
  refused = new Map()
  proxy = newProxy()
})

/** What is listened to now, with what is behind it. */
const current = new Map<string, () => readonly string[]>()
const balancers = new Map<string, Balancer>()
const behind = (id: string) => current.get(id)?.().toSorted()

afterEach(async () => {
  await proxy.stop()
  current.clear()
})

const newProxy = (more: Partial<ServiceProxyOptions> = {}): ServiceProxy =>
  createServiceProxy({
    ...more,
    client,
    environment,
    isOwnNode: (name) => name === 'node-0',
    nodeAddresses: ['127.0.0.1'],
    network: {
      async listen(frontend, balancer) {
        const id = idOf(frontend)
        const code = refused.get(id)
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        const behind = () => balancer.order('').map(({ address }) => address)
        told.push(`+ ${id} → ${behind().toSorted().join(' ')}`)
        current.set(id, behind)
        balancers.set(id, balancer)
        return {
          close() {
            told.push(`- ${id}`)
            current.delete(id)
          },
        }
      },
      close: () => void told.push('closed'),
    },
  })

async function start(): Promise<void> {
  await proxy.start()
  await environment.clock.settle()
}

const settle = () => environment.clock.settle()
const inZone = (name: string, zone: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
  spec: {},
})
const slice = (...addresses: string[]) => makeSlice(addresses.map((address) => makeEndpoint(address)))
const id = 'TCP 10.96.0.7:80'

describe('the service proxy', () => {
  it('listens for services that are there already', async () => {
    await client.create(services, makeService())
    await client.create(endpointSlices, slice('10.0.0.1', '10.0.0.2'))
    await start()
    expect(told).toEqual([`+ ${id} → 10.0.0.1 10.0.0.2`])
  })

  it('listens at the addresses that a load balancer gets, for those who may come', async () => {
    const spec = { type: 'LoadBalancer', loadBalancerSourceRanges: ['198.51.100.0/24'] } as const
    const service = await client.create(services, makeService(spec))
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    expect([...current.keys()]).toEqual([id])
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
    await client.update(services, { ...service, status }, { subresource: 'status' })
    await settle()
    expect([...current.keys()]).toEqual([id, 'TCP 192.0.2.1:80'])
    expect(behind(id)).toEqual(['10.0.0.1'])
    // The client here has no address.
    expect(behind('TCP 192.0.2.1:80')).toEqual([])
  })

  it('follows what is behind a service, whichever comes first', async () => {
    await start()
    const made = await client.create(endpointSlices, slice('10.0.0.1'))
    await settle()
    expect(told).toEqual([])
    await client.create(services, makeService())
    await settle()
    expect(behind(id)).toEqual(['10.0.0.1'])
    await client.update(endpointSlices, { ...made, endpoints: slice('10.0.0.2', '10.0.0.3').endpoints })
    await settle()
    expect(behind(id)).toEqual(['10.0.0.2', '10.0.0.3'])
    await client.create(endpointSlices, { ...slice('10.0.0.4'), metadata: { ...slice().metadata, name: 'web-2' } })
    await settle()
    expect(behind(id)).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4'])
    await client.delete(endpointSlices, { namespace: 'default', name: 'web-1' })
    await settle()
    expect(behind(id)).toEqual(['10.0.0.4'])
    await client.delete(endpointSlices, { namespace: 'default', name: 'web-2' })
    await settle()
    expect(told).toEqual([`+ ${id} → 10.0.0.1`, `- ${id}`])
  })

  it('follows the addresses and ports of a service, and leaves the others alone', async () => {
    await client.create(endpointSlices, slice('10.0.0.1'))
    const made = await client.create(services, makeService())
    await start()
    const withPort = (nodePort: number): Service => ({
      ...made,
      metadata: { name: 'web', namespace: 'default' },
      spec: { ...made.spec, ports: [{ ...httpPort, nodePort }] },
    })
    await client.update(services, withPort(30080))
    await settle()
    await client.update(services, withPort(30081))
    await settle()
    await client.delete(services, { namespace: 'default', name: 'web' })
    await settle()
    expect(told.map((line) => line.replace(/ →.*/, ''))).toEqual([
      `+ ${id}`,
      '+ TCP 127.0.0.1:30080',
      '- TCP 127.0.0.1:30080',
      '+ TCP 127.0.0.1:30081',
      `- ${id}`,
      '- TCP 127.0.0.1:30081',
    ])
  })

  it('leads a client to where it was, at whichever address of the service, and not at those of another port', async () => {
    const ports = [
      { ...httpPort, nodePort: 30080 },
      { ...httpPort, name: 'other', port: 81, nodePort: 30081 },
    ]
    const addresses = Array.from({ length: 50 }, (_, index) => `10.0.0.${index + 1}`)
    await client.create(services, makeService({ type: 'NodePort', sessionAffinity: 'ClientIP', ports }))
    await client.create(endpointSlices, {
      ...slice(...addresses),
      ports: ports.map(({ name }) => ({ name: name ?? '', port: 8080, protocol: 'TCP' as const })),
    })
    await start()
    const order = (at: string) => balancers.get(at)?.order('192.0.2.9') ?? []
    const [, chosen] = order(id)
    if (chosen === undefined) throw new Error('nothing is behind the service')
    balancers.get(id)?.visited('192.0.2.9', chosen)
    const first = (at: string) => Array.from({ length: 20 }, () => order(at)[0]?.address === chosen.address)
    expect(new Set(first('TCP 127.0.0.1:30080'))).toEqual(new Set([true]))
    expect(new Set(first('TCP 127.0.0.1:30081'))).toContain(false)
  })

  it('takes a slice to another service where its label says so', async () => {
    await client.create(services, makeService())
    const other = makeService({ clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.8'] })
    await client.create(services, { ...other, metadata: { ...other.metadata, name: 'other' } })
    const made = await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    const labels = { 'kubernetes.io/service-name': 'other' }
    await client.update(endpointSlices, { ...made, metadata: { ...made.metadata, labels } })
    await settle()
    expect(told).toEqual([`+ ${id} → 10.0.0.1`, `- ${id}`, '+ TCP 10.96.0.8:80 → 10.0.0.1'])
  })

  it('listens for what is made of a service, in the place of what its slices say', async () => {
    proxy = newProxy({
      adapt: ({ metadata }, frontends) =>
        metadata.name === 'web'
          ? frontends.map((each) => ({ ...each, backends: [{ address: 'other', port: 1 }] }))
          : [],
    })
    await client.create(services, makeService())
    const other = makeService({ clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.8'] })
    await client.create(services, { ...other, metadata: { ...other.metadata, name: 'other' } })
    await client.create(
      endpointSlices,
      makeSlice([makeEndpoint('10.0.0.1')], { name: 'other-1', labels: { 'kubernetes.io/service-name': 'other' } }),
    )
    await start()
    expect(told).toEqual([`+ ${id} → other`])
  })

  it('gives the address up before somebody else listens there, and takes it back', async () => {
    const answer = async () => ({ close() {} })
    proxy = newProxy({
      adapt: (_, frontends) => frontends.map((each) => (each.backends.length === 0 ? { ...each, answer } : each)),
    })
    await client.create(services, makeService())
    await start()
    expect(told.splice(0)).toEqual([`+ ${id} → `])
    await client.create(endpointSlices, slice('10.0.0.1'))
    await environment.clock.settle()
    expect(told.splice(0)).toEqual([`- ${id}`, `+ ${id} → 10.0.0.1`])
    await client.delete(endpointSlices, { namespace: 'default', name: 'web-1' })
    await environment.clock.settle()
    expect(told).toEqual([`- ${id}`, `+ ${id} → `])
  })

  it('gives all addresses back when it stops', async () => {
    await client.create(services, makeService())
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    await proxy.stop()
    expect(told.slice(1)).toEqual([`- ${id}`, 'closed'])
  })

  const message = async (): Promise<readonly string[]> => {
    await environment.clock.advance(1000)
    const { items } = await client.list(eventsV1)
    return items.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)
  }

  it.each([
    [
      'EACCES',
      'ports below 1024 are for root, unless the host allows them (sysctl net.ipv4.ip_unprivileged_port_start=0)',
    ],
    ['EADDRINUSE', 'another program of this host listens there'],
    ['EADDRNOTAVAIL', 'it is no address of this host'],
    ['EMFILE', 'EMFILE'],
  ])('says in an event what it cannot listen on, with %s', async (code, why) => {
    refused.set(id, code)
    await client.create(services, makeService())
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    expect(await message()).toEqual([`Warning FailedToListen: Cannot listen on ${id}: ${why}`])
  })

  it('says in an event that it listens where it could not', async () => {
    refused.set(id, 'EADDRINUSE')
    await client.create(services, makeService())
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    refused.clear()
    expect(await message()).toEqual([
      `Warning FailedToListen: Cannot listen on ${id}: another program of this host listens there`,
      `Normal Listening: Listening on ${id}`,
    ])
  })

  it('says nothing of addresses that are not expected here', async () => {
    refused.set('TCP 192.0.2.1:80', 'EADDRNOTAVAIL')
    await client.create(services, makeService({ externalIPs: ['192.0.2.1'] }))
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    expect(await message()).toEqual([])
    expect(behind(id)).toEqual(['10.0.0.1'])
  })
})

describe('a service that prefers the zone of its clients', () => {
  const near = { ...makeEndpoint('10.0.0.1', {}, 'far'), hints: { forZones: [{ name: 'a' }] } }
  const far = { ...makeEndpoint('10.0.0.2', {}, 'far'), hints: { forZones: [{ name: 'b' }] } }
  const watchesNodes = () => client.calls.filter(({ plural }) => plural === 'nodes')

  it('leads to the zone of the node, as that changes', async () => {
    await client.create(nodes, inZone('node-0', 'a'))
    await client.create(nodes, inZone('far', 'b'))
    await client.create(services, makeService())
    await client.create(endpointSlices, makeSlice([near, far]))
    await start()
    expect(behind(id)).toEqual(['10.0.0.1'])
    const labels = { 'topology.kubernetes.io/zone': 'b' }
    await client.patch(nodes, { name: 'node-0' }, { type: 'merge', body: { metadata: { labels } } })
    await settle()
    expect(behind(id)).toEqual(['10.0.0.2'])
    await client.delete(nodes, { name: 'node-0' })
    await settle()
    expect(behind(id)).toEqual(['10.0.0.1', '10.0.0.2'])
  })

  it('has no nodes followed where there is none', async () => {
    await client.create(services, makeService())
    await client.create(endpointSlices, slice('10.0.0.1'))
    await start()
    expect(watchesNodes()).toEqual([])
  })
})
