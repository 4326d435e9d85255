/** Thrown when something that must hold does not: a defect of the program, never of its input. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** States what must hold. Throws an `AssertionError` with `message` when it does not. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}
