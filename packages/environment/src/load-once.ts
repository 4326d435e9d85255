/**
 * Something that is loaded when it is first asked for, once for all. What could not be loaded, as where no file could be opened at the
 * time, is tried again for the next who asks.
 */
export class LoadOnce<T> {
  readonly #load: () => Promise<T>
  #begun: Promise<T> | undefined

  constructor(load: () => Promise<T>) {
    this.#load = load
  }

  get(): Promise<T> {
    this.#begun ??= this.#load().catch((error: unknown) => {
      this.#begun = undefined
      throw error
    })
    return this.#begun
  }

  /** What is there or on its way; undefined where nobody has asked, or it has failed. */
  get begun(): Promise<T> | undefined {
    return this.#begun
  }
}
