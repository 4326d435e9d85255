import {
  eventsV1,
  type KubernetesObject,
  type Node,
  nodes,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type Resource,
  storageClasses,
  volumeAnnotations,
} from '@coracle/api'
import type { ObjectKey } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import { createScheduler, type Scheduler } from '../scheduler.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import {
  lateClass,
  makeClaim,
  makeStorage,
  makeVolume,
  onHost,
  podUsing,
  type StorageContent,
} from '../testing/storage.ts'
import type { StorageCache } from './storage-cache.ts'
import { VolumeBinder } from './volume-binder.ts'

let environment: VirtualEnvironment
let client: FakeClient
let scheduler: Scheduler
let bindings: string[]

beforeEach(async () => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  bindings = []
  client.createSubresource = async <U>(_: unknown, { name }: ObjectKey, __: string, body: object): Promise<U> => {
    const { target } = body as unknown as { readonly target: { readonly name: string } }
    bindings.push(`${name} to ${target.name}`)
    return {} as U
  }
  scheduler = createScheduler({ client, environment })
  await scheduler.start()
  await create(storageClasses, lateClass('late'))
  await addNode('n1')
})

afterEach(() => scheduler.stop())

async function create<T extends KubernetesObject>(resource: Resource<T>, { metadata, ...rest }: T): Promise<T> {
  const { uid: _, resourceVersion: __, ...own } = metadata
  const created = await client.create<T>(resource, { ...rest, metadata: own } as unknown as T)
  await environment.clock.settle()
  return created
}

const addNode = (name: string) =>
  create<Node>(nodes, makeNode({ name, labels: { 'kubernetes.io/hostname': name }, allocatable: { pods: '1000' } }))
const addClaim = (name: string) => create(persistentVolumeClaims, makeClaim(name, { storageClassName: 'late' }))
const addPod = (pod: Pod) => create<Pod>(pods, pod)
const keyOf = (name: string) => ({ namespace: 'default', name })
const claimNow = (name: string) => client.get(persistentVolumeClaims, keyOf(name))
const selectedNode = async (name: string) =>
  (await claimNow(name)).metadata.annotations?.[volumeAnnotations.selectedNode]

async function change(name: string, body: object): Promise<PersistentVolumeClaim> {
  const changed = await client.patch(persistentVolumeClaims, keyOf(name), { type: 'merge', body })
  await environment.clock.settle()
  return changed
}

/** As the provisioner and the binder do. */
async function provision(name: string, node: string): Promise<void> {
  const { metadata } = await claimNow(name)
  const claimRef = { namespace: 'default', name, uid: metadata.uid }
  await create(persistentVolumes, makeVolume(`pv-${name}`, { ...onHost(node), claimRef }))
  await change(name, {
    metadata: { annotations: { [volumeAnnotations.bindCompleted]: 'yes' } },
    spec: { volumeName: `pv-${name}` },
  })
}

async function failures(): Promise<readonly string[]> {
  await environment.clock.advance('1s')
  return client
    .stored(eventsV1)
    .filter(({ reason }) => reason === 'FailedScheduling')
    .map(({ note = '' }) => note)
}

