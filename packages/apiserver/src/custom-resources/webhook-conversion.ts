import { ApiError, deepEqual, isJsonObject, type KubernetesObject, type ObjectMeta } from '@coracle/api'
import type { Convert } from '@coracle/api/custom'
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
    const objects = convertedObjects(await client.post(body, conversionTimeoutMs), uid)
    if (objects.length !== pending.length) {
      throw refuse(`returned ${objects.length} objects, expected ${pending.length}`)
    }
    pending.forEach(({ object, resolve, reject }, index) => {
      try {
        resolve(checked(object, objects[index], apiVersion))
      } catch (error) {
        reject(refuse(`returned invalid converted object at index ${index}: ${(error as Error).message}`))
      }
    })
  } catch (error) {
    const failure = error instanceof ApiError ? error : refuse(`failed: ${(error as Error).message}`)
    for (const { reject } of pending) reject(failure)
  }
}

/** The objects of a review that went well. Throws an Error that says why it did not. */
function convertedObjects(answer: unknown, uid: string): readonly unknown[] {
  const response = isJsonObject(answer) ? answer.response : undefined
  if (!isJsonObject(response)) throw new Error('no response provided')
  if (response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`)
  }
  const result = isJsonObject(response.result) ? response.result : {}
  if (result.status !== 'Success') {
    const { message = '', status = '' } = result
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : String(message))
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

/** A converted object with the metadata it had. Throws an Error that says what the webhook may not change. */
function checked(original: KubernetesObject, converted: unknown, apiVersion: string): KubernetesObject {
  if (!isJsonObject(converted)) throw new Error('it is no object')
  const { apiVersion: gotVersion, kind, metadata } = converted
  if (gotVersion !== apiVersion)
    throw new Error(`invalid groupVersion (expected ${apiVersion}, received ${gotVersion})`)
  if (kind !== original.kind) throw new Error(`invalid kind (expected ${original.kind}, received ${kind})`)
  if (!isJsonObject(metadata)) throw new Error('it has no metadata')
  for (const [field, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [before = '', after = ''] = [original.metadata[field], metadata[field]]
    if (before !== after) throw new Error(`must have the same ${name}: ${before} != ${after}`)
  }
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata
  const { labels, annotations } = metadata as ObjectMeta
  const restored = {
    ...kept,
    ...(labels === undefined ? {} : { labels: stringsOf('labels', labels, original.metadata.labels) }),
    ...(annotations === undefined
      ? {}
      : { annotations: stringsOf('annotations', annotations, original.metadata.annotations) }),
  }
  return { ...converted, metadata: restored } as KubernetesObject
}

/** A map of texts, the same one where it is equal. */
function stringsOf(
  field: string,
  value: unknown,
  old: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  if (old !== undefined && deepEqual(value, old)) return old
  if (isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string')) {
    return value as Readonly<Record<string, string>>
  }
  throw new Error(`metadata.${field} must be a map of texts`)
}
