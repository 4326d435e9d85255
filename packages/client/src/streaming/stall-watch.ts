import type { Clock, Timer } from '@coracle/environment'

/** How often the other end of a connection that is not read is asked whether it is still there. */
export const stallPingMs = 10_000

/**
 * Asks the other end for a sign of life for as long as a connection is not read: that it has gone is only noticed by
 * reading, or by writing in vain.
 */
export class StallWatch {
  readonly #clock: Clock
  readonly #ping: () => void
  #timer: Timer | undefined

  constructor(clock: Clock, ping: () => void) {
    this.#clock = clock
    this.#ping = ping
  }

  begin(): void {
    this.#timer ??= this.#clock.setTimer(stallPingMs, () => {
      this.#timer = undefined
      this.#ping()
      this.begin()
    })
  }

  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
