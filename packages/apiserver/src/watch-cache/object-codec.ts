import { apiVersionOf, deepFreeze, type KubernetesObject, type Resource } from '@coracle/api'

/**
 * How objects of a kind become bytes in the store and back.
 *
 * Stored JSON has no resourceVersion, because the revision is known only once the bytes are committed. It begins with
 * a head that is the same for every object of the kind and ends where metadata opens, so the version is put in later by
 * copying bytes around a known position, without serializing again.
 */
export interface ObjectCodec {
  /** `{"apiVersion":…,"kind":…,"metadata":{` in bytes: the order of the fields of every kind. */
  readonly head: Buffer
  /** The bytes to store. The object's resourceVersion must be absent. */
  encode(object: KubernetesObject): Buffer
  /** The frozen object that was stored as `value` at `revision`. Throws a SyntaxError for what is no JSON. */
  decode(value: Uint8Array, revision: number): KubernetesObject
}

export function createObjectCodec(resource: Pick<Resource, 'group' | 'version' | 'kind'>): ObjectCodec {
  const apiVersion = apiVersionOf(resource)
  const head = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(resource.kind)},"metadata":{`
  return {
    head: Buffer.from(head),
    encode(object) {
      const text = JSON.stringify(object)
      if (text.startsWith(head)) return Buffer.from(text)
      const { metadata, kind: _kind, apiVersion: _apiVersion, ...rest } = object
      return Buffer.from(JSON.stringify({ apiVersion, kind: resource.kind, metadata, ...rest }))
    },
    decode(value, revision) {
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
      return withRevision(JSON.parse(text) as KubernetesObject, revision)
    },
  }
}

/** The object as it stands at `revision`, frozen. */
export function withRevision(object: KubernetesObject, revision: number): KubernetesObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } })
}

/** The object as it is stored: the revision is known only then. */
export function withoutVersion(object: KubernetesObject): KubernetesObject {
  if (object.metadata.resourceVersion === undefined) return object
  const { resourceVersion: _resourceVersion, ...metadata } = object.metadata
  return { ...object, metadata }
}
