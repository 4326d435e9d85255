import { assert } from './assert.ts'
import type { Clock } from './clock.ts'

/**
 * Spreads many small pieces of work over turns of the event loop, so that whoever else has something to do - a request to
 * answer, a commit to acknowledge - gets in between. Pieces start in the order they were asked for.
 */
export class TurnLimiter {
  readonly #clock: Clock
  readonly #perTurnMax: number
  #startedThisTurn = 0
  #waiting: (() => void)[] = []
  #isTurnDue = false

  /** At most `perTurnMax` pieces start in one turn. */
  constructor(clock: Clock, perTurnMax: number) {
    assert(perTurnMax >= 1, `at least one piece of work must start in a turn: ${perTurnMax}`)
    this.#clock = clock
    this.#perTurnMax = perTurnMax
  }

  /** Resolves when the caller may start its piece of work: in this turn if there is room, else in one of the next. */
  take(): Promise<void> {
    this.#endTurnLater()
    if (this.#startedThisTurn >= this.#perTurnMax) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#startedThisTurn++
    return Promise.resolve()
  }

  #endTurnLater(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    this.#clock.defer(() => {
      this.#isTurnDue = false
      const starting = this.#waiting.slice(0, this.#perTurnMax)
      this.#waiting = this.#waiting.slice(starting.length)
      this.#startedThisTurn = starting.length
      if (starting.length > 0) this.#endTurnLater()
      for (const start of starting) start()
    })
  }
}
