import { assert } from '@coracle/environment'
import type { Entry, Revision, StoreEvent } from './store.ts'

/**
 * How changes and entries look on disk; numbers are big-endian, revisions are doubles.
 *
 *     event = type u8 (0 put, 1 delete) | key length u16 | value length u32 | previous revision f64 | key | entry
 *     entry = mod revision f64 | create revision f64 | value
 *
 * An event ends in just the bytes its key gets as entry, so that a change is encoded once and written to both tables.
 */
const eventHeaderBytes = 1 + 2 + 4 + 8
const entryHeaderBytes = 8 + 8

/** Encoded changes. `entries[i]` are the bytes of the entry the i-th event leaves, a part of `bytes`. */
export interface EncodedEvents {
  readonly bytes: Uint8Array
  readonly entries: readonly Uint8Array[]
}

/** Encodes changes one after another. */
export function encodeEvents(events: readonly StoreEvent[]): EncodedEvents {
  const keyLengths = events.map(({ key }) => Buffer.byteLength(key))
  let size = 0
  for (const [index, { value }] of events.entries()) {
    size += eventHeaderBytes + (keyLengths[index] as number) + entryHeaderBytes + value.length
  }
  // Memory of its own, not of Buffer's pool: LMDB reads it from another thread.
  const bytes = Buffer.allocUnsafeSlow(size)
  const entries: Uint8Array[] = []
  let at = 0
  for (const [index, event] of events.entries()) {
    const keyLength = keyLengths[index] as number
    at = bytes.writeUInt8(event.type === 'put' ? 0 : 1, at)
    at = bytes.writeUInt16BE(keyLength, at)
    at = bytes.writeUInt32BE(event.value.length, at)
    at = bytes.writeDoubleBE(event.previousRevision, at)
    at += bytes.write(event.key, at, keyLength, 'utf8')
    const start = at
    at = bytes.writeDoubleBE(event.revision, at)
    at = bytes.writeDoubleBE(event.createRevision, at)
    bytes.set(event.value, at)
    at += event.value.length
    entries.push(bytes.subarray(start, at))
  }
  return { bytes, entries }
}

/** Reads what `encodeEvents` wrote. The values are views of `bytes`. */
export function decodeEvents(bytes: Uint8Array): StoreEvent[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const events: StoreEvent[] = []
  let at = 0
  while (at < view.length) {
    const type = view.readUInt8(at) === 0 ? 'put' : 'delete'
    const keyLength = view.readUInt16BE(at + 1)
    const valueLength = view.readUInt32BE(at + 3)
    const previousRevision = view.readDoubleBE(at + 7)
    at += eventHeaderBytes
    const key = view.toString('utf8', at, at + keyLength)
    at += keyLength
    const entry = decodeEntry(key, bytes.subarray(at, at + entryHeaderBytes + valueLength))
    at += entryHeaderBytes + valueLength
    const { value, modRevision: revision, createRevision } = entry
    events.push({ type, key, value, revision, createRevision, previousRevision })
  }
  assert(at === view.length, 'a record of the change log is cut short')
  return events
}

/** Reads an entry. Its value is a view of `bytes`. */
export function decodeEntry(key: string, bytes: Uint8Array): Entry {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const value = new Uint8Array(bytes.buffer, bytes.byteOffset + entryHeaderBytes, bytes.length - entryHeaderBytes)
  return { key, value, modRevision: view.getFloat64(0), createRevision: view.getFloat64(8) }
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
