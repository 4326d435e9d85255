import { prefixEnd } from '../key-order.ts'

/** A range of keys, as etcd takes it. */
export interface KeyRange {
  readonly key: Uint8Array
  /** The first key that is not part of it. */
  readonly rangeEnd: Uint8Array
}

/** etcd takes this as key and as end for all keys there are. */
const everything = Uint8Array.of(0)

/** The keys of a store as etcd has them: each under the store's prefix. */
export class KeySpace {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  bytesOf(key: string): Uint8Array {
    return Buffer.from(this.#prefix + key)
  }

  keyOf(bytes: Uint8Array): string {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    return text.slice(this.#prefix.length)
  }

  /** All keys that start with `prefix`, or what of them comes after the key `after`. */
  rangeOf(prefix: string, after?: string): KeyRange {
    const start = this.bytesOf(prefix)
    const rangeEnd = start.length === 0 ? everything : prefixEnd(start)
    if (after !== undefined) return { key: this.bytesOf(`${after}\u0000`), rangeEnd }
    return { key: start.length === 0 ? everything : start, rangeEnd }
  }
}
