import type { KubernetesObject } from '@coracle/api'
import type { Stored } from '../registry-contract.ts'
import { withRevision } from './object-codec.ts'

/**
 * An object with its JSON. The JSON sent to clients is made from the stored bytes when someone first asks for it and
 * replaces them, so an object that nobody reads over the wire costs one copy, and one that many read costs no more.
 */
export class StoredObject implements Stored {
  readonly object: KubernetesObject
  readonly revision: number
  /** Whether this process has decoded the object by its kind's schema: what was read from the store may be of another time. */
  readonly decoded: boolean
  readonly #head: Buffer
  #source: Uint8Array
  /** How many bytes after the head are a resourceVersion; 0 in bytes as the store holds them. */
  #versionLength: number
  /** Whether the resourceVersion in `#source` is this object's. */
  #current: boolean

  /** `value` is the JSON without resourceVersion, `head` what all objects of the kind begin with. */
  constructor(
    object: KubernetesObject,
    revision: number,
    value: Uint8Array,
    head: Buffer,
    decoded = false,
    versionLength = 0,
  ) {
    this.object = object
    this.revision = revision
    this.decoded = decoded
    this.#source = value
    this.#head = head
    this.#versionLength = versionLength
    this.#current = false
  }

  /** About how much the object's JSON takes. */
  get byteLength(): number {
    return this.#source.length
  }

  get bytes(): Buffer {
    if (!this.#current) this.#putVersion()
    return this.#source as Buffer
  }

  /** The same content as of a later revision: what a delete leaves of an object. */
  at(revision: number): StoredObject {
    const object = withRevision(this.object, revision)
    return new StoredObject(object, revision, this.#source, this.#head, this.decoded, this.#versionLength)
  }

  #putVersion(): void {
    const source = this.#source
    const at = this.#head.length
    this.#current = true
    if (!startsWith(source, this.#head)) {
      // Written by something else than this program's codec.
      this.#source = Buffer.from(JSON.stringify(this.object))
      this.#versionLength = 0
      return
    }
    const version = `"resourceVersion":"${this.revision}",`
    const rest = at + this.#versionLength
    const bytes = Buffer.allocUnsafeSlow(source.length - this.#versionLength + version.length)
    bytes.set(this.#head, 0)
    bytes.write(version, at, 'latin1')
    bytes.set(source.subarray(rest), at + version.length)
    this.#source = bytes
    this.#versionLength = version.length
  }
}

/** What a dry run would have stored: never in a cache, and on create without a version. */
export function unstored(object: KubernetesObject, revision: number): Stored {
  let bytes: Buffer | undefined
  return {
    object,
    revision,
    get bytes() {
      bytes ??= Buffer.from(JSON.stringify(object))
      return bytes
    },
  }
}

function startsWith(bytes: Uint8Array, head: Buffer): boolean {
  return bytes.length > head.length && head.compare(bytes, 0, head.length) === 0
}
