import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { assert } from '@coracle/environment'
import { StoreDamagedError } from './errors.ts'
import { journalGrowthBytes, journalSegmentBytes } from './limits.ts'
import type { Revision } from './store.ts'

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

/** What a journal is found with when it is opened. */
export interface OpenedJournal {
  readonly journal: Journal
  /** The records after the sequence asked for, in order: what was acknowledged, and is nowhere else. */
  readonly records: readonly JournalRecord[]
}

/**
 * A record on disk; numbers are big-endian, sequence and revisions are doubles. The checksum covers all that follows it.
 *
 *     record = length of events u32 | checksum u32 | sequence f64 | revision f64 | compacted f64 | events
 */
const headerBytes = 4 + 4 + 8 + 8 + 8
const checkedFrom = 8

const fileNames = ['journal-0', 'journal-1'] as const

/** On Linux a write to a file opened so returns when the disk has it: one call instead of two. */
const { O_CREAT, O_DSYNC = 0, O_RDWR } = constants
const syncsItself = process.platform === 'linux'

interface Segment {
  readonly file: FileHandle
  /** Bytes that are there to be overwritten, which takes the disk less than growing the file does. */
  allocatedBytes: number
  /** The last record written to it; 0 when nothing in it is needed. */
  last: Sequence
}

/**
 * The write-ahead journal: the one thing that a commit waits for. Records are appended to one of two files; when it is
 * full they go to the other, from its beginning, over records that have long been released. What has been appended
 * and not been released survives `kill -9` and a loss of power.
 */
export class Journal {
  readonly #segments: readonly Segment[]
  readonly #segmentBytes: number
  #current: Segment
  #positionBytes = 0
  #last: Sequence
  #released: Sequence

  private constructor(segments: readonly Segment[], last: Sequence, segmentBytes: number) {
    this.#segments = segments
    this.#segmentBytes = segmentBytes
    this.#current = segments[0] as Segment
    this.#last = last
    this.#released = last
  }

  /**
   * Opens the journal of `directory`, making its files where there are none. `after` is the last sequence that is safe
   * elsewhere. Everything found counts as released: the caller makes it safe before it appends.
   *
   * Rejects with a `StoreDamagedError` when a record between `after` and the newest one is missing.
   */
  static async open(directory: string, after: Sequence, segmentBytes = journalSegmentBytes): Promise<OpenedJournal> {
    const files: FileHandle[] = []
    try {
      for (const name of fileNames) {
        files.push(await open(join(directory, name), O_RDWR | O_CREAT | (syncsItself ? O_DSYNC : 0), 0o600))
      }
      const contents = await Promise.all(files.map((file) => readWhole(file)))
      const records = newestOf(directory, contents.map(recordsOf), after)
      const segments = files.map((file, index) => ({ file, allocatedBytes: contents[index]?.length ?? 0, last: 0 }))
      const journal = new Journal(segments, records.at(-1)?.sequence ?? after, segmentBytes)
      return { journal, records }
    } catch (error) {
      for (const file of files) await file.close()
      throw error
    }
  }

  /** The number the next record gets. */
  get nextSequence(): Sequence {
    return this.#last + 1
  }

  /** What must be released before the next record can be appended; undefined when there is room. */
  get blockedBy(): Sequence | undefined {
    if (this.#positionBytes < this.#segmentBytes) return undefined
    const { last } = this.#other()
    return last > this.#released ? last : undefined
  }

  /**
   * Writes a record with the next sequence. Resolves when the disk has it. One at a time, and only where nothing blocks
   * it. Rejects with the disk's error, after which the journal must not be written again.
   */
  async append({ sequence, revision, compacted, events }: JournalRecord): Promise<void> {
    assert(sequence === this.nextSequence, `record ${sequence} does not follow ${this.#last}`)
    assert(this.blockedBy === undefined, 'the journal is full')
    if (this.#positionBytes >= this.#segmentBytes) {
      this.#current = this.#other()
      this.#positionBytes = 0
    }
    const header = Buffer.allocUnsafe(headerBytes)
    header.writeUInt32BE(events.length, 0)
    header.writeDoubleBE(sequence, 8)
    header.writeDoubleBE(revision, 16)
    header.writeDoubleBE(compacted, 24)
    header.writeUInt32BE(crc32(events, crc32(header.subarray(checkedFrom))), 4)
    await this.#write([header, events], headerBytes + events.length)
    this.#last = sequence
    this.#current.last = sequence
  }

  /** Says that every record up to and including `sequence` is safe elsewhere. */
  release(sequence: Sequence): void {
    this.#released = Math.max(this.#released, sequence)
  }

  async close(): Promise<void> {
    for (const { file } of this.#segments) await file.close()
  }

  #other(): Segment {
    return this.#segments.find((segment) => segment !== this.#current) as Segment
  }

  async #write(parts: Uint8Array[], bytes: number): Promise<void> {
    const segment = this.#current
    const end = this.#positionBytes + bytes
    if (end > segment.allocatedBytes) {
      const allocatedBytes = Math.ceil(end / journalGrowthBytes) * journalGrowthBytes
      parts.push(new Uint8Array(allocatedBytes - end))
      segment.allocatedBytes = allocatedBytes
    }
    await writeWhole(segment.file, parts, this.#positionBytes)
    if (!syncsItself) await segment.file.datasync()
    this.#positionBytes = end
  }
}

/** A write may be cut short, as by a limit on the size of files; the rest then says why. */
async function writeWhole(file: FileHandle, parts: Uint8Array[], position: number): Promise<void> {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  const { bytesWritten } = await file.writev(parts, position)
  if (bytesWritten === bytes) return
  const rest = Buffer.concat(parts).subarray(bytesWritten)
  for (let at = 0; at < rest.length; ) {
    at += (await file.write(rest, at, rest.length - at, position + bytesWritten + at)).bytesWritten
  }
}

async function readWhole(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat()
  const bytes = Buffer.alloc(size)
  let at = 0
  while (at < size) {
    const { bytesRead } = await file.read(bytes, at, size - at, at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return bytes.subarray(0, at)
}

/**
 * The records from the beginning of a file on. They end where the checksum is wrong, as after a write that was cut off,
 * or where the number is not the next one: what follows is from the file's earlier round.
 */
function recordsOf(bytes: Buffer): JournalRecord[] {
  const records: JournalRecord[] = []
  for (let at = 0; at + headerBytes <= bytes.length; ) {
    const end = at + headerBytes + bytes.readUInt32BE(at)
    if (end > bytes.length || crc32(bytes.subarray(at + checkedFrom, end)) !== bytes.readUInt32BE(at + 4)) break
    const sequence = bytes.readDoubleBE(at + 8)
    const previous = records.at(-1)?.sequence
    if (previous !== undefined && sequence !== previous + 1) break
    records.push({
      sequence,
      revision: bytes.readDoubleBE(at + 16),
      compacted: bytes.readDoubleBE(at + 24),
      events: Uint8Array.from(bytes.subarray(at + headerBytes, end)),
    })
    at = end
  }
  return records
}

function newestOf(directory: string, files: readonly (readonly JournalRecord[])[], after: Sequence): JournalRecord[] {
  const records = files
    .flat()
    .filter(({ sequence }) => sequence > after)
    .sort((a, b) => a.sequence - b.sequence)
  for (const [index, { sequence }] of records.entries()) {
    if (sequence !== after + 1 + index) {
      const missing = after + 1 + index
      throw new StoreDamagedError(directory, `its journal goes on with record ${sequence} where ${missing} should be`)
    }
  }
  return records
}
