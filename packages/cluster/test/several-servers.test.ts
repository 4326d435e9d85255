import { type Lease, leases, pods, type ReplicationController, replicationControllers } from '@coracle/api'
import type { Client } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { type FaultyStore, faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

const controller = (name: string, replicas: number): ReplicationController => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { app: name },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'example' }] } },
  } as never,
})

async function twoServers() {
  const environment = virtualEnvironment()
  const real = createMemoryStore()
  const ways = [faultyStore(real), faultyStore(real)] as const
  const start = (store: FaultyStore, nodes: number) => startCluster({ environment, store, nodes, nodePrefix: 'node-' })
  const one = await start(ways[0], 1)
  await environment.clock.advance('10s')
  const two = await start(ways[1], 0)
  onTestFinished(async () => {
    await one.stop()
    await two.stop()
  })
  await environment.clock.advance('10s')
  return { environment, one, two, real, cutFirst: () => ways[0].cut() }
}

const holders = async (client: Client): Promise<readonly (string | undefined)[]> => {
  const names = ['kube-controller-manager', 'kube-scheduler']
  const found = await Promise.all(names.map((name) => client.get(leases, { namespace: 'kube-system', name })))
  return found.map(({ spec }: Lease) => spec?.holderIdentity)
}

const runningPods = async ({ clock }: VirtualEnvironment, client: Client, name: string): Promise<number> => {
  await clock.advance('5s')
  const { items } = await client.list(pods, { namespace: 'default', labelSelector: `app=${name}` })
  return items.filter(({ status }) => status?.phase === 'Running').length
}

describe('two servers with one store', () => {
  it('are one cluster: what is asked of one, the other shows, and one of them carries it out', async () => {
    const { environment, one, two } = await twoServers()
    await two.client.create(replicationControllers, controller('web', 5))
    expect(await runningPods(environment, one.client, 'web')).toBe(5)
    const { items } = await two.client.list(pods, { namespace: 'default' })
    expect(items).toHaveLength(5)
    const [manager, scheduler] = await holders(two.client)
    expect(manager).toBeTruthy()
    expect(scheduler).toBeTruthy()
  })

  it('go on when something is stored that cannot be read: controllers keep what they knew, and take up what comes of it', async () => {
    const { environment, one, two, real } = await twoServers()
    await two.client.create(replicationControllers, controller('web', 3))
    expect(await runningPods(environment, one.client, 'web')).toBe(3)
    const { entries } = await real.list('/registry/core/pods/default/')
    const [first] = entries
    if (first === undefined) throw new Error('there are no pods')
    const overwrite = async (value: Uint8Array) => {
      await real.commit({ conditions: [], operations: [{ type: 'put', key: first.key, value }] })
      await environment.clock.advance('1m')
    }
    await overwrite(Buffer.from('no pod'))
    await one.client.patch(
      replicationControllers,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { replicas: 5 } } },
    )
    await environment.clock.advance('5m')
    // No pod is taken for gone, and none is made in its place.
    const keys = async () => (await real.list('/registry/core/pods/default/')).entries.map(({ key }) => key)
    expect(await keys()).toHaveLength(5)
    expect(await keys()).toContain(first.key)
    await overwrite(first.value)
    expect(await runningPods(environment, two.client, 'web')).toBe(5)
    await real.commit({ conditions: [], operations: [{ type: 'put', key: first.key, value: Buffer.from('no pod') }] })
    await environment.clock.advance('1m')
    await real.commit({ conditions: [], operations: [{ type: 'delete', key: first.key }] })
    await environment.clock.advance('1m')
    expect(await runningPods(environment, two.client, 'web')).toBe(5)
    expect(await keys()).not.toContain(first.key)
  })

  it('hand over at once when the leader stops in order', async () => {
    const { environment, one, two } = await twoServers()
    const before = await holders(two.client)
    await one.stop()
    await environment.clock.advance('5s')
    const after = await holders(two.client)
    expect(after.filter((holder, index) => holder === '' || holder === before[index])).toEqual([])
  })

  it('hand over only when the lease ends where the leader crashes', async () => {
    const { environment, one, two } = await twoServers()
    const [before] = await holders(two.client)
    await one.components['kube-controller-manager'].crash()
    await environment.clock.advance('5s')
    expect((await holders(two.client))[0]).toBe(before)
    await environment.clock.advance('15s')
    const [after] = await holders(two.client)
    expect(after).toBeTruthy()
    expect(after).not.toBe(before)
  })

  it('hand over within the lease when the leader is cut off, which then does nothing more', async () => {
    const { environment, two, cutFirst } = await twoServers()
    await two.client.create(replicationControllers, controller('web', 2))
    expect(await runningPods(environment, two.client, 'web')).toBe(2)
    const before = await holders(two.client)
    cutFirst()
    await environment.clock.advance('20s')
    const after = await holders(two.client)
    expect(after.filter((holder, index) => holder === '' || holder === before[index])).toEqual([])
    await two.client.create(replicationControllers, controller('later', 3))
    await environment.clock.advance('5s')
    const { items } = await two.client.list(pods, { namespace: 'default', labelSelector: 'app=later' })
    expect(items).toHaveLength(3)
  })
})

it('elects nobody where a store has one writer', async () => {
  const environment = virtualEnvironment()
  await using cluster = await startCluster({ environment, nodes: 0 })
  await environment.clock.advance('1m')
  expect((await cluster.client.list(leases, { namespace: 'kube-system' })).items).toEqual([])
})
