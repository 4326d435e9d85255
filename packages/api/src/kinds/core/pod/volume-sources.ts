/** Volume sources that name storage somewhere on a network or in a cloud. */
import {
  atomicList,
  boolean,
  enumOf,
  int32,
  object,
  optional,
  pointer,
  required,
  string,
  stringMap,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { localObjectReference } from '../common.ts'

export const fsType = (otherwise = 'ext4') =>
  optional(string(), `File system of the volume, which the node must know; ${otherwise} unless set.`)
export const readOnly = optional(boolean, 'Mount the volume read-only.')

export interface AwsElasticBlockStoreVolumeSource extends Infer<typeof awsElasticBlockStoreVolumeSource> {}
export const awsElasticBlockStoreVolumeSource = object(
  `${coreV1}.AWSElasticBlockStoreVolumeSource`,
  'A disk of AWS Elastic Block Store.',
  {
    volumeID: required(string(), 'ID of the disk.'),
    fsType: fsType(),
    partition: optional(int32(), 'Partition to mount; the whole disk unless set.'),
    readOnly,
  },
)

export interface AzureDiskVolumeSource extends Infer<typeof azureDiskVolumeSource> {}
export const azureDiskVolumeSource = object(`${coreV1}.AzureDiskVolumeSource`, 'A data disk of Azure.', {
  diskName: required(string(), 'Name of the disk in the blob storage.'),
  diskURI: required(string(), 'URI of the disk.'),
  cachingMode: pointer(enumOf('None', 'ReadOnly', 'ReadWrite'), 'How the host caches it.', { default: 'ReadWrite' }),
  fsType: pointer(string(), 'File system of the volume, which the node must know.', { default: 'ext4' }),
  kind: pointer(
    enumOf('Dedicated', 'Managed', 'Shared'),
    'Whether the storage account holds many disks, only this one, or the disk is managed.',
    { default: 'Shared' },
  ),
  readOnly: pointer(boolean, 'Mount the volume read-only.', { default: false }),
})

export const azureFileFields = {
  secretName: required(string(), 'Secret with the name and the key of the storage account.'),
  shareName: required(string(), 'Name of the share.'),
  readOnly,
}
export interface AzureFileVolumeSource extends Infer<typeof azureFileVolumeSource> {}
export const azureFileVolumeSource = object(
  `${coreV1}.AzureFileVolumeSource`,
  'A share of Azure Files.',
  azureFileFields,
)

export const cephFsFields = {
  monitors: required(atomicList(string()), 'Addresses of the Ceph monitors.'),
  path: optional(string(), 'Directory to mount; the root unless set.'),
  user: optional(string(), 'RADOS user; admin unless set.'),
  secretFile: optional(string(), 'File on the node with the key of the user.'),
  secretRef: optional(localObjectReference, 'Secret with the key of the user, instead of secretFile.'),
  readOnly,
}
export interface CephFsVolumeSource extends Infer<typeof cephFsVolumeSource> {}
export const cephFsVolumeSource = object(`${coreV1}.CephFSVolumeSource`, 'A CephFS file system.', cephFsFields)

export const cinderFields = {
  volumeID: required(string(), 'ID of the volume.'),
  fsType: fsType(),
  readOnly,
  secretRef: optional(localObjectReference, 'Secret with what is needed to reach OpenStack.'),
}
export interface CinderVolumeSource extends Infer<typeof cinderVolumeSource> {}
export const cinderVolumeSource = object(`${coreV1}.CinderVolumeSource`, 'A volume of OpenStack Cinder.', cinderFields)

export interface CsiVolumeSource extends Infer<typeof csiVolumeSource> {}
export const csiVolumeSource = object(`${coreV1}.CSIVolumeSource`, 'A CSI driver, and what it is told of the volume.', {
  driver: required(string(), 'Name of the driver.'),
  fsType: pointer(string(), 'File system to mount; up to the driver unless set.'),
  readOnly: pointer(boolean, 'Mount the volume read-only.'),
  volumeAttributes: optional(stringMap, 'Settings the driver understands.'),
  nodePublishSecretRef: optional(localObjectReference, 'Secret handed to the driver when it mounts the volume.'),
})

export interface FcVolumeSource extends Infer<typeof fcVolumeSource> {}
export const fcVolumeSource = object(`${coreV1}.FCVolumeSource`, 'How a node finds a Fibre Channel device.', {
  targetWWNs: optional(atomicList(string()), 'World wide names of the targets; with lun.'),
  lun: pointer(int32(), 'Logical unit of the target.'),
  wwids: optional(atomicList(string()), 'World wide identifiers of the volume, instead of targetWWNs and lun.'),
  fsType: fsType(),
  readOnly,
})

export const flexFields = {
  driver: required(string(), 'Name of the driver.'),
  fsType: optional(string(), 'File system to mount; up to the driver unless set.'),
  secretRef: optional(localObjectReference, 'Secret handed to the driver.'),
  readOnly,
  options: optional(stringMap, 'Settings the driver understands.'),
}
export interface FlexVolumeSource extends Infer<typeof flexVolumeSource> {}
export const flexVolumeSource = object(
  `${coreV1}.FlexVolumeSource`,
  'A volume from a FlexVolume plugin: CSI has taken its place.',
  flexFields,
)

export interface FlockerVolumeSource extends Infer<typeof flockerVolumeSource> {}
export const flockerVolumeSource = object(
  `${coreV1}.FlockerVolumeSource`,
  'A dataset of Flocker, by name or by UUID.',
  {
    datasetName: optional(string(), 'Name of the dataset.'),
    datasetUUID: optional(string(), 'UUID of the dataset.'),
  },
)

export interface GcePersistentDiskVolumeSource extends Infer<typeof gcePersistentDiskVolumeSource> {}
export const gcePersistentDiskVolumeSource = object(
  `${coreV1}.GCEPersistentDiskVolumeSource`,
  'A persistent disk of Google Compute Engine.',
  {
    pdName: required(string(), 'Name of the disk.', { default: '' }),
    fsType: fsType(),
    partition: optional(int32(), 'Partition to mount; the whole disk unless set.'),
    readOnly,
  },
)

export const glusterfsFields = {
  endpoints: required(string(), 'Name of the Endpoints object that lists the servers.'),
  path: required(string(), 'Path of the volume.'),
  readOnly,
}
export interface GlusterfsVolumeSource extends Infer<typeof glusterfsVolumeSource> {}
export const glusterfsVolumeSource = object(`${coreV1}.GlusterfsVolumeSource`, 'A GlusterFS volume.', glusterfsFields)

export const iscsiFields = {
  targetPortal: required(string(), 'Address of the target: an IP, with a port where it is not 3260.'),
  iqn: required(string(), 'Qualified name of the target.'),
  lun: required(int32(), 'Logical unit of the target.', { default: 0 }),
  iscsiInterface: optional(string(), 'Interface that does the transport.', { default: 'default' }),
  fsType: fsType(),
  readOnly,
  portals: optional(atomicList(string()), 'Further addresses of the target.'),
  chapAuthDiscovery: optional(boolean, 'Use CHAP when the target is discovered.'),
  chapAuthSession: optional(boolean, 'Use CHAP in the session.'),
  secretRef: optional(localObjectReference, 'Secret with what CHAP needs.'),
  initiatorName: pointer(string(), 'Name of the initiator, instead of the interface’s.'),
}
export interface IscsiVolumeSource extends Infer<typeof iscsiVolumeSource> {}
export const iscsiVolumeSource = object(`${coreV1}.ISCSIVolumeSource`, 'How a node finds an iSCSI disk.', iscsiFields)

export interface NfsVolumeSource extends Infer<typeof nfsVolumeSource> {}
export const nfsVolumeSource = object(`${coreV1}.NFSVolumeSource`, 'Server and path of an NFS export.', {
  server: required(string(), 'Host name or IP of the server.'),
  path: required(string(), 'Path that the server exports.'),
  readOnly,
})

export interface PhotonPersistentDiskVolumeSource extends Infer<typeof photonPersistentDiskVolumeSource> {}
export const photonPersistentDiskVolumeSource = object(
  `${coreV1}.PhotonPersistentDiskVolumeSource`,
  'A persistent disk of the Photon Controller.',
  {
    pdID: required(string(), 'ID of the disk.'),
    fsType: fsType(),
  },
)

export interface PortworxVolumeSource extends Infer<typeof portworxVolumeSource> {}
export const portworxVolumeSource = object(`${coreV1}.PortworxVolumeSource`, 'A Portworx volume.', {
  volumeID: required(string(), 'ID of the volume.'),
  fsType: fsType(),
  readOnly,
})

export interface QuobyteVolumeSource extends Infer<typeof quobyteVolumeSource> {}
export const quobyteVolumeSource = object(`${coreV1}.QuobyteVolumeSource`, 'A Quobyte volume.', {
  registry: required(string(), 'Addresses of the registries as host:port, with commas between them.', {
    default: '',
  }),
  volume: required(string(), 'Name of the volume.'),
  readOnly,
  user: optional(string(), 'User that accesses the volume; the owner of the service unless set.'),
  group: optional(string(), 'Group that accesses the volume; none unless set.'),
  tenant: optional(string(), 'Tenant that owns the volume.'),
})

export const rbdFields = {
  monitors: required(atomicList(string()), 'Addresses of the Ceph monitors.'),
  image: required(string(), 'Name of the image.'),
  fsType: fsType(),
  pool: optional(string(), 'Pool that the image is in.', { default: 'rbd' }),
  user: optional(string(), 'RADOS user.', { default: 'admin' }),
  keyring: optional(string(), 'File on the node with the key ring of the user.', { default: '/etc/ceph/keyring' }),
  secretRef: optional(localObjectReference, 'Secret with the key of the user, instead of keyring.'),
  readOnly,
}
export interface RbdVolumeSource extends Infer<typeof rbdVolumeSource> {}
export const rbdVolumeSource = object(`${coreV1}.RBDVolumeSource`, 'A block device of Ceph.', rbdFields)

export const scaleIoFields = {
  gateway: required(string(), 'Address of the gateway.'),
  system: required(string(), 'Name of the storage system.'),
  secretRef: optional(localObjectReference, 'Secret with the user and the password.', {
    alwaysWritten: true,
    requiredInOpenApi: true,
  }),
  sslEnabled: optional(boolean, 'Talk to the gateway over TLS.'),
  protectionDomain: optional(string(), 'Protection domain of the storage.'),
  storagePool: optional(string(), 'Storage pool of the domain.'),
  storageMode: optional(string(), 'ThickProvisioned or ThinProvisioned.', { default: 'ThinProvisioned' }),
  volumeName: optional(string(), 'Name of a volume that exists already.'),
  fsType: optional(string(), 'File system of the volume, which the node must know.', { default: 'xfs' }),
  readOnly,
}
export interface ScaleIoVolumeSource extends Infer<typeof scaleIoVolumeSource> {}
export const scaleIoVolumeSource = object(`${coreV1}.ScaleIOVolumeSource`, 'A ScaleIO volume.', scaleIoFields)

export interface StorageOsVolumeSource extends Infer<typeof storageOsVolumeSource> {}
export const storageOsVolumeSource = object(`${coreV1}.StorageOSVolumeSource`, 'A StorageOS volume.', {
  volumeName: optional(string(), 'Name of the volume, unique in its namespace.'),
  volumeNamespace: optional(string(), 'Namespace in StorageOS; the pod’s unless set.'),
  fsType: fsType(),
  readOnly,
  secretRef: optional(localObjectReference, 'Secret with what is needed to reach StorageOS.'),
})

export interface VsphereVirtualDiskVolumeSource extends Infer<typeof vsphereVirtualDiskVolumeSource> {}
export const vsphereVirtualDiskVolumeSource = object(
  `${coreV1}.VsphereVirtualDiskVolumeSource`,
  'A virtual disk of vSphere.',
  {
    volumePath: required(string(), 'Path of the disk.'),
    fsType: fsType(),
    storagePolicyName: optional(string(), 'Name of the storage policy.'),
    storagePolicyID: optional(string(), 'ID of the storage policy that belongs to the name.'),
  },
)
