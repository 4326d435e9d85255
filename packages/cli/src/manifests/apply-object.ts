import {
  any,
  applyMergePatch,
  applyStrategicMergePatch,
  createThreeWayPatch,
  createTwoWayPatch,
  hasReason,
  isJsonObject,
  type JsonObject,
  type KubernetesObject,
  parseExactJson,
  patchConflicts,
  type Resource,
  sortKeys,
} from '@coracle/api'
import { type Client, isUnreachableServer, type ObjectKey, type Patch, type WriteOptions } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import { whileDoing } from '../describe-error.ts'
import { goJson, safeInHtml } from '../output/go-json.ts'
import { applyFieldManager } from './field-managers.ts'
import { isEmptyPatch, schemaOf } from './patch-between.ts'

/** Where an object keeps the configuration last applied: kubectl's, so that either program goes on where the other left off. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export interface Applied {
  readonly outcome: 'created' | 'configured' | 'unchanged'
  readonly object: KubernetesObject
  /** The object was there and had not been applied before: fields that were taken out of the file cannot be told. */
  readonly lacksLastApplied: boolean
}

export interface ApplyOptions extends Pick<WriteOptions, 'dryRun' | 'fieldManager' | 'fieldValidation'> {
  /** Works out what would happen and sends no write. */
  readonly local?: boolean
  /** False: does not note in the object what was applied. */
  readonly annotate?: boolean
  /** False: rejects where that would set a field that others have changed since it was last applied. */
  readonly overwrite?: boolean
  /** Is called before an object is written that was not applied before. */
  readonly onMissing?: () => void
  /** Where the object stands, for refusals to name it. */
  readonly source?: string
  /** Lets time pass before a patch is tried again that somebody else's change was in the way of. Absent: it is not tried again. */
  readonly pause?: (ms: number) => Promise<void>
}

/** How often a patch is tried again, made anew of what is there by then, and how long before each but the first (kubectl's rule). */
const retriesMax = 5
const retryAfterMs = 1_000

/**
 * Makes an object as `wanted` says: creates it, or patches what differs. What the last applied configuration had and
 * `wanted` has not is taken away; what others have set stays.
 */
export async function applyObject(
  client: Client,
  resource: Resource,
  wanted: KubernetesObject,
  options: ApplyOptions = {},
): Promise<Applied> {
  const { local = false, source, overwrite = true, annotate = true, onMissing, pause, ...rest } = options
  const during = async <R>(what: string, work: Promise<R>): Promise<R> => {
    if (source === undefined || !annotate) return work
    return work.catch((error: unknown) => {
      throw whileDoing(`error when ${what} "${source}"`, error)
    })
  }
  const write: WriteOptions = { fieldManager: applyFieldManager, ...rest }
  const modified = annotate ? withLastApplied(wanted) : withoutLastApplied(wanted)
  const { name = '', namespace } = modified.metadata
  const key = { name, ...(namespace === undefined ? {} : { namespace }) }
  const current = await getOrUndefined(client, resource, key).catch((error: unknown) => {
    throw source === undefined || !annotate || isUnreachableServer(error)
      ? error
      : whileRetrieving(resource, key, source, error)
  })
  if (current === undefined) {
    // As with an update, what is null is not there; the record keeps it.
    const made = annotate ? (withoutNulls(modified) as KubernetesObject) : modified
    const object = local ? made : await during('creating', client.create(resource, withoutVersion(made), write))
    return { outcome: 'created', object, lacksLastApplied: false }
  }
  const lacksLastApplied = current.metadata.annotations?.[lastAppliedAnnotation] === undefined
  if (lacksLastApplied) onMissing?.()
  let latest = current
  for (let retries = 0; ; retries++) {
    const patch = applyPatch(resource, modified, latest)
    if (isEmptyPatch(patch)) return { outcome: 'unchanged', object: latest, lacksLastApplied }
    if (!overwrite) checkUnchanged(resource, patch, latest, source)
    if (local) return { outcome: 'configured', object: patched(resource, latest, patch), lacksLastApplied }
    const sent = annotate ? patch : withVersionOf(latest, patch)
    try {
      const object = await client.patch<KubernetesObject>(resource, key, sent, write)
      return { outcome: 'configured', object, lacksLastApplied }
    } catch (error) {
      if (!hasReason(error, 'Conflict') || pause === undefined || retries === retriesMax) {
        throw whilePatching(resource, key, patch, options, error)
      }
      if (retries > 0) await pause(retryAfterMs)
      latest = await client.get(resource, key)
    }
  }
}

