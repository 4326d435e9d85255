import { assert } from '@coracle/environment'
import { BTree } from './btree.ts'
import { StoreClosedError } from './errors.ts'
import { History } from './history.ts'
import { compareKeys } from './key-order.ts'
import { lazyChange, lazyEntryAfter } from './lazy-values.ts'
import { historyDefaultMax, notesInMemoryDefaultMax } from './limits.ts'
import { NoteList } from './note-list.ts'
import { pagesOf } from './pages.ts'
import {
  type CommitResult,
  CompactedError,
  type Entry,
  type Listing,
  type Note,
  type NotesQuery,
  type Revision,
  type SoleWriterStore,
  type StoreEvent,
  type StoreWatch,
  type Transaction,
  type WatchOptions,
} from './store.ts'
import { changesOf, checkKey, checkNotesQuery, checkPrefix, checkTransaction, findConflict } from './transaction.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'

export interface MemoryStoreOptions {
  /** How many revisions can be watched from. Older ones are compacted as new ones come. */
  readonly historyMax?: number
  /** How many notes of transactions are kept. */
  readonly notesMax?: number
  /**
   * Calls back after the current turn of the event loop. With it commits take effect at most once a turn, as with a
   * store on disk, so that writers who wake each other cannot keep timers and sockets from being served. Without it
   * nothing but microtasks is waited for: what a virtual clock wants.
   */
  readonly defer?: (callback: () => void) => void
}

/** A store that forgets with the process. */
export function createMemoryStore(options: MemoryStoreOptions = {}): SoleWriterStore {
  const { historyMax = historyDefaultMax, notesMax = notesInMemoryDefaultMax, defer = queueMicrotask } = options
  return new MemoryStore(historyMax, notesMax, defer)
}

class MemoryStore implements SoleWriterStore {
  readonly shared = false
  readonly keepsLazyValues = true
  readonly #entries = new Map<string, Entry>()
  /** The keys of `#entries` in order. Only creating and deleting touch it. */
  readonly #keys = new BTree<string, undefined>(undefined, compareKeys)
  readonly #history: History
  readonly #notes: NoteList
  readonly #watches = new WatchHub()
  /** What watches that are not live yet get first. */
  readonly #replays = new Map<Watcher, { readonly events: readonly StoreEvent[]; readonly last: Revision }>()
  #unpublished: StoreEvent[] = []
  #publishing: Promise<void> | undefined
  /** The last revision that watches have been told of: what comes after it is not acknowledged yet. */
  #published: Revision = 0
  /** Changes of what was written up to this revision carry the value before them: the next compaction may take it. */
  #carriedTo: Revision = 0
  #closed = false

  readonly #historyMax: number
  readonly #defer: (callback: () => void) => void

  constructor(historyMax: number, notesMax: number, defer: (callback: () => void) => void) {
    this.#defer = defer
    assert(historyMax >= 0, `historyMax is not a count: ${historyMax}`)
    this.#history = new History(historyMax)
    this.#notes = new NoteList(notesMax)
    this.#historyMax = historyMax
  }

  latest(): Revision {
    this.#checkOpen()
    return this.#published
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen()
    checkKey(key)
    return this.#entries.get(key)
  }

  async list(prefix: string): Promise<Listing> {
    this.#checkOpen()
    checkPrefix(prefix)
    const entries: Entry[] = []
    for (const key of this.#keys.keys(prefix)) {
      if (!key.startsWith(prefix)) break
      entries.push(this.#entries.get(key) as Entry)
    }
    return { revision: this.#history.last, entries }
  }

  async *pages(prefix: string, entriesMax: number): AsyncIterable<Listing> {
    yield* pagesOf(await this.list(prefix), entriesMax)
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.#checkOpen()
    checkTransaction(transaction)
    const lookup = (key: string) => this.#entries.get(key)
    const { last: revision } = this.#history
    const current = findConflict(transaction.conditions, lookup)
    if (current !== undefined) {
      // Whoever hears of a change here finds that watches have heard of it too, as with every store.
      await this.#publishing
      return { ok: false, revision, current }
    }
    const carriedTo = Math.max(this.#carriedTo, revision - this.#historyMax / 2)
    const events = changesOf(transaction, revision + 1, lookup, carriedTo, lazyChange)
    for (const event of events) this.#apply(event)
    this.#history.push(events)
    if (transaction.note !== undefined && events.length > 0) this.#notes.add(revision + 1, transaction.note)
    await this.#publish(events)
    return { ok: true, revision: revision + 1 }
  }

  watch(prefix: string, options: WatchOptions): StoreWatch {
    this.#checkOpen()
    checkPrefix(prefix)
    const { after } = options
    const { compacted, last } = this.#history
    const watcher = this.#watches.add(prefix, options)
    if (after < compacted) {
      queueMicrotask(() => watcher.gap(new CompactedError(after, compacted)))
      return watcher
    }
    // Taken now, not when it is delivered: by then it may have been compacted.
    this.#replays.set(watcher, { events: after < last ? this.#history.after(after) : [], last })
    queueMicrotask(() => this.#replay(watcher))
    return watcher
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    const { last } = this.#history
    if (revision > last) throw new RangeError(`revision ${revision} is yet to come; the last is ${last}`)
    this.#history.compact(revision)
    this.#carriedTo = last
  }

  async notes(query: NotesQuery): Promise<readonly Note[]> {
    this.#checkOpen()
    checkNotesQuery(query)
    return this.#notes.newest(query)
  }

  async forgetNotes(revision: Revision): Promise<void> {
    this.#checkOpen()
    this.#notes.forget(revision)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#publishing
    this.#replays.clear()
    this.#watches.end(new StoreClosedError())
    this.#entries.clear()
    this.#keys.clear()
  }

  #apply(event: StoreEvent): void {
    const entry = lazyEntryAfter(event)
    if (entry === undefined) {
      this.#entries.delete(event.key)
      this.#keys.delete(event.key)
      return
    }
    if (event.previousRevision === 0) this.#keys.set(event.key, undefined)
    this.#entries.set(event.key, entry)
  }

  /**
   * Hands `events` to the watches in a microtask or turn of its own, together with whatever else is committed until then.
   * A watch may commit: were it called from within `commit`, others would see that later transaction first.
   */
  #publish(events: readonly StoreEvent[]): Promise<void> {
    this.#unpublished.push(...events)
    this.#publishing ??= new Promise<void>((resolve) => this.#defer(resolve)).then(() => {
      const published = this.#unpublished
      const { last } = this.#history
      this.#unpublished = []
      this.#publishing = undefined
      this.#published = last
      for (const watcher of [...this.#replays.keys()]) this.#replay(watcher)
      this.#watches.publish(published, last)
    })
    return this.#publishing
  }

  #replay(watcher: Watcher): void {
    const replay = this.#replays.get(watcher)
    if (replay === undefined) return
    this.#replays.delete(watcher)
    if (!watcher.open) return
    watcher.live = true
    watcher.deliver(replay.events, replay.last)
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreClosedError()
  }
}
