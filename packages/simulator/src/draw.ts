import type { Random } from '@coracle/environment'

/** Choices by a random source. */
export class Draw {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  next(): number {
    return this.#random.next()
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability
  }

  /** A whole number from 0 on, less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.#random.next() * limit)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }
}
