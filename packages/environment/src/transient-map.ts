/** So many additions a table may see before it is made anew, or twice as many as it has entries where that is more. */
const additionsMin = 128

/**
 * A map whose entries come and go quickly, such as what is under way. For use where many pass through: it costs less memory than a `Map`.
 *
 * V8 gives a `Map` through which entries pass a new table from time to time, and the old table goes on pointing at its successor. Once a
 * full collection has moved one table to the old generation, that one keeps all that follow, and every key and value that was in them,
 * until the next full collection: half of what a server makes for a request was copied to the old generation because of it. Here the table
 * is replaced by one that nothing points at before V8 does so.
 */
export class TransientMap<K, V> {
  #entries = new Map<K, V>()
  #additions = 0

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  set(key: K, value: V): this {
    this.#additions += 1
    if (this.#additions > additionsMin && this.#additions > 2 * this.#entries.size) this.#renew()
    this.#entries.set(key, value)
    return this
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  /** In the order in which they were added; what is added meanwhile may be passed over. */
  keys(): MapIterator<K> {
    return this.#entries.keys()
  }

  values(): MapIterator<V> {
    return this.#entries.values()
  }

  #renew(): void {
    this.#entries = new Map(this.#entries)
    this.#additions = 0
  }
}

/** A set whose members come and go quickly; see `TransientMap`. */
export class TransientSet<T> implements Iterable<T> {
  readonly #members = new TransientMap<T, true>()

  get size(): number {
    return this.#members.size
  }

  has(member: T): boolean {
    return this.#members.has(member)
  }

  add(member: T): this {
    this.#members.set(member, true)
    return this
  }

  delete(member: T): boolean {
    return this.#members.delete(member)
  }

  values(): MapIterator<T> {
    return this.#members.keys()
  }

  [Symbol.iterator](): MapIterator<T> {
    return this.#members.keys()
  }
}
