import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttributesClasses,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createAttributesClassProtectionController } from './controller.ts'

let environment: VirtualEnvironment
let client: FakeClient

beforeEach(async () => {
  ;({ environment, client } = await atWork(() => [createAttributesClassProtectionController()]))
  await client.create(volumeAttributesClasses, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    metadata: { name: 'gold', finalizers: ['example.com/mine'] },
    driverName: 'csi.example.com',
  })
  await environment.clock.settle()
})

const claim = (spec: object, status: object = {}): PersistentVolumeClaim =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
    spec,
    status,
  }) as PersistentVolumeClaim
const volume = (volumeAttributesClassName: string): PersistentVolume =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { volumeAttributesClassName },
  }) as never

const finalizers = () => client.stored(volumeAttributesClasses)[0]?.metadata.finalizers
const deleteClass = async () => {
  await client.delete(volumeAttributesClasses, { name: 'gold' })
  await environment.clock.settle()
  return finalizers()
}
const held = ['example.com/mine', 'kubernetes.io/vac-protection']
const free = ['example.com/mine']

it('protects a class beside what others say of it', () => {
  expect(finalizers()).toEqual(held)
})

it.each<[string, PersistentVolumeClaim, readonly string[]]>([
  ['asks for it', claim({ volumeAttributesClassName: 'gold' }), held],
  ['has it', claim({ volumeAttributesClassName: 'silver' }, { currentVolumeAttributesClassName: 'gold' }), held],
  [
    'is being changed to it',
    claim({}, { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold', status: 'InProgress' } }),
    held,
  ],
  ['names another', claim({ volumeAttributesClassName: 'silver' }), free],
])('of a class that is to go, where a claim %s', async (_, named, left) => {
  await client.create(persistentVolumeClaims, named)
  expect(await deleteClass()).toEqual(left)
})

it('lets a class go when the last volume and the last claim that name it do, or name another', async () => {
  await client.create(persistentVolumeClaims, claim({ volumeAttributesClassName: 'gold' }))
  await client.create(persistentVolumes, volume('gold'))
  expect(await deleteClass()).toEqual(held)
  await client.delete(persistentVolumes, { name: 'pv' })
  await environment.clock.settle()
  expect(finalizers()).toEqual(held)
  const body = { spec: { volumeAttributesClassName: 'silver' } }
  await client.patch(persistentVolumeClaims, { namespace: 'default', name: 'data' }, { type: 'merge', body })
  await environment.clock.settle()
  expect(finalizers()).toEqual(free)
})
