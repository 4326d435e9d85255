import {
  events,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
} from '@coracle/api'
import { expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createVolumeExpansionController } from './controller.ts'

const key = { namespace: 'default', name: 'data' }
const claimOf = (storage: string, phase = 'Bound', capacity = '1Gi'): PersistentVolumeClaim =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...key, uid: 'claim' },
    spec: { volumeName: 'pv', resources: { requests: { storage } } },
    status: { phase, capacity: { storage: capacity } },
  }) as PersistentVolumeClaim

/** What is told of a claim that asks for 1Gi at first, and then is changed. */
async function told(before: PersistentVolumeClaim, body: object, isOwn = true) {
  const { environment, client } = await atWork(() => [createVolumeExpansionController()])
  const { metadata } = await client.create(persistentVolumeClaims, before)
  await client.create<PersistentVolume>(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { claimRef: { ...key, uid: isOwn ? metadata.uid : 'other' } },
  })
  await environment.clock.settle()
  await client.patch(persistentVolumeClaims, key, { type: 'merge', body })
  await environment.clock.advance('1m')
  return client.stored(events).map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
}

const grown = { spec: { resources: { requests: { storage: '2Gi' } } } }
const waits = 'Normal ExternalExpanding: waiting for an external controller to expand this PVC'

it.each<[string, PersistentVolumeClaim, object, boolean, readonly string[]]>([
  ['asks for more than it has', claimOf('1Gi'), grown, true, [waits]],
  ['asks for what it has', claimOf('1Gi', 'Bound', '2Gi'), grown, true, []],
  ['is labelled', claimOf('1Gi'), { metadata: { labels: { a: 'b' } } }, true, []],
  ['is not bound', claimOf('1Gi', 'Pending'), grown, true, []],
  ['names a volume that is another’s', claimOf('1Gi'), grown, false, []],
])('a claim that %s', async (_, before, body, isOwn, expected) => {
  expect(await told(before, body, isOwn)).toEqual(expected)
})
