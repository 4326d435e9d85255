/**
 * Lets those who contend for one key go one after the other. Where each of them computes its write anew whenever
 * another came first, all but one would do so in vain each time.
 */
export class KeyTurns {
  /** The turn that is last in line for each key. */
  readonly #last = new Map<string, Promise<void>>()

  /** Whether somebody has a turn or waits for one. */
  isTaken(key: string): boolean {
    return this.#last.has(key)
  }

  /** Carries out `action` when all that came before it for this key are through. */
  async take<T>(key: string, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const turn = Promise.withResolvers<void>()
    this.#last.set(key, turn.promise)
    await before
    try {
      return await action()
    } finally {
      if (this.#last.get(key) === turn.promise) this.#last.delete(key)
      turn.resolve()
    }
  }
}
