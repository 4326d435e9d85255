import { crc32 } from 'node:zlib'
import { assert } from '@coracle/environment'
import type { Entry, Revision, StoreEvent } from './store.ts'

/**
 * How changes and entries look on disk; numbers are big-endian, revisions are doubles.
 *
 *     event = type u8 | key length u16 | value length u32 | previous revision f64 | previous value | note | key | entry
 *     type = 0 put, 1 delete, 2 put that carries the value it replaced; 4 more where there is a note
 *     previous value = length u32 | value, with type 2; nothing with the others
 *     note = length u16 | note, where there is one
 *     entry = mod revision f64 | create revision f64 | value | checksum u32
 *
 * An event ends in just the bytes its key gets as entry, so that a change is encoded once and written to both tables. The
 * checksum begins with a seed that is the store's own and covers the key and the entry.
 */
const eventHeaderBytes = 1 + 2 + 4 + 8
const entryHeaderBytes = 8 + 8
const previousLengthBytes = 4
const noteLengthBytes = 2
const checksumBytes = 4
const entryOverheadBytes = entryHeaderBytes + checksumBytes

const typeDelete = 1
const typeCarries = 2
const typeNoted = 4

/** Encoded changes. `entries[i]` are the bytes of the entry the i-th event leaves, a part of `bytes`. */
export interface EncodedEvents {
  readonly bytes: Uint8Array
  readonly entries: readonly Uint8Array[]
}

/** Gives memory of a size, not of Buffer's pool: LMDB reads it from another thread. */
export type Allocate = (size: number) => Buffer

/** Encodes changes one after another. */
export function encodeEvents(
  events: readonly StoreEvent[],
  seed: number,
  allocate: Allocate = Buffer.allocUnsafeSlow,
): EncodedEvents {
  const keyLengths: number[] = []
  let size = 0
  for (const { key, value, previousValue, note } of events) {
    const keyLength = Buffer.byteLength(key)
    keyLengths.push(keyLength)
    size += eventHeaderBytes + keyLength + entryOverheadBytes + value.length
    if (previousValue !== undefined) size += previousLengthBytes + previousValue.length
    if (note !== undefined) size += noteLengthBytes + note.length
  }
  const bytes = allocate(size)
  // Its numbers are written several times as fast as a Buffer's.
  const view = new DataView(bytes.buffer, bytes.byteOffset, size)
  const entries: Uint8Array[] = []
  let at = 0
  for (const event of events) {
    const { key, value, previousValue, note } = event
    const keyLength = keyLengths[entries.length] as number
    const type = event.type === 'delete' ? typeDelete : previousValue === undefined ? 0 : typeCarries
    view.setUint8(at, note === undefined ? type : type + typeNoted)
    view.setUint16(at + 1, keyLength)
    view.setUint32(at + 3, value.length)
    view.setFloat64(at + 7, event.previousRevision)
    at += eventHeaderBytes
    if (previousValue !== undefined) {
      view.setUint32(at, previousValue.length)
      bytes.set(previousValue, at + previousLengthBytes)
      at += previousLengthBytes + previousValue.length
    }
    if (note !== undefined) {
      view.setUint16(at, note.length)
      bytes.set(note, at + noteLengthBytes)
      at += noteLengthBytes + note.length
    }
    const keyStart = at
    at += bytes.write(key, at)
    const start = at
    view.setFloat64(at, event.revision)
    view.setFloat64(at + 8, event.createRevision)
    bytes.set(value, at + entryHeaderBytes)
    at += entryHeaderBytes + value.length
    view.setUint32(at, crc32(bytes.subarray(keyStart, at), seed))
    at += checksumBytes
    entries.push(bytes.subarray(start, at))
  }
  return { bytes, entries }
}

