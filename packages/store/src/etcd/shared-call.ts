/**
 * A question that many ask at once. Each gets an answer that was asked for after it came; those who come while one is
 * under way share the next.
 */
export class SharedCall<T> {
  readonly #ask: () => Promise<T>
  #underWay: Promise<T> | undefined
  #next: Promise<T> | undefined

  constructor(ask: () => Promise<T>) {
    this.#ask = ask
  }

  call(): Promise<T> {
    this.#next ??= this.#after(this.#underWay)
    return this.#next
  }

  async #after(before: Promise<unknown> | undefined): Promise<T> {
    // Whoever comes in the same moment is taken along.
    await before?.catch(() => {})
    await Promise.resolve()
    this.#underWay = this.#next
    this.#next = undefined
    return this.#ask()
  }
}
