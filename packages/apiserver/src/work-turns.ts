import type { Clock } from '@coracle/environment'

/** Work begins in a turn of the event loop for this long; what comes later waits for one of the next. */
export const turnMs = 10

/** So many pieces begin before anybody looks at the clock: a turn with less to do is short. */
const unmeasuredMax = 8

/** How many that wait are offered a place in one turn. */
const offersPerTurnMax = 64

export interface WorkTurnsOptions {
  /** Who comes last is served first: of those who have waited long many have gone, and all wait shorter that way. */
  readonly newestFirst?: boolean
}

/**
 * Spreads work over turns of the event loop by the time it takes, so that however much there is, whoever is not asked to
 * wait (a health check, say) gets in between. Costs next to nothing while there is little to do.
 */
export class WorkTurns {
  readonly #clock: Clock
  readonly #newestFirst: boolean
  #waiting: (() => void)[] = []
  /** Where the queue begins: what is before it has been started. */
  #first = 0
  #unmeasured = 0
  #isMeasuring = false
  #startedMs = 0

  constructor(clock: Clock, { newestFirst = false }: WorkTurnsOptions = {}) {
    this.#clock = clock
    this.#newestFirst = newestFirst
  }

  /** How many pieces of work wait. */
  get size(): number {
    return this.#waiting.length - this.#first
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
    if (this.size === 0 && this.#hasTime()) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #hasTime(): boolean {
    return this.#clock.monotonicMs() - this.#startedMs < turnMs
  }

  #nextTurn(): void {
    this.#unmeasured = 0
    const count = Math.min(this.size, offersPerTurnMax)
    this.#isMeasuring = count > 0
    if (count === 0) return
    let isFirst = true
    const offer = () => {
      if (isFirst) this.#startedMs = this.#clock.monotonicMs()
      isFirst = false
      // What a piece does at once it does before the next is offered a place, so that the time it took is seen.
      if (this.#hasTime()) this.#next()?.()
    }
    for (let index = 0; index < count; index += 1) this.#clock.defer(offer)
    this.#clock.defer(() => this.#nextTurn())
  }

  #next(): (() => void) | undefined {
    if (this.#newestFirst) return this.#waiting.pop()
    const next = this.#waiting[this.#first]
    this.#first += 1
    if (this.#first >= 1024 || this.#first === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    return next
  }
}
