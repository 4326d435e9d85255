import {
  type FieldError,
  invalidField,
  notFoundField,
  requiredField,
  unsupportedField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import type { EnvFromSource, EnvVar, EnvVarSource, FileKeySelector, ObjectFieldSelector } from '../env.ts'
import type { PodSpec } from '../pod-spec.ts'
import type { ResourceFieldSelector } from '../resources.ts'
import type { Volume } from '../volume.ts'
import { checkLocalNonReservedPath, checkText, checkTextOrEmpty } from './checks.ts'

export function validateEnv(env: readonly EnvVar[] | undefined, path: FieldPath): FieldError[] {
  return (env ?? []).flatMap((each, index) => [
    ...checkText('env-var-name', each.name, path.index(index).field('name')),
    ...validateValueFrom(each, path.index(index).field('valueFrom')),
  ])
}

export function validateEnvFrom(sources: readonly EnvFromSource[] | undefined, path: FieldPath): FieldError[] {
  return (sources ?? []).flatMap((each, index) => validateEnvFromSource(each, path, path.index(index)))
}

const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

function validateValueFrom(variable: EnvVar, path: FieldPath): FieldError[] {
  const from = variable.valueFrom
  if (from === undefined) return []
  const count = Object.values(from).filter((each) => each !== undefined).length
  return [...validateSource(from, path), ...sourceCountErrors(count, variable, path)]
}

function sourceCountErrors(count: number, variable: EnvVar, path: FieldPath): FieldError[] {
  const oneOf = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
  if (count === 0) return [invalidField(path, '', oneOf)]
  if (variable.value) return [invalidField(path, '', 'may not be specified when `value` is not empty')]
  return count > 1 ? [invalidField(path, '', 'may not have more than one field specified at a time')] : []
}

function validateSource(from: EnvVarSource, path: FieldPath): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = from
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, envFields, path.field('fieldRef')) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(resourceFieldRef, path.field('resourceFieldRef'), 'env') : []),
    ...(configMapKeyRef ? validateKeyRef(configMapKeyRef, path.field('configMapKeyRef')) : []),
    ...(secretKeyRef ? validateKeyRef(secretKeyRef, path.field('secretKeyRef')) : []),
    ...(fileKeyRef ? validateFileKeyRef(fileKeyRef, path.field('fileKeyRef')) : []),
  ]
}

function validateKeyRef(
  ref: { readonly name?: string | undefined; readonly key?: string },
  path: FieldPath,
): FieldError[] {
  return [
    ...checkTextOrEmpty('dns1123-subdomain', ref.name ?? '', path.field('name')),
    ...(ref.key ? checkText('config-map-key', ref.key, path.field('key')) : [requiredField(path.field('key'))]),
  ]
}

/** What is absent is the schema's to report. */
function validateFileKeyRef({ key, volumeName, path: file }: FileKeySelector, path: FieldPath): FieldError[] {
  return [
    ...(key ? checkText('env-var-name', key, path.field('key')) : []),
    ...(volumeName ? checkText('dns1123-label', volumeName, path.field('volumeName')) : []),
    ...(file ? checkLocalNonReservedPath(file, path.field('path')) : []),
  ]
}

/** Files of variables are written by containers of the pod: they are in a volume of the pod's own (validateFileKeyRefVolumes). */
export function validateEnvFileVolumes(spec: PodSpec, path: FieldPath): FieldError[] {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]))
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ env }, index) =>
      fileVolumeErrors(env, volumes, path.field(list).index(index).field('env')),
    ),
  )
}

function fileVolumeErrors(
  env: readonly EnvVar[] | undefined,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
): FieldError[] {
  return (env ?? []).flatMap(({ valueFrom }, index) => {
    if (valueFrom?.fileKeyRef === undefined) return []
    const { volumeName: name = '' } = valueFrom.fileKeyRef
    const namePath = path.index(index).field('valueFrom').field('fileKeyRef').field('volumeName')
    const volume = volumes.get(name)
    if (volume === undefined) return [notFoundField(namePath, name)]
    return volume.emptyDir === undefined
      ? [invalidField(namePath, name, 'referenced volume must be of type emptyDir')]
      : []
  })
}

