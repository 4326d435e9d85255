import { apiVersionOf, deepFreeze, jsonReaderOf, type StoredKind } from '@coracle/api'
import { readForeign, readStored } from '../versions/stored-form.ts'
import { createObjectCodec, type ObjectCodec, withoutVersion } from './object-codec.ts'
import { hasOwners, readOwners } from './owners-trailer.ts'
import { StoredObject } from './stored-object.ts'
import { UnreadableValueError } from './unreadable-values.ts'

/** Reads the store's values of a kind that this process has not written itself: those of before its start, and those of others. */
export class ValueReader {
  /** Makes and reads the bytes of the kind, in the version that is stored. */
  readonly codec: ObjectCodec
  /** The definition that converts and defaults what is read. It may be replaced by a newer one of the same kind. */
  kind: StoredKind
  /** The definition that the bytes go by. */
  readonly #stored: StoredKind
  readonly #apiVersion: string

  constructor(kind: StoredKind) {
    this.codec = createObjectCodec(kind, jsonReaderOf(kind.schema))
    this.kind = kind
    this.#stored = kind
    this.#apiVersion = apiVersionOf(kind)
  }

  /** Throws an UnreadableValueError where the value is no object of the kind. */
  read(key: string, value: Uint8Array, revision: number): StoredObject {
    const read = this.tryRead(key, value, revision)
    if (read instanceof StoredObject) return read
    throw read
  }

  /** The object stored as `value` at `revision` under `key`, or why it is none of the kind. */
  tryRead(key: string, value: Uint8Array, revision: number): StoredObject | UnreadableValueError {
    try {
      const { object, owners } = this.codec.decode(value, revision)
      if (object.kind !== this.#stored.kind) throw new TypeError(`its kind is ${JSON.stringify(object.kind)}`)
      const isOurs = hasOwners(value)
      const read = readStored(this.kind, isOurs ? object : readForeign(this.kind, object))
      // The next write stores an object that is not in the store's form or version, even if it changes nothing else.
      const stale = read !== object || read.apiVersion !== this.#apiVersion
      if (read === object && owners === undefined) {
        return new StoredObject(object, revision, value, this.codec.head, { stale })
      }
      const own = owners ?? readOwners(value)
      const codec = this.#codecOf(read.apiVersion)
      const encoded = codec.encode(withoutVersion(read), own)
      return new StoredObject(deepFreeze(read), revision, encoded, codec.head, { owners: own, stale })
    } catch (cause) {
      return new UnreadableValueError(key, this.#stored.kind, revision, cause)
    }
  }

  /** What makes the bytes of an object in the version that it has. */
  #codecOf(apiVersion: string): ObjectCodec {
    if (apiVersion === this.#apiVersion) return this.codec
    const { group, kind, schema } = this.#stored
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    return createObjectCodec({ group, kind, version }, jsonReaderOf(schema))
  }
}
