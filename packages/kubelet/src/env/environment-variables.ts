import {
  type ConfigMap,
  type Container,
  type EnvFromSource,
  type EnvVar,
  type EnvVarSource,
  type FileKeySelector,
  ownValue,
  type Secret,
  type Service,
} from '@coracle/api'
import type { EnvironmentVariable } from '../runtimes/runtime.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import { pathWithin } from '../volumes/path-within.ts'
import { expand } from './expand.ts'
import { type DownwardContext, fieldValue, resourceValue } from './field-ref.ts'
import { ProcessTexts, processTextBytesMax, tooLong } from './limits.ts'
import { servicesFor, serviceVariables } from './service-variables.ts'

/** Looks up what variables refer to; undefined where there is no such object. */
export interface EnvironmentSources {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  /** The services of a namespace, as far as they matter to containers: none where nothing runs in them. */
  services(namespace: string): readonly Service[]
}

/**
 * The variables of a container in the order of their declaration: envFrom first, then env, later ones winning, then those of
 * services that are not among them. Rejects
 * with upstream's message where something they refer to is missing and not optional, and where one of them, or all together,
 * are more than a process takes (see `limits.ts`). `volumes` are those of its pod, for variables from files in them.
 */
export async function environmentVariables(
  container: Container,
  context: DownwardContext,
  sources: EnvironmentSources,
  volumes: MountedVolumes,
): Promise<readonly EnvironmentVariable[]> {
  const values = new Map<string, string>()
  const texts = new ProcessTexts('environment')
  const set = (name: string, value: string) => {
    const replaced = values.get(name)
    texts.add(`${name}=${value}`, about(name), replaced === undefined ? '' : `${name}=${replaced}`)
    values.set(name, value)
  }
  const { metadata, spec } = context.pod
  const isLinked = spec.enableServiceLinks !== false
  const ofServices = serviceVariables(servicesFor(metadata.namespace ?? '', isLinked, sources.services))
  for (const source of container.envFrom ?? []) {
    for (const [name, value] of await envFrom(source, context, sources)) set(name, value)
  }
  for (const variable of container.env ?? []) {
    const earlier = (name: string) => values.get(name) ?? ofServices.get(name)
    const value = await valueOfVariable(variable, container, context, { ...sources, volumes }, earlier)
    if (value !== undefined) set(variable.name, value)
  }
  for (const [name, value] of ofServices) if (!values.has(name)) set(name, value)
  return [...values].map(([name, value]) => ({ name, value }))
}

async function envFrom(
  source: EnvFromSource,
  { pod }: DownwardContext,
  sources: EnvironmentSources,
): Promise<readonly (readonly [string, string])[]> {
  const namespace = pod.metadata.namespace ?? ''
  const prefix = source.prefix ?? ''
  if (source.configMapRef !== undefined) {
    const { name = '', optional } = source.configMapRef
    const found = await sources.configMap(namespace, name)
    if (found === undefined && optional !== true) throw new Error(`configmap "${name}" not found`)
    return prefixed(Object.entries(found?.data ?? {}), prefix)
  }
  if (source.secretRef !== undefined) {
    const { name = '', optional } = source.secretRef
    const found = await sources.secret(namespace, name)
    if (found === undefined && optional !== true) throw new Error(`secret "${name}" not found`)
    return prefixed(
      Object.entries(found?.data ?? {}).map(([key, value]) => [key, decode(value)]),
      prefix,
    )
  }
  return []
}

/** In the order of the keys, as upstream sorts them; names that no environment can hold are left out. */
function prefixed(
  entries: readonly (readonly [string, string])[],
  prefix: string,
): readonly (readonly [string, string])[] {
  return entries
    .map(([key, value]) => [`${prefix}${key}`, value] as const)
    .filter(([name]) => name !== '' && !name.includes('='))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

interface VariableSources extends EnvironmentSources {
  readonly volumes: MountedVolumes
}

async function valueOfVariable(
  variable: EnvVar,
  container: Container,
  context: DownwardContext,
  sources: VariableSources,
  earlier: (name: string) => string | undefined,
): Promise<string | undefined> {
  if (variable.valueFrom !== undefined) return fromSource(variable.valueFrom, container, context, sources)
  const value = expand(variable.value ?? '', earlier, processTextBytesMax)
  if (value === undefined) throw new Error(tooLong(about(variable.name)))
  return value
}

const about = (name: string): string => `environment variable "${name}"`

async function fromSource(
  source: EnvVarSource,
  container: Container,
  context: DownwardContext,
  sources: VariableSources,
): Promise<string | undefined> {
  const namespace = context.pod.metadata.namespace ?? ''
  if (source.fieldRef !== undefined) return fieldValue(source.fieldRef.fieldPath, context)
  if (source.resourceFieldRef !== undefined) return resourceValue(source.resourceFieldRef, container, context)
  if (source.configMapKeyRef !== undefined) {
    const { name = '', key, optional } = source.configMapKeyRef
    const found = await sources.configMap(namespace, name)
    return required(ownValue(found?.data, key), found !== undefined, {
      singular: 'configmap',
      kind: 'ConfigMap',
      namespace,
      name,
      key,
      optional,
    })
  }
  if (source.secretKeyRef !== undefined) {
    const { name = '', key, optional } = source.secretKeyRef
    const found = await sources.secret(namespace, name)
    const value = ownValue(found?.data, key)
    const decoded = value === undefined ? undefined : decode(value)
    return required(decoded, found !== undefined, {
      singular: 'secret',
      kind: 'Secret',
      namespace,
      name,
      key,
      optional,
    })
  }
  return source.fileKeyRef === undefined ? undefined : fromFile(source.fileKeyRef, sources.volumes)
}

/** What reads files is loaded with the first. A file that is not there, or that is not to be read, is a mistake even where the variable is optional (upstream's rule). */
async function fromFile(
  { volumeName, path, key, optional }: FileKeySelector,
  volumes: MountedVolumes,
): Promise<string | undefined> {
  const volume = volumes.get(volumeName)
  if (volume === undefined) {
    if (optional === true) return undefined
    throw new Error(
      `cannot find the volume "${volumeName}" referenced by FileKeyRef: this node keeps no files of volumes; ` +
        'set value, or use a ConfigMap or Secret',
    )
  }
  const file = await pathWithin(volume.path, path)
  const { readEnvFile } = await import('./env-file.ts')
  const value = await readEnvFile(file, key, volume.path).catch((error: unknown) => {
    throw new Error("couldn't parse env file", { cause: error })
  })
  if (value !== undefined || optional === true) return value
  throw new Error(`environment variable key "${key}" not found in file "${file}"`)
}

interface KeyReference {
  readonly singular: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly key: string
  readonly optional: boolean | undefined
}

function required(value: string | undefined, exists: boolean, about: KeyReference): string | undefined {
  if (value !== undefined || about.optional === true) return value
  if (!exists) throw new Error(`${about.singular} "${about.name}" not found`)
  throw new Error(`couldn't find key ${about.key} in ${about.kind} ${about.namespace}/${about.name}`)
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}
