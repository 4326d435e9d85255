import type { Revision, StoreEvent } from './store.ts'

/** The changes of the last revisions, in memory. Keeps at most `historyMax` revisions. */
export class History {
  readonly #historyMax: number
  /** Changes of the revisions from `#compacted` + 1, after `#dropped` slots that are no longer used. */
  #revisions: (readonly StoreEvent[])[] = []
  #dropped = 0
  #compacted: Revision = 0

  constructor(historyMax: number) {
    this.#historyMax = historyMax
  }

  /** The revision before the oldest one kept. */
  get compacted(): Revision {
    return this.#compacted
  }

  /** The newest revision. */
  get last(): Revision {
    return this.#compacted + this.#revisions.length - this.#dropped
  }

  /** Adds the changes of the revision after `last`. */
  push(events: readonly StoreEvent[]): void {
    this.#revisions.push(events)
    this.compact(this.last - this.#historyMax)
  }

  /** All changes after `revision`, in order. It must not lie before `compacted`. */
  after(revision: Revision): readonly StoreEvent[] {
    return this.#revisions.slice(this.#dropped + revision - this.#compacted).flat()
  }

  /** Forgets the revisions up to and including `revision`. */
  compact(revision: Revision): void {
    while (this.#compacted < revision) {
      this.#revisions[this.#dropped++] = []
      this.#compacted++
    }
    // Moving the rest down costs as much as there is left of it: do it only when that is less than what was dropped.
    if (this.#dropped * 2 <= this.#revisions.length) return
    this.#revisions = this.#revisions.slice(this.#dropped)
    this.#dropped = 0
  }
}
