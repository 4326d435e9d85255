import { type FieldError, invalidField, requiredField } from '../../../field-error.ts'
import type { FieldPath } from '../../../field-path.ts'
import { checkFormat } from '../../../string-formats.ts'
import { checkNoBacksteps, checkTextOrEmpty } from '../pod/validation/checks.ts'
import {
  initiatorIsTooLong,
  initiatorTooLong,
  iscsiErrors,
  requireSecretName,
  requireText,
  validateDriverName,
  validateVolumeSource,
} from '../pod/validation/volumes.ts'
import { type PersistentVolumeSpec, persistentVolumeSourceNames } from './schema.ts'

type SourceName = (typeof persistentVolumeSourceNames)[number]
type Sources = Pick<PersistentVolumeSpec, SourceName>

/** What of a volume's spec says where its bytes are. */
export function sourceOf(spec: PersistentVolumeSpec): Sources {
  const present = persistentVolumeSourceNames.filter((name) => spec[name] !== undefined)
  return Object.fromEntries(present.map((name) => [name, spec[name]]))
}

/** What is wrong with one source of a volume that is called `name`, beyond the fields that it must have. */
export function validateSource(
  source: SourceName,
  spec: PersistentVolumeSpec,
  name: string,
  path: FieldPath,
): readonly FieldError[] {
  const at = path.field(source === 'gcePersistentDisk' ? 'persistentDisk' : source)
  switch (source) {
    case 'local':
      return spec.local?.path ? checkNoBacksteps(spec.local.path, at.field('path')) : []
    case 'csi':
      return spec.csi === undefined ? [] : validateCsi(spec.csi, at)
    case 'cinder':
      return validateSecret(spec.cinder?.secretRef, at)
    case 'azureFile':
      return spec.azureFile?.secretNamespace === '' ? [requiredField(at.field('secretNamespace'))] : []
    case 'glusterfs':
      return validateGlusterfsNamespace(spec.glusterfs?.endpointsNamespace, at.field('endpointsNamespace'))
    case 'storageos': {
      const { secretRef, ...rest } = spec.storageos ?? {}
      return [...validateVolumeSource('storageos', rest, at), ...validateSecret(secretRef, at)]
    }
    case 'iscsi':
      return [
        // What such a name has to start with is said of volumes of pods alone.
        ...(spec.iscsi === undefined ? [] : iscsiErrors(spec.iscsi, at, '')),
        ...requireSecretName(spec.iscsi?.secretRef, at),
        ...validateInitiator(spec, name, at),
      ]
    default:
      return validateVolumeSource(source, spec[source], at)
  }
}

interface SecretName {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
}

function validateSecret(secret: SecretName | undefined, path: FieldPath): readonly FieldError[] {
  if (secret === undefined) return []
  const at = path.field('secretRef')
  return [...requireText(secret.name, at.field('name')), ...requireText(secret.namespace, at.field('namespace'))]
}

function validateGlusterfsNamespace(namespace: string | undefined, path: FieldPath): readonly FieldError[] {
  if (namespace === undefined) return []
  if (namespace === '') {
    return [invalidField(path, namespace, 'if the endpointnamespace is set, it must be a valid namespace name')]
  }
  return checkFormat('dns1123-label', namespace).map((why) => invalidField(path, namespace, why))
}

function validateInitiator({ iscsi }: PersistentVolumeSpec, name: string, path: FieldPath): readonly FieldError[] {
  if (!initiatorIsTooLong(iscsi, name)) return []
  return [invalidField(path.field('targetportal'), iscsi?.targetPortal ?? '', initiatorTooLong)]
}

/** The secrets of a CSI volume that upstream looks at. */
const secretFields = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

function validateCsi(csi: NonNullable<PersistentVolumeSpec['csi']>, path: FieldPath): readonly FieldError[] {
  return [
    ...validateDriverName(csi.driver ?? '', path.field('driver')),
    ...secretFields.flatMap((field) => {
      const secret = csi[field]
      return secret === undefined ? [] : validateSecretReference(secret, path.field(field))
    }),
  ]
}

function validateSecretReference(secret: SecretName, at: FieldPath): readonly FieldError[] {
  return (['name', 'namespace'] as const).flatMap((part) => {
    const value = secret[part] ?? ''
    if (value === '') return [requiredField(at.field(part))]
    const format = part === 'name' ? 'dns1123-subdomain' : 'dns1123-label'
    return checkTextOrEmpty(format, value, at.field(part))
  })
}
