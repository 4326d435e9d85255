import {
  ApiError,
  events,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageClasses,
} from '@coracle/api'
import { ConnectionError } from '@coracle/client'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createVolumePhaseController } from '../persistent-volume-phase/controller.ts'
import { atWork } from '../testing/at-work.ts'
import { pod } from '../testing/objects.ts'
import { claim, claimedBy, storageClass, volume } from '../testing/volumes.ts'
import { createVolumeBinder } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork(() => [createVolumeBinder(), createVolumePhaseController()]))
})

const settle = () => environment.clock.settle()

/** Without what the API gives objects. */
function bare<T extends { readonly metadata: object }>({ metadata, ...rest }: T): T {
  const { uid: _, resourceVersion: __, ...left } = metadata as Record<string, unknown>
  return { ...rest, metadata: left } as unknown as T
}

const createVolume = (of: PersistentVolume) => client.create(persistentVolumes, bare(of))
const createClaim = (of: PersistentVolumeClaim, name = 'data') => {
  const { metadata, ...rest } = bare(of)
  return client.create(persistentVolumeClaims, { ...rest, metadata: { ...metadata, name } })
}
const createClass = (of: StorageClass) => client.create(storageClasses, of)
const claimNow = (name = 'data') => client.get(persistentVolumeClaims, { namespace: 'default', name })
const phases = () => client.stored(persistentVolumes).map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)
const reasons = async () => {
  await environment.clock.advance('1s')
  return client.stored(events).map(({ reason }) => reason)
}

describe('volumes and claims', () => {
  it('get each other, whichever is there first', async () => {
    await createClaim(claim())
    await settle()
    expect((await claimNow()).status).toEqual({ phase: 'Pending' })
    await createVolume(volume('a'))
    await settle()
    expect(await claimNow()).toMatchObject({ spec: { volumeName: 'a' }, status: { phase: 'Bound' } })
    expect(phases()).toEqual(['a Bound'])
  })

  it('get each other one to one, though many come at once, and nobody fights over one', async () => {
    for (let index = 0; index < 50; index++) await createVolume(volume(`v${index}`))
    await settle()
    await Promise.all(Array.from({ length: 50 }, (_, index) => createClaim(claim(), `c${index}`)))
    const before = client.calls.length
    await settle()
    const names = client.stored(persistentVolumeClaims).map(({ spec }) => spec?.volumeName)
    expect(new Set(names).size).toBe(50)
    // Two writes of each, and a status of each: with conflicts there would be more.
    const writes = client.calls.slice(before).filter(({ verb }) => verb === 'update' || verb === 'patch')
    expect(writes).toHaveLength(200)
  })

  it('are not told to be bound before they are', async () => {
    let failures = 0
    client.intercept(({ verb, plural, subresource }) => {
      const isNaming = verb === 'patch' && plural === 'persistentvolumeclaims' && subresource === undefined
      if (isNaming && failures++ === 0) throw new ConnectionError('the connection was lost')
    })
    await createVolume(volume('a'))
    await createClaim(claim())
    const namedWhenTold: unknown[] = []
    client.intercept(async ({ verb, plural, subresource }) => {
      const isTold = verb === 'update' && plural === 'persistentvolumeclaims' && subresource === 'status'
      if (isTold) namedWhenTold.push((await claimNow()).spec?.volumeName)
    })
    await environment.clock.advance('1m')
    expect(failures).toBe(2)
    expect(namedWhenTold).toEqual(['a'])
    expect((await claimNow()).status?.phase).toBe('Bound')
  })

  it('get each other where the claim has changed meanwhile, though the volume stays as it was', async () => {
    let failures = 0
    client.intercept(({ verb, plural, subresource }) => {
      const isNaming = verb === 'patch' && plural === 'persistentvolumeclaims' && subresource === undefined
      if (isNaming && failures++ === 0) throw new ApiError(409, 'Conflict', 'the object has been modified')
    })
    const { metadata } = await createClaim(claim({ storageClassName: 'quick' }))
    await createVolume(volume('made', { storageClassName: 'quick', ...claimedBy(metadata.uid) }))
    await environment.clock.advance('1m')
    expect(failures).toBeGreaterThan(1)
    expect(await claimNow()).toMatchObject({ spec: { volumeName: 'made' }, status: { phase: 'Bound' } })
  })

  it('part when the claim goes, and the data stays until somebody has looked at it', async () => {
    await createVolume(volume('a'))
    await createClaim(claim())
    await settle()
    await client.delete(persistentVolumeClaims, { namespace: 'default', name: 'data' })
    await settle()
    expect(phases()).toEqual(['a Released'])
    await createClaim(claim())
    await settle()
    expect((await claimNow()).status?.phase).toBe('Pending')
    await client.patch(persistentVolumes, { name: 'a' }, { type: 'merge', body: { spec: { claimRef: null } } })
    await settle()
    expect(await claimNow()).toMatchObject({ spec: { volumeName: 'a' }, status: { phase: 'Bound' } })
  })

  it('are lost to each other when the volume goes', async () => {
    await createVolume(volume('a'))
    await createClaim(claim())
    await settle()
    await client.delete(persistentVolumes, { name: 'a' })
    expect(await reasons()).toEqual(['ClaimLost'])
    expect((await claimNow()).status).toEqual({ phase: 'Lost' })
  })

  it('are not parted because a cache has yet to show the claim', async () => {
    client.holdWatches(persistentVolumeClaims)
    const { metadata } = await createClaim(claim({ volumeName: 'a' }))
    await createVolume(volume('a', claimedBy(metadata.uid)))
    await settle()
    expect(phases()).toEqual(['a Bound'])
    client.releaseWatches()
    await settle()
    expect((await claimNow()).status?.phase).toBe('Bound')
  })

  it('are bound where a scheduler has chosen the volume', async () => {
    await createClass(storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' }))
    await createVolume(volume('a', { storageClassName: 'late' }))
    const { metadata } = await createClaim(claim({ storageClassName: 'late' }))
    expect(await reasons()).toEqual(['WaitForFirstConsumer'])
    const claimRef = { namespace: 'default', name: 'data', uid: metadata.uid }
    await client.patch(persistentVolumes, { name: 'a' }, { type: 'merge', body: { spec: { claimRef } } })
    await settle()
    expect(await claimNow()).toMatchObject({ spec: { volumeName: 'a' }, status: { phase: 'Bound' } })
  })

  it('wait for the pod that is there now to get a node', async () => {
    await createClass(storageClass('late', { volumeBindingMode: 'WaitForFirstConsumer' }))
    await createClaim(claim({ storageClassName: 'late' }))
    await settle()
    const of = pod('web')
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    await client.create(pods, bare({ ...of, spec: { ...of.spec, volumes } }))
    expect(await reasons()).toEqual(['WaitForFirstConsumer', 'WaitForPodScheduled'])
  })

  it('wait for a class that comes later, and take the default one when there is one', async () => {
    await createClaim(claim({ storageClassName: 'disks' }), 'named')
    await createClaim(claim(), 'unnamed')
    await settle()
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    await createClass(storageClass('disks', { metadata: { name: 'disks', annotations } }))
    await settle()
    const provisioner = { annotations: { 'volume.kubernetes.io/storage-provisioner': 'example.com/disks' } }
    expect(await claimNow('named')).toMatchObject({ metadata: provisioner })
    expect(await claimNow('unnamed')).toMatchObject({ metadata: provisioner, spec: { storageClassName: 'disks' } })
  })
})
