/** Work that is done one piece after the other for each key, and at the same time for different ones. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Does the work when all of before with this key is done, well or not. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
