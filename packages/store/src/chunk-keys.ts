import type { Revision } from './store.ts'

/** The keys of the chunks of a log, ascending: each is the last revision of its chunk. Old chunks go, new ones come. */
export class ChunkKeys {
  #keys: Revision[] = []
  /** How many of the first of `#keys` are gone: an array is not shifted for each. */
  #dropped = 0

  /** All that are kept. */
  all(): readonly Revision[] {
    return this.#keys.slice(this.#dropped)
  }

  /** The chunks that hold no revision after `revision`. */
  upTo(revision: Revision): readonly Revision[] {
    let end = this.#dropped
    while ((this.#keys[end] ?? Number.POSITIVE_INFINITY) <= revision) end++
    return this.#keys.slice(this.#dropped, end)
  }

  /** Adds the newest chunk. */
  push(key: Revision): void {
    this.#keys.push(key)
  }

  /** Drops so many of the oldest chunks. */
  drop(count: number): void {
    this.#dropped += count
    if (this.#dropped * 2 <= this.#keys.length) return
    this.#keys = this.#keys.slice(this.#dropped)
    this.#dropped = 0
  }
}
