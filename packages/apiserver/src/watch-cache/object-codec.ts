import {
  apiVersionOf,
  deepFreeze,
  type FieldOwners,
  jsonFormOf,
  type KubernetesObject,
  ofJsonForm,
  ownersOf,
  type Resource,
} from '@coracle/api'
import { ownersTrailer, splitOwners } from './owners-trailer.ts'

/**
 * How objects of a kind become bytes in the store and back.
 *
 * Stored JSON has no resourceVersion, because the revision is known only once the bytes are committed. It begins with
 * a head that is the same for every object of the kind and ends where metadata opens, so the version is put in later by
 * copying bytes around a known position, without serializing again. The owners of the object's fields follow the object,
 * see ownersTrailer.
 */
export interface ObjectCodec {
  /** `{"apiVersion":…,"kind":…,"metadata":{` in bytes: the order of the fields of every kind. */
  readonly head: Buffer
  /** The bytes to store. The object's resourceVersion must be absent. */
  encode(object: KubernetesObject, owners: FieldOwners): Buffer
  /** What was stored as `value` at `revision`. Throws a SyntaxError for what is no JSON. */
  decode(value: Uint8Array, revision: number): DecodedValue
}

/** What is read from the store. */
export interface DecodedValue {
  /** Frozen. */
  readonly object: KubernetesObject
  /** Undefined where the value has them in its trailer. */
  readonly owners: FieldOwners | undefined
}

/** `parse` reads their JSON, such as `jsonReaderOf` the kind's schema. */
export function createObjectCodec(
  resource: Pick<Resource, 'group' | 'version' | 'kind'>,
  parse: (text: string) => unknown = JSON.parse,
): ObjectCodec {
  const apiVersion = apiVersionOf(resource)
  const head = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(resource.kind)},"metadata":{`
  const reordered = ({ metadata, kind: _kind, apiVersion: _apiVersion, ...rest }: KubernetesObject) => ({
    apiVersion,
    kind: resource.kind,
    metadata,
    ...rest,
  })
  return {
    head: Buffer.from(head),
    encode(object, owners) {
      const form = jsonFormOf(object)
      const text = JSON.stringify(form)
      const json = text.startsWith(head) ? text : JSON.stringify(reordered(form))
      return Buffer.from(json.slice(0, -1) + ownersTrailer(owners))
    },
    decode(value, revision) {
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
      const read = parse(splitOwners(text).object) as KubernetesObject
      const object = text.includes(':null') ? ofJsonForm(read) : read
      const { managedFields, ...metadata } = object.metadata
      if (managedFields === undefined) return { object: withRevision(object, revision), owners: undefined }
      return { object: withRevision({ ...object, metadata }, revision), owners: ownersOf(managedFields) ?? [] }
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
