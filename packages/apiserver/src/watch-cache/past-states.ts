import type { OrderedMap } from './ordered-map.ts'
import type { StoredObject } from './stored-object.ts'

/** Most states kept for each resource. Older ones are rebuilt from history. */
export const snapshotsMax = 8

/** The states that a cache had at some revisions, for lists that are read in pages. They share what has not changed between them. */
export class PastStates {
  /** By revision, the one kept first before the others. */
  readonly #states = new Map<number, OrderedMap<StoredObject>>()

  get(revision: number): OrderedMap<StoredObject> | undefined {
    return this.#states.get(revision)
  }

  has(revision: number): boolean {
    return this.#states.has(revision)
  }

  /** Keeps a state in place of the oldest, where there are enough. */
  keep(revision: number, state: OrderedMap<StoredObject>): void {
    this.#states.set(revision, state)
    if (this.#states.size <= snapshotsMax) return
    for (const oldest of this.#states.keys()) {
      this.#states.delete(oldest)
      break
    }
  }

  /** Forgets the states before a revision. */
  forget(before: number): void {
    for (const revision of this.#states.keys()) if (revision < before) this.#states.delete(revision)
  }
}
