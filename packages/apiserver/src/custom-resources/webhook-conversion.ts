import {
  ApiError,
  deepEqual,
  FieldPath,
  isJsonObject,
  type KubernetesObject,
  type ObjectMeta,
  validateAnnotations,
  validateLabels,
} from '@coracle/api'
import type { Convert } from '@coracle/api/custom'
import { aggregated } from '../admission/forbidden.ts'
import type { WebhookClient } from '../webhook/webhook-client.ts'

/** How long a webhook may take, as upstream. */
export const conversionTimeoutMs = 30_000

/** Objects that one review asks about. A list of more takes several. */
export const reviewObjectsMax = 500

export interface WebhookConversionOptions {
  readonly client: Pick<WebhookClient, 'post'>
  /** The version of ConversionReview that both speak: `v1` or `v1beta1`. */
  readonly reviewVersion: string
  readonly uuid: () => string
}

interface Pending {
  readonly object: KubernetesObject
  resolve(converted: KubernetesObject): void
  reject(error: unknown): void
}

/**
 * Converts by asking a webhook with a ConversionReview. What is asked for in one turn goes into one review. Objects come back
 * as the webhook makes them but for their metadata, of which it may change labels and annotations alone.
 */
export function webhookConversion(options: WebhookConversionOptions): Convert {
  const waiting = new Map<string, Pending[]>()
  const flush = (apiVersion: string): void => {
    const pending = waiting.get(apiVersion) ?? []
    waiting.delete(apiVersion)
    for (let from = 0; from < pending.length; from += reviewObjectsMax) {
      void review(options, apiVersion, pending.slice(from, from + reviewObjectsMax))
    }
  }
  return (object, apiVersion) => {
    if (object.apiVersion === apiVersion) return object
    return new Promise((resolve, reject) => {
      const pending = waiting.get(apiVersion)
      if (pending !== undefined) {
        pending.push({ object, resolve, reject })
        return
      }
      waiting.set(apiVersion, [{ object, resolve, reject }])
      queueMicrotask(() => flush(apiVersion))
    })
  }
}

async function review(
  { client, reviewVersion, uuid }: WebhookConversionOptions,
  apiVersion: string,
  pending: readonly Pending[],
): Promise<void> {
  const uid = uuid()
  const [first] = pending
  const from = `${first?.object.apiVersion}, Kind=${first?.object.kind}`
  const refuse = (why: string) => new ApiError(500, '', `conversion webhook for ${from} ${why}`)
  try {
    const request = { uid, desiredAPIVersion: apiVersion, objects: pending.map(({ object }) => object) }
    const body = { apiVersion: `apiextensions.k8s.io/${reviewVersion}`, kind: 'ConversionReview', request }
    const answer = await client.post(body, conversionTimeoutMs)
    const objects = convertedObjects(answer, reviewVersion === 'v1' ? { ...body, uid } : undefined)
    if (objects.length !== pending.length) {
      throw refuse(`returned ${objects.length} objects, expected ${pending.length}`)
    }
    pending.forEach(({ object, resolve, reject }, index) => {
      try {
        resolve(checked(object, objects[index], apiVersion))
      } catch (error) {
        if (!(error instanceof InvalidObjectError)) throw error
        const { what, at } = error
        reject(
          refuse(`returned invalid ${pending.length === 1 ? alone[at] : `${among[at]} at index ${index}`}: ${what}`),
        )
      }
    })
  } catch (error) {
    const failure = error instanceof ApiError ? error : refuse(`failed: ${(error as Error).message}`)
    for (const { reject } of pending) reject(failure)
  }
}

/** What of a converted object is wrong, and in which of three places upstream finds it. */
class InvalidObjectError extends Error {
  readonly what: string
  readonly at: keyof typeof alone

  constructor(what: string, at: keyof typeof alone) {
    super(what)
    this.what = what
    this.at = at
  }
}

/** How upstream calls these places where it has asked about one object, and about several. */
const alone = { version: 'object at index 0', object: 'object', metadata: 'metadata' } as const
const among = { version: 'converted object', object: 'converted object', metadata: 'metadata in object' } as const

