import type { Clock } from './clock.ts'

/** So many pieces of work begin before anybody looks at the clock: a turn with less to do is short. */
const unmeasuredMax = 8

/** For how long, in milliseconds, those who share a turn of the event loop may work before they give way. */
export const sharedTurnMaxMs = 10

/**
 * A turn of the event loop that many share whose work is made of promises, such as workers of controllers: all of it together gives way
 * to the event loop after ten milliseconds, so that a request gets answered in between, however many they are. Where each of
 * a hundred workers counted for itself a turn would last a second.
 */
export class SharedTurn {
  readonly #clock: Clock
  #unmeasured = 0
  /** Since when the present turn is measured; undefined where it is not. */
  #startedMs: number | undefined
  #next: Promise<void> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The turn of all who work on a clock. */
  static of(clock: Clock): SharedTurn {
    const known = turns.get(clock)
    if (known !== undefined) return known
    const made = new SharedTurn(clock)
    turns.set(clock, made)
    return made
  }

  /**
   * To be called before a piece of work. Undefined where it may begin in this turn. Otherwise resolves in the next: whoever waited asks
   * again then, as others may have come first.
   */
  take(): Promise<void> | undefined {
    if (this.#startedMs === undefined) {
      this.#unmeasured += 1
      if (this.#unmeasured < unmeasuredMax) return undefined
      this.#unmeasured = 0
      this.#startedMs = this.#clock.monotonicMs()
      this.#next = new Promise((resolve) => {
        this.#clock.defer(() => {
          this.#startedMs = undefined
          resolve()
        })
      })
    }
    return this.#clock.monotonicMs() - this.#startedMs < sharedTurnMaxMs ? undefined : this.#next
  }

  /** Resolves when work may go on. */
  async giveWay(): Promise<void> {
    for (let next = this.take(); next !== undefined; next = this.take()) await next
  }
}

const turns = new WeakMap<Clock, SharedTurn>()
