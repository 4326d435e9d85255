/**
 * A computation in passes: at each `yield` it may rest, and others may be served before it goes on. What it reads must not change
 * meanwhile.
 */
export type Passes<T> = Generator<undefined, T, undefined>

/** A large value is gone through in passes of so many of its parts, each of which takes a few milliseconds. */
export const passPartsMax = 8_192

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
