import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { assert, type Environment, realEnvironment } from '@coracle/environment'
import { TransientMap } from '@coracle/environment/transient-map'
import { BatchMemory } from './batch-memory.ts'
import { allocatedBytes, makePrivateDirectory } from './directories.ts'
import { type DirectoryLock, lockDirectory } from './directory-lock.ts'
import { checkRoom } from './disk-room.ts'
import { type DurableFiles, hostFiles } from './durable-files.ts'
import { StoreClosedError, StoreDamagedError, StoreFailedError } from './errors.ts'
import { type Batch, GroupCommit } from './group-commit.ts'
import { Journal } from './journal.ts'
import { hasJournalRecords } from './journal-inspection.ts'
import { batchOfRecord } from './journaled-batch.ts'
import { KnownKeys } from './known-keys.ts'
import { historyDefaultMax } from './limits.ts'
import { dataFileName } from './lmdb-file-check.ts'
import { LmdbTables } from './lmdb-tables.ts'
import { encodeEvents, type LogChunk } from './log-record.ts'
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
import { checksumSeed, createIdentity, type StoreIdentity } from './store-identity.ts'
import { checkIdentity, keepIdentity } from './store-identity-file.ts'
import {
  changesOf,
  checkKey,
  checkNotesQuery,
  checkPrefix,
  checkTransaction,
  entryAfter,
  findConflict,
  lookupOnce,
} from './transaction.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'
import { WriteBehind } from './write-behind.ts'

export interface LmdbStoreOptions {
  /** Where the store lives. Made, readable by its owner alone, when it does not exist. One process uses it at a time. */
  readonly directory: string
  /** How many of the latest revisions watches may begin from. Older ones are compacted as new ones come. */
  readonly historyMax?: number
  /** How many notes of transactions are kept, and at most a few hundred more. */
  readonly notesMax?: number
  /**
   * A file outside of `directory` that records the store's identity; made with the store. Where it exists, a store that is
   * missing or was replaced by another is refused, and none is begun anew.
   */
  readonly identityFile?: string
  /**
   * A new store's revisions begin after this one, and count as compacted up to it. Clients that watched the store it takes the place
   * of, up to this revision at most, list again.
   */
  readonly firstAfter?: Revision
  /** Lends the clock, which is held while the disk works, and the logger. The host's own unless given. */
  readonly environment?: Environment
  /**
   * How long a batch may wait for more commits to join it, in milliseconds of the environment's clock; absent: not at all. It waits only
   * while writers that were just acknowledged have not written again.
   */
  readonly gatherMs?: number | undefined
}

/**
 * Opens the store in a directory of the local disk. What `commit` has acknowledged is there after `kill -9` and after
 * a loss of power, history for watches included.
 *
 * Rejects with a `DirectoryInUseError` when a living process has the directory, with an `UnknownFormatError` when
 * another version wrote it in a way this one does not read, with a `StoreDamagedError` when part of it is missing or is
 * not as it was written, with the code ENOSPC when the disk is full.
 */
export function openLmdbStore(options: LmdbStoreOptions): Promise<SoleWriterStore> {
  return openLmdbStoreOn(hostFiles, options)
}

