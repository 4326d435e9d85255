import { persistentVolumeClaims, persistentVolumes, protectionFinalizers } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'
import { creates } from './stored-objects.ts'

/** Claims and volumes are held by a finalizer: the protection controllers take it off when nobody uses them. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  concerns: (target) => creates(target, persistentVolumeClaims) || creates(target, persistentVolumes),
  mutate(attributes, object) {
    const finalizer = creates(attributes, persistentVolumeClaims)
      ? protectionFinalizers.claim
      : protectionFinalizers.volume
    if (object === undefined) return object
    const { finalizers = [] } = object.metadata
    if (finalizers.includes(finalizer)) return object
    return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } }
  },
}
