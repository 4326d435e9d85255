import type { FieldOwners, KubernetesObject } from '@coracle/api'
import type { Operation, Store, Transaction } from '@coracle/store'
import type { WriteOrigin } from '../causes/cause-note.ts'
import type { CauseRecorder, RecordedChange } from '../causes/cause-recorder.ts'
import { fromStore } from '../store-errors.ts'
import { futureVersionWaitMs } from '../watch-cache/future-version.ts'
import type { InFlightWrite } from '../watch-cache/in-flight-writes.ts'
import { withoutVersion } from '../watch-cache/object-codec.ts'
import { eagerPut, lazyPut } from '../watch-cache/object-put.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'

/** What is written together with an object, or not at all. */
export type JointWrite = JointObject | JointRecord

/**
 * Another object: created where `old` is undefined, removed where `object` is, changed otherwise. The owners of its fields stay the
 * same.
 */
export interface JointObject {
  /** The writer of the other object's kind. */
  readonly writer: ObjectWriter
  readonly key: string
  readonly old: StoredObject | undefined
  readonly object: KubernetesObject | undefined
  /** The owners of a new object's fields; none by default. */
  readonly owners?: FieldOwners
}

/** A record of the server's own, which no cache holds: one to create, which must not exist yet, or one to remove if it exists. */
export interface JointRecord {
  /** Its key in the store. */
  readonly record: string
  /** Undefined: it is removed. */
  readonly value: Uint8Array | undefined
}

/**
 * Commits objects, each on the condition that it is still at the revision it was computed from. Where another write came
 * first, a call resolves to undefined once the cache has that write: the next attempt starts from there. `joint` objects are
 * written in the same transaction, on the same condition.
 */
export class ObjectWriter {
  readonly #cache: WatchCache
  readonly #feed: StoreFeed
  readonly #store: Store
  readonly #causes: CauseRecorder

  constructor(cache: WatchCache, feed: StoreFeed, store: Store, causes: CauseRecorder) {
    this.#cache = cache
    this.#feed = feed
    this.#store = store
    this.#causes = causes
  }

  /** Stores an object over `previousRevision`; 0 creates it. Resolves once it is durable and in the cache. */
  async put(
    key: string,
    object: KubernetesObject,
    owners: FieldOwners,
    previousRevision: number,
    origin: WriteOrigin | undefined,
    joint: readonly JointWrite[] = [],
  ): Promise<StoredObject | undefined> {
    const { write, operation, versionless } = this.#beginPut(key, object, owners, previousRevision)
    const change = this.#changeOf(previousRevision === 0 ? 'create' : 'update', key, object)
    const revision = await this.#commit(write, operation, joint, origin, change)
    if (revision === undefined) return undefined
    return write.stored ?? this.#cache.written(versionless, owners, operation, revision)
  }

  /** Removes an object as it was read. Resolves to its last state, at the revision of the removal. */
  async remove(
    key: string,
    old: StoredObject,
    origin: WriteOrigin | undefined,
    joint: readonly JointWrite[] = [],
  ): Promise<StoredObject | undefined> {
    const { write, operation } = this.#beginRemove(key, old.revision)
    const revision = await this.#commit(write, operation, joint, origin, this.#changeOf('delete', key, old.object))
    return revision === undefined ? undefined : (write.stored ?? old.at(revision))
  }

  #beginPut(key: string, object: KubernetesObject, owners: FieldOwners, previousRevision: number) {
    const cache = this.#cache
    const versionless = withoutVersion(object)
    const storeKey = cache.prefix + key
    const operation = this.#store.keepsLazyValues
      ? lazyPut(cache.codec, storeKey, versionless, owners, this.#replaced(key, previousRevision))
      : eagerPut(cache.codec, storeKey, versionless, owners)
    const write = cache.writes.begin({ key, storeKey, previousRevision, put: operation, object: versionless, owners })
    return { write, operation, versionless }
  }

