import { assert } from '@coracle/environment'
import { type Database, type GetOptions, open as openLmdb, type RootDatabase, type Transaction } from 'lmdb'
import { checkDataFile } from './data-file.ts'
import { UnknownFormatError } from './errors.ts'
import type { Sequence } from './journal.ts'
import { decodeEntry, decodeEvents, decodeRevision, encodeRevision } from './log-record.ts'
import type { Entry, Revision, StoreEvent } from './store.ts'
import type { JournaledBatch } from './write-behind.ts'

type Table = Database<Uint8Array, Uint8Array>
type RootTable = RootDatabase<Uint8Array, Uint8Array>

/** What the tables look like; any change to that is a new format. */
const format = '2'
const formatKey = Buffer.from('format')
const stateKey = Buffer.from('state')

/**
 * Address space set aside for the data file: LMDB reads it through memory. It takes neither memory nor disk until it
 * is used, and beyond it LMDB maps more.
 */
const mapBytes = 64 * 1024 ** 3

/**
 * `overlappingSync` would let a transaction be seen before it is on the disk. Without it LMDB's commit writes the pages,
 * waits for the disk, writes the root through `O_DSYNC`, and only then lets readers see and the promise resolve.
 * The thresholds make one call of `batch` one disk transaction, started at the end of the turn.
 */
const environmentOptions = {
  overlappingSync: false,
  noSubdir: false,
  remapChunks: false,
  mapSize: mapBytes,
  maxDbs: 3,
  eventTurnBatching: false,
  txnStartThreshold: 1,
  batchStartThreshold: 2 ** 31,
  encoding: 'binary',
  keyEncoding: 'binary',
  permissionsMode: 0o600,
} as const

/** A stretch of the change log: all changes of the revisions after those of the stretch before, up to `last`. */
export interface LogChunk {
  readonly last: Revision
  readonly events: readonly StoreEvent[]
}

interface Written {
  readonly sequence: Sequence
  readonly revision: Revision
  readonly compacted: Revision
  /** Key of the chunk added; 0 for none. */
  readonly chunk: Revision
  /** How many of the oldest chunks are gone. */
  readonly dropped: number
}

/**
 * The store's tables in an LMDB environment:
 * - `data`: key → entry,
 * - `log`: last revision of some batches that were written together → the changes of those batches,
 * - `meta`: the format, and the last sequence, the last revision and the compacted revision.
 *
 * They hold what the journal held up to `sequence`. Reads come from a snapshot that each `write` renews when it is done.
 */
export class LmdbTables {
  readonly #root: RootTable
  readonly #data: Table
  readonly #log: Table
  readonly #meta: Table
  /** The keys of `log`, ascending, from `#chunksDropped` on. */
  #chunks: Revision[] = []
  #chunksDropped = 0
  #snapshot: Transaction
  #sequence: Sequence = 0
  #revision: Revision = 0
  #compacted: Revision = 0

  private constructor(root: RootTable, meta: Table) {
    this.#root = root
    this.#meta = meta
    this.#data = openTable(root, 'data')
    this.#log = openTable(root, 'log')
    this.#snapshot = freshSnapshot(root)
  }

  /** Opens the tables of `directory`, making them where there are none. Throws an `UnknownFormatError` or `StoreDamagedError` for ones it cannot read. */
  static async open(directory: string): Promise<LmdbTables> {
    checkDataFile(directory)
    const root: RootTable = openLmdb(directory, environmentOptions)
    try {
      const meta = openTable(root, 'meta')
      prepareFormat(directory, meta)
      const tables = new LmdbTables(root, meta)
      tables.#load()
      return tables
    } catch (error) {
      await root.close()
      throw error
    }
  }

  /** The last batch of the journal that is in the tables. */
  get sequence(): Sequence {
    return this.#sequence
  }

  get revision(): Revision {
    return this.#revision
  }

  get compacted(): Revision {
    return this.#compacted
  }

  get(key: string): Entry | undefined {
    const bytes = this.#data.get(Buffer.from(key), this.#read())
    return bytes === undefined ? undefined : decodeEntry(key, bytes)
  }

  /** All entries whose key starts with `prefix`, in key order. */
  list(prefix: string): Entry[] {
    const start = Buffer.from(prefix)
    const range = start.length === 0 ? {} : { start, end: prefixEnd(start) }
    const entries: Entry[] = []
    for (const { key, value } of this.#data.getRange({ ...range, ...this.#read() })) {
      entries.push(decodeEntry(Buffer.from(key.buffer, key.byteOffset, key.length).toString(), value))
    }
    return entries
  }

  /** The stretch of the log that holds the revision after `after`, which must be kept. */
  chunkAfter(after: Revision): LogChunk {
    const [found] = this.#log.getRange({ start: encodeRevision(after + 1), limit: 1, ...this.#read() })
    assert(found !== undefined, `the change log ends before revision ${after + 1}`)
    return { last: decodeRevision(found.key), events: decodeEvents(found.value) }
  }

