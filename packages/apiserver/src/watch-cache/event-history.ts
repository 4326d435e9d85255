import type { CacheEvent } from './cache-event.ts'

/** Most events kept per resource for watches to resume from. */
export const historyEventsMax = 10_000

/** So many stay however old they are, as in upstream's cache: a resource that seldom changes can be watched from long ago. */
export const historyEventsMin = 100

/** The latest events of a resource in order, at most `eventsMax` of them: a ring that forgets its oldest. The last `eventsMin` go only where others take their place. */
export class EventHistory {
  readonly #eventsMax: number
  readonly #eventsMin: number
  #events: CacheEvent[] = []
  /** Index of the oldest event kept; what is before it is cut off now and then. */
  #first = 0
  #startRevision: number

  /** `startRevision` is the revision whose state the first event follows. */
  constructor(startRevision: number, eventsMax: number = historyEventsMax, eventsMin: number = historyEventsMin) {
    this.#startRevision = startRevision
    this.#eventsMax = eventsMax
    this.#eventsMin = eventsMin
  }

  /** Every event after this revision is here. */
  get startRevision(): number {
    return this.#startRevision
  }

  get size(): number {
    return this.#events.length - this.#first
  }

  push(event: CacheEvent): void {
    this.#events.push(event)
    if (this.size > this.#eventsMax) this.#forgetFirst(1)
  }

  /** Adds, as far as there is room, events from before the first, of which the oldest follows the state at `startRevision`. */
  prepend(events: readonly CacheEvent[], startRevision: number): void {
    const kept = events.slice(Math.max(0, events.length - (this.#eventsMax - this.size)))
    const lost = events[events.length - kept.length - 1]
    this.#events = [...kept, ...this.#events.slice(this.#first)]
    this.#first = 0
    this.#startRevision = lost?.revision ?? startRevision
  }

  /** The events after `revision`, which must not lie before `startRevision`. */
  after(revision: number): readonly CacheEvent[] {
    return this.#events.slice(this.#indexAfter(revision))
  }

  /** Forgets the events up to and including `revision`, the last few excepted. Where there are none, nothing is lost and `startRevision` stays. */
  forget(revision: number): void {
    this.#forgetFirst(Math.min(this.#indexAfter(revision) - this.#first, this.size - this.#eventsMin))
  }

  #forgetFirst(count: number): void {
    if (count <= 0) return
    this.#first += count
    this.#startRevision = Math.max(this.#startRevision, this.#events[this.#first - 1]?.revision ?? 0)
    // Cutting at each event would move the whole list each time; cutting at twice the bound moves each event once.
    if (this.#first >= this.#eventsMax || this.size === 0) {
      this.#events = this.#events.slice(this.#first)
      this.#first = 0
    }
  }

  #indexAfter(revision: number): number {
    let low = this.#first
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#events[middle] as CacheEvent).revision <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
