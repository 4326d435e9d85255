import type { Clock, Timer } from '@coracle/environment'
import { StoreOverloadedError } from './errors.ts'
import { batchBytesMax, batchTransactionsMax, pendingBytesMax, pendingTransactionsMax } from './limits.ts'
import type { Revision, StoreEvent } from './store.ts'

/** Transactions that become durable together. */
export interface Batch {
  /** The last revision of the batch; 0 when it holds none. */
  readonly last: Revision
  /** The changes of all its revisions, in order. */
  readonly events: readonly StoreEvent[]
  /** History up to and including this revision is to be forgotten; 0 when nothing asked for it. */
  readonly compact: Revision
}

export interface GroupCommitOptions {
  /** Resolves when the batch is durable. Called for one batch at a time, in order. */
  readonly write: (batch: Batch) => Promise<void>
  /** Called once a batch is durable, before those who wait for it hear. */
  readonly onDurable: (batch: Batch) => void
  /** Called when `write` rejects. What it returns is what everyone who waits gets; nothing is written after it. */
  readonly onFailed: (cause: unknown) => Error
  readonly clock: Pick<Clock, 'defer' | 'monotonicMs' | 'setTimer'>
  /** How long the next batch may wait for those whom the last one has woken up; absent: not at all. */
  readonly gatherMs?: number | undefined
  readonly pendingTransactionsMax?: number
  readonly pendingBytesMax?: number
  readonly batchTransactionsMax?: number
  readonly batchBytesMax?: number
}

interface Item {
  readonly revision: Revision
  readonly events: readonly StoreEvent[]
  readonly bytes: number
  readonly compact: Revision
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * Gathers transactions that are committed while the disk is busy into the next disk transaction, so that any number
 * of writers share one wait for it. Order is kept: whatever waits resolves after everything added before it.
 *
 * Writers that go on and on would fall into two halves that take turns: one has the disk while the other prepares its next transactions.
 * With `gatherMs` a batch waits a moment for as many as were acknowledged just before it, and there are half as many.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #pendingTransactionsMax: number
  readonly #pendingBytesMax: number
  readonly #batchTransactionsMax: number
  readonly #batchBytesMax: number
  /** Waiting items from `#taken` on; those before are being written. */
  #queue: Item[] = []
  #taken = 0
  #pendingBytes = 0
  /** Whether a batch is being written, or will be at the end of this turn. */
  #running = false
  /** Until when the next batch waits unless it has as many transactions as are expected. */
  #gatherUntilMs = 0
  #expected = 0
  #gathering: Timer | undefined
  #failed: Error | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
    this.#pendingTransactionsMax = options.pendingTransactionsMax ?? pendingTransactionsMax
    this.#pendingBytesMax = options.pendingBytesMax ?? pendingBytesMax
    this.#batchTransactionsMax = options.batchTransactionsMax ?? batchTransactionsMax
    this.#batchBytesMax = options.batchBytesMax ?? batchBytesMax
  }

  /** Throws a `StoreOverloadedError` when nothing more may wait. */
  checkRoom(): void {
    if (this.#queue.length < this.#pendingTransactionsMax && this.#pendingBytes < this.#pendingBytesMax) return
    throw new StoreOverloadedError(this.#queue.length, this.#pendingBytes)
  }

  /** Adds a transaction; resolves when it is durable. */
  add(revision: Revision, events: readonly StoreEvent[]): Promise<void> {
    return this.#push(revision, events, 0)
  }

  /** Asks for history to be forgotten; resolves when that is durable. */
  compact(revision: Revision): Promise<void> {
    return this.#push(0, [], revision)
  }

  /** Resolves when everything added before is durable. */
  async settled(): Promise<void> {
    if (this.#queue.length > 0) await this.#push(0, [], 0)
  }

  #push(revision: Revision, events: readonly StoreEvent[], compact: Revision): Promise<void> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed)
    return new Promise((resolve, reject) => {
      const bytes = bytesOf(events)
      this.#queue.push({ revision, events, bytes, compact, resolve, reject })
      this.#pendingBytes += bytes
      this.#start()
    })
  }

  #start(): void {
    if (this.#running) return
    const waitMs = this.#queue.length >= this.#expected ? 0 : this.#gatherUntilMs - this.#options.clock.monotonicMs()
    if (waitMs <= 0) this.#begin()
    else this.#gathering ??= this.#options.clock.setTimer(waitMs, () => this.#begin(), { keepsProcess: true })
  }

  /** The next batch waits for the end of the turn, so that everyone the last one woke up can join it. */
  #begin(): void {
    this.#gathering?.cancel()
    this.#gathering = undefined
    this.#running = true
    this.#options.clock.defer(() => void this.#run())
  }

  /** Those who were acknowledged will probably be back at once, beside those who wait already. */
  #expect(acknowledged: number): void {
    const { gatherMs, clock } = this.#options
    if (gatherMs === undefined) return
    this.#expected = Math.min(acknowledged + this.#queue.length, this.#batchTransactionsMax)
    this.#gatherUntilMs = clock.monotonicMs() + gatherMs
  }

  async #run(): Promise<void> {
    const items = this.#take()
    const batch = batchOf(items)
    try {
      if (batch.last > 0 || batch.compact > 0) await this.#options.write(batch)
    } catch (cause) {
      this.#fail(this.#options.onFailed(cause))
      return
    }
    this.#queue.splice(0, this.#taken)
    this.#taken = 0
    for (const { bytes } of items) this.#pendingBytes -= bytes
    this.#options.onDurable(batch)
    for (const { resolve } of items) resolve()
    this.#running = false
    this.#expect(items.length)
    if (this.#queue.length > 0) this.#start()
  }

  #take(): readonly Item[] {
    let bytes = 0
    while (this.#taken < this.#queue.length && this.#taken < this.#batchTransactionsMax) {
      bytes += (this.#queue[this.#taken] as Item).bytes
      if (this.#taken > 0 && bytes > this.#batchBytesMax) break
      this.#taken++
    }
    return this.#queue.slice(0, this.#taken)
  }

  #fail(error: Error): void {
    this.#failed = error
    const items = this.#queue
    this.#queue = []
    this.#pendingBytes = 0
    for (const { reject } of items) reject(error)
  }
}

function batchOf(items: readonly Item[]): Batch {
  let last = 0
  let compact = 0
  const events: StoreEvent[] = []
  for (const item of items) {
    last = Math.max(last, item.revision)
    compact = Math.max(compact, item.compact)
    for (const event of item.events) events.push(event)
  }
  return { last, events, compact }
}

/** What an event takes beside its key and value, roughly: an event without a value is not free. */
const eventOverheadBytes = 128

function bytesOf(events: readonly StoreEvent[]): number {
  let bytes = 0
  for (const { key, value, note } of events) {
    bytes += eventOverheadBytes + key.length + value.length + (note?.length ?? 0)
  }
  return bytes
}
