import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@coracle/api'

type Spec<T extends { readonly spec?: unknown }> = Partial<NonNullable<T['spec']>>
type Metadata = Partial<PersistentVolume['metadata']>

/** A volume of 10 Gi that one node can write to, as it was made; its UID is its name. */
export function volume(name: string, spec: Spec<PersistentVolume> = {}, metadata: Metadata = {}): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, uid: name, resourceVersion: '1', ...metadata },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
    status: { phase: 'Available' },
  }
}

/** The same in another phase. */
export function inPhase(phase: 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed', of: PersistentVolume) {
  return { ...of, status: { phase } }
}

/** What a claim `data` that is called by its name, and by its UID if there is one, makes of the spec of a volume. */
export const claimedBy = (uid?: string): Spec<PersistentVolume> => ({
  claimRef: { namespace: 'default', name: 'data', ...(uid === undefined ? {} : { uid }) },
})

/** A claim `data` to 5 Gi of storage that one node can write to; its UID is its name. */
export function claim(
  spec: Spec<PersistentVolumeClaim> = {},
  annotations?: Record<string, string>,
): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data', uid: 'data', resourceVersion: '1', annotations },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
    status: { phase: 'Pending' },
  }
}

/** A class whose volumes `example.com/disks` makes. */
export function storageClass(name: string, more: Partial<StorageClass> = {}): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/disks',
    ...more,
  }
}
