/**
 * Sources of PersistentVolumes that differ from those of pods: a volume has no namespace, so it says in which one its
 * secrets are.
 */
import { object, optional, pointer, required, string, stringMap } from '../../../schema/builders.ts'
import type { Field, Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { objectReference, type SecretReference, secretReference } from '../common.ts'
import {
  azureFileFields,
  cephFsFields,
  cinderFields,
  flexFields,
  fsType,
  glusterfsFields,
  iscsiFields,
  rbdFields,
  readOnly,
  scaleIoFields,
} from '../pod/volume-sources.ts'

/** The fields of a pod's source, with a secret that may be in any namespace. Their order stays. */
function withSecretAnywhere<F extends { readonly secretRef: Field }>(
  fields: F,
): Omit<F, 'secretRef'> & { readonly secretRef: Field<SecretReference, false> } {
  return { ...fields, secretRef: optional(secretReference, fields.secretRef.doc) }
}

export interface AzureFilePersistentVolumeSource extends Infer<typeof azureFilePersistentVolumeSource> {}
export const azureFilePersistentVolumeSource = object(
  `${coreV1}.AzureFilePersistentVolumeSource`,
  'A share of Azure Files.',
  {
    ...azureFileFields,
    secretNamespace: pointer(string(), 'Namespace of the secret; the claim’s unless set.', { alwaysWritten: true }),
  },
)

export interface CephFsPersistentVolumeSource extends Infer<typeof cephFsPersistentVolumeSource> {}
export const cephFsPersistentVolumeSource = object(
  `${coreV1}.CephFSPersistentVolumeSource`,
  'A CephFS file system.',
  withSecretAnywhere(cephFsFields),
)

export interface CinderPersistentVolumeSource extends Infer<typeof cinderPersistentVolumeSource> {}
export const cinderPersistentVolumeSource = object(
  `${coreV1}.CinderPersistentVolumeSource`,
  'A volume of OpenStack Cinder.',
  withSecretAnywhere(cinderFields),
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
  withSecretAnywhere(flexFields),
)

export interface GlusterfsPersistentVolumeSource extends Infer<typeof glusterfsPersistentVolumeSource> {}
export const glusterfsPersistentVolumeSource = object(
  `${coreV1}.GlusterfsPersistentVolumeSource`,
  'A GlusterFS volume.',
  {
    ...glusterfsFields,
    endpointsNamespace: pointer(string(), 'Namespace of the Endpoints object; the claim’s unless set.'),
  },
)

export interface IscsiPersistentVolumeSource extends Infer<typeof iscsiPersistentVolumeSource> {}
export const iscsiPersistentVolumeSource = object(
  `${coreV1}.ISCSIPersistentVolumeSource`,
  'How a node finds an iSCSI disk, and with which credentials.',
  withSecretAnywhere(iscsiFields),
)

export interface LocalVolumeSource extends Infer<typeof localVolumeSource> {}
export const localVolumeSource = object(
  `${coreV1}.LocalVolumeSource`,
  'Path of what is on the node, and its filesystem.',
  {
    path: required(string(), 'Path on the node: a directory, or a block device.'),
    fsType: pointer(string(), 'File system to mount, where path is a block device; found out unless set.'),
  },
)

export interface RbdPersistentVolumeSource extends Infer<typeof rbdPersistentVolumeSource> {}
export const rbdPersistentVolumeSource = object(
  `${coreV1}.RBDPersistentVolumeSource`,
  'A block device of Ceph.',
  withSecretAnywhere(rbdFields),
)

export interface ScaleIoPersistentVolumeSource extends Infer<typeof scaleIoPersistentVolumeSource> {}
export const scaleIoPersistentVolumeSource = object(`${coreV1}.ScaleIOPersistentVolumeSource`, 'A ScaleIO volume.', {
  ...scaleIoFields,
  secretRef: optional(secretReference, scaleIoFields.secretRef.doc, { alwaysWritten: true, requiredInOpenApi: true }),
})

export interface StorageOsPersistentVolumeSource extends Infer<typeof storageOsPersistentVolumeSource> {}
export const storageOsPersistentVolumeSource = object(
  `${coreV1}.StorageOSPersistentVolumeSource`,
  'A StorageOS volume.',
  {
    volumeName: optional(string(), 'Name of the volume, unique in its namespace.'),
    volumeNamespace: optional(string(), 'Namespace in StorageOS; the claim’s unless set.', { alwaysWritten: true }),
    fsType: fsType(),
    readOnly,
    secretRef: optional(objectReference, 'Secret with what is needed to reach StorageOS.'),
  },
)
