import { apiVersionOf, expired, type FieldOwners, type KubernetesObject, type StoredKind } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Entry, StoreEvent } from '@coracle/store'
import type { RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import { bookmarkDelivery, CacheEvent, errorDelivery, initialEndDelivery, ObjectDelivery } from './cache-event.ts'
import { CacheWatcher, deliveryUnder } from './cache-watcher.ts'
import { EventHistory, historyEventsMax } from './event-history.ts'
import { type InFlightWrite, InFlightWrites } from './in-flight-writes.ts'
import { indexedObjectsMin, KeyIndexes } from './key-indexes.ts'
import { type ObjectCodec, withRevision } from './object-codec.ts'
import type { ObjectPut } from './object-put.ts'
import { createOrderedMap, type OrderedMap } from './ordered-map.ts'
import { pastOf } from './past.ts'
import { PastStates } from './past-states.ts'
import { changesTo } from './refill.ts'
import type { Selection } from './selection.ts'
import { type Slice, type SliceOptions, sliceOf, sliceOfKeys } from './slice.ts'
import { type FeedSink, registryPrefix, type StoreFeed } from './store-feed.ts'
import { StoredObject } from './stored-object.ts'
import { UnreadableValues } from './unreadable-values.ts'
import { ValueReader } from './value-reader.ts'
import { WatcherIndex } from './watcher-index.ts'

export interface CacheWatchOptions {
  readonly selection: Selection
  /** `state`: what is there, then what happens. `now`: what happens. A revision: what happened since, then what happens. */
  readonly from: 'state' | 'now' | number
  /** Bookmarks: each minute, and when the watch ends at its time. */
  readonly bookmarks: boolean
  /** Of these not the ones each minute, but one when the cache closes. */
  readonly bookmarksOnlyEnd?: boolean
  /** A bookmark that tells where the state ends. */
  readonly marksInitialEnd: boolean
  readonly timeoutMs?: number
}

/**
 * Everything the store holds of one resource, in key order, and the latest of its history: what all reads are answered
 * from, those of clients and those of the write path. Kept up to date by the store's feed.
 */
export class WatchCache implements FeedSink {
  readonly definition: StoredKind
  readonly prefix: string
  readonly codec: ObjectCodec
  readonly writes = new InFlightWrites()
  /** Values that others have stored and that are no objects of the kind. The cache holds what was there before, for watches to go on from. */
  readonly unreadable: UnreadableValues
  /** Whether `fill` throws where it finds such a value: at a start nobody knows what was there before. */
  refusesUnreadable = true
  readonly #indexes: KeyIndexes
  readonly #watchers: WatcherIndex
  readonly #environment: Environment
  readonly #feed: StoreFeed
  readonly #historyMax: number
  readonly #reader: ValueReader
  /** Whether what is held was read by another definition of the kind. */
  #isOutdated = false
  readonly #type: { readonly kind: string; readonly apiVersion: string }
  /** In key order, for lists and for states of the past. */
  readonly #objects: OrderedMap<StoredObject> = createOrderedMap()
  /** The same by key: every write looks its object up, and that should not depend on how many there are. */
  readonly #byKey = new Map<string, StoredObject>()
  #history = new EventHistory(0)
  readonly #snapshots = new PastStates()
  /** How many objects each namespace has, so that the first page of a list knows how many follow. */
  readonly #namespaceSizes = new Map<string, number>()
  /** Of all objects together. */
  #bytes = 0
  #sequence = 0
  /** The revision of the last change of this resource. */
  #changedAt = 0
  /** History before this revision cannot be had any more. */
  #lostTo = 0
  /** States before this revision are forgotten, though events of that time may be there. */
  #statesFrom = 0
  #reading: Promise<void> | undefined
  readonly #listeners: ((event: CacheEvent, isOwn: boolean) => void)[] = []

  constructor(definition: StoredKind, environment: Environment, feed: StoreFeed, historyMax = historyEventsMax) {
    this.definition = definition
    this.prefix = `${registryPrefix}${definition.storageKey}/`
    this.#reader = new ValueReader(definition)
    this.codec = this.#reader.codec
    this.unreadable = new UnreadableValues(environment.logger)
    this.#indexes = new KeyIndexes(definition)
    this.#watchers = new WatcherIndex(definition)
    this.#environment = environment
    this.#feed = feed
    this.#historyMax = historyMax
    this.#type = { kind: definition.kind, apiVersion: apiVersionOf(definition) }
  }

  /** How many objects there are. */
  get size(): number {
    return this.#byKey.size
  }

  /** About how much the JSON of all objects takes. */
  get bytes(): number {
    return this.#bytes
  }

  /** About how much the JSON of an object takes, on average; 0 where there is none. */
  get averageBytes(): number {
    return this.size === 0 ? 0 : this.#bytes / this.size
  }

  /** The revision that reads of now are consistent at. */
  get revision(): number {
    return Math.max(this.#feed.revision, this.#changedAt)
  }

  /** Watches and lists can go back to this revision. */
  get oldestRevision(): number {
    return this.#history.startRevision
  }

  /** Calls `listener` with every change from now on, after the cache has taken it in, and whether this server has made it. */
  onChange(listener: (event: CacheEvent, isOwn: boolean) => void): void {
    this.#listeners.push(listener)
  }

  /** What is stored is read by this definition of the kind from now on; what is held, when it is filled anew. */
  set kind(kind: StoredKind) {
    this.#reader.kind = kind
    this.#isOutdated = true
  }

  /** The key under which the cache holds an object: `namespace/name`, or the name alone. */
  keyOf(namespace: string, name: string): string {
    return this.definition.namespaced ? `${namespace}/${name}` : name
  }

  get(key: string): StoredObject | undefined {
    return this.#byKey.get(key)
  }

  /** Every object, in key order. */
  values(): IterableIterator<StoredObject> {
    return this.#objects.values()
  }

  fill(entries: readonly Entry[], revision: number): void {
    for (const { key, value, modRevision } of entries) {
      const held = key.slice(this.prefix.length)
      const read = this.refusesUnreadable
        ? this.#reader.read(key, value, modRevision)
        : this.#reader.tryRead(key, value, modRevision)
      if (read instanceof StoredObject) this.#hold(held, read, this.#byKey.get(held))
      else this.unreadable.add(held, read)
    }
    this.#beginHistory(revision)
  }

  /** Watchers and listeners get what has changed in sum, and go on. The history of the time between is not known. */
  refill(entries: readonly Entry[], revision: number): void {
    if (this.#isOutdated) this.#readAnew(entries)
    const present = new Set(entries.map(({ key }) => key))
    this.unreadable.retain((key) => present.has(this.prefix + key))
    const keys = [...this.#byKey.keys()].map((key) => this.prefix + key)
    const revisionOf = (key: string) => this.#byKey.get(key.slice(this.prefix.length))?.revision
    for (const event of changesTo(entries, revision, { keys, revisionOf, knownTo: this.revision })) this.apply(event)
    this.#beginHistory(revision)
  }

  apply(event: StoreEvent): void {
    const write = this.writes.take(event)
    // A part of another text is slow to compare, which the order of the keys asks for again and again.
    const key = write?.key ?? event.key.slice(this.prefix.length)
    const previous = this.#byKey.get(key)
    const stored = this.#storedOf(event, key, previous, write)
    if (stored === undefined) return
    if (event.type === 'delete') this.#drop(key, stored)
    else this.#hold(key, stored, previous)
    const isNew = event.previousRevision === 0 || previous === undefined
    const type = event.type === 'delete' ? 'DELETED' : isNew ? 'ADDED' : 'MODIFIED'
    this.#sequence += 1
    this.#changedAt = event.revision
    const timeMs = this.#environment.clock.now()
    const change = { type, key, revision: event.revision, sequence: this.#sequence, timeMs, stored, previous } as const
    const cacheEvent = new CacheEvent(change)
    this.#history.push(cacheEvent)
    this.#indexes.update(key, type === 'DELETED' ? undefined : stored.object, previous?.object)
    this.#watchers.notify(cacheEvent)
    for (const listener of this.#listeners) listener(cacheEvent, write !== undefined)
    if (write !== undefined) write.stored = stored
  }

  /** What a write of this process has become, put at `revision`. `object` has no resourceVersion. */
  written(object: KubernetesObject, owners: FieldOwners, put: ObjectPut, revision: number): StoredObject {
    const options = { decoded: true, owners, byteLength: put.byteLength }
    const value = put.lazy === true ? undefined : put.value
    return new StoredObject(withRevision(object, revision), revision, value, this.codec.head, options)
  }

  /**
   * Has the history go back to `revision`, as far as the store still has it: a client may have begun to watch before this
   * server started. Read only when somebody asks for it.
   */
  async reachBack(revision: number): Promise<void> {
    while (revision < this.#history.startRevision && revision >= this.#lostTo) {
      this.#reading ??= this.#readPast(revision).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
  }

  /** States before this revision are given up, though one that has not changed since may still be known. */
  get statesFrom(): number {
    return this.#statesFrom
  }

  /** The objects of a selection as of now. */
  slice(selection: Selection, options: SliceOptions): Slice {
    const candidates = this.#candidates(selection)
    if (candidates === undefined) {
      const following = options.following ?? (options.afterKey === '' ? this.#sizeOf(selection.namespace) : undefined)
      return sliceOf(this.#objects, selection, { ...options, following })
    }
    const keys = [...candidates].filter((key) => key > options.afterKey).sort()
    return sliceOfKeys(keys, (key) => this.#byKey.get(key), selection, options.limit)
  }

  /** The objects of a selection as of `revision`; undefined where history does not go back that far. */
  sliceAt(revision: number, selection: Selection, options: SliceOptions): Slice | undefined {
    if (revision >= this.#changedAt) return this.slice(selection, options)
    const objects = this.#snapshots.get(revision) ?? this.#rebuild(revision)
    return objects === undefined ? undefined : sliceOf(objects, selection, options)
  }

  /** Keeps the present state for `sliceAt` with this revision. Costs little: states share what has not changed. */
  keepSnapshot(revision: number): void {
    if (!this.#snapshots.has(revision)) this.#snapshots.keep(revision, this.#objects.clone())
  }

  /** Begins a watch. A revision that history does not reach back to gives a watch that ends with Expired (410). */
  watch(options: CacheWatchOptions, onEvent: (delivery: WatchDelivery) => boolean, onEnd: () => void): RegistryWatch {
    const { selection, from } = options
    const oldest = this.#history.startRevision
    const tooOld = typeof from === 'number' && from < oldest
    const watcher = new CacheWatcher(
      {
        selection,
        bookmarks: options.bookmarks ? (options.bookmarksOnlyEnd === true ? 'end' : 'periodic') : 'none',
        initial: tooOld ? [tooOldDelivery(from, oldest)] : this.#initialOf(options),
        afterSequence: this.#sequence,
        afterRevision: typeof from === 'number' ? from : 0,
        endsAfterInitial: tooOld,
        onEvent,
        onEnd,
      },
      this.#environment.clock,
      (closed) => this.#watchers.delete(closed),
    )
    if (tooOld) return watcher
    this.#watchers.add(watcher)
    if (watcher.bookmarks === 'periodic') this.#feed.bookmarkRounds.join(this.#tellBookmark)
    if (options.timeoutMs !== undefined) {
      watcher.endAfter(options.timeoutMs, () => {
        if (options.bookmarks) watcher.push(bookmarkDelivery(this.#type, this.revision))
      })
    }
    return watcher
  }

  /** Forgets the history up to and including `revision`, but for the latest events of all, and the states of that time for good. */
  forget(revision: number): void {
    this.#statesFrom = Math.max(this.#statesFrom, Math.min(revision, this.revision))
    this.#forgetEvents(revision)
  }

  /** Forgets all history but the latest events. Who asks for it gets it from the store, as far as that has it. */
  forgetHistory(): void {
    this.#forgetEvents(this.revision)
  }

  #forgetEvents(revision: number): void {
    this.#history.forget(Math.min(revision, this.revision))
    this.#snapshots.forget(revision)
  }

  /** Forgets the states in which a key could not be read: what the key had then nobody knows. */
  #forgetUnreadable(key: string, revision: number): void {
    if (!this.unreadable.remove(key)) return
    this.#statesFrom = Math.max(this.#statesFrom, revision)
    this.#snapshots.forget(revision)
  }

  /** Ends all watches. */
  close(): void {
    this.#feed.bookmarkRounds.leave(this.#tellBookmark)
    for (const watcher of [...this.#watchers]) {
      if (watcher.bookmarks === 'end') watcher.push(bookmarkDelivery(this.#type, this.revision))
      watcher.close()
    }
  }

  /** Reads history from `revision` on. Where that does not tell what the objects were before, from as early as there is any. */
  async #readPast(revision: number): Promise<void> {
    const history = this.#history
    const { startRevision } = history
    for (const from of [revision, 'earliest'] as const) {
      const found = await this.#feed.history(this.prefix, from, startRevision)
      // Compacted, filled anew or let go of meanwhile.
      if (this.#history !== history || history.startRevision !== startRevision) return
      if (found === undefined) continue
      const past = pastOf(found.events, {
        after: found.after,
        prefix: this.prefix,
        timeMs: this.#environment.clock.now(),
        read: (key, value, at) => {
          const read = this.#reader.tryRead(key, value, at)
          return read instanceof StoredObject ? read : undefined
        },
      })
      const isEnough = past.startRevision <= revision
      if (!isEnough && from !== 'earliest') continue
      history.prepend(past.events, past.startRevision)
      if (history.startRevision <= revision) return
      break
    }
    this.#lostTo = Math.max(this.#lostTo, revision + 1)
  }

  /** What is as it was in the store, read by the present definition. Nobody is told: no object has changed. */
  #readAnew(entries: readonly Entry[]): void {
    this.#isOutdated = false
    for (const { key, value, modRevision } of entries) {
      const held = key.slice(this.prefix.length)
      const previous = this.#byKey.get(held)
      if (previous?.revision !== modRevision) continue
      const read = this.#reader.tryRead(key, value, modRevision)
      if (read instanceof StoredObject) {
        this.unreadable.remove(held)
        this.#hold(held, read, previous)
      } else this.unreadable.add(held, read)
    }
  }

  #beginHistory(revision: number): void {
    this.#changedAt = revision
    this.#history = new EventHistory(revision, this.#historyMax)
  }

  /** What an event leaves of an object; undefined where it cannot be read, or is the end of one that never could. */
  #storedOf(
    event: StoreEvent,
    key: string,
    previous: StoredObject | undefined,
    write: InFlightWrite | undefined,
  ): StoredObject | undefined {
    if (event.type === 'delete') {
      this.#forgetUnreadable(key, event.revision)
      return previous?.at(event.revision)
    }
    if (write?.object !== undefined && write.put !== undefined)
      return this.written(write.object, write.owners, write.put, event.revision)
    const read = this.#reader.tryRead(event.key, event.value, event.revision)
    if (read instanceof StoredObject) {
      this.#forgetUnreadable(key, event.revision)
      return read
    }
    this.unreadable.add(key, read)
    return undefined
  }

  #hold(key: string, stored: StoredObject, previous: StoredObject | undefined): void {
    if (previous === undefined) this.#countIn(stored.object.metadata.namespace, 1)
    this.#bytes += stored.byteLength - (previous?.byteLength ?? 0)
    this.#byKey.set(key, stored)
    this.#objects.set(key, stored)
  }

  #drop(key: string, stored: StoredObject): void {
    this.#countIn(stored.object.metadata.namespace, -1)
    this.#bytes -= this.#byKey.get(key)?.byteLength ?? 0
    this.#byKey.delete(key)
    this.#objects.delete(key)
  }

  #countIn(namespace: string | undefined, change: 1 | -1): void {
    if (namespace === undefined) return
    const size = (this.#namespaceSizes.get(namespace) ?? 0) + change
    if (size === 0) this.#namespaceSizes.delete(namespace)
    else this.#namespaceSizes.set(namespace, size)
  }

  #sizeOf(namespace: string): number {
    return namespace === '' ? this.#objects.size : (this.#namespaceSizes.get(namespace) ?? 0)
  }

  #candidates(selection: Selection): Iterable<string> | undefined {
    if (selection.key !== undefined) return [selection.key]
    if (selection.unfiltered || this.#objects.size < indexedObjectsMin) return undefined
    return this.#indexes.candidates(selection, () => objectsOf(this.#objects))
  }

  /** The state at `revision`, by undoing what happened since. */
  #rebuild(revision: number): OrderedMap<StoredObject> | undefined {
    if (revision < this.#history.startRevision || revision < this.#statesFrom) return undefined
    const objects = this.#objects.clone()
    for (const { key, previous } of this.#history.after(revision).toReversed()) {
      if (previous === undefined) objects.delete(key)
      else objects.set(key, previous)
    }
    this.#snapshots.keep(revision, objects)
    return objects
  }

  #initialOf({ selection, from, marksInitialEnd }: CacheWatchOptions): Iterable<WatchDelivery> {
    if (from === 'now') return []
    if (typeof from === 'number') {
      const events = from >= this.#changedAt ? [] : this.#history.after(from)
      return events.map((event) => deliveryUnder(selection, event)).filter((delivery) => delivery !== undefined)
    }
    const { items } = this.slice(selection, { limit: 0, afterKey: '' })
    return stateDeliveries(items, marksInitialEnd ? initialEndDelivery(this.#type, this.revision) : undefined)
  }

  /** Tells watchers who want to know how far things have come; false where there are none. */
  readonly #tellBookmark = (): boolean => {
    const watchers = [...this.#watchers].filter(({ bookmarks }) => bookmarks === 'periodic')
    const bookmark = bookmarkDelivery(this.#type, this.revision)
    for (const watcher of watchers) watcher.push(bookmark)
    return watchers.length > 0
  }
}

/** Made one at a time: a watch on many objects does not hold a delivery for each. */
function* stateDeliveries(items: readonly StoredObject[], end: WatchDelivery | undefined): Generator<WatchDelivery> {
  for (const item of items) yield new ObjectDelivery('ADDED', item)
  if (end !== undefined) yield end
}

function tooOldDelivery(requested: number, oldest: number): WatchDelivery {
  return errorDelivery(expired(`too old resource version: ${requested} (${oldest})`).status)
}

function* objectsOf(objects: OrderedMap<StoredObject>): Generator<readonly [string, KubernetesObject]> {
  for (const [key, stored] of objects.entries()) yield [key, stored.object]
}
