import { type PersistentVolume, type PersistentVolumeClaim, volumeAnnotations } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { secondsAgo } from '../testing/objects.ts'
import { claim, claimedBy, inPhase, volume } from '../testing/volumes.ts'
import { planVolume } from './plan.ts'

const now = secondsAgo(0)
const provisioned = { annotations: { [volumeAnnotations.provisionedBy]: 'example.com/disks' } }
const byController = { annotations: { [volumeAnnotations.boundByController]: 'yes' } }
const free = volume('a')
const owned = volume('a', claimedBy('data'))
const ofMine = { ...claimedBy('data'), persistentVolumeReclaimPolicy: 'Delete' } as const
const naming = claim({ volumeName: 'a' })

describe('a volume', () => {
  it.each<readonly [string, PersistentVolume, PersistentVolumeClaim | undefined, string | undefined]>([
    ['is free where it is new', inPhase('Pending', free), undefined, 'Available'],
    ['stays free', free, undefined, undefined],
    ['is free again where its claim was taken off by hand', inPhase('Released', free), undefined, 'Available'],
    ['is free while it is kept for a claim', inPhase('Pending', volume('a', claimedBy())), undefined, 'Available'],
    ['is bound to the claim that has it', owned, naming, 'Bound'],
    ['stays bound', inPhase('Bound', owned), naming, undefined],
    ['is bound again where it was let go by mistake', inPhase('Released', owned), naming, 'Bound'],
    ['waits for the claim that is being bound to it', owned, claim(), undefined],
    ['is let go by a claim that is gone', inPhase('Bound', owned), undefined, 'Released'],
    ['stays let go', inPhase('Released', owned), undefined, undefined],
    ['is let go for its provisioner to delete it', volume('a', ofMine, provisioned), undefined, 'Released'],
    ['stays failed', inPhase('Failed', volume('a', ofMine, provisioned)), undefined, undefined],
    [
      'is let go where it was made for a claim that got another',
      volume('a', ofMine, provisioned),
      claim({ volumeName: 'b' }),
      'Released',
    ],
  ])('%s', (_, of, its, phase) => {
    const plan = planVolume(of, its, now)
    expect(plan.actions).toEqual([])
    expect(plan.status).toEqual(phase === undefined ? undefined : { phase, lastPhaseTransitionTime: now })
  })

  it.each<readonly [string, PersistentVolume, string, string]>([
    [
      'was made by nobody who would delete it',
      volume('a', ofMine),
      'VolumeFailedDelete',
      'error getting deleter volume plugin for volume "a": no deletable volume plugin matched',
    ],
    [
      'is a directory that is not to be deleted by itself',
      volume('a', { ...ofMine, hostPath: { path: '/data' } }),
      'VolumeFailedDelete',
      'host_path deleter only supports /tmp/.+ but received provided /data',
    ],
    [
      'is to be recycled, which nobody does',
      volume('a', { ...ofMine, persistentVolumeReclaimPolicy: 'Recycle' }),
      'VolumeFailedRecycle',
      'No recycler plugin found for the volume!',
    ],
  ])('fails to be reclaimed where it %s, and says so once', (_, of, reason, message) => {
    const { actions, status } = planVolume(of, undefined, now)
    expect(actions).toMatchObject([{ type: 'event', eventType: 'Warning', reason, message }])
    expect(status).toEqual({ phase: 'Failed', message, lastPhaseTransitionTime: now })
    expect(planVolume({ ...of, status: { phase: 'Failed', message } }, undefined, now)).toEqual({ actions: [] })
  })

  it.each<readonly [string, PersistentVolume, object]>([
    [
      'is free where a controller had chosen it',
      volume('a', claimedBy('data'), byController),
      { metadata: { annotations: { [volumeAnnotations.boundByController]: null } }, spec: { claimRef: null } },
    ],
    ['waits for it again where it was kept for it by hand', owned, { spec: { claimRef: { uid: null } } }],
  ])('whose claim has another %s', (_, of, body) => {
    const { actions, status } = planVolume(inPhase('Bound', of), claim({ volumeName: 'b' }), now)
    expect(actions).toMatchObject([{ type: 'patch', key: { name: 'a' }, patch: { body } }])
    expect(status).toMatchObject({ phase: 'Available' })
  })

  it('that is kept for a claim of another mode tells both', () => {
    const { actions, status } = planVolume(volume('a', { ...claimedBy('data'), volumeMode: 'Block' }), claim(), now)
    expect(status).toBeUndefined()
    expect(actions).toMatchObject([
      {
        reason: 'VolumeMismatch',
        message: expect.stringContaining('requested PersistentVolumeClaim "data" due to incompatible volumeMode'),
      },
      { reason: 'VolumeMismatch', about: { kind: 'PersistentVolumeClaim' } },
    ])
  })
})
