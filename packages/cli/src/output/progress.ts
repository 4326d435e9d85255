import type { Timer } from '@coracle/environment'
import type { Host } from '../host.ts'

/** What takes less time than this is not worth a word. */
export const quietMs = 1_000
const refreshMs = 500

const clearLine = '\r\u001b[K'

/**
 * Tells a person at a terminal what is waited for, and for how long by now, in one line that is gone at the end. Where
 * nobody looks it says nothing.
 */
export class Progress {
  readonly #host: Pick<Host, 'environment' | 'stderr'>
  readonly #startedMs: number
  #what: string
  #timer: Timer | undefined
  #isShown = false

  constructor(host: Pick<Host, 'environment' | 'stderr'>, what: string) {
    this.#host = host
    this.#what = what
    this.#startedMs = host.environment.clock.monotonicMs()
    if (host.stderr.isTerminal) this.#refreshIn(quietMs)
  }

  /** From now on something else is waited for. */
  say(what: string): void {
    this.#what = what
    if (this.#isShown) this.#show()
  }

  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#isShown) this.#host.stderr.write(clearLine)
    this.#isShown = false
  }

  #refreshIn(ms: number): void {
    this.#timer = this.#host.environment.clock.setTimer(ms, () => {
      this.#show()
      this.#refreshIn(refreshMs)
    })
  }

  #show(): void {
    this.#isShown = true
    const seconds = Math.floor((this.#host.environment.clock.monotonicMs() - this.#startedMs) / 1_000)
    this.#host.stderr.write(`${clearLine}${this.#what} … ${seconds} s`)
  }
}
