import { TransientMap } from '@coracle/environment/transient-map'

/** A map that holds `sizeMax` entries: what was least recently read or written gives way to what is new. */
export class BoundedMap<K, V> {
  readonly #sizeMax: number
  readonly #entries = new TransientMap<K, V>()
  #newest: K | undefined

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && key !== this.#newest) this.#touch(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#touch(key, value)
    // The first key is behind a gap for each that was touched: it is only looked for where it is to go.
    if (this.#entries.size <= this.#sizeMax) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#sizeMax) break
      this.#entries.delete(oldest)
    }
  }

  #touch(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#newest = key
  }
}
