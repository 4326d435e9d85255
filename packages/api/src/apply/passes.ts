/**
 * A computation in passes: at each `yield` it may rest, and others may be served before it goes on. What it reads must not change
 * meanwhile.
 */
export type Passes<T> = Generator<undefined, T, undefined>

/** A large value is gone through in passes of so many of its parts, each of which takes a few milliseconds. */
export const passPartsMax = 8_192

/** Counts the parts that a computation goes through in all that it goes through, and says when it may rest. */
export class PassParts {
  #left = passPartsMax

  /** To be called for each part: whether it is time for a rest. */
  isFull(): boolean {
    this.#left -= 1
    if (this.#left > 0) return false
    this.#left = passPartsMax
    return true
  }
}

/** Carries a computation out without a rest. */
export function inOneGo<T>(passes: Passes<T>): T {
  for (;;) {
    const { done, value } = passes.next()
    if (done === true) return value
  }
}

/** Carries a computation out with a rest after each pass. */
export async function withRests<T>(passes: Passes<T>, rest: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const { done, value } = passes.next()
    if (done === true) return value
    await rest()
  }
}
