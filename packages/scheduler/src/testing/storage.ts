import type {
  CsiNode,
  CsiStorageCapacity,
  KubernetesObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttachment,
} from '@coracle/api'
import type { Storage } from '../storage/storage.ts'
import { makePod } from './objects.ts'

type Spec<T extends { readonly spec?: unknown }> = Partial<NonNullable<T['spec']>>

/** What there is of storage, in namespace `default`. */
export interface StorageContent {
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly volumes?: readonly PersistentVolume[]
  readonly classes?: readonly StorageClass[]
  readonly csiNodes?: readonly CsiNode[]
  readonly attachments?: readonly VolumeAttachment[]
  readonly capacities?: readonly CsiStorageCapacity[]
  /** Names of CSI drivers that say how much room there is. */
  readonly measuring?: readonly string[]
}

/** Storage that does not change. */
export function makeStorage(content: StorageContent): Storage {
  const { claims = [], volumes = [], classes = [], csiNodes = [], capacities = [], measuring = [] } = content
  const { attachments = [] } = content
  const named = <T extends KubernetesObject>(all: readonly T[], name: string) =>
    all.find(({ metadata }) => metadata.name === name)
  return {
    claim: (_, name) => named(claims, name),
    volume: (name) => named(volumes, name),
    storageClass: (name) => named(classes, name),
    unboundVolumes: (className) => volumes.filter(({ spec }) => (spec?.storageClassName ?? '') === className),
    csiNode: (name) => named(csiNodes, name),
    attachments: (nodeName) => attachments.filter(({ spec }) => spec.nodeName === nodeName),
    csiDriver: (name) =>
      measuring.includes(name)
        ? { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec: { storageCapacity: true } }
        : undefined,
    capacities: (className) => capacities.filter(({ storageClassName }) => storageClassName === className),
  }
}

/** A pod that uses these claims. */
export const podUsing = (claims: readonly string[], name?: string): Pod =>
  makePod({ volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) }, name)

/** A claim to 5 Gi; bound to the volume where one is named. */
export function makeClaim(
  name: string,
  spec: Spec<PersistentVolumeClaim> = {},
  metadata: object = {},
): PersistentVolumeClaim {
  const annotations = spec.volumeName === undefined ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1', annotations, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
    status: { phase: spec.volumeName === undefined ? 'Pending' : 'Bound' },
  }
}

/** A volume of 10 Gi that nobody has, of the class `late`. */
export function makeVolume(
  name: string,
  spec: Spec<PersistentVolume> = {},
  labels?: Record<string, string>,
): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'late', ...spec },
    status: { phase: 'Available' },
  }
}

/** What keeps a volume to nodes of this host name. */
export const onHost = (...hosts: readonly string[]): Spec<PersistentVolume> => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: hosts }] }],
    },
  },
})

/** A class whose claims wait for a pod. */
export const lateClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/disks',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
})
