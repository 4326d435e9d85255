import {
  type CsiDriver,
  type CsiNode,
  type CsiStorageCapacity,
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  type KubernetesObject,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  storageClasses,
  type VolumeAttachment,
  volumeAnnotations,
  volumeAttachments,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ClusterEvent } from '../cluster-event.ts'
import { lateClass, makeClaim, makeVolume } from '../testing/storage.ts'
import { StorageCache } from './storage-cache.ts'

let environment: VirtualEnvironment
let client: FakeClient
let cache: StorageCache
let events: ClusterEvent[]

beforeEach(() => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  events = []
  cache = new StorageCache(client, environment, (event) => events.push(event))
})

afterEach(() => cache.stop())

async function create<T extends KubernetesObject>(resource: Resource<T>, { metadata, ...rest }: T): Promise<T> {
  const { uid: _, resourceVersion: __, ...own } = metadata
  const created = await client.create<T>(resource, { ...rest, metadata: own } as unknown as T)
  await environment.clock.settle()
  return created
}

const csiNode = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name: 'n1' },
  spec: { drivers: [] },
} as CsiNode
const csiDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'disks' },
  spec: {},
} as CsiDriver
const capacity = (name: string, storageClassName: string) =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: { namespace: 'default', name },
    storageClassName,
  }) as CsiStorageCapacity

it('has seen all that there is once it is started', async () => {
  await create(persistentVolumeClaims, makeClaim('data'))
  await create(persistentVolumes, makeVolume('a'))
  await create(storageClasses, lateClass('late'))
  await create(csiNodes, csiNode)
  await create(csiDrivers, csiDriver)
  await create(csiStorageCapacities, capacity('c', 'late'))
  await cache.start()
  expect([
    cache.claim('default', 'data')?.metadata.name,
    cache.volume('a')?.metadata.name,
    cache.storageClass('late')?.metadata.name,
    cache.csiNode('n1')?.metadata.name,
    cache.csiDriver('disks')?.metadata.name,
    cache.capacities('late').length,
  ]).toEqual(['data', 'a', 'late', 'n1', 'disks', 1])
})

it.each<readonly [string, Resource<never>, KubernetesObject, object]>([
  [
    'a claim',
    persistentVolumeClaims,
    makeClaim('data'),
    { type: 'claim-changed', claim: { metadata: { name: 'data' } } },
  ],
  ['a volume', persistentVolumes, makeVolume('a'), { type: 'volume-changed', volume: { metadata: { name: 'a' } } }],
  [
    'a class',
    storageClasses,
    lateClass('late'),
    { type: 'storage-class-changed', storageClass: { metadata: { name: 'late' } } },
  ],
  ['the drivers of a node', csiNodes, csiNode, { type: 'csi-node-changed', nodeName: 'n1' }],
  ['a driver', csiDrivers, csiDriver, { type: 'storage-capacity-changed' }],
  ['room for volumes', csiStorageCapacities, capacity('c', 'late'), { type: 'storage-capacity-changed' }],
] as never)('tells when %s comes, changes and goes', async (_, resource, object, event) => {
  await cache.start()
  await create(resource, object as never)
  const { namespace, name = '' } = object.metadata
  const key = namespace === undefined ? { name } : { namespace, name }
  await client.patch(resource, key as never, { type: 'merge', body: { metadata: { labels: { changed: 'yes' } } } })
  await client.delete(resource, key as never)
  await environment.clock.settle()
  expect(events).toMatchObject([event, event, event])
})

it('knows what is attached to a node, and tells when it is not any more', async () => {
  const attachment = (name: string, nodeName: string) =>
    create<VolumeAttachment>(volumeAttachments, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name },
      spec: { attacher: 'disks', nodeName, source: { persistentVolumeName: name } },
    })
  await attachment('a', 'n1')
  await cache.start()
  await attachment('b', 'n2')
  const on = (nodeName: string) => cache.attachments(nodeName).map(({ metadata }) => metadata.name)
  expect([on('n1'), on('n2'), on('n3'), events]).toEqual([['a'], ['b'], [], []])
  await client.delete(volumeAttachments, { name: 'b' })
  await environment.clock.settle()
  expect([on('n2'), events]).toEqual([[], [{ type: 'volume-detached', nodeName: 'n2' }]])
})