/** What tells an answer from one to another question. Of v1beta1 nothing is checked. */
interface ReviewIdentity {
  readonly apiVersion: string
  readonly kind: string
  readonly uid: string
}

/** The objects of a review that went well. Throws an Error that says why it did not. */
function convertedObjects(answer: unknown, expected: ReviewIdentity | undefined): readonly unknown[] {
  const review = isJsonObject(answer) ? answer : {}
  const { response } = review
  if (expected !== undefined) {
    const [wanted, given] = [expected, review].map(gvkText)
    if (wanted !== given) throw new Error(`expected webhook response of ${wanted}, got ${given}`)
  }
  if (!isJsonObject(response)) throw new Error('no response provided')
  if (expected !== undefined && response.uid !== expected.uid) {
    throw new Error(`expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(response.uid ?? '')}`)
  }
  const result = isJsonObject(response.result) ? response.result : {}
  if (result.status !== 'Success') {
    const { message = '', status = '' } = result
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : String(message))
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

function gvkText({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const version = textOf(apiVersion)
  return `${version.includes('/') ? version : `/${version}`}, Kind=${textOf(kind)}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A converted object with the metadata it had. Throws an InvalidObjectError that says what the webhook may not change. */
function checked(original: KubernetesObject, converted: unknown, apiVersion: string): KubernetesObject {
  const refuse = (what: string, at: InvalidObjectError['at'] = 'version') => new InvalidObjectError(what, at)
  const given = isJsonObject(converted) ? converted : {}
  const [version, kind] = [textOf(given.apiVersion), textOf(given.kind)]
  if (kind === '') throw refuse(`Object 'Kind' is missing in '${JSON.stringify(converted)}'`)
  if (version !== apiVersion) throw refuse(`invalid groupVersion (expected ${apiVersion}, received ${version})`)
  if (kind !== original.kind) throw refuse(`invalid kind (expected ${original.kind}, received ${kind})`)
  const metadata = isJsonObject(given.metadata) ? given.metadata : {}
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before = '', after = ''] = [original.metadata[field], textOf(metadata[field])]
    if (before !== after) throw refuse(`must have the same ${name}: ${before} != ${after}`, 'object')
  }
  if (given.metadata === undefined) throw refuse('missing metadata in converted object', 'metadata')
  if (!isJsonObject(given.metadata)) {
    throw refuse(`invalid metadata of type ${goTypeOf(given.metadata)} in converted object`, 'metadata')
  }
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata
  const labels = stringsOf('labels', metadata.labels, original.metadata.labels)
  const annotations = stringsOf('annotations', metadata.annotations, original.metadata.annotations)
  const restored: ObjectMeta = {
    ...kept,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  return { ...given, metadata: restored } as KubernetesObject
}

const rules = {
  labels: (value: Texts) => validateLabels(value, FieldPath.of('metadata', 'labels')),
  annotations: (value: Texts) => validateAnnotations(value, FieldPath.of('metadata', 'annotation')),
} as const

type Texts = Readonly<Record<string, string>>

/** A map of texts as objects may have it, the same one where it is equal; undefined where there is none. */
function stringsOf(field: keyof typeof rules, value: unknown, old: Texts | undefined): Texts | undefined {
  const refuse = (what: string) => new InvalidObjectError(what, 'metadata')
  if (value === undefined || value === null) return undefined
  if (old !== undefined && deepEqual(value, old)) return old
  if (!isJsonObject(value)) throw refuse(`invalid metadata.${field} of type ${goTypeOf(value)} in converted object`)
  for (const [key, each] of Object.entries(value)) {
    if (typeof each === 'string') continue
    throw refuse(`metadata.${field}[${key}] must be a string, but is ${goTypeOf(each)} in converted object`)
  }
  const errors = rules[field](value as Texts)
  if (errors.length > 0) throw refuse(aggregated(errors.map((each) => `${each.field}: ${each.message}`)))
  return value as Texts
}

/** What Go makes of a value of JSON. */
function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
