import type { Clock } from '@coracle/environment'

/** A clock that goes so much faster or slower between two looks was set. */
const clockSetMinMs = 1_000

/** The monotonic clock in whole milliseconds: what is added to a moment and taken from it again has to come to the same. */
export const monotonicWholeMs = (clock: Clock): number => Math.floor(clock.monotonicMs())

/** Notices when the clock is set, by its distance to the monotonic one. */
export class ClockWatch {
  readonly #clock: Clock
  /** By how much it was ahead of the monotonic one at the last look. */
  #aheadMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#aheadMs = clock.now() - monotonicWholeMs(clock)
  }

  /** By how much the clock was set since the last look; 0 where it was not. */
  look(): number {
    const aheadMs = this.#clock.now() - monotonicWholeMs(this.#clock)
    const setMs = aheadMs - this.#aheadMs
    this.#aheadMs = aheadMs
    return Math.abs(setMs) < clockSetMinMs ? 0 : setMs
  }
}
