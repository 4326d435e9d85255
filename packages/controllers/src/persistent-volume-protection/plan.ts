import {
  type PersistentVolume,
  type PersistentVolumeStatus,
  persistentVolumes,
  protectionFinalizers,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

const { volume: finalizer } = protectionFinalizers

/** Has every volume wait for the claim that has it, and lets one go once none does. Pure. */
export function planVolumeProtection(volume: PersistentVolume): Plan<PersistentVolumeStatus> {
  const { name = '', finalizers = [] } = volume.metadata
  const isProtected = hasFinalizer(volume, finalizer)
  const change = (wanted: readonly string[], because: string): Plan<PersistentVolumeStatus> => ({
    actions: [
      { type: 'patch', resource: persistentVolumes, key: { name }, patch: finalizersPatch(volume, wanted), because },
    ],
  })
  if (!isBeingDeleted(volume)) {
    return isProtected ? { actions: [] } : change([...finalizers, finalizer], 'a claim may have the volume')
  }
  if (!isProtected || volume.status?.phase === 'Bound') return { actions: [] }
  return change(
    finalizers.filter((each) => each !== finalizer),
    'no claim has the volume',
  )
}
