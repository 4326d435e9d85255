import type { KubernetesObject } from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { WatchCache } from '../../watch-cache/watch-cache.ts'

/**
 * What is made of all objects of a kind that configures something, made again when one of them changes. Every request asks:
 * where nothing is configured that must cost next to nothing.
 */
export class Configured<T> {
  readonly #registries: Registries
  readonly #storageKey: string
  readonly #make: (objects: readonly KubernetesObject[]) => T
  readonly #nothing: T
  #cache: WatchCache | undefined
  #made: T | undefined

  /** Objects are given in the order of their names. */
  constructor(registries: Registries, storageKey: string, make: (objects: readonly KubernetesObject[]) => T) {
    this.#registries = registries
    this.#storageKey = storageKey
    this.#make = make
    this.#nothing = make([])
  }

  get current(): T {
    const cache = this.#registries.byStorageKey(this.#storageKey)?.storage.cache
    if (cache !== this.#cache) this.#follow(cache)
    if (this.#made !== undefined) return this.#made
    if (cache === undefined) return this.#nothing
    this.#made = this.#make([...cache.values()].map(({ object }) => object))
    return this.#made
  }

  #follow(cache: WatchCache | undefined): void {
    this.#cache = cache
    this.#made = undefined
    cache?.onChange(() => {
      if (this.#cache === cache) this.#made = undefined
    })
  }
}
