import { apiVersionOf, type KubernetesObject, type Resource } from '@coracle/api'
import type { ObjectOf } from '../custom-kind.ts'
import type { Webhook } from './webhook.ts'

/** How objects of a version become those of the hub, and back. Metadata stays, but for labels and annotations. Pure. */
export interface VersionConverter<V extends KubernetesObject, H extends KubernetesObject> {
  toHub(object: V): H
  fromHub(object: H): V
}

/**
 * A webhook that converts between the versions of a kind by way of one of them, the hub: each other version says how it becomes the
 * hub and comes from it. The kind's `conversion` names the webhook (`conversionOf`).
 */
export function conversionWebhook<V extends Readonly<Record<string, Resource>>, H extends keyof V & string>(
  path: string,
  versions: V,
  hub: H,
  converters: { readonly [K in Exclude<keyof V, H>]: VersionConverter<ObjectOf<V[K]>, ObjectOf<V[H]>> },
): Webhook {
  const byApiVersion = new Map<string, VersionConverter<KubernetesObject, KubernetesObject>>()
  for (const [name, resource] of Object.entries(versions)) {
    const converter = name === hub ? itself : converters[name as Exclude<keyof V, H>]
    byApiVersion.set(apiVersionOf(resource), converter as VersionConverter<KubernetesObject, KubernetesObject>)
  }
  const converterFor = (apiVersion: string) => {
    const converter = byApiVersion.get(apiVersion)
    if (converter === undefined)
      throw new Error(`there is no version ${apiVersion}; there is ${[...byApiVersion.keys()].join(', ')}`)
    return converter
  }
  const convert = (object: KubernetesObject, apiVersion: string): KubernetesObject => {
    if (object.apiVersion === apiVersion) return object
    const converted = converterFor(apiVersion).fromHub(converterFor(object.apiVersion).toHub(object))
    return { ...converted, apiVersion }
  }
  return {
    path,
    async answer(review, { logger }) {
      const { apiVersion, kind, request } = review as Review
      if (kind !== 'ConversionReview' || typeof request?.uid !== 'string')
        throw new TypeError('not a ConversionReview with a request')
      const { uid, desiredAPIVersion, objects } = request
      try {
        const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion))
        return { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } }
      } catch (error) {
        logger.error('conversion failed', { desiredAPIVersion, error })
        const message = error instanceof Error ? error.message : String(error)
        return { apiVersion, kind, response: { uid, result: { status: 'Failure', message } } }
      }
    },
  }
}

interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request?: {
    readonly uid: string
    readonly desiredAPIVersion: string
    readonly objects: readonly KubernetesObject[]
  }
}

const itself: VersionConverter<KubernetesObject, KubernetesObject> = {
  toHub: (object) => object,
  fromHub: (object) => object,
}
