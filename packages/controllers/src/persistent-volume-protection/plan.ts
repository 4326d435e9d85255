import {
  type PersistentVolume,
  type PersistentVolumeStatus,
  persistentVolumes,
  protectionFinalizers,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

/** Lets a volume go once no claim has it. Pure. */
export function planVolumeProtection(volume: PersistentVolume): Plan<PersistentVolumeStatus> {
  const { volume: finalizer } = protectionFinalizers
  const isBound = volume.status?.phase === 'Bound'
  if (!isBeingDeleted(volume) || !hasFinalizer(volume, finalizer) || isBound) return { actions: [] }
  const { name = '', finalizers = [] } = volume.metadata
  const left = finalizers.filter((each) => each !== finalizer)
  const patch = finalizersPatch(volume, left)
  return {
    actions: [{ type: 'patch', resource: persistentVolumes, key: { name }, patch, because: 'no claim has the volume' }],
  }
}
