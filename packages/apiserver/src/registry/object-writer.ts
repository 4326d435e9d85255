import type { FieldOwners, KubernetesObject } from '@coracle/api'
import type { Operation, Store } from '@coracle/store'
import { fromStore } from '../store-errors.ts'
import { futureVersionWaitMs } from '../watch-cache/future-version.ts'
import type { InFlightWrite } from '../watch-cache/in-flight-writes.ts'
import { withoutVersion } from '../watch-cache/object-codec.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'

/** A change of another object that is made together with a write, or not at all. Who owns its fields stays as it is. */
export interface JointWrite {
  /** What writes the other object's kind. */
  readonly writer: ObjectWriter
  readonly key: string
  readonly old: StoredObject
  readonly object: KubernetesObject
}

/**
 * Commits objects, each on the condition that it is still at the revision it was computed from. Where something else came
 * first it resolves to undefined, when the cache has taken that in: the next attempt starts from there. With `joint` other
 * objects change in the same transaction, on the same condition.
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
    joint: readonly JointWrite[] = [],
  ): Promise<StoredObject | undefined> {
    const { write, operation, versionless, value } = this.#beginPut(key, object, owners, previousRevision)
    const revision = await this.#commit(write, operation, joint)
    if (revision === undefined) return undefined
    return write.stored ?? this.#cache.written(versionless, owners, value, revision)
  }

  /** Removes an object as it was read. Resolves to its last state, at the revision of the removal. */
  async remove(key: string, old: StoredObject): Promise<StoredObject | undefined> {
    const { revision: previousRevision } = old
    const write = this.#cache.writes.begin({ key, previousRevision, value: undefined, object: undefined, owners: [] })
    const revision = await this.#commit(write, { type: 'delete', key: this.#cache.prefix + key }, [])
    return revision === undefined ? undefined : (write.stored ?? old.at(revision))
  }

  #beginPut(key: string, object: KubernetesObject, owners: FieldOwners, previousRevision: number) {
    const versionless = withoutVersion(object)
    const value = this.#cache.codec.encode(versionless, owners)
    const write = this.#cache.writes.begin({ key, previousRevision, value, object: versionless, owners })
    const operation: Operation = { type: 'put', key: this.#cache.prefix + key, value }
    return { write, operation, versionless, value }
  }

  /** The revision of a write, once the cache has it; undefined where something else came first. */
  async #commit(write: InFlightWrite, operation: Operation, joint: readonly JointWrite[]): Promise<number | undefined> {
    const others = joint.map(({ writer, key, object, old }) => ({
      writer,
      ...writer.#beginPut(key, object, old.owners, old.revision),
    }))
    try {
      const conditions = [{ key: operation.key, modRevision: write.previousRevision }]
      const operations = [operation]
      for (const other of others) {
        conditions.push({ key: other.operation.key, modRevision: other.write.previousRevision })
        operations.push(other.operation)
      }
      const { ok, revision } = await this.#store.commit({ conditions, operations })
      // A store that nobody else writes to has told the cache by now. If news are late, what is written is written.
      if (write.stored === undefined) await this.#feed.waitFor(revision, futureVersionWaitMs)
      return ok ? revision : undefined
    } catch (error) {
      throw fromStore(error)
    } finally {
      this.#cache.writes.end(write)
      for (const other of others) other.writer.#cache.writes.end(other.write)
    }
  }
}
