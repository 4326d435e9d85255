/**
 * Says that trying again is of no use: only a change of what is there can help, such as a corrected spec. A reconcile that
 * throws it is logged and counted as failed, and runs again when something changes. It may be the `cause` of another error.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
}

/** Whether an error, or what caused it, is terminal; of several together all must be. */
export function isTerminal(error: unknown): boolean {
  const seen = new Set<unknown>()
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    if (at instanceof TerminalError) return true
    if (at instanceof AggregateError && at.errors.length > 0 && at.errors.every(isTerminal)) return true
    seen.add(at)
  }
  return false
}
