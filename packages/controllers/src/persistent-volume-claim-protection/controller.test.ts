import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import { controllerRef } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createVolumeProtectionController } from '../persistent-volume-protection/controller.ts'
import { atWork } from '../testing/at-work.ts'
import { createClaimProtectionController } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork(() => [
    createClaimProtectionController(),
    createVolumeProtectionController(),
  ]))
})

const key = { namespace: 'default', name: 'data' }

const createClaim = (finalizers = ['kubernetes.io/pvc-protection']) =>
  client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...key, finalizers },
  })

const createPod = (name: string, volume: object, nodeName = 'n1', metadata: object = {}) =>
  client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { nodeName, containers: [], volumes: [{ name: 'v', ...volume }] },
  } as unknown as Pod)

/** Of a pod that only a finalizer keeps. */
const done = {
  deletionTimestamp: '2026-01-01T00:00:00Z',
  deletionGracePeriodSeconds: 0,
  finalizers: ['example.com/mine'],
}

const usingClaim = { persistentVolumeClaim: { claimName: 'data' } }

async function deleteClaim() {
  await environment.clock.settle()
  await client.delete(persistentVolumeClaims, key)
  await environment.clock.settle()
  return client.stored(persistentVolumeClaims).length
}

describe('the protection of claims', () => {
  it('lets a claim go that nobody uses', async () => {
    await createClaim()
    expect(await deleteClaim()).toBe(0)
  })

  it('keeps a claim until the last pod that uses it is gone', async () => {
    await createClaim()
    await createPod('a', usingClaim)
    await createPod('b', usingClaim)
    expect(await deleteClaim()).toBe(1)
    await client.delete(pods, { namespace: 'default', name: 'a' })
    await environment.clock.settle()
    expect(client.stored(persistentVolumeClaims)).toHaveLength(1)
    await client.delete(pods, { namespace: 'default', name: 'b' })
    await environment.clock.settle()
    expect(client.stored(persistentVolumeClaims)).toEqual([])
  })

  it('does not wait for pods that no node has yet', async () => {
    await createClaim()
    await createPod('a', usingClaim, '')
    expect(await deleteClaim()).toBe(0)
  })

  it.each([
    ['counts the claims of ephemeral volumes', true, {}, 1],
    ['does not count claims that others made under the name of one', false, {}, 0],
    ['does not wait for a pod that is done and kept by a finalizer', true, done, 0],
    ['waits for a pod that is not done yet', true, { ...done, deletionGracePeriodSeconds: 30 }, 1],
  ])('%s', async (_, isOwned, metadata, left) => {
    const pod = await createPod('a', { ephemeral: { volumeClaimTemplate: { spec: {} } } }, 'n1', metadata)
    await client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', name: 'a-v', ...(isOwned ? { ownerReferences: [controllerRef(pod)] } : {}) },
    })
    await environment.clock.settle()
    await client.delete(persistentVolumeClaims, { namespace: 'default', name: 'a-v' })
    await environment.clock.settle()
    expect(client.stored(persistentVolumeClaims)).toHaveLength(left)
  })

  it.each([
    ['does not wait for a pod that is done and waits for a claim that it was given', true, done, 0],
    ['waits for one that is not done yet', true, { ...done, deletionGracePeriodSeconds: 30 }, 1],
    ['waits for one that has nothing to wait for', false, done, 1],
  ])('%s', async (_, isOwned, metadata, left) => {
    const pod = await createPod('a', usingClaim, 'n1', metadata)
    await client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...key, ...(isOwned ? { ownerReferences: [controllerRef(pod)] } : {}) },
    })
    expect(await deleteClaim()).toBe(left)
  })

  it('protects a claim that nobody has protected', async () => {
    await createClaim(['example.com/mine'])
    await environment.clock.settle()
    expect(client.stored(persistentVolumeClaims)[0]?.metadata.finalizers).toEqual([
      'example.com/mine',
      'kubernetes.io/pvc-protection',
    ])
  })

  it('asks the server for pods that its cache does not know of yet', async () => {
    await createClaim()
    await environment.clock.settle()
    const list = client.list.bind(client)
    const unseen = { spec: { nodeName: 'n1', volumes: [{ name: 'v', ...usingClaim }] }, metadata: { name: 'unseen' } }
    client.list = (async (resource: typeof pods, options: object) =>
      resource.plural === 'pods' ? { metadata: {}, items: [unseen] } : list(resource, options)) as typeof client.list
    expect(await deleteClaim()).toBe(1)
  })

  it('leaves the finalizers of others', async () => {
    await createClaim(['example.com/mine', 'kubernetes.io/pvc-protection'])
    expect(await deleteClaim()).toBe(1)
    expect(client.stored(persistentVolumeClaims)[0]?.metadata.finalizers).toEqual(['example.com/mine'])
  })
})

describe('the protection of volumes', () => {
  it('protects a volume that nobody has protected', async () => {
    await client.create<PersistentVolume>(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv' },
    })
    await environment.clock.settle()
    expect(client.stored(persistentVolumes)[0]?.metadata.finalizers).toEqual(['kubernetes.io/pv-protection'])
  })

  it.each([
    ['Bound', 1],
    ['Released', 0],
    ['Available', 0],
  ] as const)('of a volume that is %s leaves %i', async (phase, left) => {
    await client.create<PersistentVolume>(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv', finalizers: ['kubernetes.io/pv-protection'] },
      status: { phase },
    })
    await environment.clock.settle()
    await client.delete(persistentVolumes, { name: 'pv' })
    await environment.clock.settle()
    expect(client.stored(persistentVolumes)).toHaveLength(left)
  })
})
