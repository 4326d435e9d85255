/** A position in the history of a store: every committed transaction takes the next one, from 1. */
export type Revision = number

/** A key with its value as it stands at some revision. */
export interface Entry {
  readonly key: string
  /** The bytes given at the last put. Never mutated by either side. */
  readonly value: Uint8Array
  /** Revision of the transaction that wrote this value. */
  readonly modRevision: Revision
  /** Revision of the transaction that created the key. */
  readonly createRevision: Revision
}

/** What must hold for a transaction to be carried out: `key` was last modified at `modRevision`; 0 means it does not exist. */
export interface Condition {
  readonly key: string
  readonly modRevision: Revision
}

export type Operation = Put | { readonly type: 'delete'; readonly key: string }

export interface Put {
  readonly type: 'put'
  readonly key: string
  readonly value: Uint8Array
  /** Whether `value` is made when it is first read. Such a value is known to be far below `valueBytesMax`. */
  readonly lazy?: boolean
  /** Comes back with the change where this process hears of it: by it a writer knows what is its own. */
  readonly token?: object
}

/** Carried out whole or not at all. A key appears in at most one operation. */
export interface Transaction {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
  /** What the transaction says of itself, such as why it was made: kept under its revision and as durable as the change, see `Store.notes`. */
  readonly note?: Uint8Array | LazyNote
}

/** A note that is made when it is first read: where nobody does, it never is. It is known to be far below `noteBytesMax`. */
export interface LazyNote {
  readonly bytes: Uint8Array
}

/** The note of a transaction. */
export interface Note {
  readonly revision: Revision
  readonly note: Uint8Array
}

export interface NotesQuery {
  /** Only notes of earlier revisions; absent: from the newest on. */
  readonly before?: Revision
  /** Most notes to give. */
  readonly limit: number
}

export type CommitResult =
  | { readonly ok: true; readonly revision: Revision }
  /**
   * Nothing was written. `current` holds, for each condition in order, the entry found as of `revision` (undefined where
   * there is none). What is read at that revision or later explains the refusal.
   */
  | { readonly ok: false; readonly revision: Revision; readonly current: readonly (Entry | undefined)[] }

/** Entries in key order, and the revision they are consistent at. */
export interface Listing {
  readonly revision: Revision
  readonly entries: readonly Entry[]
}

/** One change of one key. A transaction over several keys gives several events of one revision, in the order of its operations. */
export interface StoreEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** The value put; for a delete, the last value. */
  readonly value: Uint8Array
  readonly revision: Revision
  readonly createRevision: Revision
  /** The revision of the value this one replaced; 0 where the key is new. */
  readonly previousRevision: Revision
  /** That value, where the store has it at hand. */
  readonly previousValue?: Uint8Array | undefined
  /** The note of the transaction, on its first change, where the store has it at hand. */
  readonly note?: Uint8Array | undefined
  /** That of the operation, where it was given one and the store keeps operations as they come. */
  readonly token?: object
}

export interface WatchOptions {
  /** Events after this revision are delivered. */
  readonly after: Revision
  /**
   * Called in order with the events of one or more whole revisions, durable ones only: everything up to the last of them
   * has been delivered. Must not throw.
   */
  readonly onEvents: (events: readonly StoreEvent[]) => void
  /** Called when everything up to `revision` has been delivered and the last of it changed nothing under the prefix. Must not throw. */
  readonly onProgress?: (revision: Revision) => void
  /**
   * Called at most once, and last: the changes that come next have been compacted. What has been delivered stays true; to
   * go on, list and watch from there.
   */
  readonly onGap: (error: CompactedError) => void
  /** Called at most once, and last, when the watch ends for good: the store failed or was closed. */
  readonly onEnd: (error: Error) => void
}

export interface StoreWatch {
  close(): void
  /**
   * Sees to it that events or `onProgress` soon tell that everything up to `revision` has been delivered. A revision may
   * belong to somebody else who uses the same store, and then no event would tell.
   */
  requestProgress(revision: Revision): void
}

/** Asked for the history before the oldest revision kept. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError'
  readonly requested: Revision
  readonly compacted: Revision
  constructor(requested: Revision, compacted: Revision) {
    super(`revision ${requested} has been compacted; the oldest kept is ${compacted}`)
    this.requested = requested
    this.compacted = compacted
  }
}

/**
 * A revisioned key–value store. Keys are strings ordered by their UTF-8 bytes, values are bytes it does not look into.
 *
 * What every implementation promises:
 * - `commit` resolves only when the transaction is as durable as the store gets: an acknowledged one survives `kill -9`.
 * - Conditions are judged against everything committed before, acknowledged or not, and together with the operations.
 * - `latest`, `get`, `list` and `pages` are linearizable: they see every transaction acknowledged before the call, to whomever.
 * - Watchers see a transaction only once it is durable, in order, without gaps other than those `onGap` tells of.
 * - Every call settles within a bounded time.
 *
 * A store that is not `shared` promises more: conditions are judged in the order of the calls, `latest` answers at once, watches
 * get a transaction before its `commit` resolves, and if the disk fails every later call rejects: it never guesses.
 */
export interface Store {
  /** Whether others may write too, from other processes. Whoever must be the only one to do something then needs an election. */
  readonly shared: boolean
  /** Whether it keeps operations as they come, and reads a lazy value when somebody asks for it, which may be never. */
  readonly keepsLazyValues?: boolean
  /**
   * The revision of the last transaction, 0 for an empty store: whoever has everything up to it has everything acknowledged
   * before the call.
   */
  latest(): Revision | Promise<Revision>
  get(key: string): Promise<Entry | undefined>
  /** All entries whose key starts with `prefix`. */
  list(prefix: string): Promise<Listing>
  /** The same in pages of at most `entriesMax`, all of one revision. There is at least one page, if an empty one. */
  pages(prefix: string, entriesMax: number): AsyncIterable<Listing>
  commit(transaction: Transaction): Promise<CommitResult>
  /** Watches keys that start with `prefix`. Calls nothing back before it has returned. */
  watch(prefix: string, options: WatchOptions): StoreWatch
  /** Forgets the history up to and including `revision`. Current values stay, and so do notes. */
  compact(revision: Revision): Promise<void>
  /**
   * The notes of transactions that changed something, newest first. They outlive the history: the newest `notesMax` are kept
   * (a store may keep somewhat more) unless they are forgotten sooner.
   */
  notes(query: NotesQuery): Promise<readonly Note[]>
  /**
   * Lets go of the notes up to and including `revision`, and of those beyond the number kept. They go in small steps, some
   * perhaps only as new ones come.
   */
  forgetNotes(revision: Revision): Promise<void>
  /**
   * Leaves to the garbage collection what it keeps only to be fast, where it keeps anything; for a program that comes to rest.
   */
  dropCaches?(): void
  /**
   * Gives back memory that it can do without until it is used more, where it has any; for a program at rest. Resolves when that
   * is done. Rejects once it is closed or has failed.
   */
  releaseMemory?(): Promise<void>
  /** How many bytes its database takes on the disk, history and what is free in it included. Absent where it is on none. */
  sizeBytes?(): Promise<number>
  /** Ends watches, waits for commits under way and frees everything. Later calls reject. */
  close(): Promise<void>
}

/** A store that nobody else writes to. */
export interface SoleWriterStore extends Store {
  readonly shared: false
  latest(): Revision
}
