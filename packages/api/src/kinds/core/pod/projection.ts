/** Files made from other objects: what config maps, secrets, the downward API and projected volumes hold. */
import {
  atomicList,
  boolean,
  int32,
  int64,
  object,
  optional,
  pointer,
  required,
  string,
  stringMap,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { labelSelector } from '../common.ts'
import { objectFieldSelector } from './env.ts'
import { resourceFieldSelector } from './resources.ts'

/** Mode of projected files unless something else is said: rw-r--r--. */
export const fileModeDefault = 0o644

const defaultMode = pointer(
  int32(),
  'Mode of files that name none, 0644 unless set. JSON takes decimal numbers only.',
  {
    default: fileModeDefault,
  },
)
const mode = pointer(int32(), "Mode of this file; the volume's unless set. JSON takes decimal numbers only.")

export interface KeyToPath extends Infer<typeof keyToPath> {}
export const keyToPath = object(`${coreV1}.KeyToPath`, 'One key as a file.', {
  key: required(string(), 'The key.'),
  path: required(string(), 'Path of the file in the volume; relative, without `..`.'),
  mode,
})

const items = optional(
  atomicList(keyToPath),
  'Keys to show and the files they become. All keys under their own names unless set.',
)

export interface DownwardApiVolumeFile extends Infer<typeof downwardApiVolumeFile> {}
export const downwardApiVolumeFile = object(`${coreV1}.DownwardAPIVolumeFile`, 'One value of the pod as a file.', {
  path: required(string(), 'Path of the file in the volume; relative, without `..`.', { default: '' }),
  fieldRef: optional(objectFieldSelector, 'Name, namespace, UID, labels or annotations of the pod.'),
  resourceFieldRef: optional(resourceFieldSelector, 'A resource of one of its containers.'),
  mode,
})

export interface ConfigMapVolumeSource extends Infer<typeof configMapVolumeSource> {}
export const configMapVolumeSource = object(
  `${coreV1}.ConfigMapVolumeSource`,
  'The keys of a ConfigMap as files, kept up to date.',
  {
    name: optional(string(), 'Name of the ConfigMap.'),
    items,
    defaultMode,
    optional: pointer(boolean, 'Go on without it where the ConfigMap or its keys are missing.'),
  },
)

export interface SecretVolumeSource extends Infer<typeof secretVolumeSource> {}
export const secretVolumeSource = object(
  `${coreV1}.SecretVolumeSource`,
  'The keys of a Secret as files, kept up to date.',
  {
    secretName: optional(string(), 'Name of the Secret.'),
    items,
    defaultMode,
    optional: pointer(boolean, 'Go on without it where the Secret or its keys are missing.'),
  },
)

export interface DownwardApiVolumeSource extends Infer<typeof downwardApiVolumeSource> {}
export const downwardApiVolumeSource = object(
  `${coreV1}.DownwardAPIVolumeSource`,
  'Facts about the pod as files, kept up to date.',
  {
    items: optional(atomicList(downwardApiVolumeFile), 'The files.'),
    defaultMode,
  },
)

export interface ConfigMapProjection extends Infer<typeof configMapProjection> {}
export const configMapProjection = object(
  `${coreV1}.ConfigMapProjection`,
  'The keys of a ConfigMap in a projected volume.',
  {
    name: optional(string(), 'Name of the ConfigMap.'),
    items,
    optional: pointer(boolean, 'Go on without it where the ConfigMap or its keys are missing.'),
  },
)

export interface SecretProjection extends Infer<typeof secretProjection> {}
export const secretProjection = object(`${coreV1}.SecretProjection`, 'The keys of a Secret in a projected volume.', {
  name: optional(string(), 'Name of the Secret.'),
  items,
  optional: pointer(boolean, 'Go on without it where the Secret or its keys are missing.'),
})

export interface DownwardApiProjection extends Infer<typeof downwardApiProjection> {}
export const downwardApiProjection = object(
  `${coreV1}.DownwardAPIProjection`,
  'Facts about the pod in a projected volume.',
  {
    items: optional(atomicList(downwardApiVolumeFile), 'The files.'),
  },
)

/** Seconds a projected token lives unless something else is said. */
export const tokenExpirationSecondsDefault = 3600

export interface ServiceAccountTokenProjection extends Infer<typeof serviceAccountTokenProjection> {}
export const serviceAccountTokenProjection = object(
  `${coreV1}.ServiceAccountTokenProjection`,
  "A token of the pod's service account, renewed before it expires.",
  {
    audience: optional(string(), 'Whom the token is for; the API server unless set.'),
    expirationSeconds: pointer(int64(), 'Seconds it should live, at least 600.', {
      default: tokenExpirationSecondsDefault,
    }),
    path: required(string(), 'Path of the file in the volume.', { default: '' }),
  },
)

export interface ClusterTrustBundleProjection extends Infer<typeof clusterTrustBundleProjection> {}
export const clusterTrustBundleProjection = object(
  `${coreV1}.ClusterTrustBundleProjection`,
  'Certificates of authorities in PEM, from one ClusterTrustBundle or all of a signer.',
  {
    name: pointer(string(), 'Name of the bundle.'),
    signerName: pointer(string(), 'Signer whose bundles are put together, instead of name.'),
    labelSelector: optional(labelSelector, "Which of the signer's bundles. None unless set; an empty selector is all."),
    optional: pointer(boolean, 'Go on without it where there is no such bundle.'),
    path: required(string(), 'Path of the file in the volume.'),
  },
)

export interface PodCertificateProjection extends Infer<typeof podCertificateProjection> {}
export const podCertificateProjection = object(
  `${coreV1}.PodCertificateProjection`,
  'A private key and a certificate for the pod, renewed before it expires.',
  {
    signerName: required(string(), 'Signer that is asked for the certificate.'),
    keyType: required(string(), 'Kind of key, such as ED25519, ECDSAP256 or RSA4096.'),
    maxExpirationSeconds: pointer(int32(), 'Seconds the certificate may live at most; from 3600 to 91 days.', {
      default: 86400,
    }),
    credentialBundlePath: optional(string(), 'File for the key and the certificate chain together.'),
    keyPath: optional(string(), 'File for the key alone.'),
    certificateChainPath: optional(string(), 'File for the certificate chain alone.'),
    userAnnotations: optional(stringMap, 'Further facts handed to the signer.'),
  },
)

export interface VolumeProjection extends Infer<typeof volumeProjection> {}
export const volumeProjection = object(
  `${coreV1}.VolumeProjection`,
  'One source of a projected volume: exactly one of these.',
  {
    secret: optional(secretProjection, 'Keys of a Secret.'),
    configMap: optional(configMapProjection, 'Keys of a ConfigMap.'),
    downwardAPI: optional(downwardApiProjection, 'Facts about the pod.'),
    serviceAccountToken: optional(serviceAccountTokenProjection, 'A token of the service account.'),
    clusterTrustBundle: optional(clusterTrustBundleProjection, 'Certificates of authorities.'),
    podCertificate: optional(podCertificateProjection, 'A key and a certificate for the pod.'),
  },
)

export interface ProjectedVolumeSource extends Infer<typeof projectedVolumeSource> {}
export const projectedVolumeSource = object(
  `${coreV1}.ProjectedVolumeSource`,
  'Files from several sources in one directory.',
  {
    sources: optional(atomicList(volumeProjection), 'The sources.', { alwaysWritten: true }),
    defaultMode,
  },
)
