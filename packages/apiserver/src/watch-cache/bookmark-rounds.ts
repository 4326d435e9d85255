import type { Clock, Timer } from '@coracle/environment'

/** How often watchers that asked for bookmarks get one. */
export const bookmarkIntervalMs = 60_000

/** One timer for the bookmarks of all watch caches of a server, which runs for as long as anybody wants some. */
export class BookmarkRounds {
  readonly #clock: Clock
  readonly #members = new Set<() => boolean>()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `tell` at the next round, and at each after it for as long as it returns true. */
  join(tell: () => boolean): void {
    this.#members.add(tell)
    this.#timer ??= this.#clock.setTimer(bookmarkIntervalMs, () => this.#round(), { housekeeping: true })
  }

  leave(tell: () => boolean): void {
    this.#members.delete(tell)
  }

  stop(): void {
    this.#members.clear()
    this.#timer?.cancel()
  }

  #round(): void {
    this.#timer = undefined
    const members = [...this.#members]
    this.#members.clear()
    for (const tell of members) if (tell()) this.join(tell)
  }
}
