import { endpointSlices, endpoints, type Node, nodes, type Pod, pods, type Service, services } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { createEndpointsController } from '../endpoints/controller.ts'
import { atWork } from '../testing/at-work.ts'
import { countReads } from '../testing/count-reads.ts'
import { createEndpointSliceController } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient
let manager: Manager
let looks: () => number

beforeEach(async () => {
  ;({ environment, client, manager, looks } = await atWork(() => [
    createEndpointSliceController(),
    createEndpointsController(),
  ]))
  await client.create<Node>(nodes, nodeNamed('n0'))
})

const nodeNamed = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

const key = { namespace: 'default', name: 'web' }

const createService = (spec: object = { selector: { app: 'web' } }) =>
  client.create<Service>(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key,
    spec: { ipFamilies: ['IPv4'], ports: [{ port: 80, targetPort: 8080 }], ...spec },
  } as Service)

async function createPod(name: string, ip: string, ready = true, app = 'web', nodeName = 'n0'): Promise<void> {
  const status = {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  }
  const metadata = { namespace: 'default', name, labels: { app } }
  await client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [], nodeName },
    status,
  } as unknown as Pod)
}

async function behind() {
  await environment.clock.settle()
  return {
    slices: client
      .stored(endpointSlices)
      .flatMap(({ endpoints: all = [] }) =>
        all.map(({ addresses, conditions }) => `${addresses[0]} ${conditions?.ready}`),
      )
      .sort(),
    subsets: client.stored(endpoints).flatMap(({ subsets = [] }) => subsets),
  }
}

it('does not look again at what it has written, only at what others make of it', async () => {
  await createService()
  await createPod('a', '10.0.0.1')
  const { slices, subsets } = await behind()
  const [before, writes] = [looks(), client.calls.length]
  // Both kinds are written for a pod that gets ready; each controller looks once.
  const conditions = [{ type: 'Ready', status: 'False' }]
  const body = { status: { conditions } }
  await client.patch(pods, { namespace: 'default', name: 'a' }, { type: 'merge', body }, { subresource: 'status' })
  expect((await behind()).slices).toEqual(['10.0.0.1 false'])
  expect([looks() - before, client.calls.length - writes]).toEqual([2, 3])
  await client.patch(
    pods,
    { namespace: 'default', name: 'a' },
    { type: 'merge', body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } },
    { subresource: 'status' },
  )
  await environment.clock.settle()
  const [slice] = client.stored(endpointSlices)
  const { name = '' } = slice?.metadata ?? {}
  await client.patch(endpointSlices, { namespace: 'default', name }, { type: 'merge', body: { endpoints: [] } })
  await client.patch(endpoints, key, { type: 'merge', body: { subsets: [] } })
  expect(await behind()).toEqual({ slices, subsets })
})

it('follows the pods of a service', async () => {
  await createService()
  expect(await behind()).toEqual({ slices: [], subsets: [] })
  await createPod('a', '10.0.0.1')
  await createPod('b', '10.0.0.2', false)
  await createPod('c', '10.0.0.3', true, 'other')
  const { slices, subsets } = await behind()
  expect(slices).toEqual(['10.0.0.1 true', '10.0.0.2 false'])
  expect(subsets).toMatchObject([
    { addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ port: 8080 }] },
  ])
  await client.delete(pods, { namespace: 'default', name: 'a' })
  expect((await behind()).slices).toEqual(['10.0.0.2 false'])
  const labels = { app: 'other' }
  await client.patch(pods, { namespace: 'default', name: 'b' }, { type: 'merge', body: { metadata: { labels } } })
  expect(await behind()).toEqual({ slices: [], subsets: [] })
})

it('follows the selector of a service', async () => {
  await createPod('a', '10.0.0.1')
  await createPod('b', '10.0.0.2', true, 'other')
  await createService()
  expect((await behind()).slices).toEqual(['10.0.0.1 true'])
  await client.patch(services, key, { type: 'merge', body: { spec: { selector: { app: 'other' } } } })
  expect((await behind()).slices).toEqual(['10.0.0.2 true'])
})

