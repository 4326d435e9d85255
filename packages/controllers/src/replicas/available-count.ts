import type { Time } from '@coracle/environment'

/** A clock that is put back by less makes no difference: times of the API are whole seconds. */
const putBackMaxMs = 1000

/**
 * Counts how many of a set of times have come, at a cost that depends on how the set changes and not on its size. Time only
 * goes forward: a time that has come once stays so.
 */
export class AvailableCount {
  #come = 0
  #comeUntil = Number.NEGATIVE_INFINITY
  /** How often each time occurs that has yet to come. Times of the API are whole seconds: there are few. */
  readonly #waiting = new Map<Time, number>()
  #next = Number.POSITIVE_INFINITY

  /** Adds a time. One that never comes is Infinity. */
  add(at: Time): void {
    if (at <= this.#comeUntil) this.#come++
    else if (at !== Number.POSITIVE_INFINITY) {
      this.#waiting.set(at, (this.#waiting.get(at) ?? 0) + 1)
      this.#next = Math.min(this.#next, at)
    }
  }

  /** Takes out a time that was added. */
  remove(at: Time): void {
    if (at <= this.#comeUntil) this.#come--
    else if (at !== Number.POSITIVE_INFINITY) {
      const count = this.#waiting.get(at) ?? 0
      if (count > 1) this.#waiting.set(at, count - 1)
      else {
        this.#waiting.delete(at)
        if (at === this.#next) this.#next = this.#soonest()
      }
    }
  }

  /** How many times have come by now, and when the next will; undefined where none will. */
  at(nowMs: Time): { readonly come: number; readonly next: Time | undefined } {
    this.#advance(nowMs)
    return { come: this.#come, next: Number.isFinite(this.#next) ? this.#next : undefined }
  }

  /** Whether the clock has been put back since it was asked last: what has come is no longer known then. */
  isAheadOf(nowMs: Time): boolean {
    return this.#comeUntil > nowMs + putBackMaxMs
  }

  #advance(nowMs: Time): void {
    this.#comeUntil = Math.max(this.#comeUntil, nowMs)
    if (this.#next > this.#comeUntil) return
    for (const [at, count] of this.#waiting) {
      if (at > this.#comeUntil) continue
      this.#come += count
      this.#waiting.delete(at)
    }
    this.#next = this.#soonest()
  }

  #soonest(): Time {
    let soonest = Number.POSITIVE_INFINITY
    for (const at of this.#waiting.keys()) soonest = Math.min(soonest, at)
    return soonest
  }
}
