import type { Clock, Timer } from '@coracle/environment'
import type { Sequence } from './journal-format.ts'
import { writeBehindBytesMax, writeBehindChangesMax, writeBehindDelayMs, writtenKeptBytesMax } from './limits.ts'
import type { EncodedEvents } from './log-record.ts'
import type { Entry, Revision, StoreEvent } from './store.ts'
import { entryAfter } from './transaction.ts'

/** Transactions the journal holds as one record. */
export interface JournaledBatch {
  readonly sequence: Sequence
  /** The store's revision after the batch; where it equals the one before, the batch changes nothing but `compacted`. */
  readonly revision: Revision
  readonly compacted: Revision
  readonly events: readonly StoreEvent[]
  readonly encoded: EncodedEvents
}

export interface WriteBehindOptions {
  readonly clock: Clock
  /** Writes batches to the tables. Resolves when they are durable there, and can be read. Called one at a time, in order. */
  readonly write: (batches: readonly JournaledBatch[]) => Promise<void>
  /** Called after `write` with each batch it wrote. */
  readonly onWritten: (batch: JournaledBatch) => void
  /** Called when `write` rejects; nothing is written after it. */
  readonly onFailed: (cause: unknown) => void
}

/** What became of keys, by those that changed. */
type Changed = Map<string, Entry | 'deleted'>

/**
 * What the journal has and the tables do not have yet. Batches are written to the tables some time later, many at once:
 * a key that changed several times meanwhile is written once, and no commit waits for the tables' scattered pages.
 *
 * What was written last stays known for a while: what is changed often is changed again soon, and need not be read from the tables.
 */
export class WriteBehind {
  readonly #options: WriteBehindOptions
  #recent: Changed = new Map()
  #recentBytes = 0
  /** What `#recent` had when it was full: complete in the tables before the next that is full takes its place. */
  #older: Changed = new Map()
  #olderLast: Sequence = 0
  #batches: JournaledBatch[] = []
  #bytes = 0
  #timer: Timer | undefined
  #writing: Promise<void> | undefined
  #failed = false

  constructor(options: WriteBehindOptions) {
    this.#options = options
  }

  /** The batches that are not in the tables, oldest first. */
  get batches(): readonly JournaledBatch[] {
    return this.#batches
  }

  /** What the batches, and those written last, make of a key; undefined when none of them changes it. */
  get(key: string): Entry | 'deleted' | undefined {
    return this.#recent.get(key) ?? this.#older.get(key)
  }

  /** Takes a batch that the journal has. */
  add(batch: JournaledBatch): void {
    this.#batches.push(batch)
    this.#bytes += batch.encoded.bytes.length
    this.#recentBytes += batch.encoded.bytes.length
    for (const event of batch.events) this.#recent.set(event.key, entryAfter(event) ?? 'deleted')
    if (this.#recentBytes >= writtenKeptBytesMax / 2 && !this.#holds(this.#olderLast)) {
      this.#older = this.#recent
      this.#olderLast = batch.sequence
      this.#forgetRecent()
    }
    this.#schedule()
  }

  /** Leaves to the tables what they have, if that is all there is. */
  forgetWritten(): void {
    if (this.#batches.length > 0) return
    this.#older = new Map()
    this.#forgetRecent()
  }

  #forgetRecent(): void {
    this.#recent = new Map()
    this.#recentBytes = 0
  }

  /** Whether a batch up to `sequence` is not in the tables. */
  #holds(sequence: Sequence): boolean {
    return (this.#batches[0]?.sequence ?? Infinity) <= sequence
  }

  /** Resolves when the tables have everything up to and including `sequence`, or writing has failed. */
  async until(sequence: Sequence): Promise<void> {
    while (!this.#failed && this.#holds(sequence)) {
      this.#start()
      await this.#writing
    }
  }

  /** Resolves when the tables have everything that was added before the call, or writing has failed. */
  settled(): Promise<void> {
    return this.until(this.#batches.at(-1)?.sequence ?? 0)
  }

  /** Calls `action` while nothing is being written, in a turn of the event loop of its own; never after writing has failed. */
  async pause(action: () => void): Promise<void> {
    do {
      await this.#writing
      // The thread that has written may be about to end.
      await new Promise<void>((resolve) => this.#options.clock.defer(resolve))
    } while (this.#writing !== undefined)
    if (!this.#failed) action()
  }

  #schedule(): void {
    if (this.#failed || this.#writing !== undefined || this.#batches.length === 0) return
    if (this.#bytes >= writeBehindBytesMax) this.#start()
    // The journal has it all: when the tables get it makes no difference to anybody.
    else this.#timer ??= this.#options.clock.setTimer(writeBehindDelayMs, () => this.#start(), { housekeeping: true })
  }

  #start(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    const batches = this.#next()
    try {
      await this.#options.write(batches)
      this.#drop(batches)
    } catch (cause) {
      this.#failed = true
      this.#options.onFailed(cause)
    }
    this.#writing = undefined
    this.#schedule()
  }

  #next(): readonly JournaledBatch[] {
    let changes = 0
    const end = this.#batches.findIndex(({ events }, index) => {
      changes += events.length
      return index > 0 && changes > writeBehindChangesMax
    })
    return this.#batches.slice(0, end < 0 ? this.#batches.length : end)
  }

  #drop(batches: readonly JournaledBatch[]): void {
    this.#batches = this.#batches.slice(batches.length)
    for (const batch of batches) {
      this.#bytes -= batch.encoded.bytes.length
      this.#options.onWritten(batch)
    }
  }
}
