import {
  type ConfigMap,
  configMaps,
  events,
  type KubernetesObject,
  namespaces,
  nodes,
  type Resource,
} from '@coracle/api'
import { createFakeClient, type FakeClient, type Widget, widget, widgets } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import { sleep, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createGarbageCollector,
  deletionsParallelMax,
  type GarbageCollector,
  orphaningsParallelMax,
  ownersParallelMax,
} from './garbage-collector.ts'

describe('the garbage collector', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager
  let collector: GarbageCollector
  let resources: readonly Resource[]
  let changed: () => void

  beforeEach(async () => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    manager = createManager({ client, environment })
    resources = [configMaps, namespaces, nodes, events]
    const informer: Manager['informer'] = (resource, options) => manager.informer(resource, options)
    collector = createGarbageCollector({
      client,
      environment,
      informer,
      resources: () => resources,
      onResourcesChange: (listener) => {
        changed = listener
        return () => {}
      },
    })
    await manager.start()
    await collector.start()
  })

  afterEach(async () => {
    await collector.stop()
    await manager.stop()
  })

  interface Parts {
    readonly namespace?: string
    readonly finalizers?: readonly string[]
    readonly block?: boolean
  }

  /** Makes a ConfigMap that these objects own. */
  function configMap(name: string, owners: readonly KubernetesObject[] = [], parts: Parts = {}): Promise<ConfigMap> {
    const { namespace = 'default', finalizers, block = false } = parts
    const ownerReferences = owners.map(({ apiVersion, kind, metadata }) => {
      const { name: ownerName = '', uid = '' } = metadata
      return { apiVersion, kind, name: ownerName, uid, blockOwnerDeletion: block }
    })
    const metadata = { namespace, name, finalizers, ...(owners.length === 0 ? {} : { ownerReferences }) }
    return client.create<ConfigMap>(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
  }

  const settle = () => environment.clock.settle()
  const names = () => client.stored(configMaps).map(({ metadata }) => metadata.name)
  const remove = (name: string) => client.delete(configMaps, { namespace: 'default', name })
  const ownersOf = async (name: string) => {
    const { metadata } = await client.get(configMaps, { namespace: 'default', name })
    return metadata.ownerReferences?.map((owner) => owner.name)
  }

  it('deletes what an object owned once it is gone, and what that owned', async () => {
    const root = await configMap('root')
    const child = await configMap('child', [root])
    await configMap('grandchild', [child])
    await configMap('bystander')
    await settle()
    expect(names()).toHaveLength(4)
    await remove('root')
    await settle()
    expect(names()).toEqual(['bystander'])
  })

  it('begins a turn with what comes after a wait: nobody has to be let in then', async () => {
    const root = await configMap('root')
    await configMap('child', [root])
    await environment.clock.advance('1m')
    const turns = vi.spyOn(environment.clock, 'defer')
    await remove('root')
    await settle()
    expect(names()).toEqual([])
    expect(turns).not.toHaveBeenCalled()
  })

  it('deletes an object whose owner never was, or has another identity', async () => {
    const owner = await configMap('owner')
    const impostor = { ...owner, metadata: { ...owner.metadata, uid: 'another' } }
    await configMap('orphan', [{ ...impostor, metadata: { ...impostor.metadata, name: 'never' } }])
    await configMap('heir', [impostor])
    await settle()
    expect(names()).toEqual(['owner'])
  })

  it('asks for an absent owner once, however many objects name it', async () => {
    const owner = await configMap('owner')
    for (let index = 0; index < 100; index++) await configMap(`child-${index}`, [owner])
    await settle()
    const before = client.calls.length
    await remove('owner')
    await settle()
    expect(names()).toEqual([])
    // One delete each: the event said that the owner is gone, and the precondition that the object has not changed.
    expect(client.calls.slice(before).filter(({ verb }) => verb !== 'delete')).toEqual([])
    expect(client.calls.length - before).toBe(101)
  })

  it('keeps an object of several owners while one is left, and forgets the others', async () => {
    const [first, second] = [await configMap('first'), await configMap('second')]
    await configMap('shared', [first, second])
    await settle()
    await remove('first')
    await settle()
    expect(await ownersOf('shared')).toEqual(['second'])
    await remove('second')
    await settle()
    expect(names()).toEqual([])
  })

  it('does not delete an object that has got another owner in the meantime', async () => {
    const [first, second] = [await configMap('first'), await configMap('second')]
    await configMap('shared', [first])
    await settle()
    client.holdWatches(configMaps)
    await remove('first')
    const { name = '', uid = '' } = second.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
    const body = { metadata: { ownerReferences } }
    await client.patch(configMaps, { namespace: 'default', name: 'shared' }, { type: 'merge', body })
    client.releaseWatches()
    await environment.clock.advance('1s')
    expect(names()).toEqual(['second', 'shared'])
  })

  it('deletes in the foreground: blocking dependents first, then the owner', async () => {
    const root = await configMap('root', [], { finalizers: ['foregroundDeletion'] })
    await configMap('slow', [root], { block: true, finalizers: ['example.com/wait'] })
    await configMap('quick', [root], { block: true })
    await settle()
    await remove('root')
    await settle()
    expect(names()).toEqual(['root', 'slow'])
    const key = { namespace: 'default', name: 'slow' }
    await client.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    await settle()
    expect(names()).toEqual([])
  })

  it('ends a foreground deletion at once, even where the object has changed since it was last heard of', async () => {
    await configMap('root', [], { finalizers: ['foregroundDeletion'] })
    await settle()
    const key = { namespace: 'default', name: 'root' }
    const stop = client.intercept(async ({ verb }) => {
      if (verb !== 'patch') return
      stop()
      await client.patch(configMaps, key, { type: 'merge', body: { data: { changed: 'meanwhile' } } })
    })
    await remove('root')
    await settle()
    expect(names()).toEqual([])
  })

  it('deletes dependents that come while their owner is being deleted in the foreground', async () => {
    const root = await configMap('root', [], { finalizers: ['foregroundDeletion'] })
    await configMap('slow', [root], { block: true, finalizers: ['example.com/wait'] })
    await settle()
    await remove('root')
    await settle()
    await configMap('late', [root], { block: true })
    await settle()
    const key = { namespace: 'default', name: 'slow' }
    await client.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    await settle()
    expect(names()).toEqual([])
  })

  it('lets an object that has another owner go on without one that is deleted in the foreground', async () => {
    const root = await configMap('root', [], { finalizers: ['foregroundDeletion'] })
    const other = await configMap('other')
    await configMap('shared', [root, other], { block: true })
    await settle()
    await remove('root')
    await settle()
    expect(names()).toEqual(['other', 'shared'])
    expect(await ownersOf('shared')).toEqual(['other'])
  })

  it('frees dependents of an object that is deleted with the orphan finalizer', async () => {
    const root = await configMap('root', [], { finalizers: ['orphan'] })
    for (let index = 0; index < 150; index++) await configMap(`child-${index}`, [root])
    await settle()
    await remove('root')
    await settle()
    expect(names()).toHaveLength(150)
    expect(client.stored(configMaps).every(({ metadata }) => metadata.ownerReferences === undefined)).toBe(true)
  })

  it('searches a namespace for more dependents once for many owners', async () => {
    const count = 8 * orphaningsParallelMax
    const finalizers = ['orphan']
    for (let index = 0; index < count; index++) {
      await configMap(`child-${index}`, [await configMap(`root-${index}`, [], { finalizers })])
    }
    await settle()
    let lists = 0
    client.intercept(async ({ verb }) => {
      if (verb !== 'list') return
      lists += 1
      await sleep(environment.clock, 10)
    })
    client.holdWatches(configMaps)
    for (let index = 0; index < count; index++) await remove(`root-${index}`)
    client.releaseWatches()
    await environment.clock.advance('1s')
    expect(names()).toHaveLength(count)
    expect(client.stored(configMaps).every(({ metadata }) => metadata.ownerReferences === undefined)).toBe(true)
    expect(lists).toBeLessThanOrEqual(count / 4)
  })

  it('frees also dependents that it has not heard of yet', async () => {
    const node = await client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', finalizers: ['orphan'] },
    })
    await settle()
    client.holdWatches(configMaps)
    await configMap('child', [node])
    await client.delete(nodes, { name: 'n' })
    await settle()
    expect(client.stored(nodes)).toEqual([])
    client.releaseWatches()
    await settle()
    expect(names()).toEqual(['child'])
    expect(await ownersOf('child')).toBeUndefined()
  })

  it('ends a foreground deletion of objects that own one another', async () => {
    const a = await configMap('a', [], { finalizers: ['foregroundDeletion'] })
    const b = await configMap('b', [a], { block: true, finalizers: ['foregroundDeletion'] })
    const { name = '', uid = '' } = b.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }]
    const key = { namespace: 'default', name: 'a' }
    await client.patch(configMaps, key, { type: 'merge', body: { metadata: { ownerReferences } } })
    await settle()
    await remove('a')
    await environment.clock.advance('1m')
    expect(names()).toEqual([])
  })

  it('takes an owner in another namespace for absent, and says so', async () => {
    const owner = await configMap('owner', [], { namespace: 'elsewhere' })
    await settle()
    await configMap('child', [owner])
    await environment.clock.advance('10s')
    expect(names()).toEqual(['owner'])
    expect(client.stored(events)).toMatchObject([
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
      },
    ])
  })

  it('never collects a cluster-scoped object that names a namespaced owner', async () => {
    const owner = await configMap('owner')
    const { name = '', uid = '' } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
    await client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'room', ownerReferences },
    })
    await settle()
    await remove('owner')
    await environment.clock.advance('1h')
    expect(client.stored(namespaces)).toHaveLength(1)
  })

  it('collects what a cluster-scoped object owned in a namespace', async () => {
    const node = await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
    await configMap('child', [node])
    await settle()
    expect(names()).toEqual(['child'])
    await client.delete(nodes, { name: 'node-1' })
    await settle()
    expect(names()).toEqual([])
  })

  it('takes in kinds that come later, and keeps what they own until then', async () => {
    const owner = await client.create<Widget>(widgets, widget('owner'))
    await configMap('child', [owner])
    await environment.clock.advance('1s')
    expect(names()).toEqual(['child'])
    resources = [...resources, widgets]
    changed()
    await environment.clock.advance('10s')
    await client.create<Widget>(widgets, {
      ...widget('part'),
      metadata: {
        namespace: 'default',
        name: 'part',
        ownerReferences: [
          { apiVersion: 'example.com/v1', kind: 'Widget', name: 'owner', uid: owner.metadata.uid ?? '' },
        ],
      },
    })
    await client.delete(widgets, { namespace: 'default', name: 'owner' })
    await settle()
    expect([names(), client.stored(widgets)]).toEqual([[], []])
  })

  it('forgets kinds that go', async () => {
    resources = [...resources, widgets]
    changed()
    const owner = await client.create<Widget>(widgets, widget('owner'))
    await configMap('child', [owner])
    await environment.clock.advance('1s')
    resources = [configMaps]
    changed()
    await environment.clock.advance('1s')
    const lists = client.stored(widgets).length
    await client.delete(widgets, { namespace: 'default', name: 'owner' })
    await environment.clock.advance('10s')
    // Nobody can say any more whether the owner is there: what it owns stays.
    expect([lists, names()]).toEqual([1, ['child']])
  })

  it('looks for the owners of an object few at a time, and for each of them twice at most', async () => {
    const count = 10 * ownersParallelMax
    let [reads, most, underWay] = [0, 0, 0]
    client.intercept(async ({ verb }) => {
      if (verb !== 'get') return
      reads += 1
      underWay += 1
      most = Math.max(most, underWay)
      await Promise.resolve()
      underWay -= 1
    })
    const owner = await configMap('template')
    const owners = Array.from({ length: count }, (_, index) => ({
      ...owner,
      metadata: { ...owner.metadata, name: `owner-${index}`, uid: `owner-${index}` },
    }))
    await configMap('child', owners)
    await settle()
    expect(names()).toEqual(['template'])
    expect(reads).toBeLessThanOrEqual(2 * count)
    // Those of the object, and those of the owners nobody has seen.
    expect(most).toBeLessThanOrEqual(ownersParallelMax + deletionsParallelMax)
  })

  it('takes the owners that are gone off an object of very many', async () => {
    const [left, leaving] = [await configMap('left'), await configMap('leaving')]
    const fillers = Array.from({ length: 100 }, (_, index) => ({
      ...left,
      metadata: { ...left.metadata, name: `never-${index}`, uid: `never-${index}` },
    }))
    await configMap('shared', [...fillers, leaving, left])
    await settle()
    expect(await ownersOf('shared')).toEqual(['leaving', 'left'])
    await remove('leaving')
    await settle()
    expect(await ownersOf('shared')).toEqual(['left'])
  })

  it('tries again when a delete fails', async () => {
    const owner = await configMap('owner')
    await configMap('child', [owner])
    await settle()
    let failures = 3
    client.intercept(({ verb, key }) => {
      if (verb === 'delete' && key === 'default/child' && failures-- > 0) throw new Error('connection lost')
    })
    await remove('owner')
    await environment.clock.advance('1s')
    expect(names()).toEqual([])
  })

  it('goes on without a resource that cannot be listed, and takes it in once it can be', async () => {
    await collector.stop()
    let isAway = true
    client.intercept(({ verb, plural }) => {
      if (isAway && verb === 'list' && plural === widgets.plural) throw new Error('conversion webhook failed')
    })
    resources = [...resources, widgets]
    const informer: Manager['informer'] = (resource, options) => manager.informer(resource, options)
    collector = createGarbageCollector({ client, environment, informer, resources: () => resources })
    const owner = await configMap('owner')
    await configMap('child', [owner])
    const started = collector.start()
    await environment.clock.advance('10s')
    await remove('owner')
    await environment.clock.advance('30s')
    await started
    expect(names()).toEqual([])
    const [root] = [await configMap('root')]
    const { apiVersion, kind, metadata } = root
    const ownerReferences = [{ apiVersion, kind, name: 'root', uid: metadata.uid ?? '' }]
    await client.create<Widget>(widgets, {
      ...widget('w'),
      metadata: { ...widget('w').metadata, ownerReferences },
    })
    isAway = false
    await environment.clock.advance('2m')
    await remove('root')
    await settle()
    expect(client.stored(widgets)).toEqual([])
  })
})
