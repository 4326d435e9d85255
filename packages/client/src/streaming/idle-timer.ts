import type { Clock, Timer } from '@coracle/environment'

/** Calls back once when nothing has been noted for so long. Noting something costs no timer. */
export class IdleTimer {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #onIdle: () => void
  #latestMs: number
  #timer: Timer | undefined

  constructor(clock: Clock, timeoutMs: number, onIdle: () => void) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
    this.#onIdle = onIdle
    this.#latestMs = clock.monotonicMs()
    this.#arm(timeoutMs)
  }

  /** Something has happened. */
  note(): void {
    this.#latestMs = this.#clock.monotonicMs()
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(delayMs, () => {
      const leftMs = this.#latestMs + this.#timeoutMs - this.#clock.monotonicMs()
      if (leftMs > 0) this.#arm(leftMs)
      else this.#onIdle()
    })
  }
}
