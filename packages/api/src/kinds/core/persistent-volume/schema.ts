import { kindSchema } from '../../../meta.ts'
import { atomicList, granular, literal, object, optional, pointer, string, time } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { nodeSelector, objectReference, resourceList } from '../common.ts'
import { hostPathVolumeSource } from '../pod/volume.ts'
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from '../pod/volume-sources.ts'
import {
  azureFilePersistentVolumeSource,
  cephFsPersistentVolumeSource,
  cinderPersistentVolumeSource,
  csiPersistentVolumeSource,
  flexPersistentVolumeSource,
  glusterfsPersistentVolumeSource,
  iscsiPersistentVolumeSource,
  localVolumeSource,
  rbdPersistentVolumeSource,
  scaleIoPersistentVolumeSource,
  storageOsPersistentVolumeSource,
} from './volume-sources.ts'

/** How storage may be used, and from how many places. */
export type AccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod'

export interface VolumeNodeAffinity extends Infer<typeof volumeNodeAffinity> {}
export const volumeNodeAffinity = object(`${coreV1}.VolumeNodeAffinity`, 'From which nodes a volume can be used.', {
  required: optional(nodeSelector, 'The nodes from which it can be used.'),
})

/** In the order in which upstream looks at them: the first one there is checked, further ones are too many. */
export const persistentVolumeSourceNames = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const

export interface PersistentVolumeSpec extends Infer<typeof persistentVolumeSpec> {}
export const persistentVolumeSpec = object(
  `${coreV1}.PersistentVolumeSpec`,
  'What a volume is.',
  {
    capacity: optional(resourceList, 'How large it is.'),
    accessModes: optional(atomicList(literal<AccessMode>()), 'How it may be used, and from how many places.'),
    claimRef: optional(granular(objectReference), 'The claim that has the volume, or for which it is kept.'),
    persistentVolumeReclaimPolicy: optional(
      literal<'Delete' | 'Recycle' | 'Retain'>(),
      'What becomes of it when its claim is gone: Retain unless set, Delete, or Recycle, which nobody does any longer.',
      { default: 'Retain' },
    ),
    storageClassName: optional(string(), 'Class of storage it belongs to; none unless set.'),
    mountOptions: optional(atomicList(string()), 'Options with which it is mounted. They are not checked.'),
    volumeMode: pointer(literal<'Filesystem' | 'Block'>(), 'With a file system, or as a raw block device.', {
      default: 'Filesystem',
    }),
    nodeAffinity: optional(volumeNodeAffinity, 'From which nodes it can be used; from all unless set.'),
    volumeAttributesClassName: pointer(string(), 'Class of attributes that it was made with, or was changed to.'),
    awsElasticBlockStore: optional(awsElasticBlockStoreVolumeSource, 'A disk of AWS, by way of its CSI driver.'),
    azureDisk: optional(azureDiskVolumeSource, 'A disk of Azure, by way of its CSI driver.'),
    azureFile: optional(azureFilePersistentVolumeSource, 'A share of Azure Files, by way of its CSI driver.'),
    cephfs: optional(cephFsPersistentVolumeSource, 'A CephFS file system. No longer supported.'),
    cinder: optional(cinderPersistentVolumeSource, 'A volume of OpenStack, by way of its CSI driver.'),
    csi: optional(csiPersistentVolumeSource, 'A volume of a CSI driver.'),
    fc: optional(fcVolumeSource, 'A Fibre Channel device.'),
    flexVolume: optional(flexPersistentVolumeSource, 'A volume from a FlexVolume plugin. Use CSI instead.'),
    flocker: optional(flockerVolumeSource, 'A dataset of Flocker. No longer supported.'),
    gcePersistentDisk: optional(gcePersistentDiskVolumeSource, 'A disk of Google, by way of its CSI driver.'),
    glusterfs: optional(glusterfsPersistentVolumeSource, 'A GlusterFS volume. No longer supported.'),
    hostPath: optional(hostPathVolumeSource, 'A directory of whatever node it is used on.'),
    iscsi: optional(iscsiPersistentVolumeSource, 'An iSCSI disk.'),
    local: optional(localVolumeSource, 'A disk or a directory of one node.'),
    nfs: optional(nfsVolumeSource, 'A directory of an NFS server.'),
    photonPersistentDisk: optional(
      photonPersistentDiskVolumeSource,
      'A disk of the Photon Controller. No longer supported.',
    ),
    portworxVolume: optional(portworxVolumeSource, 'A Portworx volume, by way of its CSI driver.'),
    quobyte: optional(quobyteVolumeSource, 'A Quobyte volume. No longer supported.'),
    rbd: optional(rbdPersistentVolumeSource, 'A block device of Ceph. No longer supported.'),
    scaleIO: optional(scaleIoPersistentVolumeSource, 'A ScaleIO volume. No longer supported.'),
    storageos: optional(storageOsPersistentVolumeSource, 'A StorageOS volume. No longer supported.'),
    vsphereVolume: optional(vsphereVirtualDiskVolumeSource, 'A disk of vSphere, by way of its CSI driver.'),
  },
  { alternatives: persistentVolumeSourceNames },
)

export interface PersistentVolumeStatus extends Infer<typeof persistentVolumeStatus> {}
export const persistentVolumeStatus = object(`${coreV1}.PersistentVolumeStatus`, 'Where a volume is in its life.', {
  phase: optional(
    literal<'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed'>(),
    'Pending, Available, Bound to a claim, Released by one that is gone, or Failed to be reclaimed.',
    { default: 'Pending' },
  ),
  message: optional(string(), 'Why it is so, in a sentence.'),
  reason: optional(string(), 'Why it is so, in one CamelCase word.'),
  lastPhaseTransitionTime: optional(time, 'When the phase last changed.'),
})

/** A piece of storage in the cluster. */
export interface PersistentVolume extends Infer<typeof persistentVolumeSchema> {}
export const persistentVolumeSchema = kindSchema(
  `${coreV1}.PersistentVolume`,
  'A piece of storage that outlives pods. Claims get hold of it.',
  {
    spec: optional(persistentVolumeSpec, 'What the volume is.', { default: {} }),
    status: optional(persistentVolumeStatus, 'Where the volume is in its life.', { default: {} }),
  },
)
