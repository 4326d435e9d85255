import { type FieldOwners, type KubernetesObject, managedFieldsOf } from '@coracle/api'
import type { Stored } from '../registry-contract.ts'
import { withRevision } from './object-codec.ts'
import { endOfObject, readOwners } from './owners-trailer.ts'

/** Of how many objects the owners of their fields are kept as more than bytes. */
export const heldOwnersMax = 1024

/** In a ring: who has been there longest is next to go. */
const holders: (StoredObject | undefined)[] = []
let nextHolder = 0

/**
 * An object with its JSON. The JSON sent to clients is made from the stored bytes when someone first asks for it and
 * replaces them, so an object that nobody reads over the wire costs one copy, and one that many read costs no more.
 */
export class StoredObject implements Stored {
  readonly object: KubernetesObject
  readonly revision: number
  /** Whether this process has decoded the object by its kind's schema: what was read from the store may be of another time. */
  readonly decoded: boolean
  /** Whether the store holds it in another form: a write stores this one, even where it changes nothing else. */
  readonly stale: boolean
  readonly #head: Buffer
  #source: Uint8Array
  /** How many bytes after the head are a resourceVersion and managedFields; undefined in bytes as the store holds them. */
  #insertedLength: number | undefined
  /** Whether the resourceVersion in `#source` is this object's. */
  #current: boolean
  #owners: FieldOwners | undefined

  /** `value` is what is stored, without resourceVersion; `head` what all objects of the kind begin with. */
  constructor(
    object: KubernetesObject,
    revision: number,
    value: Uint8Array,
    head: Buffer,
    { decoded = false, stale = false, owners, insertedLength }: StoredObjectOptions = {},
  ) {
    this.object = object
    this.revision = revision
    this.decoded = decoded
    this.stale = stale
    this.#source = value
    this.#head = head
    this.#insertedLength = insertedLength
    this.#current = false
    if (owners !== undefined) this.#hold(owners)
  }

  /** About how much the object's JSON takes. */
  get byteLength(): number {
    return this.#source.length
  }

  get bytes(): Buffer {
    if (!this.#current) this.#serve()
    return this.#source as Buffer
  }

  get owners(): FieldOwners {
    return this.#owners ?? this.#hold(readOwners(this.#source))
  }

  /** Keeps the owners at hand while the object is among those written or asked for last: they are in its bytes. */
  #hold(owners: FieldOwners): FieldOwners {
    this.#owners = owners
    const oldest = holders[nextHolder]
    if (oldest !== undefined) oldest.#release()
    holders[nextHolder] = this
    nextHolder = (nextHolder + 1) % heldOwnersMax
    return owners
  }

  #release(): void {
    // Bytes that were sent to clients have them in another form.
    if (this.#insertedLength === undefined) this.#owners = undefined
  }

  get withManagedFields(): KubernetesObject {
    return withManagedFields(this.object, this.owners)
  }

  /** The same content as of a later revision: what a delete leaves of an object. */
  at(revision: number): StoredObject {
    const object = withRevision(this.object, revision)
    return new StoredObject(object, revision, this.#source, this.#head, {
      decoded: this.decoded,
      owners: this.#owners,
      insertedLength: this.#insertedLength,
    })
  }

  /** Puts the resourceVersion and managedFields in, where metadata begins. */
  #serve(): void {
    const { owners } = this
    const source = Buffer.from(this.#source.buffer, this.#source.byteOffset, this.#source.byteLength)
    const at = this.#head.length
    this.#current = true
    if (!startsWith(source, this.#head)) {
      // Written by something else than this program's codec.
      this.#source = Buffer.from(JSON.stringify(withManagedFields(this.object, owners)))
      this.#insertedLength = 0
      return
    }
    const managed = owners.length === 0 ? '' : `"managedFields":${JSON.stringify(managedFieldsOf(owners))},`
    const inserted = `"resourceVersion":"${this.revision}",${managed}`
    const insertedLength = Buffer.byteLength(inserted)
    const rest = at + (this.#insertedLength ?? 0)
    const end = this.#insertedLength === undefined ? endOfObject(source) : source.length - 1
    const bytes = Buffer.allocUnsafeSlow(at + insertedLength + end - rest + 1)
    bytes.set(this.#head, 0)
    bytes.write(inserted, at)
    bytes.set(source.subarray(rest, end), at + insertedLength)
    bytes[bytes.length - 1] = closeBrace
    this.#source = bytes
    this.#insertedLength = insertedLength
  }
}

export interface StoredObjectOptions {
  readonly decoded?: boolean
  readonly stale?: boolean
  /** Read from the value where it is not known. */
  readonly owners?: FieldOwners | undefined
  readonly insertedLength?: number | undefined
}

const closeBrace = 0x7d

/** What a dry run would have stored: never in a cache, and on create without a version. */
export function unstored(object: KubernetesObject, revision: number, owners: FieldOwners): Stored {
  let bytes: Buffer | undefined
  return {
    object,
    revision,
    owners,
    get withManagedFields() {
      return withManagedFields(object, owners)
    },
    get bytes() {
      bytes ??= Buffer.from(JSON.stringify(withManagedFields(object, owners)))
      return bytes
    },
  }
}

function withManagedFields(object: KubernetesObject, owners: FieldOwners): KubernetesObject {
  if (owners.length === 0) return object
  return { ...object, metadata: { ...object.metadata, managedFields: managedFieldsOf(owners) } }
}

function startsWith(bytes: Buffer, head: Buffer): boolean {
  return bytes.length > head.length && head.compare(bytes, 0, head.length) === 0
}
