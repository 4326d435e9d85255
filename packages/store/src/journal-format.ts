import { crc32 } from 'node:zlib'
import type { Revision } from './store.ts'
import { checksumSeed, identityBytes, type StoreIdentity } from './store-identity.ts'

/** Batches are numbered from 1, without gaps, over all restarts. */
export type Sequence = number

/** A batch as the journal holds it. */
export interface JournalRecord {
  readonly sequence: Sequence
  /** The store's revision after the batch. */
  readonly revision: Revision
  /** History up to and including this revision is forgotten with the batch. */
  readonly compacted: Revision
  /** The changes, as `encodeEvents` writes them. */
  readonly events: Uint8Array
}

/** A position that a journal has reached. */
export interface JournalPosition {
  readonly sequence: Sequence
  readonly revision: Revision
}

/**
 * How a journal looks on disk; numbers are big-endian, sequence and revisions are doubles. Checksums begin with the store's
 * identity and cover what stands before them. Records begin after a page of their own for the file's header, so that writing
 * them never touches it.
 *
 *     file   = header, padded to 4096 bytes | record …
 *     header = magic 8 bytes | identity 16 bytes | sequence f64 | revision f64 | checksum u32
 *     record = magic u32 | length of events u32 | sequence f64 | revision f64 | compacted f64
 *            | checksum of events u32 | checksum u32 | events
 *     mark   = sequence f64 | revision f64 | checksum u32
 */
export const fileHeaderBytes = 4096
const fileMagic = Buffer.from('CORACLEJ')
const recordMagic = Buffer.from('cJr\x01', 'latin1')
export const recordHeaderBytes = 40
const checksumAt = 36
export const markBytes = 20

/** The header of a journal file that begins after `position`. */
export function encodeFileHeader(identity: StoreIdentity, position: JournalPosition): Buffer {
  const bytes = Buffer.alloc(fileHeaderBytes)
  let at = fileMagic.copy(bytes)
  at += identity.copy(bytes, at)
  at = bytes.writeDoubleBE(position.sequence, at)
  at = bytes.writeDoubleBE(position.revision, at)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, at)), at)
  return bytes
}

/** What a journal file says of itself; undefined when it is not the header of one. */
export function decodeFileHeader(
  bytes: Buffer,
): { readonly identity: StoreIdentity; readonly position: JournalPosition } | undefined {
  const end = fileMagic.length + identityBytes + 16
  if (bytes.length < fileHeaderBytes || !bytes.subarray(0, fileMagic.length).equals(fileMagic)) return undefined
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) return undefined
  const position = { sequence: bytes.readDoubleBE(end - 16), revision: bytes.readDoubleBE(end - 8) }
  return { identity: bytes.subarray(fileMagic.length, fileMagic.length + identityBytes), position }
}

/** The header of a record; the events follow it. */
export function encodeRecordHeader(identity: StoreIdentity, record: JournalRecord): Buffer {
  const { sequence, revision, compacted, events } = record
  const seed = checksumSeed(identity)
  const bytes = Buffer.allocUnsafe(recordHeaderBytes)
  let at = recordMagic.copy(bytes)
  at = bytes.writeUInt32BE(events.length, at)
  at = bytes.writeDoubleBE(sequence, at)
  at = bytes.writeDoubleBE(revision, at)
  at = bytes.writeDoubleBE(compacted, at)
  at = bytes.writeUInt32BE(crc32(events, seed), at)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, checksumAt), seed), at)
  return bytes
}

/** How far a journal has been acknowledged. */
export function encodeMark(identity: StoreIdentity, position: JournalPosition): Buffer {
  const bytes = Buffer.allocUnsafe(markBytes)
  bytes.writeDoubleBE(position.sequence, 0)
  bytes.writeDoubleBE(position.revision, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 16), checksumSeed(identity)), 16)
  return bytes
}

/** Reads what `encodeMark` wrote; undefined when it is not that. */
export function decodeMark(identity: StoreIdentity, bytes: Buffer): JournalPosition | undefined {
  if (bytes.length !== markBytes) return undefined
  if (crc32(bytes.subarray(0, 16), checksumSeed(identity)) !== bytes.readUInt32BE(16)) return undefined
  return { sequence: bytes.readDoubleBE(0), revision: bytes.readDoubleBE(8) }
}

/** What a journal file holds. */
export interface FileRecords {
  /** The whole records after the sequence asked for, as they lie in the file. */
  readonly records: readonly JournalRecord[]
  /** The highest sequence and revision of any record, wanted or not; zero when there is none. */
  readonly newest: JournalPosition
}

/**
 * Finds the records of a journal file. It goes on behind what is no whole record: that may be a write that was cut off,
 * what is left of an earlier round, or damage, and only what follows can tell.
 */
export function findRecords(identity: StoreIdentity, bytes: Buffer, after: Sequence): FileRecords {
  const seed = checksumSeed(identity)
  const records: JournalRecord[] = []
  let newest: JournalPosition = { sequence: 0, revision: 0 }
  for (let at = fileHeaderBytes; at >= 0 && at + recordHeaderBytes <= bytes.length; ) {
    const end = endOfRecord(bytes, at, seed, after)
    if (end === undefined) {
      at = bytes.indexOf(recordMagic, at + 1)
      continue
    }
    const record = decodeRecord(bytes, at, end)
    if (record.sequence > newest.sequence) newest = record
    if (record.sequence > after) records.push({ ...record, events: Uint8Array.from(record.events) })
    at = end
  }
  return { records, newest: { sequence: newest.sequence, revision: newest.revision } }
}

/** Where the record ends that begins at a position; undefined when no whole one does. */
function endOfRecord(bytes: Buffer, at: number, seed: number, after: Sequence): number | undefined {
  if (!bytes.subarray(at, at + recordMagic.length).equals(recordMagic)) return undefined
  if (crc32(bytes.subarray(at, at + checksumAt), seed) !== bytes.readUInt32BE(at + checksumAt)) return undefined
  const start = at + recordHeaderBytes
  const end = start + bytes.readUInt32BE(at + 4)
  if (end > bytes.length) return undefined
  // Nobody needs the events of what is safe elsewhere: they are not looked at, which makes opening fast.
  const isNeeded = bytes.readDoubleBE(at + 8) > after
  return isNeeded && crc32(bytes.subarray(start, end), seed) !== bytes.readUInt32BE(at + 32) ? undefined : end
}

function decodeRecord(bytes: Buffer, at: number, end: number): JournalRecord {
  return {
    sequence: bytes.readDoubleBE(at + 8),
    revision: bytes.readDoubleBE(at + 16),
    compacted: bytes.readDoubleBE(at + 24),
    events: bytes.subarray(at + recordHeaderBytes, end),
  }
}
