import { resolve } from 'node:path'
import { assert, type Environment, realEnvironment } from '@coracle/environment'
import { type DirectoryLock, lockDirectory } from './directory-lock.ts'
import { StoreClosedError, StoreFailedError } from './errors.ts'
import { type Batch, GroupCommit } from './group-commit.ts'
import { historyDefaultMax } from './limits.ts'
import { LmdbTables, makeDirectory } from './lmdb-tables.ts'
import {
  type CommitResult,
  CompactedError,
  type Entry,
  type Revision,
  type Store,
  type StoreWatch,
  type Transaction,
  type WatchOptions,
} from './store.ts'
import {
  changesOf,
  checkKey,
  checkPrefix,
  checkTransaction,
  entryAfter,
  findConflict,
  lookupOnce,
} from './transaction.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'

export interface LmdbStoreOptions {
  /** Where the store lives. Made, readable by its owner alone, when it does not exist. One process uses it at a time. */
  readonly directory: string
  /** How many revisions can be watched from. Older ones are compacted as new ones come. */
  readonly historyMax?: number
  /** Lends `clock.defer` and the logger. The host's own unless given. */
  readonly environment?: Environment
}

/**
 * Opens the store in a directory of the local disk. What `commit` has acknowledged is there after `kill -9` and after
 * a loss of power, history for watches included.
 *
 * Rejects with a `DirectoryInUseError` when a living process has the directory, with an `UnknownFormatError` when
 * another version wrote it in a way this one does not read.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const directory = resolve(options.directory)
  const environment = options.environment ?? realEnvironment()
  const historyMax = options.historyMax ?? historyDefaultMax
  assert(historyMax >= 0, `historyMax is not a count: ${historyMax}`)
  makeDirectory(directory)
  const lock = lockDirectory(directory)
  if (lock.takenOver) environment.logger.warn('took the store over from a process that died', { directory })
  try {
    const tables = await LmdbTables.open(directory)
    return new LmdbStore({ directory, historyMax, environment, tables, lock })
  } catch (error) {
    lock.release()
    throw error
  }
}

interface Parts {
  readonly directory: string
  readonly historyMax: number
  readonly environment: Environment
  readonly tables: LmdbTables
  readonly lock: DirectoryLock
}

/** What a key will be once everything committed is durable. */
interface Pending {
  readonly entry: Entry | undefined
  readonly revision: Revision
}

class LmdbStore implements Store {
  readonly #parts: Parts
  readonly #tables: LmdbTables
  readonly #commits: GroupCommit
  readonly #watches = new WatchHub()
  /** Keys changed by transactions that are not durable yet. */
  readonly #pending = new Map<string, Pending>()
  #assigned: Revision
  /** Why no further call is taken. */
  #ended: Error | undefined
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#tables = parts.tables
    this.#assigned = parts.tables.revision
    this.#commits = new GroupCommit({
      write: (batch) => this.#tables.write(batch, this.#compactedAfter(batch)),
      onDurable: (batch) => this.#onDurable(batch),
      onFailed: (cause) => this.#onFailed(cause),
      defer: (callback) => parts.environment.clock.defer(callback),
    })
  }

  get revision(): Revision {
    return this.#tables.revision
  }

  get compactedRevision(): Revision {
    return this.#tables.compacted
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen()
    checkKey(key)
    return this.#tables.get(key)
  }

  async list(prefix: string): Promise<{ readonly revision: Revision; readonly entries: readonly Entry[] }> {
    this.#checkOpen()
    checkPrefix(prefix)
    return { revision: this.revision, entries: this.#tables.list(prefix) }
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.#checkOpen()
    checkTransaction(transaction)
    this.#commits.checkRoom()
    const lookup = lookupOnce((key) => this.#lookup(key))
    const current = findConflict(transaction.conditions, lookup)
    if (current !== undefined) {
      // Nobody may learn of a change that could still be lost.
      if (transaction.conditions.some(({ key }) => this.#pending.has(key))) await this.#commits.settled()
      return { ok: false, current }
    }
    const revision = ++this.#assigned
    const events = changesOf(transaction.operations, revision, lookup)
    for (const event of events) this.#pending.set(event.key, { entry: entryAfter(event), revision })
    await this.#commits.add(revision, events)
    return { ok: true, revision }
  }

  watch(prefix: string, options: WatchOptions): StoreWatch {
    this.#checkOpen()
    checkPrefix(prefix)
    if (options.after < this.compactedRevision) throw new CompactedError(options.after, this.compactedRevision)
    const watcher = this.#watches.add(prefix, options)
    if (options.after >= this.revision) watcher.live = true
    else this.#parts.environment.clock.defer(() => this.#replay(watcher))
    return watcher
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    if (revision > this.revision) {
      throw new RangeError(`revision ${revision} is yet to come; the last is ${this.revision}`)
    }
    if (revision <= this.compactedRevision) return
    this.#commits.checkRoom()
    await this.#commits.compact(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const failed = this.#ended !== undefined
    this.#ended ??= new StoreClosedError()
    // Should the disk fail meanwhile, those who wait for their commits hear of it; closing goes on.
    if (!failed) await this.#commits.settled().catch(() => {})
    this.#watches.end(this.#ended)
    await this.#tables.close()
    this.#parts.lock.release()
  }

  #lookup(key: string): Entry | undefined {
    const pending = this.#pending.get(key)
    return pending === undefined ? this.#tables.get(key) : pending.entry
  }

  #compactedAfter(batch: Batch): Revision {
    const revision = Math.max(this.revision, batch.last)
    return Math.max(this.compactedRevision, batch.compact, revision - this.#parts.historyMax)
  }

  #onDurable(batch: Batch): void {
    this.#tables.adopt()
    for (const { key } of batch.events) {
      const pending = this.#pending.get(key)
      if (pending !== undefined && pending.revision <= batch.last) this.#pending.delete(key)
    }
    if (batch.last > 0) this.#watches.publish(batch.events, batch.last)
  }

  #onFailed(cause: unknown): Error {
    const error = new StoreFailedError(this.#parts.directory, cause)
    this.#parts.environment.logger.error('the store failed', { directory: this.#parts.directory, error: error.message })
    this.#ended = error
    this.#watches.end(error)
    return error
  }

  /** Reads one stretch of the log per turn, so that a long history does not hold everybody up. */
  #replay(watcher: Watcher): void {
    if (!watcher.open) return
    if (watcher.position < this.compactedRevision) {
      watcher.end(new CompactedError(watcher.position, this.compactedRevision))
      return
    }
    const { last, events } = this.#tables.chunkAfter(watcher.position)
    watcher.deliver(events, last)
    if (watcher.position >= this.revision) watcher.live = true
    else this.#parts.environment.clock.defer(() => this.#replay(watcher))
  }

  #checkOpen(): void {
    if (this.#ended !== undefined) throw this.#ended
  }
}
