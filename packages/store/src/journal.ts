import { join } from 'node:path'
import { assert } from '@coracle/environment'
import type { DurableFile, DurableFiles } from './durable-files.ts'
import { StoreDamagedError } from './errors.ts'
import {
  encodeFileHeader,
  encodeMark,
  encodeRecordHeader,
  fileHeaderBytes,
  type JournalPosition,
  type JournalRecord,
  recordHeaderBytes,
  type Sequence,
} from './journal-format.ts'
import { inspectJournal, journalFileNames, journalMarkName } from './journal-inspection.ts'
import { journalGrowthBytes, journalSegmentBytes } from './limits.ts'
import type { StoreIdentity } from './store-identity.ts'

export interface JournalOptions {
  readonly files: DurableFiles
  readonly directory: string
  readonly identity: StoreIdentity
  /** Bytes after which a file is full. */
  readonly segmentBytes?: number
}

/** What a journal is found with when it is opened. */
export interface OpenedJournal {
  readonly journal: Journal
  /** The records after the position asked for, in order: what was acknowledged, and is nowhere else. */
  readonly records: readonly JournalRecord[]
}

interface Segment {
  readonly file: DurableFile
  /** Bytes that are there to be overwritten, which takes the disk less than growing the file does. */
  allocatedBytes: number
  /** The last record written to it; 0 when nothing in it is needed. */
  last: Sequence
}

/**
 * The write-ahead journal: the one thing that a commit waits for. Records are appended to one of two files; when it is
 * full they go to the other, from its beginning, over records that have long been released. What has been appended
 * and not been released survives `kill -9` and a loss of power.
 *
 * A third file, the mark, says how far records have been acknowledged. It is not synced: after `kill -9` it tells a
 * damaged last record from one whose write was cut off; after a loss of power it may be older than the journal.
 */
export class Journal {
  readonly #segments: readonly Segment[]
  readonly #mark: DurableFile
  readonly #identity: StoreIdentity
  readonly #segmentBytes: number
  #current: Segment
  #positionBytes = fileHeaderBytes
  #last: Sequence
  #released: Sequence

  private constructor(options: JournalOptions, segments: readonly Segment[], mark: DurableFile, current: number) {
    this.#segments = segments
    this.#mark = mark
    this.#identity = options.identity
    this.#segmentBytes = options.segmentBytes ?? journalSegmentBytes
    this.#current = segments[current] as Segment
    this.#last = 0
    this.#released = 0
  }

  /** Makes the files of an empty journal that begins after `position`, over any that are there. They are durable when it resolves. */
  static async create({ files, directory, identity }: JournalOptions, position: JournalPosition): Promise<void> {
    const header = encodeFileHeader(identity, position)
    const contents = new Map<string, Buffer>(journalFileNames.map((name) => [name, header]))
    contents.set(journalMarkName, encodeMark(identity, position))
    for (const [name, bytes] of contents) {
      const file = await files.open(join(directory, name), { create: true, synced: false })
      try {
        await file.write([bytes], 0)
        await file.sync()
      } finally {
        await file.close()
      }
    }
    await files.syncDirectory(directory)
  }

  /**
   * Opens a journal that `create` has made. `after` is the position that is safe elsewhere. Everything found counts as
   * released: the caller makes it safe before it appends.
   *
   * Rejects with a `StoreDamagedError` when anything that was acknowledged after `after` is missing, or may be.
   */
  static async open(options: JournalOptions, after: JournalPosition): Promise<OpenedJournal> {
    const { files, directory, identity } = options
    const { records, damage, newestFile, sizes } = await inspectJournal(files, directory, identity, after)
    const last = records.at(-1) ?? after
    if (damage !== undefined) throw new StoreDamagedError(directory, damage, last.revision)
    const opened: DurableFile[] = []
    try {
      for (const name of journalFileNames) {
        opened.push(await files.open(join(directory, name), { create: false, synced: true }))
      }
      const mark = await files.open(join(directory, journalMarkName), { create: false, synced: false })
      const segments = opened.map((file, index) => ({ file, allocatedBytes: sizes[index] ?? 0, last: 0 }))
      // The newest record stays until a newer one is whole: it shows that the journal reaches as far as the tables.
      const journal = new Journal(options, segments, mark, 1 - newestFile)
      journal.#last = last.sequence
      journal.#released = last.sequence
      return { journal, records }
    } catch (error) {
      for (const file of opened) await file.close()
      throw error
    }
  }

  /** The number the next record gets. */
  get nextSequence(): Sequence {
    return this.#last + 1
  }

  /** What must be released before the next record can be appended; undefined when there is room. */
  get blockedBy(): Sequence | undefined {
    if (!this.#isFull) return undefined
    const { last } = this.#other()
    return last > this.#released ? last : undefined
  }

  /**
   * Writes a record with the next sequence. Resolves when the disk has it. One at a time, and only where nothing blocks
   * it. Rejects with the disk's error, after which the journal must not be written again.
   */
  async append(record: JournalRecord): Promise<void> {
    assert(record.sequence === this.nextSequence, `record ${record.sequence} does not follow ${this.#last}`)
    assert(this.blockedBy === undefined, 'the journal is full')
    if (this.#isFull) {
      this.#current = this.#other()
      this.#positionBytes = fileHeaderBytes
    }
    const header = encodeRecordHeader(this.#identity, record)
    await this.#write([header, record.events], recordHeaderBytes + record.events.length)
    this.#mark.writeUnsynced(encodeMark(this.#identity, record), 0)
    this.#last = record.sequence
    this.#current.last = record.sequence
  }

  /** Says that every record up to and including `sequence` is safe elsewhere. */
  release(sequence: Sequence): void {
    this.#released = Math.max(this.#released, sequence)
  }

  /** Closes all files. Rejects with the first error of those that do not close. */
  async close(): Promise<void> {
    const files = [...this.#segments.map(({ file }) => file), this.#mark]
    const closed = await Promise.allSettled(files.map((file) => file.close()))
    for (const each of closed) if (each.status === 'rejected') throw each.reason
  }

  get #isFull(): boolean {
    return this.#positionBytes - fileHeaderBytes >= this.#segmentBytes
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
    await segment.file.write(parts, this.#positionBytes)
    this.#positionBytes = end
  }
}
