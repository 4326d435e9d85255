import { objectMeta } from '../../../meta.ts'
import {
  atomicList,
  boolean,
  enumOf,
  literal,
  object,
  optional,
  pointer,
  quantity,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { labelSelector, resourceList, typedLocalObjectReference, typedObjectReference } from '../common.ts'
import {
  configMapVolumeSource,
  downwardApiVolumeSource,
  projectedVolumeSource,
  secretVolumeSource,
} from './projection.ts'
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFsVolumeSource,
  cinderVolumeSource,
  csiVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  glusterfsVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIoVolumeSource,
  storageOsVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './volume-sources.ts'

export interface EmptyDirVolumeSource extends Infer<typeof emptyDirVolumeSource> {}
export const emptyDirVolumeSource = object(
  `${coreV1}.EmptyDirVolumeSource`,
  'An empty directory that lives as long as the pod does.',
  {
    medium: optional(string(), "Where it is kept: on the node's disk unless it says Memory."),
    sizeLimit: optional(quantity, 'The most it may hold. The pod is evicted when it holds more.'),
  },
)

export interface HostPathVolumeSource extends Infer<typeof hostPathVolumeSource> {}
export const hostPathVolumeSource = object(
  `${coreV1}.HostPathVolumeSource`,
  'A path of the node, and what must be there.',
  {
    path: required(string(), 'Path on the node.'),
    type: pointer(
      enumOf('', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'),
      'What must be there, or is made. Nothing is checked unless set.',
      { default: '' },
    ),
  },
)

export interface GitRepoVolumeSource extends Infer<typeof gitRepoVolumeSource> {}
export const gitRepoVolumeSource = object(
  `${coreV1}.GitRepoVolumeSource`,
  'A clone of a git repository. Node agents no longer make it: clone in an init container.',
  {
    repository: required(string(), 'URL of the repository.'),
    revision: optional(string(), 'Hash of the commit.'),
    directory: optional(string(), 'Directory to clone into; a dot for the volume itself.'),
  },
)

export interface ImageVolumeSource extends Infer<typeof imageVolumeSource> {}
export const imageVolumeSource = object(
  `${coreV1}.ImageVolumeSource`,
  'The files of an OCI image or artifact, read-only.',
  {
    reference: optional(string(), 'The image, named as a container’s image is.'),
    pullPolicy: optional(
      enumOf('Always', 'IfNotPresent', 'Never'),
      'When the image is pulled. Always where its tag is latest or missing, else IfNotPresent.',
    ),
  },
)

export interface PersistentVolumeClaimVolumeSource extends Infer<typeof persistentVolumeClaimVolumeSource> {}
export const persistentVolumeClaimVolumeSource = object(
  `${coreV1}.PersistentVolumeClaimVolumeSource`,
  'The name of a claim of the same namespace.',
  {
    claimName: required(string(), 'Name of a PersistentVolumeClaim in the pod’s namespace.'),
    readOnly: optional(boolean, 'Mount it read-only in all containers.'),
  },
)

export interface VolumeResourceRequirements extends Infer<typeof volumeResourceRequirements> {}
export const volumeResourceRequirements = object(
  `${coreV1}.VolumeResourceRequirements`,
  'How much storage is asked for.',
  {
    limits: optional(resourceList, 'The most it may be.'),
    requests: optional(resourceList, 'The least it may be.'),
  },
)

export interface PersistentVolumeClaimSpec extends Infer<typeof persistentVolumeClaimSpec> {}
export const persistentVolumeClaimSpec = object(
  `${coreV1}.PersistentVolumeClaimSpec`,
  'Size, class and access of the storage that is wanted.',
  {
    accessModes: optional(
      atomicList(literal<'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod'>()),
      'How the storage is to be accessed, and from how many places.',
    ),
    resources: optional(volumeResourceRequirements, 'How much of it.', { default: {}, byValue: true }),
    storageClassName: pointer(string(), 'Class of storage. Empty for none; the default class unless set.'),
    volumeMode: pointer(literal<'Filesystem' | 'Block'>(), 'With a file system, or as a raw block device.', {
      default: 'Filesystem',
    }),
    volumeName: optional(string(), 'The PersistentVolume that backs the claim.'),
    selector: optional(labelSelector, 'Labels the volume must have.'),
    dataSource: optional(typedLocalObjectReference, 'What the volume is filled from: a snapshot or another claim.'),
    dataSourceRef: optional(
      typedObjectReference,
      'What the volume is filled from, of any kind that a populator knows.',
    ),
    volumeAttributesClassName: pointer(string(), 'Class of attributes that may be changed later.'),
  },
)

export interface PersistentVolumeClaimTemplate extends Infer<typeof persistentVolumeClaimTemplate> {}
export const persistentVolumeClaimTemplate = object(`${coreV1}.PersistentVolumeClaimTemplate`, 'A claim to be made.', {
  metadata: optional(objectMeta, 'Labels and annotations of the claim; nothing else is allowed.', {
    default: {},
    byValue: true,
  }),
  spec: required(persistentVolumeClaimSpec, 'What the claim asks for.'),
})

export interface EphemeralVolumeSource extends Infer<typeof ephemeralVolumeSource> {}
export const ephemeralVolumeSource = object(
  `${coreV1}.EphemeralVolumeSource`,
  'A volume made for the pod, which goes with it.',
  {
    volumeClaimTemplate: optional(
      persistentVolumeClaimTemplate,
      'The claim that is made, owned by the pod and named after the pod and the volume.',
    ),
  },
)

/** In the order in which upstream looks at them: the first one there is checked, further ones are too many. */
export const volumeSourceNames = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const

export interface Volume extends Infer<typeof volume> {}
export const volume = object(
  `${coreV1}.Volume`,
  'A directory that containers of the pod can mount: a name and exactly one source.',
  {
    name: required(string({ format: 'dns1123-label' }), 'Name by which containers mount it, unique in the pod.'),
    configMap: optional(configMapVolumeSource, 'Keys of a ConfigMap as files.'),
    csi: optional(csiVolumeSource, 'An ephemeral volume from a CSI driver.'),
    downwardAPI: optional(downwardApiVolumeSource, 'Facts about the pod as files.'),
    emptyDir: optional(emptyDirVolumeSource, 'An empty directory that lives as long as the pod.'),
    ephemeral: optional(ephemeralVolumeSource, 'A claim made for the pod.'),
    hostPath: optional(hostPathVolumeSource, 'A file or directory of the node.'),
    image: optional(imageVolumeSource, 'The files of an OCI image.'),
    nfs: optional(nfsVolumeSource, 'A directory of an NFS server.'),
    persistentVolumeClaim: optional(persistentVolumeClaimVolumeSource, 'Storage by way of a claim.'),
    projected: optional(projectedVolumeSource, 'Files from several sources.'),
    secret: optional(secretVolumeSource, 'Keys of a Secret as files.'),
    awsElasticBlockStore: optional(awsElasticBlockStoreVolumeSource, 'A disk of AWS, by way of its CSI driver.'),
    azureDisk: optional(azureDiskVolumeSource, 'A disk of Azure, by way of its CSI driver.'),
    azureFile: optional(azureFileVolumeSource, 'A share of Azure Files, by way of its CSI driver.'),
    cephfs: optional(cephFsVolumeSource, 'A CephFS file system. No longer supported.'),
    cinder: optional(cinderVolumeSource, 'A volume of OpenStack, by way of its CSI driver.'),
    fc: optional(fcVolumeSource, 'A Fibre Channel device.'),
    flexVolume: optional(flexVolumeSource, 'A volume from a FlexVolume plugin. Use CSI instead.'),
    flocker: optional(flockerVolumeSource, 'A dataset of Flocker. No longer supported.'),
    gcePersistentDisk: optional(
      gcePersistentDiskVolumeSource,
      'A disk of Google Compute Engine, by way of its CSI driver.',
    ),
    gitRepo: optional(gitRepoVolumeSource, 'A clone of a git repository. No longer supported.'),
    glusterfs: optional(glusterfsVolumeSource, 'A GlusterFS volume. No longer supported.'),
    iscsi: optional(iscsiVolumeSource, 'An iSCSI disk.'),
    photonPersistentDisk: optional(
      photonPersistentDiskVolumeSource,
      'A disk of the Photon Controller. No longer supported.',
    ),
    portworxVolume: optional(portworxVolumeSource, 'A Portworx volume, by way of its CSI driver.'),
    quobyte: optional(quobyteVolumeSource, 'A Quobyte volume. No longer supported.'),
    rbd: optional(rbdVolumeSource, 'A block device of Ceph. No longer supported.'),
    scaleIO: optional(scaleIoVolumeSource, 'A ScaleIO volume. No longer supported.'),
    storageos: optional(storageOsVolumeSource, 'A StorageOS volume. No longer supported.'),
    vsphereVolume: optional(vsphereVirtualDiskVolumeSource, 'A disk of vSphere, by way of its CSI driver.'),
  },
  { alternatives: volumeSourceNames, checkedOrder: ['', ...volumeSourceNames, 'name'] },
)
