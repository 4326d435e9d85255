import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '@coracle/environment'
import type { GetOptions, Transaction } from 'lmdb'
import { ChunkKeys } from './chunk-keys.ts'
import { StoreDamagedError, UnknownFormatError } from './errors.ts'
import type { JournalPosition, Sequence } from './journal-format.ts'
import { prefixEnd } from './key-order.ts'
import { chunkMemoryMax, notesDefaultMax, reopenBytesMin } from './limits.ts'
import {
  closeNow,
  fileBytes,
  freshSnapshot,
  type OpenedTables,
  openRoot,
  openTable,
  openTables,
  type RootTable,
  settle,
  type Table,
} from './lmdb-environment.ts'
import { checkLmdbFile, dataFileName } from './lmdb-file-check.ts'
import { decodeNoteChunk, type NoteChunk, NoteChunks, noteChunkOf } from './lmdb-notes.ts'
import {
  decodeChunk,
  decodeEntry,
  decodeRevision,
  encodeChunk,
  encodeRevision,
  isEntryWhole,
  type LogChunk,
} from './log-record.ts'
import type { Entry, Note, Revision, StoreEvent } from './store.ts'
import { checksumSeed, type StoreIdentity } from './store-identity.ts'
import { decodeState, encodeState, type IdentifiedState, type TablesState } from './tables-state.ts'
import type { JournaledBatch } from './write-behind.ts'

/** What the tables look like; any change to that is a new format. */
const format = '4'
const formatKey = Buffer.from('format')
const stateKey = Buffer.from('state')

interface Written extends TablesState {
  /** Key of the chunk added; 0 for none. */
  readonly chunk: Revision
  /** How many of the oldest chunks are gone. */
  readonly dropped: number
}

/**
 * The store's tables in an LMDB environment:
 * - `data`: key → entry,
 * - `log`: last revision of some batches that were written together → the changes of those batches,
 * - `notes`: first revision of some notes → those notes, see `lmdb-notes.ts`,
 * - `meta`: the format, and the store's identity with the last sequence, the last revision and the compacted revision.
 *
 * All values carry checksums, which every read verifies. The tables hold what the journal held up to `sequence`. Reads see a snapshot, which
 * each `write` renews when it is done.
 */
export class LmdbTables {
  readonly #directory: string
  #opened: OpenedTables
  /** Bytes read or written since LMDB's file was mapped: about as much of it as may be resident. */
  #touchedBytes: number
  readonly #notesMax: number
  #identity: StoreIdentity | undefined
  #seed = 0
  /** The keys of `log`. */
  readonly #chunks: ChunkKeys
  #noteChunks: NoteChunks
  /** Memory in which chunks of the log are encoded, one after another. */
  #chunkMemory = noMemory
  #snapshot: Transaction
  #sequence: Sequence = 0
  #revision: Revision = 0
  #compacted: Revision = 0

  private constructor(directory: string, root: RootTable, notesMax: number) {
    this.#directory = directory
    this.#load(openTable(root, 'meta'))
    this.#opened = openTables(root)
    this.#notesMax = notesMax
    this.#touchedBytes = fileBytes(directory) ?? 0
    this.#chunks = new ChunkKeys()
    for (const key of this.#opened.log.getKeys({})) this.#chunks.push(decodeRevision(key))
    this.#noteChunks = new NoteChunks(notesMax, this.#seed, this.#noteChunksKept())
    this.#snapshot = freshSnapshot(root)
  }

  /**
   * Opens the tables of `directory`, making them where there are none; those have no identity until they are given one.
   * Throws an `UnknownFormatError` or `StoreDamagedError` for ones it cannot read.
   */
  static async open(directory: string, { notesMax = notesDefaultMax } = {}): Promise<LmdbTables> {
    checkLmdbFile(directory)
    // The caller has locked the directory, so any locks of LMDB there are left over from a process that died. LMDB maps that file into
    // memory: a damaged one would crash this process.
    rmSync(join(directory, 'lock.mdb'), { force: true })
    const root = openRoot(directory)
    try {
      return new LmdbTables(directory, root, notesMax)
    } catch (error) {
      await root.close()
      throw error
    }
  }

  /** Undefined as long as nothing was ever in these tables. */
  get identity(): StoreIdentity | undefined {
    return this.#identity
  }

  /** Gives new tables the identity of their store, whose revisions come after `revision`. Resolves when that is durable. */
  async initialize(identity: StoreIdentity, revision: Revision = 0): Promise<void> {
    const state = { sequence: 0, revision, compacted: revision }
    const written = this.#opened.root.batch(() => {
      this.#opened.meta.put(formatKey, Buffer.from(format))
      this.#opened.meta.put(stateKey, encodeState(identity, state))
    })
    await settle(written)
    this.#adoptIdentity(identity)
    this.#adopt({ ...state, chunk: 0, dropped: 0 })
    this.#noteChunks = new NoteChunks(this.#notesMax, this.#seed)
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