describe('a pod whose claims wait for it', () => {
  it('is bound when they are, and their volumes are made for its node', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    expect(await selectedNode('data')).toBe('n1')
    expect((await client.get(pods, keyOf('web'))).status?.nominatedNodeName).toBe('n1')
    expect(bindings).toEqual([])
    await provision('data', 'n1')
    expect(bindings).toEqual(['web to n1'])
  })

  it('gets a volume that is there, which says that the scheduler chose', async () => {
    await create(persistentVolumes, makeVolume('shelf', onHost('n1')))
    const { metadata } = await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    expect(await client.get(persistentVolumes, { name: 'shelf' })).toMatchObject({
      metadata: { annotations: { [volumeAnnotations.boundByController]: 'yes' } },
      spec: { claimRef: { namespace: 'default', name: 'data', uid: metadata.uid } },
    })
    expect(await selectedNode('data')).toBeUndefined()
  })

  it('gets none that has been set aside for another', async () => {
    await create(persistentVolumes, makeVolume('shelf'))
    for (const name of ['a', 'b']) await addClaim(name)
    // Both are decided on before the API shows anything.
    client.holdWatches(persistentVolumes, persistentVolumeClaims)
    for (const name of ['a', 'b']) await addPod(podUsing([name], `pod-${name}`))
    expect((await client.get(persistentVolumes, { name: 'shelf' })).spec?.claimRef?.name).toBe('a')
    expect(await selectedNode('b')).toBe('n1')
    client.releaseWatches()
  })

  it('does not keep others from being scheduled, however many wait', async () => {
    for (let index = 0; index < 300; index++) {
      await addClaim(`c${index}`)
      await addPod(podUsing([`c${index}`], `waiting-${index}`))
    }
    await addPod(makePod({}, 'other'))
    expect(bindings).toEqual(['other to n1'])
  })

  it('looks for another node where the provisioner gives up', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await client.patch(nodes, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await addNode('n2')
    await change('data', { metadata: { annotations: { [volumeAnnotations.selectedNode]: null } } })
    expect(await failures()).toEqual([
      'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"',
    ])
    await environment.clock.advance('10s')
    expect(await selectedNode('data')).toBe('n2')
  })

  it('waits for all of them', async () => {
    for (const name of ['a', 'b']) await addClaim(name)
    await addPod(podUsing(['a', 'b'], 'web'))
    await provision('b', 'n1')
    expect(bindings).toEqual([])
    await provision('a', 'n1')
    expect(bindings).toEqual(['web to n1'])
  })

  it('gets a volume that was kept for its claim, which nobody says the scheduler chose', async () => {
    await addClaim('data')
    const claimRef = { namespace: 'default', name: 'data' }
    await create(persistentVolumes, makeVolume('shelf', { ...onHost('n1'), claimRef }))
    await addPod(podUsing(['data'], 'web'))
    const { metadata, spec } = await client.get(persistentVolumes, { name: 'shelf' })
    expect(spec?.claimRef?.uid).toBe((await claimNow('data')).metadata.uid)
    expect(metadata.annotations?.[volumeAnnotations.boundByController]).toBeUndefined()
  })

  it.each<readonly [string, (...names: readonly string[]) => Promise<unknown>, string]>([
    [
      'its volume is given to nobody again',
      () => client.patch(persistentVolumes, { name: 'shelf' }, { type: 'merge', body: { spec: { claimRef: null } } }),
      'ClaimRef got reset for pv "shelf"',
    ],
    [
      'its volume is gone',
      () => client.delete(persistentVolumes, { name: 'shelf' }),
      'failed to check binding: persistentvolumes "shelf" not found',
    ],
    [
      'the claim for its volume is gone',
      () => client.delete(persistentVolumeClaims, keyOf('chosen')),
      'failed to check binding: persistentvolumeclaims "default/chosen" not found',
    ],
    [
      'a claim is gone whose volume is being made',
      () => client.delete(persistentVolumeClaims, keyOf('made')),
      'failed to check provisioning pvc: persistentvolumeclaims "default/made" not found',
    ],
    [
      'a claim is replaced whose volume is being made',
      async () => {
        client.holdWatches(persistentVolumeClaims)
        await client.delete(persistentVolumeClaims, keyOf('made'))
        await addClaim('made')
        client.releaseWatches()
      },
      'failed to check provisioning pvc: persistentvolumeclaims "default/made" not found',
    ],
    [
      'a claim has no annotations any more',
      () => change('made', { metadata: { annotations: null } }),
      'selectedNode annotation reset for PVC "made"',
    ],
  ])('is not bound where meanwhile %s', async (_, happens, why) => {
    await create(persistentVolumes, makeVolume('shelf', onHost('n1')))
    await addClaim('chosen')
    await addClaim('made')
    await addPod(podUsing(['chosen', 'made'], 'web'))
    await happens()
    await environment.clock.settle()
    expect((await failures())[0]).toBe(`running PreBind plugin "VolumeBinding": binding volumes: ${why}`)
    expect(bindings).toEqual([])
  })

  it('leaves volumes and claims as they were where the server refuses to set them aside', async () => {
    await create(persistentVolumes, makeVolume('shelf', onHost('n1')))
    for (const name of ['chosen', 'made', 'other']) await addClaim(name)
    const patch = client.patch.bind(client)
    client.patch = async (resource, ...rest) => {
      if (resource.plural === 'persistentvolumes') throw new Error('not today')
      return patch(resource, ...rest)
    }
    await addPod(podUsing(['chosen', 'made'], 'web'))
    expect((await failures())[0]).toBe('running PreBind plugin "VolumeBinding": not today')
    client.patch = patch
    await client.delete(pods, keyOf('web'))
    await addPod(podUsing(['other'], 'next'))
    expect((await client.get(persistentVolumes, { name: 'shelf' })).spec?.claimRef?.name).toBe('other')
    await client.patch(nodes, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await addNode('n2')
    await addPod(podUsing(['made'], 'last'))
    expect(await selectedNode('made')).toBe('n2')
  })

  it('says of what it writes for which pod and node', async () => {
    await create(persistentVolumes, makeVolume('shelf', onHost('n1')))
    for (const name of ['chosen', 'made']) await addClaim(name)
    const causes: unknown[] = []
    const patch = client.patch.bind(client)
    client.patch = async (resource, key, body, options) => {
      if (resource.plural.startsWith('persistent')) causes.push([resource.plural, options])
      return patch(resource, key, body, options)
    }
    await addPod(podUsing(['chosen', 'made'], 'web'))
    const cause = {
      because: 'pod default/web is to run on n1',
      reconcile: { controller: 'default-scheduler', object: { kind: 'Pod', name: 'web' } },
    }
    expect(causes).toMatchObject([
      ['persistentvolumes', cause],
      ['persistentvolumeclaims', cause],
    ])
  })

  it('is not bound by a scheduler that has stopped', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await scheduler.stop()
    await provision('data', 'n1')
    expect(bindings).toEqual([])
  })

  it('is no longer said to come to a node that cannot have it after all', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await client.patch(nodes, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await change('data', { metadata: { annotations: { [volumeAnnotations.selectedNode]: null } } })
    expect(await failures()).not.toEqual([])
    expect((await client.get(pods, keyOf('web'))).status?.nominatedNodeName).toBeUndefined()
  })

  it('is tried again where they are bound to volumes that are elsewhere', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await provision('data', 'n2')
    expect((await failures())[0]).toContain(`pv "pv-data" node affinity doesn't match node "n1"`)
    await addNode('n2')
    await environment.clock.advance('20s')
    expect(bindings).toEqual(['web to n2'])
  })

  it('is tried again after ten minutes in vain', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await environment.clock.advance('599s')
    expect(await failures()).toEqual([
      'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition',
    ])
    await environment.clock.advance('20s')
    await provision('data', 'n1')
    expect(bindings).toEqual(['web to n1'])
  })

  it('leaves nothing set aside when it is deleted meanwhile', async () => {
    await addClaim('data')
    await addPod(podUsing(['data'], 'web'))
    await client.delete(pods, keyOf('web'))
    await environment.clock.settle()
    await provision('data', 'n1')
    await environment.clock.advance('10s')
    expect(bindings).toEqual([])
    await addPod(podUsing(['data'], 'next'))
    expect(bindings).toEqual(['next to n1'])
  })
})