  #replaced(key: string, previousRevision: number): StoredObject | undefined {
    const stored = this.#cache.get(key)
    return stored?.revision === previousRevision ? stored : undefined
  }

  #beginRemove(key: string, previousRevision: number): BegunWrite {
    const storeKey = this.#cache.prefix + key
    const removed = { put: undefined, object: undefined, owners: [] }
    const write = this.#cache.writes.begin({ key, storeKey, previousRevision, ...removed })
    return { writer: this, write, operation: { type: 'delete', key: storeKey } }
  }

  #beginJoint({ key, old, object, owners = [] }: JointObject): BegunWrite {
    const previousRevision = old?.revision ?? 0
    if (object === undefined) return this.#beginRemove(key, previousRevision)
    return { writer: this, ...this.#beginPut(key, object, old?.owners ?? owners, previousRevision) }
  }

  #changeOf(
    operation: RecordedChange['operation'],
    key: string,
    { metadata }: Pick<KubernetesObject, 'metadata'>,
  ): RecordedChange {
    return { operation, prefix: this.#cache.prefix, key, uid: metadata.uid ?? '' }
  }

  #jointChangeOf({ key, old, object }: JointObject): RecordedChange {
    const operation = object === undefined ? 'delete' : old === undefined ? 'create' : 'update'
    return this.#changeOf(operation, key, object ?? old?.object ?? { metadata: {} })
  }

  /** The revision of a write, once the cache has it; undefined where another write came first. */
  #commit(
    write: InFlightWrite,
    operation: Operation,
    joint: readonly JointWrite[],
    origin: WriteOrigin | undefined,
    change: RecordedChange,
  ): Promise<number | undefined> {
    const conditions = [{ key: operation.key, modRevision: write.previousRevision }]
    const alone = { conditions, operations: [operation] }
    if (joint.length === 0) return this.#carryOut(write, noOthers, alone, origin, [change])
    const objects = joint.flatMap((each) => ('record' in each ? [] : each))
    const others = objects.map((each) => each.writer.#beginJoint(each))
    const changes = [change]
    for (const each of objects) changes.push(each.writer.#jointChangeOf(each))
    return this.#carryOut(write, others, together(alone, joint, others), origin, changes)
  }

  async #carryOut(
    write: InFlightWrite,
    others: readonly BegunWrite[],
    { conditions, operations }: Pick<Transaction, 'conditions' | 'operations'>,
    origin: WriteOrigin | undefined,
    changes: readonly RecordedChange[],
  ): Promise<number | undefined> {
    try {
      const note = this.#causes.noteOf(origin, changes, this.#store.keepsLazyValues === true)
      const { ok, revision } = await this.#store.commit(
        note === undefined ? { conditions, operations } : { conditions, operations, note },
      )
      // A store with a single writer has told the cache by now. With another, events may be late for longer than this waits: the write
      // has succeeded all the same.
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

const noOthers: readonly BegunWrite[] = []

/** A transaction with all that is written together with its object. */
function together(
  { conditions, operations }: Pick<Transaction, 'conditions' | 'operations'>,
  joint: readonly JointWrite[],
  others: readonly BegunWrite[],
): Pick<Transaction, 'conditions' | 'operations'> {
  const [allConditions, allOperations] = [[...conditions], [...operations]]
  for (const each of joint) {
    if (!('record' in each)) continue
    const { record: key, value } = each
    if (value !== undefined) allConditions.push({ key, modRevision: 0 })
    allOperations.push(value === undefined ? { type: 'delete', key } : { type: 'put', key, value })
  }
  for (const { operation, write } of others) {
    allConditions.push({ key: operation.key, modRevision: write.previousRevision })
    allOperations.push(operation)
  }
  return { conditions: allConditions, operations: allOperations }
}

/** A write under way, which the cache expects. */
interface BegunWrite {
  readonly writer: ObjectWriter
  readonly write: InFlightWrite
  readonly operation: Operation
}
