import type { Taken } from './taken.ts'

/** What one write has set aside. */
export class SetAside<V> {
  readonly #taken: Taken<V>
  readonly #values: V[] = []

  constructor(taken: Taken<V>) {
    this.#taken = taken
  }

  isTaken(value: V): boolean {
    return this.#taken.has(value)
  }

  /** False where somebody has it. */
  take(value: V): boolean {
    if (this.#taken.has(value)) return false
    this.#taken.setAside(value)
    this.#values.push(value)
    return true
  }

  release(): void {
    for (const value of this.#values) this.#taken.free(value)
    this.#values.length = 0
  }
}
