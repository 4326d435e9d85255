import type { Clock } from '@coracle/environment'

/** What a fault broke works again within this time of its end: watches are begun again, and somebody leads. */
export const aftermathMs = 45_000

/**
 * When something is wrong: from the beginning of a fault until what it broke has had time to recover. Faults that follow each other
 * sooner are one time of trouble.
 */
export class Trouble {
  readonly #clock: Pick<Clock, 'now'>
  /** Faults whose end nobody knows yet. */
  #open = 0
  #sinceMs = Number.NEGATIVE_INFINITY
  #untilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Since when there is trouble; undefined where there is none. */
  get sinceMs(): number | undefined {
    return this.#open > 0 || this.#clock.now() <= this.#untilMs ? this.#sinceMs : undefined
  }

  /** There is a fault from now on, for so long. */
  lasts(forMs: number): void {
    this.begins()()
    this.#untilMs = Math.max(this.#untilMs, this.#clock.now() + forMs + aftermathMs)
  }

  /** There is a fault from now on, until the answer is called. */
  begins(): () => void {
    if (this.sinceMs === undefined) this.#sinceMs = this.#clock.now()
    this.#open += 1
    return () => {
      this.#open -= 1
      this.#untilMs = Math.max(this.#untilMs, this.#clock.now() + aftermathMs)
    }
  }
}
