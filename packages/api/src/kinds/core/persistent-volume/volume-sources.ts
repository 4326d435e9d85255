/**
 * Sources of PersistentVolumes that differ from those of pods: a volume has no namespace, so it says in which one its
 * secrets are.
 */
import { atomicList, boolean, int32, object, optional, required, string, stringMap } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { objectReference, secretReference } from '../common.ts'
import { fsType, readOnly } from '../pod/volume-sources.ts'

export interface AzureFilePersistentVolumeSource extends Infer<typeof azureFilePersistentVolumeSource> {}
export const azureFilePersistentVolumeSource = object(
  `${coreV1}.AzureFilePersistentVolumeSource`,
  'A share of Azure Files.',
  {
    secretName: required(string(), 'Secret with the name and the key of the storage account.'),
    shareName: required(string(), 'Name of the share.'),
    readOnly,
    secretNamespace: optional(string(), 'Namespace of the secret; the claim’s unless set.'),
  },
)

export interface CephFsPersistentVolumeSource extends Infer<typeof cephFsPersistentVolumeSource> {}
export const cephFsPersistentVolumeSource = object(`${coreV1}.CephFSPersistentVolumeSource`, 'A CephFS file system.', {
  monitors: required(atomicList(string()), 'Addresses of the Ceph monitors.'),
  path: optional(string(), 'Directory to mount; the root unless set.'),
  user: optional(string(), 'RADOS user; admin unless set.'),
  secretFile: optional(string(), 'File on the node with the key of the user.'),
  secretRef: optional(secretReference, 'Secret with the key of the user, instead of secretFile.'),
  readOnly,
})

export interface CinderPersistentVolumeSource extends Infer<typeof cinderPersistentVolumeSource> {}
export const cinderPersistentVolumeSource = object(
  `${coreV1}.CinderPersistentVolumeSource`,
  'A volume of OpenStack Cinder.',
  {
    volumeID: required(string(), 'ID of the volume.'),
    fsType: fsType(),
    readOnly,
    secretRef: optional(secretReference, 'Secret with what is needed to reach OpenStack.'),
  },
)

const secretFor = (purpose: string) => optional(secretReference, `Secret handed to the driver when ${purpose}.`)

export interface CsiPersistentVolumeSource extends Infer<typeof csiPersistentVolumeSource> {}
export const csiPersistentVolumeSource = object(
  `${coreV1}.CSIPersistentVolumeSource`,
  'How a CSI driver finds a volume, and with which credentials.',
  {
    driver: required(string(), 'Name of the driver.'),
    volumeHandle: required(string(), 'What the driver calls the volume.'),
    readOnly,
    fsType: optional(string(), 'File system to mount; up to the driver unless set.'),
    volumeAttributes: optional(stringMap, 'What the driver noted about the volume when it made it.'),
    controllerPublishSecretRef: secretFor('the volume is attached to a node'),
    nodeStageSecretRef: secretFor('the volume is made ready on a node'),
    nodePublishSecretRef: secretFor('the volume is mounted for a pod'),
    controllerExpandSecretRef: secretFor('the volume is enlarged'),
    nodeExpandSecretRef: secretFor('the file system is enlarged on a node'),
  },
)

export interface FlexPersistentVolumeSource extends Infer<typeof flexPersistentVolumeSource> {}
export const flexPersistentVolumeSource = object(
  `${coreV1}.FlexPersistentVolumeSource`,
  'A volume from a FlexVolume plugin: CSI has taken its place.',
  {
    driver: required(string(), 'Name of the driver.'),
    fsType: optional(string(), 'File system to mount; up to the driver unless set.'),
    secretRef: optional(secretReference, 'Secret handed to the driver.'),
    readOnly,
    options: optional(stringMap, 'Settings the driver understands.'),
  },
)

export interface GlusterfsPersistentVolumeSource extends Infer<typeof glusterfsPersistentVolumeSource> {}
export const glusterfsPersistentVolumeSource = object(
  `${coreV1}.GlusterfsPersistentVolumeSource`,
  'A GlusterFS volume.',
  {
    endpoints: required(string(), 'Name of the Endpoints object that lists the servers.'),
    path: required(string(), 'Path of the volume.'),
    readOnly,
    endpointsNamespace: optional(string(), 'Namespace of the Endpoints object; the claim’s unless set.'),
  },
)