  /** Whether `reopen` would give back enough memory to be worth it. */
  get isWorthReopening(): boolean {
    return this.#touchedBytes >= reopenBytesMin
  }

  /** Leaves to the garbage collection what is kept only to be fast. */
  dropCaches(): void {
    this.#chunkMemory = noMemory
  }

  /**
   * Closes LMDB and opens it again, which gives back the memory that its file takes: every page that was read since it was
   * mapped is resident, and so are the buffers of its largest transaction. Only while nothing is being written. Takes a
   * few milliseconds.
   *
   * Throws a `StoreDamagedError` where the file is no longer what was written, after which these tables must not be used.
   */
  reopen(): void {
    // LMDB would make a new file.
    if (fileBytes(this.#directory) === undefined) throw this.#replaced()
    this.#snapshot.done()
    closeNow(this.#opened.root)
    const root = openRoot(this.#directory)
    this.#opened = openTables(root)
    this.#snapshot = freshSnapshot(root)
    this.#touchedBytes = 0
    const state = decodeState(this.#opened.meta.getBinary(stateKey))
    if (state === undefined || !this.#isPresent(state)) throw this.#replaced()
  }

  get(key: string): Entry | undefined {
    const encodedKey = Buffer.from(key)
    const bytes = this.#opened.data.get(encodedKey, this.#read())
    return bytes === undefined ? undefined : this.#entry(encodedKey, key, bytes)
  }

  /** All entries whose key starts with `prefix`, in key order. */
  list(prefix: string): Entry[] {
    const start = Buffer.from(prefix)
    const range = start.length === 0 ? {} : { start, end: prefixEnd(start) }
    const entries: Entry[] = []
    for (const { key, value } of this.#opened.data.getRange({ ...range, ...this.#read() })) {
      entries.push(this.#entry(key, Buffer.from(key.buffer, key.byteOffset, key.length).toString(), value))
    }
    return entries
  }

  /** The stretch of the log that holds the revision after `after`, which must be kept. */
  chunkAfter(after: Revision): LogChunk {
    const [found] = this.#opened.log.getRange({ start: encodeRevision(after + 1), limit: 1, ...this.#read() })
    const isKept = this.#compacted <= after && after < this.#revision
    assert(found !== undefined || isKept, `the change log ends before revision ${after + 1}`)
    const chunk = found && decodeChunk(found.key, found.value, this.#seed)
    if (chunk === undefined || chunk.after > after) {
      throw new StoreDamagedError(this.#directory, `the history after revision ${after} is not as it was written`)
    }
    return chunk
  }

  /**
   * Writes batches of the journal, and forgets the history they say is compacted. Resolves when the disk has them, and
   * reads do. Rejects with the disk's error, after which these tables must not be written again.
   */
  async write(batches: readonly JournaledBatch[]): Promise<void> {
    const identity = this.#identity
    assert(identity !== undefined, 'the tables have no identity yet')
    const { sequence, revision, compacted } = batches.at(-1) ?? this
    const dropped = this.#chunks.upTo(compacted)
    const chunk = revision > this.#revision ? revision : 0
    const notes = this.#noteChunks.prepare(eventsOf(batches))
    for (const { encoded } of batches) this.#touchedBytes += encoded.bytes.length
    const written = this.#opened.root.batch(() => {
      for (const [key, entry] of lastEntries(batches)) this.#writeEntry(key, entry)
      if (chunk > 0) this.#opened.log.put(encodeRevision(chunk), this.#chunkOf(batches, chunk))
      for (const old of dropped) this.#opened.log.remove(encodeRevision(old))
      for (const { key, value } of notes.puts) this.#opened.notes.put(key, value)
      for (const key of notes.removals) this.#opened.notes.remove(key)
      this.#opened.meta.put(stateKey, encodeState(identity, { sequence, revision, compacted }))
    })
    await settle(written)
    this.#noteChunks.adopt(notes)
    this.#adopt({ sequence, revision, compacted, chunk, dropped: dropped.length })
  }

  /** Notes of revisions before `before`, newest first. */
  notes(before: Revision, limit: number): Note[] {
    const notes: Note[] = []
    let chunk = this.#noteChunks.newestBefore(before)
    while (chunk !== undefined && notes.length < limit) {
      const key = encodeRevision(chunk.first)
      const value = this.#opened.notes.get(key, this.#read())
      const found = value === undefined ? undefined : decodeNoteChunk(key, value, this.#seed)
      if (found === undefined) {
        throw new StoreDamagedError(
          this.#directory,
          `the notes from revision ${chunk.first} are not as they were written`,
        )
      }
      for (const note of found.toReversed()) if (note.revision < before && notes.length < limit) notes.push(note)
      chunk = this.#noteChunks.newestBefore(chunk.first)
    }
    return notes
  }

  /** Chunks that hold no note after `revision` go, a few with each write. */
  forgetNotes(revision: Revision): void {
    this.#noteChunks.forget(revision)
  }

  /** The keys whose values are not as they were written. Reads everything. */
  damagedKeys(): Uint8Array[] {
    const damaged: Uint8Array[] = []
    for (const { key, value } of this.#opened.data.getRange(this.#read())) {
      if (!isEntryWhole(key, value, this.#seed)) damaged.push(Uint8Array.from(key))
    }
    return damaged
  }

  /** Whether all the history that is kept is as it was written. Reads it. */
  isHistoryWhole(): boolean {
    for (const { key, value } of this.#opened.log.getRange(this.#read())) {
      if (decodeChunk(key, value, this.#seed) === undefined) return false
    }
    return true
  }

  /** The keys of notes that are not as they were written. Reads all notes. */
  damagedNotes(): Uint8Array[] {
    const damaged: Uint8Array[] = []
    for (const { key, value } of this.#opened.notes.getRange(this.#read())) {
      if (decodeNoteChunk(key, value, this.#seed) === undefined) damaged.push(Uint8Array.from(key))
    }
    return damaged
  }

  /** Forgets `keys`, all history and the notes that are damaged, and goes on from `position`. Resolves when that is durable. */
  async forget(keys: readonly Uint8Array[], position: JournalPosition): Promise<void> {
    const identity = this.#identity
    assert(identity !== undefined, 'the tables have no identity yet')
    const state = { ...position, compacted: position.revision }
    const dropped = this.#chunks.all()
    const damagedNotes = this.damagedNotes()
    const written = this.#opened.root.batch(() => {
      for (const key of keys) this.#opened.data.remove(key)
      for (const chunk of dropped) this.#opened.log.remove(encodeRevision(chunk))
      for (const key of damagedNotes) this.#opened.notes.remove(key)
      this.#opened.meta.put(stateKey, encodeState(identity, state))
    })
    await settle(written)
    this.#adopt({ ...state, chunk: 0, dropped: dropped.length })
    this.#noteChunks = new NoteChunks(this.#notesMax, this.#seed, this.#noteChunksKept())
  }

  async close(): Promise<void> {
    this.#snapshot.done()
    await this.#opened.root.close()
  }

  #load(meta: Table): void {
    const found = meta.getBinary(formatKey)
    // It is written with the identity, before anything else: without it nothing else is there.
    if (found === undefined) return
    const text = Buffer.from(found).toString()
    if (text !== format) throw new UnknownFormatError(this.#directory, text, format)
    const state = decodeState(meta.getBinary(stateKey))
    if (state === undefined) {
      throw new StoreDamagedError(this.#directory, 'its state, which says how far it goes, is not as it was written')
    }
    this.#adoptIdentity(state.identity)
    this.#sequence = state.sequence
    this.#revision = state.revision
    this.#compacted = state.compacted
  }

  #isPresent({ identity, sequence, revision, compacted }: IdentifiedState): boolean {
    const isSame = this.#identity !== undefined && identity.equals(this.#identity)
    return isSame && sequence === this.#sequence && revision === this.#revision && compacted === this.#compacted
  }

  #replaced(): StoreDamagedError {
    return new StoreDamagedError(this.#directory, `${dataFileName} was removed or replaced while it was in use`)
  }

  #adoptIdentity(identity: StoreIdentity): void {
    this.#identity = identity
    this.#seed = checksumSeed(identity)
  }

  #noteChunksKept(): readonly NoteChunk[] {
    const chunks: NoteChunk[] = []
    for (const { key, value } of this.#opened.notes.getRange({})) {
      const chunk = noteChunkOf(key, value)
      if (chunk !== undefined) chunks.push(chunk)
    }
    return chunks
  }

  #entry(encodedKey: Uint8Array, key: string, bytes: Uint8Array): Entry {
    if (isEntryWhole(encodedKey, bytes, this.#seed)) return decodeEntry(key, bytes)
    throw new StoreDamagedError(this.#directory, `the value of ${JSON.stringify(key)} is not as it was written`)
  }

  #chunkOf(batches: readonly JournaledBatch[], last: Revision): Uint8Array {
    const changes = batches.map(({ encoded }) => encoded.bytes)
    return encodeChunk(this.#revision, last, changes, this.#seed, (size) => this.#chunkBytes(size))
  }

  /** Memory for one chunk, that of the last one where it has room: new memory costs more than what is written to it. */
  #chunkBytes(size: number): Buffer {
    if (size > chunkMemoryMax) return Buffer.allocUnsafeSlow(size)
    if (size > this.#chunkMemory.length) this.#chunkMemory = Buffer.allocUnsafeSlow(size)
    return this.#chunkMemory.subarray(0, size)
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
    this.#chunks.drop(dropped)
    this.#snapshot.done()
    this.#snapshot = freshSnapshot(this.#opened.root)
  }

  #writeEntry(key: string, entry: Uint8Array | undefined): void {
    if (entry === undefined) this.#opened.data.remove(Buffer.from(key))
    else this.#opened.data.put(Buffer.from(key), entry)
  }
}

const noMemory = Buffer.alloc(0)

function* eventsOf(batches: readonly JournaledBatch[]): Generator<StoreEvent> {
  for (const { events } of batches) yield* events
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
