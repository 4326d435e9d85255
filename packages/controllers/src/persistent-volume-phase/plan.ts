import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeStatus,
  persistentVolumes,
  volumeAnnotations,
  volumeModeOf,
} from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'

type VolumePlan = Plan<PersistentVolumeStatus>
type Phase = NonNullable<PersistentVolumeStatus['phase']>

/**
 * Where a volume is in its life: nobody's, a claim's, or let go by one that is gone and to be reclaimed (upstream's syncVolume).
 * `claim` is the one that its reference names, undefined where that is gone or another of the same name is there. Pure.
 */
export function planVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
  now: string,
): VolumePlan {
  const { claimRef } = volume.spec ?? {}
  // Kept for a claim that has yet to take it: that is up to the claim.
  if (claimRef === undefined || !claimRef.uid) return inPhase(volume, 'Available', now)
  if (claim === undefined) return released(volume, now)
  const { volumeName } = claim.spec ?? {}
  if (volumeName === volume.metadata.name) return inPhase(volume, 'Bound', now)
  if (!volumeName) return isForAnotherMode(volume, claim) ? { actions: tellOfMode(volume, claim) } : { actions: [] }
  const isMadeForIt = isProvisioned(volume) && volume.spec?.persistentVolumeReclaimPolicy === 'Delete'
  return isMadeForIt ? released(volume, now) : letGo(volume, claim, now)
}

/** Whether the phase says already that the volume is nobody's any more. */
export const isReleased = ({ status }: PersistentVolume): boolean =>
  status?.phase === 'Released' || status?.phase === 'Failed'

/** Whoever made it deletes it, too. */
const isProvisioned = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[volumeAnnotations.provisionedBy] !== undefined

function inPhase(volume: PersistentVolume, phase: Phase, now: string, message?: string): VolumePlan {
  const { message: before, reason: _, ...status } = volume.status ?? {}
  if (status.phase === phase && before === message) return { actions: [] }
  const told = message === undefined ? {} : { message }
  const since = status.phase === phase ? {} : { lastPhaseTransitionTime: now }
  return { actions: [], status: { ...status, phase, ...told, ...since } }
}

/** Its claim is gone. What becomes of it its policy says; that it failed before stays to be seen. */
function released(volume: PersistentVolume, now: string): VolumePlan {
  const policy = volume.spec?.persistentVolumeReclaimPolicy
  if (policy === 'Recycle')
    return failed(volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!', now)
  if (policy === 'Delete' && !isProvisioned(volume)) {
    return failed(volume, 'VolumeFailedDelete', whyNotDeleted(volume), now)
  }
  // One that was provisioned is deleted by its provisioner, which waits for this phase.
  return isReleased(volume) ? { actions: [] } : inPhase(volume, 'Released', now)
}

/** Nobody made it who would delete it. Of a directory upstream says which it would, as if it were one of those. */
function whyNotDeleted({ metadata, spec }: PersistentVolume): string {
  const path = spec?.hostPath?.path
  if (path !== undefined && !/^\/tmp\/./.test(path)) {
    return `host_path deleter only supports /tmp/.+ but received provided ${path}`
  }
  return `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: no deletable volume plugin matched`
}

function failed(volume: PersistentVolume, reason: string, message: string, now: string): VolumePlan {
  if (volume.status?.phase === 'Failed') return { actions: [] }
  const event: Action = { type: 'event', eventType: 'Warning', reason, message, because: 'its claim is gone' }
  return { ...inPhase(volume, 'Failed', now, message), actions: [event] }
}

/** Its claim has another volume. It is free again, or waits again for the claim that it was made for by hand. */
function letGo(volume: PersistentVolume, claim: PersistentVolumeClaim, now: string): VolumePlan {
  const { name = '', uid, resourceVersion, annotations } = volume.metadata
  const isOurs = annotations?.[volumeAnnotations.boundByController] !== undefined
  const metadata = { uid, resourceVersion }
  const body = isOurs
    ? {
        metadata: { ...metadata, annotations: { [volumeAnnotations.boundByController]: null } },
        spec: { claimRef: null },
      }
    : { metadata, spec: { claimRef: { uid: null } } }
  const action: Action = {
    type: 'patch',
    resource: persistentVolumes,
    key: { name },
    patch: { type: 'merge', body },
    because: `claim ${claim.metadata.name} is bound to volume ${claim.spec?.volumeName}`,
  }
  return { ...inPhase(volume, 'Available', now), actions: [action] }
}

const isForAnotherMode = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volumeModeOf(volume) !== volumeModeOf(claim)

function tellOfMode({ metadata: { name } }: PersistentVolume, claim: PersistentVolumeClaim): readonly Action[] {
  const mismatch = {
    type: 'event',
    eventType: 'Warning',
    reason: 'VolumeMismatch',
    because: 'their modes differ',
  } as const
  const claimName = JSON.stringify(claim.metadata.name)
  const ofVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${claimName} due to incompatible volumeMode.`
  const ofClaim = `Cannot bind PersistentVolume ${JSON.stringify(name)} to requested PersistentVolumeClaim due to incompatible volumeMode.`
  return [
    { ...mismatch, message: ofVolume },
    { ...mismatch, message: ofClaim, about: claim },
  ]
}
