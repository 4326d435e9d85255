import type { Clock, Histogram } from '@coracle/environment'

const nanosecondsPerMs = 1e6

/**
 * A ratio over time in a histogram: what it was at the end of each nanosecond, as upstream's timing histograms have it, so that rates of the
 * buckets tell for which part of the time it was how high.
 */
export class TimedRatio {
  readonly #histogram: Histogram
  readonly #clock: Clock
  #numerator = 0
  #denominator = 1
  #sinceMs: number

  constructor(histogram: Histogram, clock: Clock) {
    this.#histogram = histogram
    this.#clock = clock
    this.#sinceMs = clock.monotonicMs()
  }

  add(change: number): void {
    this.observe()
    this.#numerator += change
  }

  /** What it is a part of; at least 1. */
  setDenominator(denominator: number): void {
    if (denominator === this.#denominator) return
    this.observe()
    this.#denominator = Math.max(1, denominator)
  }

  /** Takes the time until now into the histogram. */
  observe(): void {
    const nowMs = this.#clock.monotonicMs()
    const nanoseconds = Math.round((nowMs - this.#sinceMs) * nanosecondsPerMs)
    this.#sinceMs = nowMs
    if (nanoseconds > 0) this.#histogram.observe(this.#numerator / this.#denominator, nanoseconds)
  }
}
