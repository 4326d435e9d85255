import {
  type FieldOwners,
  jsonFormOf,
  type KubernetesObject,
  managedFieldsOf,
  managedFieldsText,
  sharesFields,
} from '@coracle/api'
import type { Stored } from '../registry-contract.ts'
import { withoutVersion, withRevision } from './object-codec.ts'
import { endOfObject, readOwners } from './owners-trailer.ts'

/** Of how many objects both the owners and the stored bytes are kept: those written last, or whose owners were asked for last. */
export const heldObjectsMax = 1024

/** In a ring: who has been there longest is next to go. */
const holders: (StoredObject | undefined)[] = []
let nextHolder = 0

/** Keeps only one of both of every object, as if it had been written long ago. */
export function releaseHeldObjects(): void {
  for (const holder of holders.splice(0)) holder?.release()
  nextHolder = 0
}

/**
 * An object with its JSON. The JSON sent to clients is made when someone first asks for it over the wire, from the stored
 * bytes as long as they are here, and is kept from then on. An object that nobody reads over the wire keeps no bytes.
 */
export class StoredObject implements Stored {
  readonly object: KubernetesObject
  readonly revision: number
  /** Whether this process has decoded the object by its kind's schema: what was read from the store may be of another time. */
  readonly decoded: boolean
  /** Whether the store holds it in another form: a write stores this one, even where it changes nothing else. */
  readonly stale: boolean
  /** About how much the object's JSON takes. */
  readonly byteLength: number
  readonly #head: Buffer
  /** Undefined where the bytes are made from the object when they are wanted; the owners are known then. */
  #source: Uint8Array | undefined
  /** How many bytes after the head are a resourceVersion and managedFields; undefined in bytes as the store holds them. */
  #insertedLength: number | undefined
  /** Whether the resourceVersion in `#source` is this object's. */
  #current: boolean
  #owners: FieldOwners | undefined

  /** `value` is what is stored, without resourceVersion; `head` what all objects of the kind begin with. */
  constructor(
    object: KubernetesObject,
    revision: number,
    value: Uint8Array | undefined,
    head: Buffer,
    {
      decoded = false,
      stale = false,
      owners,
      insertedLength,
      byteLength = value?.length ?? 0,
    }: StoredObjectOptions = {},
  ) {
    this.object = object
    this.revision = revision
    this.decoded = decoded
    this.stale = stale
    this.byteLength = byteLength
    this.#source = value
    this.#head = head
    this.#insertedLength = insertedLength
    this.#current = false
    if (owners !== undefined) this.#hold(owners)
  }

  get bytes(): Buffer {
    return this.#current ? (this.#source as Buffer) : this.#serve()
  }

  get owners(): FieldOwners {
    return this.#owners ?? this.#hold(readOwners(this.#source ?? noBytes))
  }

  #hold(owners: FieldOwners): FieldOwners {
    this.#owners = owners
    const oldest = holders[nextHolder]
    if (oldest !== undefined) oldest.release()
    holders[nextHolder] = this
    nextHolder = (nextHolder + 1) % heldObjectsMax
    return owners
  }

  /**
   * Keeps only one of owners and stored bytes: the owners where they share their sets of fields with other objects, as all pods
   * of a template do, so that they cost next to nothing; else the bytes, which hold them. Of a pod this saves 4 kB.
   */
  release(): void {
    // Bytes that were sent to clients have the owners in another form, and what was never encoded has them here alone.
    if (this.#owners === undefined || this.#insertedLength !== undefined || this.#source === undefined) return
    if (this.#owners.every(sharesFields)) this.#source = undefined
    else this.#owners = undefined
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
      byteLength: this.byteLength,
    })
  }

  /** Puts the resourceVersion and managedFields in, where metadata begins. */
  #serve(): Buffer {
    const { owners } = this
    // What something else than this program's codec has written may have white space, or another order of fields.
    if (this.#source !== undefined && !startsWith(bufferOf(this.#source), this.#head)) this.#source = undefined
    const source = this.#source === undefined ? encoded(this.object) : bufferOf(this.#source)
    const served = startsWith(source, this.#head) ? this.#withInserted(source, owners) : undefined
    const bytes = served ?? jsonOf(withManagedFields(this.object, owners))
    if (served === undefined) this.#insertedLength = 0
    this.#source = bytes
    this.#current = true
    return bytes
  }

  #withInserted(source: Buffer, owners: FieldOwners): Buffer {
    const at = this.#head.length
    const managed = owners.length === 0 ? '' : `"managedFields":${managedFieldsText(owners)},`
    const inserted = `"resourceVersion":"${this.revision}",${managed}`
    const insertedLength = Buffer.byteLength(inserted)
    const rest = at + (this.#insertedLength ?? 0)
    const isStored = this.#source !== undefined && this.#insertedLength === undefined
    const end = isStored ? endOfObject(source) : source.length - 1
    const bytes = Buffer.allocUnsafeSlow(at + insertedLength + end - rest + 1)
    bytes.set(this.#head, 0)
    bytes.write(inserted, at)
    bytes.set(source.subarray(rest, end), at + insertedLength)
    bytes[bytes.length - 1] = closeBrace
    this.#insertedLength = insertedLength
    return bytes
  }
}

const noBytes = new Uint8Array()

const jsonOf = (object: KubernetesObject): Buffer => Buffer.from(JSON.stringify(jsonFormOf(object)))

const encoded = (object: KubernetesObject): Buffer => jsonOf(withoutVersion(object))

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

export interface StoredObjectOptions {
  readonly decoded?: boolean
  readonly stale?: boolean
  /** Read from the value where it is not known. */
  readonly owners?: FieldOwners | undefined
  readonly insertedLength?: number | undefined
  /** That of the value unless said. */
  readonly byteLength?: number | undefined
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
      bytes ??= jsonOf(withManagedFields(object, owners))
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
