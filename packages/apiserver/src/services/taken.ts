import type { KubernetesObject } from '@coracle/api'
import type { WatchCache } from '../watch-cache/watch-cache.ts'

/** Objects that have values of which no two may be the same. */
export interface Takers<V> {
  readonly cache: WatchCache
  readonly valuesOf: (object: KubernetesObject) => readonly V[]
}

/** Which values the objects of caches have, kept as they change, and which are set aside for writes under way. */
export class Taken<V> {
  readonly #counts = new Map<V, number>()
  readonly #setAside = new Set<V>()

  constructor(takers: readonly Takers<V>[]) {
    for (const each of takers) this.#follow(each)
  }

  has(value: V): boolean {
    return this.#counts.has(value) || this.#setAside.has(value)
  }

  /** Sets a value aside that nobody has. */
  setAside(value: V): void {
    this.#setAside.add(value)
  }

  free(value: V): void {
    this.#setAside.delete(value)
  }

  #follow({ cache, valuesOf }: Takers<V>): void {
    const count = (object: KubernetesObject, change: 1 | -1): void => {
      for (const value of valuesOf(object)) {
        const total = (this.#counts.get(value) ?? 0) + change
        if (total === 0) this.#counts.delete(value)
        else this.#counts.set(value, total)
      }
    }
    for (const { object } of cache.values()) count(object, 1)
    cache.onChange(({ type, stored, previous }) => {
      // Counted in first: what both have stays taken.
      if (type !== 'DELETED') count(stored.object, 1)
      if (previous !== undefined) count(previous.object, -1)
    })
  }
}
