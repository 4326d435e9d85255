import { type FieldOwners, isJsonObject, type KubernetesObject } from '@coracle/api'
import type { Put } from '@coracle/store'
import type { ObjectCodec } from './object-codec.ts'
import type { StoredObject } from './stored-object.ts'

/** An object on its way into the store. */
export interface ObjectPut extends Put {
  /** About how much the object's JSON takes. */
  readonly byteLength: number
}

/** Objects of more JSON than that are encoded at once, so that how long they are is known and held to the store's limit. */
export const lazyLengthMax = 64 * 1024

/** Stores an object as bytes. */
export function eagerPut(codec: ObjectCodec, key: string, object: KubernetesObject, owners: FieldOwners): ObjectPut {
  const value = codec.encode(object, owners)
  return { type: 'put', key, value, byteLength: value.length }
}

/**
 * Stores an object, and encodes it when somebody reads its bytes: for a store that keeps it as it comes. `old` is what it takes the
 * place of.
 */
export function lazyPut(
  codec: ObjectCodec,
  key: string,
  object: KubernetesObject,
  owners: FieldOwners,
  old: StoredObject | undefined,
): ObjectPut {
  const byteLength = (old?.byteLength ?? 0) + lengthBeyond(old?.object, object)
  if (byteLength > lazyLengthMax) return eagerPut(codec, key, object, owners)
  return new LazyPut(codec, key, object, owners, byteLength)
}

// A class, since every literal with a getter is of a hidden class of its own: whoever reads it is slow for all objects from then on.
class LazyPut implements ObjectPut {
  readonly type = 'put'
  readonly lazy = true
  readonly token = {}
  readonly key: string
  readonly byteLength: number
  readonly #codec: ObjectCodec
  readonly #object: KubernetesObject
  readonly #owners: FieldOwners
  #made: Uint8Array | undefined

  constructor(codec: ObjectCodec, key: string, object: KubernetesObject, owners: FieldOwners, byteLength: number) {
    this.key = key
    this.byteLength = byteLength
    this.#codec = codec
    this.#object = object
    this.#owners = owners
  }

  get value(): Uint8Array {
    this.#made ??= this.#codec.encode(this.#object, this.#owners)
    return this.#made
  }
}

/** What quotes, a colon and a comma take, and a number at most. */
const punctuationLength = 4
const numberLength = 24

/** At least how much longer the JSON of a value is than that of `known`: what stands in both at the same place is passed over. */
function lengthBeyond(known: unknown, value: unknown): number {
  if (value === known) return 0
  if (typeof value === 'string') return value.length + punctuationLength
  if (typeof value !== 'object' || value === null) return numberLength
  let length = punctuationLength
  if (Array.isArray(value)) {
    const others: readonly unknown[] = Array.isArray(known) ? known : []
    for (let at = 0; at < value.length; at += 1) length += lengthBeyond(others[at], value[at])
    return length
  }
  const others = isJsonObject(known) ? known : undefined
  for (const name of Object.keys(value)) {
    // What an object inherits is like no value of JSON: then what stands there is taken for new, as it is.
    const other = others?.[name]
    const each = (value as Readonly<Record<string, unknown>>)[name]
    if (each !== other || each === undefined) length += name.length + punctuationLength + lengthBeyond(other, each)
  }
  return length
}
