import type { Clock } from '@coracle/environment'

/** Work begins in a turn of the event loop for this long; what comes later waits for one of the next. */
export const turnMs = 10

/** So many pieces begin before anybody looks at the clock: a turn with less to do is short. */
const unmeasuredMax = 8

/** How many that wait are offered a place in one turn. */
const offersPerTurnMax = 64

/**
 * After a large piece none begins for this part of the time it took, and for so long at most. A stranger's handshake takes a few
 * turns: without a rest each of them would have a large piece in it. However a clock goes, a rest ends after so many turns.
 */
const restShare = 8
const restMsMax = 10
const restTurnsMax = 2_000

export interface WorkTurnsOptions {
  /** Who comes last is served first: of those who have waited long many have gone, and all wait shorter that way. */
  readonly newestFirst?: boolean
}

/**
 * Spreads work over turns of the event loop by the time it takes, so that however much there is, whoever is not asked to
 * wait (a health check, say) gets in between. Large pieces have a queue of their own: those of a turn begin after the small ones
 * that there was time for. Costs next to nothing while there is little to do.
 */
export class WorkTurns {
  readonly #clock: Clock
  readonly #small: Waiting
  readonly #large: Waiting
  #unmeasured = 0
  #isMeasuring = false
  #startedMs = 0
  #hasLarge = false
  #restsUntilMs = Number.NEGATIVE_INFINITY
  #restTurns = restTurnsMax

  constructor(clock: Clock, { newestFirst = false }: WorkTurnsOptions = {}) {
    this.#clock = clock
    this.#small = new Waiting(newestFirst)
    this.#large = new Waiting(newestFirst)
  }

  /** How many pieces of work wait. */
  get size(): number {
    return this.#small.size + this.#large.size
  }

  /** Undefined where a piece of work may begin now; otherwise resolves when it may. `isLarge`: it is likely to take long. */
  take(isLarge = false): Promise<void> | undefined {
    if (!this.#isMeasuring) {
      this.#unmeasured += 1
      if (!isLarge && this.#unmeasured < unmeasuredMax) return undefined
      this.#isMeasuring = true
      this.#startedMs = this.#clock.monotonicMs()
      this.#clock.defer(() => this.#nextTurn())
    }
    const queue = isLarge ? this.#large : this.#small
    if (queue.size === 0 && this.#hasTime() && !(isLarge && this.#isResting())) {
      this.#hasLarge ||= isLarge
      return undefined
    }
    return queue.wait()
  }

  #hasTime(): boolean {
    return this.#clock.monotonicMs() - this.#startedMs < turnMs
  }

  #isResting(): boolean {
    return this.#restTurns < restTurnsMax && this.#clock.monotonicMs() < this.#restsUntilMs
  }

  #nextTurn(): void {
    this.#restTurns += 1
    if (this.#hasLarge) this.#restAfterLarge()
    this.#unmeasured = 0
    this.#isMeasuring = this.size > 0
    if (!this.#isMeasuring) return
    let isFirst = true
    const begin = () => {
      if (isFirst) this.#startedMs = this.#clock.monotonicMs()
      isFirst = false
    }
    const offer = () => {
      begin()
      // What a piece does at once it does before the next is offered a place, so that the time it took is seen.
      if (this.#hasTime()) this.#small.next()?.()
    }
    const offerToLarge = () => {
      begin()
      // One gets its turn however long the small ones took.
      if (this.#isResting() || (this.#hasLarge && !this.#hasTime())) return
      const next = this.#large.next()
      if (next !== undefined) this.#hasLarge = true
      next?.()
    }
    for (let count = Math.min(this.#small.size, offersPerTurnMax); count > 0; count -= 1) this.#clock.defer(offer)
    for (let count = Math.min(this.#large.size, offersPerTurnMax); count > 0; count -= 1)
      this.#clock.defer(offerToLarge)
    this.#clock.defer(() => this.#nextTurn())
  }

  #restAfterLarge(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#restsUntilMs = nowMs + Math.min((nowMs - this.#startedMs) / restShare, restMsMax)
    this.#restTurns = 0
    this.#hasLarge = false
  }
}

/** Those who wait, in the order they came or the other way round. */
class Waiting {
  readonly #newestFirst: boolean
  #resolves: (() => void)[] = []
  /** Where the queue begins: what is before it has been started. */
  #first = 0

  constructor(newestFirst: boolean) {
    this.#newestFirst = newestFirst
  }

  get size(): number {
    return this.#resolves.length - this.#first
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.#resolves.push(resolve))
  }

  next(): (() => void) | undefined {
    if (this.#newestFirst) return this.#resolves.pop()
    const next = this.#resolves[this.#first]
    this.#first += 1
    if (this.#first >= 1024 || this.#first >= this.#resolves.length) {
      this.#resolves = this.#resolves.slice(this.#first)
      this.#first = 0
    }
    return next
  }
}
