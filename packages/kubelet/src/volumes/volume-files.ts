import {
  type ConfigMap,
  ownValue,
  type Pod,
  type Secret,
  tokenExpirationSecondsDefault,
  type Volume,
} from '@coracle/api'
import type { EnvironmentSources } from '../env/environment-variables.ts'
import { type DownwardContext, fieldValue, resourceValue } from '../env/field-ref.ts'
import type { PodTokens } from './pod-tokens.ts'

type KeyToPath = NonNullable<NonNullable<Volume['configMap']>['items']>[number]
type DownwardApiVolumeFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]

/** A file of a volume that is made of other objects. */
export interface VolumeFile {
  /** Relative to the volume, without `..`. */
  readonly path: string
  readonly data: Uint8Array
  readonly mode: number
  /** The user that it is for, where it is for one alone. */
  readonly owner?: number
}

/** What a file is made of: what the pod says of itself, and objects beside it. */
export interface FileSources {
  readonly pod: Pod
  readonly allocatable: DownwardContext['allocatable']
  readonly objects: Pick<EnvironmentSources, 'configMap' | 'secret'>
  /** Absent where nobody reads the files: then there are none of tokens. */
  readonly tokens?: Pick<PodTokens, 'token'>
}

/** What a volume shows cannot be had; the message says why, in the words of upstream's kubelet. */
export class VolumeSourceError extends Error {
  override readonly name = 'VolumeSourceError'
}

/** Whether the volume is made of files that come from other objects or from the pod. */
export const isMadeOfFiles = ({ configMap, secret, downwardAPI, projected }: Volume): boolean =>
  (configMap ?? secret ?? downwardAPI ?? projected) !== undefined

/**
 * The files that a volume shows of ConfigMaps, Secrets and of the pod. Rejects with a `VolumeSourceError` where an object or a key
 * that it names is missing and not optional.
 */
export async function volumeFiles(volume: Volume, sources: FileSources): Promise<readonly VolumeFile[]> {
  const { configMap, secret, downwardAPI, projected } = volume
  if (configMap !== undefined) return keyed('configmap', configMap, configMap.defaultMode, sources)
  if (secret !== undefined) return keyed('secret', { ...secret, name: secret.secretName }, secret.defaultMode, sources)
  if (downwardAPI !== undefined) return downward(downwardAPI.items ?? [], downwardAPI.defaultMode, sources)
  if (projected === undefined) return []
  const { defaultMode } = projected
  const parts = (projected.sources ?? []).flatMap((each) => [
    ...(each.configMap === undefined ? [] : [keyed('configmap', each.configMap, defaultMode, sources)]),
    ...(each.secret === undefined ? [] : [keyed('secret', each.secret, defaultMode, sources)]),
    ...(each.downwardAPI === undefined ? [] : [downward(each.downwardAPI.items ?? [], defaultMode, sources)]),
    ...(each.serviceAccountToken === undefined ? [] : [tokenFile(each.serviceAccountToken, defaultMode, sources)]),
    ...unknownPart(each),
  ])
  const results = await Promise.allSettled(parts)
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const unexpected = problems.find((problem) => !(problem instanceof VolumeSourceError))
  if (unexpected !== undefined) throw unexpected
  const messages = [...new Set(problems.map(({ message }) => message as string))]
  if (messages.length > 0) throw new VolumeSourceError(messages.length > 1 ? `[${messages.join(', ')}]` : messages[0])
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  // Of several at one path the last one stays.
  return [...new Map(files.map((file) => [file.path, file])).values()]
}

type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

type TokenSource = NonNullable<ProjectedSource['serviceAccountToken']>