/** The error of a patch, with the file that it is of and, where that is applied, all that kubectl says of it. */
function whilePatching(
  resource: Resource,
  key: ObjectKey,
  patch: Patch,
  { source, annotate = true }: ApplyOptions,
  error: unknown,
): unknown {
  if (source === undefined) return error
  const refused = whileDoing(`error when patching "${source}"`, error)
  return annotate ? whileApplying(resource, key, patch, source, refused) : refused
}

/** A value without members that are null, at any depth; entries of lists stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]))
}

/** A patch of an object as it is now, whatever version it was written for: a comparison is not refused for that. */
function withVersionOf({ metadata: { resourceVersion } }: KubernetesObject, { type, body }: Patch): Patch {
  const { metadata, ...rest } = body as JsonObject
  return { type, body: { ...rest, metadata: { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion } } }
}

/** The error of a patch that is applied, with all that kubectl says of it. */
function whileApplying(resource: Resource, key: ObjectKey, { body }: Patch, source: string, error: unknown): unknown {
  const what = `error when applying patch:\n${goJson(body)}\nto:\n${placeText(resource, key)}`
  return whileDoing(`${what}\nfor: "${source}"`, error)
}

/** Resource, kind, name and namespace of an object, a line each two, as kubectl writes them. */
function placeText({ group, version, kind, plural }: Resource, { name, namespace = '' }: ObjectKey): string {
  const prefix = `${group}/${version}`
  return `Resource: "${prefix}, Resource=${plural}", GroupVersionKind: "${prefix}, Kind=${kind}"\nName: "${name}", Namespace: "${namespace}"`
}

/** The error of a read, with what was read and what for, in kubectl's words. */
export function whileRetrieving(resource: Resource, key: ObjectKey, source: string, error: unknown): unknown {
  const what = `error when retrieving current configuration of:\n${placeText(resource, key)}`
  return whileDoing(`${what}\nfrom server for: "${source}"`, error)
}

/** The patch from what is to what is wanted: strategic for kinds whose lists we know how to merge, or else a merge patch. */
export function applyPatch(resource: Resource, modified: KubernetesObject, current: KubernetesObject): Patch {
  const schema = schemaOf(resource)
  const body = createThreeWayPatch(schema ?? any, lastApplied(current), asJson(modified), asJson(current))
  return { type: schema === undefined ? 'merge' : 'strategic', body }
}

/** What the server would make of a patch, as far as that can be told here. */
function patched(resource: Resource, current: KubernetesObject, { body }: Patch): KubernetesObject {
  const schema = schemaOf(resource)
  const made = schema === undefined ? applyMergePatch(current, body) : applyStrategicMergePatch(schema, current, body)
  return made as KubernetesObject
}

/** Throws a CliError where the patch sets fields that others have changed since they were last applied. */
function checkUnchanged(resource: Resource, { body }: Patch, current: KubernetesObject, source = 'the object'): void {
  const schema = schemaOf(resource) ?? any
  // The annotation differs from what it notes whenever that differs.
  const present = asJson(withoutLastApplied(current))
  const changed = patchConflicts(schema, body as JsonObject, createTwoWayPatch(schema, lastApplied(current), present))
  if (changed.length === 0) return
  throw new CliError(
    `error when applying "${source}": changed by others since it was last applied: ${changed.join(', ')}; write the values they have now into the file, or leave --overwrite=false out to set those of the file`,
  )
}

/** The object without the version that it had where the file was written: what is created has none yet. */
export function withoutVersion<T extends KubernetesObject>(object: T): T {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The object with itself, as text, in the annotation: with its fields sorted, or in the order that `inOrder` gives them. */
export function withLastApplied(
  object: KubernetesObject,
  inOrder: (object: KubernetesObject) => unknown = sortKeys,
): KubernetesObject {
  const plain = withoutLastApplied(object)
  const text = `${safeInHtml(JSON.stringify(inOrder(plain)))}\n`
  const annotations = { ...plain.metadata.annotations, [lastAppliedAnnotation]: text }
  return { ...plain, metadata: { ...plain.metadata, annotations } }
}

/** The object as the annotation has it. */
function withoutLastApplied(object: KubernetesObject): KubernetesObject {
  const { [lastAppliedAnnotation]: _, ...annotations } = object.metadata.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function lastApplied(current: KubernetesObject): JsonObject {
  const text = current.metadata.annotations?.[lastAppliedAnnotation]
  if (text === undefined) return {}
  try {
    const value: unknown = parseExactJson(text)
    return isJsonObject(value) ? value : {}
  } catch {
    // Someone has edited it by hand: then nothing is known of what was applied, as if it were not there.
    return {}
  }
}

async function getOrUndefined(
  client: Client,
  resource: Resource,
  key: { readonly name: string; readonly namespace?: string },
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(resource, key)
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

const asJson = (object: KubernetesObject): JsonObject => object as unknown as JsonObject