/** A field of the pod that a variable or a file may show; labels and annotations by their key too. */
export function validateFieldRef(
  ref: ObjectFieldSelector,
  supported: readonly string[],
  path: FieldPath,
): FieldError[] {
  const [text, textPath] = [ref.fieldPath, path.field('fieldPath')]
  if (text === '') return [requiredField(textPath)]
  if (ref.apiVersion !== undefined && ref.apiVersion !== 'v1') {
    return [invalidField(textPath, text, `error converting fieldPath: unsupported pod version: ${ref.apiVersion}`)]
  }
  const { field, key } = splitSubscript(text)
  if (field === 'metadata.annotations' && key !== undefined) {
    return checkTextOrEmpty('qualified-name', key.toLowerCase(), path)
  }
  if (field === 'metadata.labels' && key !== undefined) return checkTextOrEmpty('qualified-name', key, path)
  if (key !== undefined) {
    return [invalidField(textPath, text, `error converting fieldPath: field label does not support subscript: ${text}`)]
  }
  if (!podFields.has(field)) {
    return [invalidField(textPath, text, `error converting fieldPath: field label not supported: ${text}`)]
  }
  const name = field === 'spec.host' ? 'spec.nodeName' : field
  return supported.includes(name) ? [] : [unsupportedField(textPath, name, supported)]
}

/** Fields that references know at all, whether or not they may stand where the reference is. */
const podFields: ReadonlySet<string> = new Set([
  ...envFields,
  'metadata.annotations',
  'metadata.labels',
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])

/** `metadata.labels['app']` is the field metadata.labels and the key app. */
function splitSubscript(fieldPath: string): { readonly field: string; readonly key?: string } {
  const start = fieldPath.indexOf("['", 1)
  if (start < 0 || start + 2 > fieldPath.length - 2 || !fieldPath.endsWith("']")) return { field: fieldPath }
  return { field: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) }
}

const resourceFields = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((each) => `${list}.${each}`),
)
const isHugePages = (resource: string): boolean => /^(?:limits|requests)\.hugepages-/.test(resource)

/** A resource of a container that a variable or a file may show. In a file the container has to be named. */
export function validateResourceFieldRef(
  ref: ResourceFieldSelector,
  path: FieldPath,
  where: 'env' | 'file',
): FieldError[] {
  if (where === 'file' && !ref.containerName) return [requiredField(path.field('containerName'))]
  const { resource } = ref
  if (resource === '') return [requiredField(path.field('resource'))]
  if (!resourceFields.includes(resource) && !isHugePages(resource)) {
    return [unsupportedField(path.field('resource'), resource, resourceFields)]
  }
  return divisorErrors(resource, ref.divisor ?? '0', path.field('divisor'))
}

const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']

function divisorErrors(resource: string, divisor: string, path: FieldPath): FieldError[] {
  if (divisor === '0') return []
  const name = resource.slice(resource.indexOf('.') + 1)
  if (name === 'cpu') {
    const detail = "only divisor's values 1m and 1 are supported with the cpu resource"
    return ['1m', '1'].includes(divisor) ? [] : [invalidField(path, resource, detail)]
  }
  if (byteDivisors.includes(divisor)) return []
  const what = name === 'memory' ? 'memory' : name === 'ephemeral-storage' ? 'local ephemeral storage' : 'hugepages'
  const detail = `only divisor's values ${byteDivisors.join(', ')} are supported with the ${what} resource`
  return [invalidField(path, resource, detail)]
}

/** Upstream names the list, not the element, where the number of sources is wrong. */
function validateEnvFromSource(source: EnvFromSource, listPath: FieldPath, path: FieldPath): FieldError[] {
  const { configMapRef, secretRef } = source
  const errors = checkText('env-var-name', source.prefix, path.field('prefix'))
  if (configMapRef) errors.push(...validateSourceName(configMapRef.name, path.field('configMapRef').field('name')))
  if (secretRef) errors.push(...validateSourceName(secretRef.name, path.field('secretRef').field('name')))
  if (!configMapRef && !secretRef) {
    errors.push(invalidField(listPath, '', 'must specify one of: `configMapRef` or `secretRef`'))
  } else if (configMapRef && secretRef) {
    errors.push(invalidField(listPath, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

const validateSourceName = (name: string | undefined, path: FieldPath): FieldError[] =>
  name ? checkText('dns1123-subdomain', name, path) : [requiredField(path)]