  /**
   * Writes batches of the journal, and forgets the history they say is compacted. Resolves when the disk has them, and
   * reads do. Rejects with the disk's error, after which these tables must not be written again.
   */
  async write(batches: readonly JournaledBatch[]): Promise<void> {
    const { sequence, revision, compacted } = batches.at(-1) ?? this
    const dropped = this.#chunksUpTo(compacted)
    const chunk = revision > this.#revision ? revision : 0
    const written = this.#root.batch(() => {
      for (const [key, entry] of lastEntries(batches)) this.#writeEntry(key, entry)
      if (chunk > 0) this.#log.put(encodeRevision(chunk), changesOf(batches))
      for (const old of dropped) this.#log.remove(encodeRevision(old))
      this.#meta.put(stateKey, encodeState(sequence, revision, compacted))
    })
    await settle(written)
    this.#adopt({ sequence, revision, compacted, chunk, dropped: dropped.length })
  }

  async close(): Promise<void> {
    this.#snapshot.done()
    await this.#root.close()
  }

  #load(): void {
    const state = this.#meta.getBinary(stateKey)
    if (state !== undefined) [this.#sequence, this.#revision, this.#compacted] = decodeState(state)
    for (const key of this.#log.getKeys({})) this.#chunks.push(decodeRevision(key))
  }

  #read(): GetOptions {
    return { transaction: this.#snapshot }
  }

  /** Makes what has been written visible to reads, all of it at once. */
  #adopt({ sequence, revision, compacted, chunk, dropped }: Written): void {
    this.#sequence = sequence
    this.#revision = revision
    this.#compacted = compacted
    if (chunk > 0) this.#chunks.push(chunk)
    this.#dropChunks(dropped)
    this.#snapshot.done()
    this.#snapshot = freshSnapshot(this.#root)
  }

  #writeEntry(key: string, entry: Uint8Array | undefined): void {
    if (entry === undefined) this.#data.remove(Buffer.from(key))
    else this.#data.put(Buffer.from(key), entry)
  }

  /** The chunks that hold no revision after `compacted`. */
  #chunksUpTo(compacted: Revision): readonly Revision[] {
    let end = this.#chunksDropped
    while (end < this.#chunks.length && (this.#chunks[end] as Revision) <= compacted) end++
    return this.#chunks.slice(this.#chunksDropped, end)
  }

  #dropChunks(count: number): void {
    this.#chunksDropped += count
    if (this.#chunksDropped * 2 <= this.#chunks.length) return
    this.#chunks = this.#chunks.slice(this.#chunksDropped)
    this.#chunksDropped = 0
  }
}

function openTable(root: RootTable, name: string): Table {
  return root.openDB<Uint8Array, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' })
}

/** A snapshot that nothing committed or opened before is missing from; LMDB's own would be as old as its last read. */
function freshSnapshot(root: RootTable): Transaction {
  root.resetReadTxn()
  return root.useReadTransaction()
}

function prepareFormat(directory: string, meta: Table): void {
  const found = meta.getBinary(formatKey)
  if (found === undefined) {
    // The other tables are made after it, so that without it there is nothing of ours here.
    meta.putSync(formatKey, Buffer.from(format))
    return
  }
  const text = Buffer.from(found).toString()
  if (text !== format) throw new UnknownFormatError(directory, text, format)
}

/** LMDB rejects with a general error that carries a promise of the particular one. */
async function settle(written: Promise<unknown>): Promise<void> {
  try {
    await written
  } catch (error) {
    throw await causeOf(error)
  }
}

async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  )
}

/** The first key in byte order after all that start with `prefix`. A byte of UTF-8 is never 255, so that the last can be raised. */
function prefixEnd(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix)
  const last = end.length - 1
  end[last] = (end[last] as number) + 1
  return end
}

/** What each key has after all the batches: undefined where it was deleted. Of several changes only the last counts. */
function lastEntries(batches: readonly JournaledBatch[]): Map<string, Uint8Array | undefined> {
  const entries = new Map<string, Uint8Array | undefined>()
  for (const { events, encoded } of batches) {
    for (const [index, { key, type }] of events.entries()) {
      entries.set(key, type === 'put' ? encoded.entries[index] : undefined)
    }
  }
  return entries
}

/** Memory of its own, as `encodeEvents` makes it: LMDB reads it from another thread. */
function changesOf(batches: readonly JournaledBatch[]): Uint8Array {
  if (batches.length === 1) return batches[0]?.encoded.bytes ?? new Uint8Array(0)
  const changes = new Uint8Array(batches.reduce((sum, { encoded }) => sum + encoded.bytes.length, 0))
  let at = 0
  for (const { encoded } of batches) {
    changes.set(encoded.bytes, at)
    at += encoded.bytes.length
  }
  return changes
}

function encodeState(sequence: Sequence, revision: Revision, compacted: Revision): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(24)
  bytes.writeDoubleBE(sequence, 0)
  bytes.writeDoubleBE(revision, 8)
  bytes.writeDoubleBE(compacted, 16)
  return bytes
}

function decodeState(bytes: Uint8Array): [Sequence, Revision, Revision] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return [view.getFloat64(0), view.getFloat64(8), view.getFloat64(16)]
}
