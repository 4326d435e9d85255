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
import { createScheduler, type Scheduler } from '../scheduler.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import { lateClass, makeClaim, makeVolume, onHost, podUsing } from '../testing/storage.ts'

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
      'running PreBind plugin "VolumeBinding": selectedNode annotation reset for PVC "data"',
    ])
    await environment.clock.advance('10s')
    expect(await selectedNode('data')).toBe('n2')
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
