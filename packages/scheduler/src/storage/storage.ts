import type {
  CsiDriver,
  CsiNode,
  CsiStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
} from '@coracle/api'

/** Claims, volumes and what they are made from, as the scheduler knows them: with what it has decided and the API does not show yet. */
export interface Storage {
  claim(namespace: string | undefined, name: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  storageClass(name: string): StorageClass | undefined
  /** Volumes that nobody has, or that are kept for a claim which has yet to take them, of a class; an empty name stands for none. */
  unboundVolumes(className: string): readonly PersistentVolume[]
  csiNode(name: string): CsiNode | undefined
  /** What is attached to a node, or is to be. */
  attachments(nodeName: string): readonly VolumeAttachment[]
  csiDriver(name: string): CsiDriver | undefined
  /** What a driver says is left of the storage for volumes of a class. */
  capacities(className: string): readonly CsiStorageCapacity[]
}