/** As `openLmdbStore`, with everything but LMDB's own file on `files`. */
export async function openLmdbStoreOn(files: DurableFiles, options: LmdbStoreOptions): Promise<SoleWriterStore> {
  const directory = resolve(options.directory)
  const environment = options.environment ?? realEnvironment()
  const historyMax = options.historyMax ?? historyDefaultMax
  assert(historyMax >= 0, `historyMax is not a count: ${historyMax}`)
  const { identityFile, firstAfter = 0 } = options
  makePrivateDirectory(directory)
  const lock = lockDirectory(directory)
  if (lock.takenOver) environment.logger.warn('took the store over from a process that died', { directory })
  try {
    checkRoom(directory)
    const tables = await LmdbTables.open(directory, { notesMax: options.notesMax })
    try {
      if (identityFile !== undefined) await checkIdentity(files, directory, identityFile, tables.identity)
      const identity = tables.identity ?? (await initialize(files, directory, tables, environment, firstAfter))
      if (identityFile !== undefined) await keepIdentity(files, identityFile, identity)
      const journal = await openJournal(files, directory, tables, identity)
      return new LmdbStore({
        directory,
        historyMax,
        environment,
        identity,
        tables,
        journal,
        lock,
        gatherMs: options.gatherMs,
      })
    } catch (error) {
      await tables.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Whether there is a store in a directory, whole or not. */
export function holdsLmdbStore(directory: string): boolean {
  return existsSync(join(directory, dataFileName))
}

/** Opens the journal of the tables, and brings into them what only the journal has. */
async function openJournal(
  files: DurableFiles,
  directory: string,
  tables: LmdbTables,
  identity: StoreIdentity,
): Promise<Journal> {
  const { journal, records } = await Journal.open({ files, directory, identity }, tables)
  try {
    if (records.length > 0) await tables.write(records.map((record) => batchOfRecord(record, identity)))
    return journal
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** Makes a new store. The tables get their identity last: where this is interrupted before, the next start makes it anew. */
async function initialize(
  files: DurableFiles,
  directory: string,
  tables: LmdbTables,
  { random }: Environment,
  firstAfter: Revision,
): Promise<StoreIdentity> {
  if (await hasJournalRecords(files, directory)) {
    throw new StoreDamagedError(directory, `${dataFileName} is missing or empty, and its journal holds records`)
  }
  const identity = createIdentity(random)
  await Journal.create({ files, directory, identity }, { sequence: 0, revision: firstAfter })
  await tables.initialize(identity, firstAfter)
  return identity
}

interface Parts {
  readonly directory: string
  readonly historyMax: number
  readonly environment: Environment
  readonly identity: StoreIdentity
  readonly tables: LmdbTables
  readonly journal: Journal
  readonly lock: DirectoryLock
  readonly gatherMs: number | undefined
}

/**
 * A batch of transactions is written to the journal, which its commits wait for: it is durable then, and visible.
 * The tables get it a little later (`WriteBehind`); until then reads look at both.
 */
class LmdbStore implements SoleWriterStore {
  readonly shared = false
  readonly #parts: Parts
  readonly #tables: LmdbTables
  readonly #journal: Journal
  readonly #seed: number
  readonly #commits: GroupCommit
  readonly #behind: WriteBehind
  readonly #memory = new BatchMemory()
  readonly #watches = new WatchHub()
  /** The last changes of keys by transactions that are not durable yet. */
  readonly #pending = new TransientMap<string, StoreEvent>()
  /** Which keys exist after everything committed, durable or not. */
  readonly #known: KnownKeys
  #assigned: Revision
  /** A change of a value that was written up to this revision carries that value, since the next compaction may remove it. */
  #carriedTo: Revision
  #revision: Revision
  /** The last revision that watches have been told of. Later ones are not acknowledged yet. */
  #published: Revision
  #compacted: Revision
  /** Why no further call is taken. */
  #ended: Error | undefined
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#tables = parts.tables
    this.#journal = parts.journal
    this.#seed = checksumSeed(parts.identity)
    this.#known = new KnownKeys(this.#seed)
    this.#assigned = parts.tables.revision
    this.#carriedTo = parts.tables.revision
    this.#revision = parts.tables.revision
    this.#published = parts.tables.revision
    this.#compacted = parts.tables.compacted
    const { clock } = parts.environment
    this.#commits = new GroupCommit({
      write: (batch) => clock.hold(this.#write(batch)),
      onDurable: (batch) => this.#onDurable(batch),
      onFailed: (cause) => this.#fail(cause),
      clock,
      gatherMs: parts.gatherMs,
    })
    this.#behind = new WriteBehind({
      clock,
      write: (batches) => clock.hold(this.#tables.write(batches)),
      onWritten: ({ sequence, encoded }) => {
        this.#journal.release(sequence)
        this.#memory.giveBack(encoded.bytes)
      },
      onFailed: (cause) => this.#fail(cause),
    })
  }

  latest(): Revision {
    this.#checkOpen()
    return this.#published
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#checkOpen()
    checkKey(key)
    return this.#durable(key)
  }

  async list(prefix: string): Promise<Listing> {
    this.#checkOpen()
    checkPrefix(prefix)
    await this.#parts.environment.clock.hold(this.#behind.settled())
    this.#checkOpen()
    const entries = this.#reading(() => this.#tables.list(prefix))
    this.#known.take(prefix, this.#keysAfter(prefix, entries))
    return { revision: this.#tables.revision, entries }
  }

  async *pages(prefix: string, entriesMax: number): AsyncIterable<Listing> {
    yield* pagesOf(await this.list(prefix), entriesMax)
  }

  async commit(transaction: Transaction): Promise<CommitResult> {
    this.#checkOpen()
    checkTransaction(transaction)
    this.#commits.checkRoom()
    const lookup = lookupOnce((key) => this.#lookup(key))
    const current = findConflict(transaction.conditions, lookup)
    if (current !== undefined) {
      const isPending = transaction.conditions.some(({ key }) => this.#pending.has(key))
      const revision = isPending ? this.#assigned : this.#revision
      // The conflict would reveal a change that could still be lost.
      if (isPending) await this.#commits.settled()
      return { ok: false, revision, current }
    }
    const revision = this.#assigned + 1
    const carriedTo = Math.max(this.#carriedTo, revision - this.#parts.historyMax / 2)
    // This may throw, where a value that is replaced turns out to be damaged: the revision is taken only afterwards.
    const events = changesOf(transaction, revision, lookup, carriedTo)
    this.#assigned = revision
    for (const event of events) {
      this.#pending.set(event.key, event)
      this.#known.apply(event)
    }
    await this.#commits.add(revision, events)
    return { ok: true, revision }
  }

  watch(prefix: string, options: WatchOptions): StoreWatch {
    this.#checkOpen()
    checkPrefix(prefix)
    const watcher = this.#watches.add(prefix, options)
    if (options.after >= this.#revision) watcher.live = true
    else this.#parts.environment.clock.defer(() => this.#replay(watcher))
    return watcher
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    if (revision > this.#revision) {
      throw new RangeError(`revision ${revision} is yet to come; the last is ${this.#revision}`)
    }
    if (revision <= this.#compacted) return
    this.#carriedTo = this.#assigned
    this.#commits.checkRoom()
    await this.#commits.compact(revision)
  }

  async notes(query: NotesQuery): Promise<readonly Note[]> {
    this.#checkOpen()
    checkNotesQuery(query)
    await this.#parts.environment.clock.hold(this.#behind.settled())
    this.#checkOpen()
    return this.#reading(() => this.#tables.notes(query.before ?? Number.POSITIVE_INFINITY, query.limit))
  }

  async forgetNotes(revision: Revision): Promise<void> {
    this.#checkOpen()
    this.#tables.forgetNotes(revision)
  }

  dropCaches(): void {
    this.#behind.forgetWritten()
    this.#memory.release()
    this.#tables.dropCaches()
  }

  async releaseMemory(): Promise<void> {
    this.#checkOpen()
    if (!this.#tables.isWorthReopening) return
    await this.#parts.environment.clock.hold(this.#behind.pause(() => this.#reopenTables()))
  }

  async sizeBytes(): Promise<number> {
    this.#checkOpen()
    const { directory, environment } = this.#parts
    return environment.clock.hold(allocatedBytes(directory))
  }

  #reopenTables(): void {
    if (this.#ended !== undefined) return
    try {
      this.#tables.reopen()
    } catch (cause) {
      this.#fail(cause)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.environment.clock.hold(this.#close())
    return this.#closing
  }

  async #close(): Promise<void> {
    const failed = this.#ended !== undefined
    this.#ended ??= new StoreClosedError()
    // If the disk fails meanwhile, the commits that wait reject, and closing goes on.
    if (!failed) await this.#commits.settled().catch(() => {})
    this.#watches.end(this.#ended)
    // The lock is released even where something fails to close: nothing is written any more.
    const settled = await Promise.allSettled([this.#behind.settled()])
    const closed = await Promise.allSettled([this.#journal.close(), this.#tables.close()])
    this.#parts.lock.release()
    for (const each of [...settled, ...closed]) if (each.status === 'rejected') throw each.reason
  }

  /** The keys under a prefix once everything committed is durable, given what the tables have under it. */
  *#keysAfter(prefix: string, entries: readonly Entry[]): Generator<string> {
    const changing = new Set(this.#pending.keys())
    for (const { events } of this.#behind.batches) for (const { key } of events) changing.add(key)
    for (const { key } of entries) if (!changing.has(key)) yield key
    for (const key of changing) if (key.startsWith(prefix) && this.#lookup(key) !== undefined) yield key
  }

  #lookup(key: string): Entry | undefined {
    if (this.#known.lacks(key)) return undefined
    const pending = this.#pending.get(key)
    return pending === undefined ? this.#durable(key) : entryAfter(pending)
  }

  #durable(key: string): Entry | undefined {
    const changed = this.#behind.get(key)
    if (changed === undefined) return this.#reading(() => this.#tables.get(key))
    return changed === 'deleted' ? undefined : changed
  }

  /** Logs damage, so that the operator learns of it and not only the caller. */
  #reading<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      if (error instanceof StoreDamagedError) {
        this.#parts.environment.logger.error('what is stored cannot be read', { error: error.message })
      }
      throw error
    }
  }

  async #write(batch: Batch): Promise<void> {
    const { blockedBy } = this.#journal
    if (blockedBy !== undefined) await this.#behind.until(blockedBy)
    if (this.#ended instanceof StoreFailedError) throw this.#ended
    const sequence = this.#journal.nextSequence
    const revision = Math.max(this.#revision, batch.last)
    const compacted = this.#compactedAfter(batch, revision)
    const encoded = encodeEvents(batch.events, this.#seed, (size) => this.#memory.take(size))
    await this.#journal.append({ sequence, revision, compacted, events: encoded.bytes })
    this.#revision = revision
    this.#compacted = compacted
    this.#behind.add({ sequence, revision, compacted, events: batch.events, encoded })
  }

  #compactedAfter(batch: Batch, revision: Revision): Revision {
    return Math.max(this.#compacted, batch.compact, revision - this.#parts.historyMax)
  }

  #onDurable(batch: Batch): void {
    for (const { key } of batch.events) {
      const pending = this.#pending.get(key)
      if (pending !== undefined && pending.revision <= batch.last) this.#pending.delete(key)
    }
    if (batch.last === 0) return
    this.#published = batch.last
    this.#watches.publish(batch.events, batch.last)
  }

  /** Ends the store for good, and returns the error that all calls reject with from now on. */
  #fail(cause: unknown): Error {
    if (this.#ended instanceof StoreFailedError) return this.#ended
    const error = new StoreFailedError(this.#parts.directory, cause)
    this.#parts.environment.logger.error('the store failed', { directory: this.#parts.directory, error: error.message })
    this.#ended = error
    this.#watches.end(error)
    return error
  }

  /** Reads one chunk of the log in each turn of the event loop, so that a long history does not block others. */
  #replay(watcher: Watcher): void {
    if (!watcher.open) return
    if (watcher.position < this.#compacted) {
      watcher.gap(new CompactedError(watcher.position, this.#compacted))
      return
    }
    let chunk: LogChunk
    try {
      chunk = this.#chunkAfter(watcher.position)
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error
      watcher.end(error)
      return
    }
    watcher.deliver(chunk.events, chunk.last)
    if (watcher.position >= this.#revision) watcher.live = true
    else this.#parts.environment.clock.defer(() => this.#replay(watcher))
  }

  /** The chunk of history that begins after `revision`, which must not be compacted. */
  #chunkAfter(revision: Revision): LogChunk {
    if (revision < this.#tables.revision) return this.#reading(() => this.#tables.chunkAfter(revision))
    const batch = this.#behind.batches.find((each) => each.revision > revision)
    assert(batch !== undefined, `the history ends before revision ${revision + 1}`)
    return { after: revision, last: batch.revision, events: batch.events }
  }

  #checkOpen(): void {
    if (this.#ended !== undefined) throw this.#ended
  }
}