it('leaves alone what is behind a service without a selector', async () => {
  await createService({})
  await client.create(endpoints, { apiVersion: 'v1', kind: 'Endpoints', metadata: key, subsets: [] })
  await createPod('a', '10.0.0.1')
  expect((await behind()).slices).toEqual([])
  expect(client.stored(endpointSlices)).toEqual([])
})

it('takes Endpoints away with their service, whoever has made them, and leaves those of none', async () => {
  const made = (name: string) =>
    client.create(endpoints, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { namespace: 'default', name },
      subsets: [],
    })
  await createService({})
  await made('web')
  await made('lock')
  await environment.clock.settle()
  await client.delete(services, key)
  await environment.clock.settle()
  expect(client.stored(endpoints).map(({ metadata }) => metadata.name)).toEqual(['lock'])
})

it('keeps the slices that say they are of a service, and no others', async () => {
  await createService()
  await createPod('a', '10.0.0.1')
  await environment.clock.settle()
  const [first] = client.stored(endpointSlices)
  const labels = { ...first?.metadata.labels, 'kubernetes.io/service-name': 'other' }
  const name = first?.metadata.name ?? ''
  await client.patch(endpointSlices, { ...key, name }, { type: 'merge', body: { metadata: { labels } } })
  await environment.clock.settle()
  const services = client.stored(endpointSlices).map(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'])
  expect(services.sort()).toEqual(['other', 'web'])
})

it('leads to a pod once its node is there', async () => {
  await createService()
  await createPod('a', '10.0.0.1', true, 'web', 'late')
  expect((await behind()).slices).toEqual([])
  await client.create<Node>(nodes, nodeNamed('late'))
  expect((await behind()).slices).toEqual(['10.0.0.1 true'])
})

it('takes its endpoints away with a service', async () => {
  await createService()
  await createPod('a', '10.0.0.1')
  await environment.clock.settle()
  expect(client.stored(endpoints)).toHaveLength(1)
  await client.delete(services, key)
  await environment.clock.settle()
  expect(client.stored(endpoints)).toEqual([])
})

it.each([10, 1000])('reads only its own pods of %i in the namespace', async (count) => {
  await createService()
  await createPod('a', '10.0.0.1')
  for (let index = 0; index < count; index++) await createPod(`other-${index}`, '10.0.1.1', true, `other-${index}`)
  await environment.clock.settle()
  const reads = countReads(manager.informer(pods), manager.informer(services))
  await client.delete(pods, { namespace: 'default', name: 'a' })
  expect((await behind()).slices).toEqual([])
  expect(reads.taken()).toBeLessThan(10)
})

it('allocates endpoints anew when the nodes of a zone change', async () => {
  const node = (name: string, zone: string, cpu: string): Node =>
    ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
      status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
    }) as unknown as Node
  await client.delete(nodes, { name: 'n0' })
  for (const each of [node('n1', 'a', '1'), node('n2', 'b', '1')]) await client.create<Node>(nodes, each)
  const made = await createService()
  const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' }
  await client.update<Service>(services, { ...made, metadata: { ...made.metadata, annotations } })
  for (let index = 1; index <= 6; index += 1) await createPod(`p${index}`, `10.0.0.${index}`, true, 'web', 'n1')
  const zones = async () => {
    await environment.clock.settle()
    return client
      .stored(endpointSlices)
      .flatMap(({ endpoints: all = [] }) => all.map(({ hints }) => hints?.forZones?.[0]?.name))
      .sort()
      .join('')
  }
  expect(await zones()).toBe('aaabbb')
  const [second] = client.stored(nodes).filter(({ metadata }) => metadata.name === 'n2')
  const grown = { ...(second as Node), status: node('n2', 'b', '5').status } as Node
  await client.update<Node>(nodes, grown, { subresource: 'status' })
  expect(await zones()).toBe('abbbbb')
})

it('leaves out a pod whose address the API refuses behind services, and keeps the others', async () => {
  await createService()
  await createPod('plain', '127.1.0.1')
  await createPod('in-the-network-of-its-host', '127.0.0.1')
  const { slices, subsets } = await behind()
  expect(slices).toEqual(['127.1.0.1 true'])
  expect(subsets).toMatchObject([{ addresses: [{ ip: '127.1.0.1' }] }])
  expect(subsets[0]?.addresses).toHaveLength(1)
})