/** Reads what `encodeEvents` wrote, from bytes that have been checked. The values are views of `bytes`. */
export function decodeEvents(bytes: Uint8Array): StoreEvent[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const events: StoreEvent[] = []
  let at = 0
  while (at < view.length) {
    const code = view.readUInt8(at)
    const isNoted = code >= typeNoted
    const kind = isNoted ? code - typeNoted : code
    const type = kind === typeDelete ? 'delete' : 'put'
    const keyLength = view.readUInt16BE(at + 1)
    const valueLength = view.readUInt32BE(at + 3)
    const previousRevision = view.readDoubleBE(at + 7)
    at += eventHeaderBytes
    let previousValue: Uint8Array | undefined
    if (kind === typeCarries) {
      const start = at + previousLengthBytes
      at = start + view.readUInt32BE(at)
      previousValue = new Uint8Array(bytes.buffer, bytes.byteOffset + start, at - start)
    }
    let note: Uint8Array | undefined
    if (isNoted) {
      const start = at + noteLengthBytes
      at = start + view.readUInt16BE(at)
      note = new Uint8Array(bytes.buffer, bytes.byteOffset + start, at - start)
    }
    const key = view.toString('utf8', at, at + keyLength)
    at += keyLength
    const entry = decodeEntry(key, bytes.subarray(at, at + entryOverheadBytes + valueLength))
    at += entryOverheadBytes + valueLength
    const { value, modRevision: revision, createRevision } = entry
    const event: StoreEvent = { type, key, value, revision, createRevision, previousRevision }
    const carried = previousValue === undefined ? event : { ...event, previousValue }
    events.push(note === undefined ? carried : { ...carried, note })
  }
  assert(at === view.length, 'a record of the change log is cut short')
  return events
}

/** Whether an entry, and its key, are as they were written. */
export function isEntryWhole(key: Uint8Array, bytes: Uint8Array, seed: number): boolean {
  if (bytes.length < entryOverheadBytes) return false
  const end = bytes.length - checksumBytes
  return crc32(bytes.subarray(0, end), crc32(key, seed)) === readUint32(bytes, end)
}

/** Reads an entry that is whole. Its value is a view of `bytes`. */
export function decodeEntry(key: string, bytes: Uint8Array): Entry {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + entryHeaderBytes, bytes.length - entryOverheadBytes)
  return { key, value, modRevision: view.getFloat64(0), createRevision: view.getFloat64(8) }
}

/** A stretch of the change log: all changes of the revisions after `after`, up to `last`. */
export interface LogChunk {
  readonly after: Revision
  readonly last: Revision
  readonly events: readonly StoreEvent[]
}

/**
 * Encodes a stretch of the log, given its changes as `encodeEvents` makes them:
 *
 *     chunk = events | last revision of the chunk before f64 | checksum u32, over the chunk's key and what stands before
 */
export function encodeChunk(
  after: Revision,
  last: Revision,
  events: readonly Uint8Array[],
  seed: number,
  allocate: Allocate = Buffer.allocUnsafeSlow,
): Uint8Array {
  const bytes = allocate(events.reduce((sum, { length }) => sum + length, chunkTrailerBytes))
  let at = 0
  for (const part of events) {
    bytes.set(part, at)
    at += part.length
  }
  at = bytes.writeDoubleBE(after, at)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, at), crc32(encodeRevision(last), seed)), at)
  return bytes
}

const chunkTrailerBytes = 8 + checksumBytes

/** Reads what `encodeChunk` wrote; undefined when it is not as it was written. */
export function decodeChunk(key: Uint8Array, bytes: Uint8Array, seed: number): LogChunk | undefined {
  const end = bytes.length - checksumBytes
  if (bytes.length < chunkTrailerBytes || crc32(bytes.subarray(0, end), crc32(key, seed)) !== readUint32(bytes, end)) {
    return undefined
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const events = decodeEvents(bytes.subarray(0, bytes.length - chunkTrailerBytes))
  return { after: view.getFloat64(end - 8), last: decodeRevision(key), events }
}

function readUint32(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(at)
}

/** A revision as a key of eight bytes that sort as the number does. */
export function encodeRevision(revision: Revision): Uint8Array {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64BE(BigInt(revision))
  return bytes
}

/** Reads what `encodeRevision` wrote. */
export function decodeRevision(bytes: Uint8Array): Revision {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(0))
}