describe('what is to be set aside for a pod', () => {
  const node = new NodeInfo(makeNode({ name: 'n1' }))
  const binderOf = (content: StorageContent) =>
    new VolumeBinder(client, environment.clock, makeStorage(content) as StorageCache)

  it.each<readonly [string, StorageContent, string | undefined]>([
    [
      'is nothing where it has its claims',
      { claims: [makeClaim('data', { volumeName: 'a' })], volumes: [makeVolume('a')] },
      undefined,
    ],
    ['is not there where a claim is gone', {}, 'persistentvolumeclaim "data" not found'],
    [
      'is not there where neither are volumes nor anybody who makes them',
      {
        claims: [makeClaim('data', { storageClassName: 'late' })],
        classes: [lateClass('late', { provisioner: 'kubernetes.io/no-provisioner' })],
      },
      "node(s) didn't find available persistent volumes to bind",
    ],
  ])('%s', (_, content, why) => {
    const binder = binderOf(content)
    const pod = podUsing(['data'])
    expect(binder.reserve(pod, node)).toBe(why)
    expect(binder.bind(pod, node)).toBeUndefined()
  })
})

describe('a wait for volumes', () => {
  const node = new NodeInfo(makeNode({ name: 'n1' }))
  const unbound = makeClaim('data', { storageClassName: 'late' })
  const selected = (more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => {
    const annotations = { [volumeAnnotations.selectedNode]: 'n1', [volumeAnnotations.bindCompleted]: 'yes' }
    return {
      ...unbound,
      metadata: { ...unbound.metadata, annotations },
      spec: { ...unbound.spec, volumeName: 'a' },
      ...more,
    }
  }
  const pod = podUsing(['data'])
  let claim: PersistentVolumeClaim
  let looks: number
  let restored: string[]
  let binder: VolumeBinder

  beforeEach(() => {
    claim = unbound
    looks = 0
    restored = []
    const storage = {
      ...makeStorage({ classes: [lateClass('late')], volumes: [makeVolume('a', { claimRef: {} })] }),
      claim: () => {
        looks++
        return claim
      },
      assumeSelected: (each: PersistentVolumeClaim) => each,
      restore: ({ metadata }: PersistentVolumeClaim) => restored.push(metadata.name ?? ''),
    }
    client.patch = async () => ({}) as never
    binder = new VolumeBinder(client, environment.clock, storage as unknown as StorageCache)
    expect(binder.reserve(pod, node)).toBeUndefined()
  })

  it('is none where they are there by then, wherever they can be used, and looks no more when it has ended', async () => {
    claim = selected()
    await binder.bind(pod, node)
    expect(restored).toEqual(['data'])
    looks = 0
    binder.changed()
    expect(looks).toBe(0)
    expect(binder.bind(pod, node)).toBeUndefined()
    binder.podGone(pod.metadata.uid ?? '')
    binder.stop()
  })

  it('ends with the claim that it is about, though there is another of that name', async () => {
    const { metadata } = selected()
    claim = selected({ metadata: { ...metadata, uid: 'another' } })
    await expect(binder.bind(pod, node)).rejects.toThrow(
      'binding volumes: failed to check provisioning pvc: persistentvolumeclaims "default/data" not found',
    )
    looks = 0
    binder.changed()
    expect(looks).toBe(0)
    binder.podGone(pod.metadata.uid ?? '')
    binder.stop()
    binder.unreserve(pod)
    expect(restored).toEqual(['data'])
  })

  it.each<readonly [string, () => void]>([
    ['the pod is gone', () => binder.podGone(pod.metadata.uid ?? '')],
    ['the scheduler stops', () => binder.stop()],
  ])('ends when %s', async (_, ends) => {
    const { metadata } = unbound
    const annotations = { [volumeAnnotations.selectedNode]: 'n1' }
    claim = { ...unbound, metadata: { ...metadata, annotations } }
    const bound = binder.bind(pod, node)
    const refused = expect(bound).rejects.toThrow('binding volumes: ')
    await environment.clock.settle()
    ends()
    await refused
  })
})