export interface IscsiPersistentVolumeSource extends Infer<typeof iscsiPersistentVolumeSource> {}
export const iscsiPersistentVolumeSource = object(
  `${coreV1}.ISCSIPersistentVolumeSource`,
  'How a node finds an iSCSI disk, and with which credentials.',
  {
    targetPortal: required(string(), 'Address of the target: an IP, with a port where it is not 3260.'),
    iqn: required(string(), 'Qualified name of the target.'),
    lun: required(int32(), 'Logical unit of the target.', { default: 0 }),
    iscsiInterface: optional(string(), 'Interface that does the transport.', { default: 'default' }),
    fsType: fsType(),
    readOnly,
    portals: optional(atomicList(string()), 'Further addresses of the target.'),
    chapAuthDiscovery: optional(boolean, 'Use CHAP when the target is discovered.'),
    chapAuthSession: optional(boolean, 'Use CHAP in the session.'),
    secretRef: optional(secretReference, 'Secret with what CHAP needs.'),
    initiatorName: optional(string(), 'Name of the initiator, instead of the interface’s.'),
  },
)

export interface LocalVolumeSource extends Infer<typeof localVolumeSource> {}
export const localVolumeSource = object(
  `${coreV1}.LocalVolumeSource`,
  'Path of what is on the node, and its filesystem.',
  {
    path: required(string(), 'Path on the node: a directory, or a block device.'),
    fsType: optional(string(), 'File system to mount, where path is a block device; found out unless set.'),
  },
)

export interface RbdPersistentVolumeSource extends Infer<typeof rbdPersistentVolumeSource> {}
export const rbdPersistentVolumeSource = object(`${coreV1}.RBDPersistentVolumeSource`, 'A block device of Ceph.', {
  monitors: required(atomicList(string()), 'Addresses of the Ceph monitors.'),
  image: required(string(), 'Name of the image.'),
  fsType: fsType(),
  pool: optional(string(), 'Pool that the image is in.', { default: 'rbd' }),
  user: optional(string(), 'RADOS user.', { default: 'admin' }),
  keyring: optional(string(), 'File on the node with the key ring of the user.', { default: '/etc/ceph/keyring' }),
  secretRef: optional(secretReference, 'Secret with the key of the user, instead of keyring.'),
  readOnly,
})

export interface ScaleIoPersistentVolumeSource extends Infer<typeof scaleIoPersistentVolumeSource> {}
export const scaleIoPersistentVolumeSource = object(`${coreV1}.ScaleIOPersistentVolumeSource`, 'A ScaleIO volume.', {
  gateway: required(string(), 'Address of the gateway.'),
  system: required(string(), 'Name of the storage system.'),
  secretRef: required(secretReference, 'Secret with the user and the password.'),
  sslEnabled: optional(boolean, 'Talk to the gateway over TLS.'),
  protectionDomain: optional(string(), 'Protection domain of the storage.'),
  storagePool: optional(string(), 'Storage pool of the domain.'),
  storageMode: optional(string(), 'ThickProvisioned or ThinProvisioned.', { default: 'ThinProvisioned' }),
  volumeName: optional(string(), 'Name of a volume that exists already.'),
  fsType: optional(string(), 'File system of the volume, which the node must know.', { default: 'xfs' }),
  readOnly,
})

export interface StorageOsPersistentVolumeSource extends Infer<typeof storageOsPersistentVolumeSource> {}
export const storageOsPersistentVolumeSource = object(
  `${coreV1}.StorageOSPersistentVolumeSource`,
  'A StorageOS volume.',
  {
    volumeName: optional(string(), 'Name of the volume, unique in its namespace.'),
    volumeNamespace: optional(string(), 'Namespace in StorageOS; the claim’s unless set.'),
    fsType: fsType(),
    readOnly,
    secretRef: optional(objectReference, 'Secret with what is needed to reach StorageOS.'),
  },
)
