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

export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: string }

/** Carried out whole or not at all. A key appears in at most one operation. */
export interface Transaction {
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
}

export type CommitResult =
  | { readonly ok: true; readonly revision: Revision }
  /** `current` holds, for each condition in order, the entry found (undefined where there is none). Nothing was written. */
  | { readonly ok: false; readonly current: readonly (Entry | undefined)[] }

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
}

export interface WatchOptions {
  /** Events after this revision are delivered. */
  readonly after: Revision
  /** Called in order with the events of one or more whole revisions, durable ones only. Must not throw. */
  readonly onEvents: (events: readonly StoreEvent[]) => void
  /** Called at most once when the watch ends other than by `close`: the store failed or was closed. */
  readonly onEnd: (error: Error) => void
}

export interface StoreWatch {
  close(): void
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
 * - Conditions are judged against everything committed before, acknowledged or not, in the order `commit` was called.
 * - Watchers see a transaction only once it is durable, in order, without gaps. The embedded stores call
 *   `onEvents` for a transaction before its `commit` resolves.
 * - If the disk fails every later call rejects: the store never guesses.
 */
export interface Store {
  /** The revision of the last durable transaction; 0 for an empty store. */
  readonly revision: Revision
  /** The oldest revision whose changes can still be watched from: `watch({after})` needs `after >= compactedRevision`. */
  readonly compactedRevision: Revision
  get(key: string): Promise<Entry | undefined>
  /** All entries whose key starts with `prefix`, in key order, and the revision they are consistent at. */
  list(prefix: string): Promise<{ readonly revision: Revision; readonly entries: readonly Entry[] }>
  commit(transaction: Transaction): Promise<CommitResult>
  /** Watches keys that start with `prefix`. Throws `CompactedError` when `after` lies before the history kept. */
  watch(prefix: string, options: WatchOptions): StoreWatch
  /** Forgets the history up to and including `revision`. Current values stay. */
  compact(revision: Revision): Promise<void>
  /** Ends watches, waits for commits under way and frees everything. Later calls reject. */
  close(): Promise<void>
}
