import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { assert } from '@coracle/environment'
import { noteChunkBytes, noteChunksDroppedMax } from './limits.ts'
import { decodeRevision, encodeRevision } from './log-record.ts'
import type { Note, Revision, StoreEvent } from './store.ts'

/*
 * Notes are kept in chunks, compressed, since one is much like the other. The key of a chunk is the revision of its first
 * note. The newest chunk is written anew with the notes that join it, until it is full; numbers are big-endian:
 *
 *     chunk = last revision f64 | count u32 | deflated (revision f64 | length u16 | note) … | checksum u32
 *
 * The checksum begins with the store's seed and covers the key and what stands before it.
 */
const headerBytes = 8 + 4
const checksumBytes = 4
const noteHeaderBytes = 8 + 2

/**
 * Fast rather than small: what recurs is found all the same, also within the last 8 KiB. Each chunk has buffers of its own: half of what it took was
 * to have 256 KiB of them from the system and make them zero. In this thread: a chunk takes 50 us, and to have another thread do it takes
 * three times that.
 */
const compression = { level: 1, windowBits: 13, memLevel: 6, chunkSize: noteChunkBytes }

/** A chunk that is kept. */
export interface NoteChunk {
  readonly first: Revision
  readonly last: Revision
  readonly count: number
}

/** What a write of the tables does to the notes. */
export interface NotesChange {
  /** Chunks to write, over those of the same first revision. */
  readonly puts: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]
  /** Keys of chunks to remove. */
  readonly removals: readonly Uint8Array[]
  /** The chunks that are there then. */
  readonly chunks: readonly NoteChunk[]
  /** The newest chunk as it is before compression, if more notes may join it. */
  readonly open: OpenChunk | undefined
}

interface OpenChunk extends NoteChunk {
  readonly bytes: Uint8Array
}

/** Which notes the tables hold, and how that changes. Reading and writing is up to the tables. */
export class NoteChunks {
  readonly #notesMax: number
  readonly #seed: number
  /** Oldest first. */
  #chunks: readonly NoteChunk[]
  #open: OpenChunk | undefined
  #forgotten: Revision = 0

  constructor(notesMax: number, seed: number, chunks: readonly NoteChunk[] = []) {
    this.#notesMax = notesMax
    this.#seed = seed
    this.#chunks = chunks
  }

  /** The newest chunk of those that hold notes before a revision; undefined when none does. */
  newestBefore(revision: Revision): NoteChunk | undefined {
    return this.#chunks.findLast(({ first }) => first < revision)
  }

  /** Chunks that hold nothing after `revision` go with the next writes. */
  forget(revision: Revision): void {
    this.#forgotten = Math.max(this.#forgotten, revision)
  }

  /** Compresses the notes of `events`, and chooses what goes. Nothing has changed until `adopt`. */
  prepare(events: Iterable<StoreEvent>): NotesChange {
    const changed: OpenChunk[] = []
    let open = this.#open
    for (const piece of piecesOf(events, open)) {
      open = piece
      changed.push(piece)
    }
    const puts = changed.map((chunk) => encodeNoteChunk(chunk, this.#seed))
    const first = changed[0]?.first ?? Number.POSITIVE_INFINITY
    const all = [...this.#chunks.filter((chunk) => chunk.first < first), ...changed.map(summaryOf)]
    const dropped = this.#droppedOf(all)
    return {
      puts,
      removals: all.slice(0, dropped).map((chunk) => encodeRevision(chunk.first)),
      chunks: all.slice(dropped),
      open: open !== undefined && open.bytes.length < noteChunkBytes && dropped < all.length ? open : undefined,
    }
  }

  adopt({ chunks, open }: NotesChange): void {
    this.#chunks = chunks
    this.#open = open
  }

  /** How many of the oldest chunks go: those that are forgotten, and those without which there are still enough. */
  #droppedOf(chunks: readonly NoteChunk[]): number {
    let kept = chunks.reduce((sum, { count }) => sum + count, 0)
    let dropped = 0
    for (const { last, count } of chunks) {
      if (dropped === noteChunksDroppedMax || (last > this.#forgotten && kept - count < this.#notesMax)) break
      kept -= count
      dropped += 1
    }
    return dropped
  }
}

/** The chunks that the notes of `events` fill, the first of them the open one where there is one, which is not full. */
function* piecesOf(events: Iterable<StoreEvent>, open: OpenChunk | undefined): Generator<OpenChunk> {
  let first = open?.first
  let count = open?.count ?? 0
  let last = open?.last ?? 0
  let parts: Uint8Array[] = open === undefined ? [] : [open.bytes]
  let size = open?.bytes.length ?? 0
  let isChanged = false
  const piece = (): OpenChunk => ({ first: first as Revision, last, count, bytes: Buffer.concat(parts, size) })
  for (const { revision, note } of events) {
    if (note === undefined) continue
    if (size >= noteChunkBytes) {
      yield piece()
      first = undefined
      parts = []
      size = 0
      count = 0
    }
    first ??= revision
    last = revision
    count += 1
    parts.push(noteHeader(revision, note.length), note)
    size += noteHeaderBytes + note.length
    isChanged = true
  }
  if (isChanged) yield piece()
}

function noteHeader(revision: Revision, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(noteHeaderBytes)
  bytes.writeUInt16BE(length, bytes.writeDoubleBE(revision, 0))
  return bytes
}

const summaryOf = ({ first, last, count }: NoteChunk): NoteChunk => ({ first, last, count })

function encodeNoteChunk({ first, last, count, bytes }: OpenChunk, seed: number) {
  const key = encodeRevision(first)
  const deflated = deflateRawSync(bytes, compression)
  // Memory of its own: LMDB reads it from another thread.
  const value = Buffer.allocUnsafeSlow(headerBytes + deflated.length + checksumBytes)
  let at = value.writeDoubleBE(last, 0)
  at = value.writeUInt32BE(count, at)
  at += deflated.copy(value, at)
  value.writeUInt32BE(crc32(value.subarray(0, at), crc32(key, seed)), at)
  return { key, value }
}

/** What a chunk says of itself, unchecked: whoever reads its notes checks them. Undefined where it is too short for that. */
export function noteChunkOf(key: Uint8Array, value: Uint8Array): NoteChunk | undefined {
  if (value.length < headerBytes + checksumBytes) return undefined
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  return { first: decodeRevision(key), last: view.getFloat64(0), count: view.getUint32(8) }
}

/** The notes of a chunk, oldest first; undefined when it is not as it was written. */
export function decodeNoteChunk(key: Uint8Array, value: Uint8Array, seed: number): readonly Note[] | undefined {
  const end = value.length - checksumBytes
  if (end < headerBytes) return undefined
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  if (crc32(value.subarray(0, end), crc32(key, seed)) !== view.getUint32(end)) return undefined
  const bytes = inflateRawSync(value.subarray(headerBytes, end))
  const notes: Note[] = []
  for (let at = 0; at < bytes.length; ) {
    const start = at + noteHeaderBytes
    const stop = start + bytes.readUInt16BE(at + 8)
    notes.push({ revision: bytes.readDoubleBE(at), note: bytes.subarray(start, stop) })
    at = stop
  }
  assert(notes.length === view.getUint32(8), 'a chunk of notes does not hold as many as it says')
  return notes
}
