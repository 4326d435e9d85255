import type { FieldOwners, KubernetesObject } from '@coracle/api'
import type { Operation, Store } from '@coracle/store'
import { fromStore } from '../store-errors.ts'
import { futureVersionWaitMs } from '../watch-cache/future-version.ts'
import type { InFlightWrite } from '../watch-cache/in-flight-writes.ts'
import { withoutVersion } from '../watch-cache/object-codec.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'

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
  async put(
    key: string,
    object: KubernetesObject,
    owners: FieldOwners,
    previousRevision: number,
  ): Promise<StoredObject | undefined> {
    const versionless = withoutVersion(object)
    const value = this.#cache.codec.encode(versionless, owners)
    const write = this.#cache.writes.begin({ key, previousRevision, value, object: versionless, owners })
    const revision = await this.#commit(write, { type: 'put', key: this.#cache.prefix + key, value })
    if (revision === undefined) return undefined
    return write.stored ?? this.#cache.written(versionless, owners, value, revision)
  }

  /** Removes an object as it was read. Resolves to its last state, at the revision of the removal. */
  async remove(key: string, old: StoredObject): Promise<StoredObject | undefined> {
    const { revision: previousRevision } = old
    const write = this.#cache.writes.begin({ key, previousRevision, value: undefined, object: undefined, owners: [] })
    const revision = await this.#commit(write, { type: 'delete', key: this.#cache.prefix + key })
    return revision === undefined ? undefined : (write.stored ?? old.at(revision))
  }

  /** The revision of a write, once the cache has it; undefined where something else came first. */
  async #commit(write: InFlightWrite, operation: Operation): Promise<number | undefined> {
    try {
      const conditions = [{ key: operation.key, modRevision: write.previousRevision }]
      const { ok, revision } = await this.#store.commit({ conditions, operations: [operation] })
      // A store that nobody else writes to has told the cache by now. If news are late, what is written is written.
      if (write.stored === undefined) await this.#feed.waitFor(revision, futureVersionWaitMs)
      return ok ? revision : undefined
    } catch (error) {
      throw fromStore(error)
    } finally {
      this.#cache.writes.end(write)
    }
  }
}
