/**
 * Lets one thing happen at a time, and the next no sooner than the rate says: a token bucket that holds one token. Whoever
 * waits when the rate changes waits anew, as upstream's rate-limited queue has it. Times are milliseconds of one clock.
 */
export class EvictionLimiter {
  #ratePerSecond: number
  /** When there is a token again; Infinity at rate 0. */
  #nextMs = Number.NEGATIVE_INFINITY

  constructor(ratePerSecond: number) {
    this.#ratePerSecond = ratePerSecond
    if (ratePerSecond === 0) this.#nextMs = Number.POSITIVE_INFINITY
  }

  setRate(ratePerSecond: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond) return
    this.#ratePerSecond = ratePerSecond
    if (ratePerSecond === 0) this.#nextMs = Number.POSITIVE_INFINITY
    else if (nowMs < this.#nextMs) this.#nextMs = nowMs + 1000 / ratePerSecond
  }

  /** Takes the token if it is there. */
  tryTake(nowMs: number): boolean {
    if (nowMs < this.#nextMs) return false
    this.#nextMs = nowMs + 1000 / this.#ratePerSecond
    return true
  }
}