it('has seen all that there is when it has started', async () => {
  await create(persistentVolumeClaims, makeClaim('data'))
  await create(persistentVolumes, makeVolume('a'))
  await create(storageClasses, lateClass('late'))
  await create(csiNodes, csiNode)
  await create(csiDrivers, csiDriver)
  for (const [name, storageClass] of [
    ['c', 'late'],
    ['d', 'early'],
    ['e', 'late'],
  ] as const) {
    await create(csiStorageCapacities, capacity(name, storageClass))
  }
  await cache.start()
  expect(cache.claim('default', 'data')?.metadata.name).toBe('data')
  expect(cache.claim('elsewhere', 'data')).toBeUndefined()
  expect(cache.volume('a')?.metadata.name).toBe('a')
  expect(cache.storageClass('late')?.provisioner).toBe('example.com/disks')
  expect([cache.csiNode('n1')?.kind, cache.csiNode('n2')]).toEqual(['CSINode', undefined])
  expect([cache.csiDriver('disks')?.kind, cache.csiDriver('others')]).toEqual(['CSIDriver', undefined])
  expect(cache.capacities('late').map(({ metadata }) => metadata.name)).toEqual(['c', 'e'])
  expect(cache.capacities('none')).toEqual([])
})

it('knows the volumes of each class that no claim has taken', async () => {
  await cache.start()
  const claimRef = { namespace: 'default', name: 'data' }
  await create(persistentVolumes, makeVolume('free'))
  await create(persistentVolumes, makeVolume('kept', { claimRef }))
  await create(persistentVolumes, { ...makeVolume('taken', { claimRef }), status: { phase: 'Bound' } })
  await create(persistentVolumes, { ...makeVolume('left'), status: { phase: 'Bound' } })
  await create(persistentVolumes, makeVolume('classless', { storageClassName: '' }))
  const { status: _, ...young } = makeVolume('young', { claimRef })
  await create(persistentVolumes, young)
  const names = (className: string) => cache.unboundVolumes(className).map(({ metadata }) => metadata.name)
  expect(names('late').toSorted()).toEqual(['free', 'kept', 'left', 'young'])
  expect(names('')).toEqual(['classless'])
})

describe('what is assumed', () => {
  const claim = makeClaim('data')
  const claimOf = (name: string) => cache.volume(name)?.spec?.claimRef?.name
  const selectedNode = () => cache.claim('default', 'data')?.metadata.annotations?.[volumeAnnotations.selectedNode]

  beforeEach(async () => {
    await cache.start()
  })

  it('of a volume holds until the API shows a newer state', async () => {
    const shelf = await create(persistentVolumes, makeVolume('shelf'))
    await create(persistentVolumes, makeVolume('other'))
    expect(cache.assumeClaimed(shelf, claim).spec?.claimRef).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: 'default',
      name: 'data',
      uid: 'uid-data',
      resourceVersion: '1',
    })
    expect([claimOf('shelf'), claimOf('other')]).toEqual(['data', undefined])
    expect(cache.unboundVolumes('late').map(({ spec }) => spec?.claimRef?.name)).toEqual(['data', undefined])
    await client.patch(
      persistentVolumes,
      { name: 'shelf' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    )
    await environment.clock.settle()
    expect(claimOf('shelf')).toBeUndefined()
    expect(cache.unboundVolumes('late').map(({ spec }) => spec?.claimRef)).toEqual([undefined, undefined])
  })

  it('of a claim holds until it is gone', async () => {
    const created = await create(persistentVolumeClaims, claim)
    cache.assumeSelected(created, 'n1')
    expect(selectedNode()).toBe('n1')
    expect(cache.claim('default', 'data')?.metadata.annotations).toMatchObject(created.metadata.annotations ?? {})
    await client.delete(persistentVolumeClaims, { namespace: 'default', name: 'data' })
    await environment.clock.settle()
    expect(cache.claim('default', 'data')).toBeUndefined()
  })

  it('is taken back, if it is still about that object', async () => {
    const shelf = cache.assumeClaimed(await create(persistentVolumes, makeVolume('shelf')), claim)
    const created = cache.assumeSelected(await create(persistentVolumeClaims, claim), 'n1')
    cache.restore({ ...shelf, metadata: { ...shelf.metadata, uid: 'another' } })
    cache.restore({ ...created, metadata: { ...created.metadata, uid: 'another' } })
    expect([claimOf('shelf'), selectedNode()]).toEqual(['data', 'n1'])
    cache.restore(shelf)
    expect([claimOf('shelf'), selectedNode()]).toEqual([undefined, 'n1'])
    cache.restore(created)
    expect([claimOf('shelf'), selectedNode()]).toEqual([undefined, undefined])
  })

  it('and was taken back already needs no taking back', async () => {
    const shelf = await create(persistentVolumes, makeVolume('shelf'))
    cache.restore(shelf)
    expect(claimOf('shelf')).toBeUndefined()
  })
})
