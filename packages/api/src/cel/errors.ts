/** Why an expression cannot be used: found before it runs, at a place in its text. */
export class CelSyntaxError extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** Why an expression has no value: found while it runs. Logical operators may do without the side that failed. */
export class CelError extends Error {}

/** A member that is not there, in cel-go's words. */
export const noSuchKey = (key: unknown): CelError => new CelError(`no such key: ${String(key)}`)

/** The expression did more work than it may. Nothing catches it. */
export class CelCostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** A problem in the words and the layout of cel-go: with its place, and the line it is in. */
export function describeProblem(source: string, offset: number, message: string): string {
  const before = source.slice(0, offset)
  const line = before.split('\n').length
  const column = offset - (before.lastIndexOf('\n') + 1)
  const text = source.split('\n')[line - 1] ?? ''
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${'.'.repeat(column)}^`
}
