import type { KubernetesObject } from '@coracle/api'
import type { ObjectKey } from './client.ts'

/** A key as caches and queues hold it: `namespace/name`, or `name` where the kind has no namespaces. */
export function keyText(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** The key of an object. */
export function keyOf(object: Pick<KubernetesObject, 'metadata'>): string {
  return keyText(object.metadata.namespace, object.metadata.name ?? '')
}

/** The parts of a key made by `keyText`. */
export function splitKey(key: string): ObjectKey {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** What names an object to a client. */
export function objectKeyOf({ metadata: { namespace, name = '' } }: Pick<KubernetesObject, 'metadata'>): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name }
}
