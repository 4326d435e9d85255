import type { KubernetesObject } from '@coracle/api'
import type { Operation, Store } from '@coracle/store'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import { futureVersionWaitMs } from './list-request.ts'

/**
 * Commits single objects, each on the condition that it is still at the revision it was computed from. Where something else
 * came first it resolves to undefined, when the cache has taken that in: the next attempt starts from there.
 */
export class ObjectWriter {
  readonly #cache: WatchCache
  readonly #feed: StoreFeed
  readonly #store: Store

  constructor(cache: WatchCache, feed: StoreFeed, store: Store) {
    this.#cache = cache
    this.#feed = feed
    this.#store = store
  }

  /** Stores an object over `previousRevision`; 0 creates it. Resolves once it is durable and in the cache. */
  put(key: string, object: KubernetesObject, previousRevision: number): Promise<StoredObject | undefined> {
    const versionless = withoutVersion(object)
    const value = this.#cache.codec.encode(versionless)
    return this.#commit(key, previousRevision, { type: 'put', key: this.#cache.prefix + key, value }, versionless)
  }

  /** Removes an object as it was read. Resolves to its last state, at the revision of the removal. */
  remove(key: string, old: StoredObject): Promise<StoredObject | undefined> {
    return this.#commit(key, old.revision, { type: 'delete', key: this.#cache.prefix + key }, undefined)
  }

  async #commit(
    key: string,
    previousRevision: number,
    operation: Operation,
    object: KubernetesObject | undefined,
  ): Promise<StoredObject | undefined> {
    const value = operation.type === 'put' ? operation.value : undefined
    const write = this.#cache.writes.begin({ key, previousRevision, value, object })
    try {
      const conditions = [{ key: operation.key, modRevision: previousRevision }]
      const result = await this.#store.commit({ conditions, operations: [operation] })
      if (result.ok) return write.stored ?? (await this.#cache.storedBy(write))
      // What came first may not be durable yet, and only what is durable may be answered from.
      const [current] = result.current
      if (current !== undefined) await this.#feed.waitFor(current.modRevision, futureVersionWaitMs)
      return undefined
    } finally {
      this.#cache.writes.end(write)
    }
  }
}

function withoutVersion(object: KubernetesObject): KubernetesObject {
  if (object.metadata.resourceVersion === undefined) return object
  const { resourceVersion: _resourceVersion, ...metadata } = object.metadata
  return { ...object, metadata }
}