/** A token of the pod's account, for its owner alone where the pod says which user that is. */
async function tokenFile(
  { path, audience, expirationSeconds = tokenExpirationSecondsDefault }: TokenSource,
  defaultMode: number = fileModeDefault,
  { pod, tokens }: FileSources,
): Promise<readonly VolumeFile[]> {
  if (tokens === undefined) return []
  const owner = oneUser(pod)
  const mode = pod.spec.securityContext?.fsGroup !== undefined || owner !== undefined ? 0o600 : defaultMode
  try {
    const data = Buffer.from(await tokens.token(pod, { audience, expirationSeconds }))
    return [{ path, data, mode, ...(owner === undefined ? {} : { owner }) }]
  } catch (error) {
    throw new VolumeSourceError(`failed to fetch token: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The user that all containers are to run as, where it is one and it is said which (upstream's FsUserFrom). */
function oneUser({ spec: { securityContext, initContainers = [], containers } }: Pod): number | undefined {
  const users = [...initContainers, ...containers].map(
    (container) => container.securityContext?.runAsUser ?? securityContext?.runAsUser,
  )
  return users.every((user) => user === users[0]) ? users[0] : undefined
}

/** What else may be projected is made for a while only, and by somebody who is asked for it. */
function unknownPart(source: ProjectedSource): readonly Promise<readonly VolumeFile[]>[] {
  const kind = ['clusterTrustBundle', 'podCertificate'].find((name) => Object.hasOwn(source, name))
  return kind === undefined
    ? []
    : [Promise.reject(new VolumeSourceError(`sources of kind ${kind} are not projected here`))]
}

interface KeyedSource {
  readonly name?: string | undefined
  /** Absent: all its keys, under their own names. */
  readonly items?: readonly KeyToPath[] | undefined
  readonly optional?: boolean | undefined
}

async function keyed(
  kind: 'configmap' | 'secret',
  { name = '', items, optional = false }: KeyedSource,
  defaultMode: number = fileModeDefault,
  { pod, objects }: FileSources,
): Promise<readonly VolumeFile[]> {
  const { namespace = '' } = pod.metadata
  const found = kind === 'secret' ? await objects.secret(namespace, name) : await objects.configMap(namespace, name)
  if (found === undefined) {
    if (optional) return []
    throw new VolumeSourceError(`${kind} ${JSON.stringify(name)} not found`)
  }
  const chosen = items ?? keysOf(found).map((key): KeyToPath => ({ key, path: key }))
  return chosen.flatMap(({ key, path, mode = defaultMode }) => {
    const data = bytesOf(found, key)
    if (data !== undefined) return [{ path, data, mode }]
    if (optional) return []
    throw new VolumeSourceError(
      kind === 'secret'
        ? `references non-existent secret key: ${key}`
        : `configmap references non-existent config key: ${key}`,
    )
  })
}

/** Mode of files of which nothing is said: rw-r--r--. */
const fileModeDefault = 0o644

const keysOf = (found: ConfigMap | Secret): readonly string[] => [
  ...Object.keys(found.data ?? {}),
  ...('binaryData' in found ? Object.keys(found.binaryData ?? {}) : []),
]

function bytesOf(found: ConfigMap | Secret, key: string): Uint8Array | undefined {
  const text = ownValue(found.data, key)
  if (text !== undefined) return Buffer.from(text, found.kind === 'Secret' ? 'base64' : 'utf8')
  const binary = 'binaryData' in found ? ownValue(found.binaryData, key) : undefined
  return binary === undefined ? undefined : Buffer.from(binary, 'base64')
}

async function downward(
  items: readonly DownwardApiVolumeFile[],
  defaultMode: number = fileModeDefault,
  { pod, allocatable }: FileSources,
): Promise<readonly VolumeFile[]> {
  // Validation lets through no field that is about addresses: the pod has none yet.
  const context: DownwardContext = { pod, allocatable, podAddresses: [], nodeAddress: '' }
  return items.map((item) => ({ path: item.path, data: downwardText(item, context), mode: item.mode ?? defaultMode }))
}

function downwardText({ fieldRef, resourceFieldRef }: DownwardApiVolumeFile, context: DownwardContext): Uint8Array {
  try {
    if (fieldRef !== undefined) return Buffer.from(metadataText(fieldRef.fieldPath, context))
    return Buffer.from(resourceFieldRef === undefined ? '' : resourceValue(resourceFieldRef, undefined, context))
  } catch (error) {
    throw new VolumeSourceError(error instanceof Error ? error.message : String(error))
  }
}

function metadataText(path: string, context: DownwardContext): string {
  const { labels = {}, annotations = {} } = context.pod.metadata
  if (path === 'metadata.labels') return mapText(labels)
  if (path === 'metadata.annotations') return mapText(annotations)
  return fieldValue(path, context)
}

/** A line for each entry, by key, as upstream's fieldpath.FormatMap writes them. */
const mapText = (map: Readonly<Record<string, string>>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n')
