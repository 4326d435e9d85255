/** Why an expression cannot be used: found before it runs, at a place in its text. */
export class CelSyntaxError extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** A problem at a place in the text of an expression. */
export interface CelProblem {
  readonly offset: number
  readonly message: string
}

/** All that is wrong with the types of an expression. */
export class CelCheckError extends Error {
  readonly problems: readonly CelProblem[]

  constructor(problems: readonly CelProblem[]) {
    super(problems.map(({ message }) => message).join('\n'))
    this.problems = problems
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

/** How many problems of an expression are told. */
const problemsMax = 100

/** Problems in the words and the layout of cel-go, in the order of their places. */
export function describeProblems(source: string, problems: readonly CelProblem[]): string {
  const sorted = [...problems].sort((a, b) => a.offset - b.offset)
  const shown = sorted.slice(0, problemsMax).map((problem) => describeProblem(source, problem))
  const left = sorted.length - shown.length
  return [...shown, ...(left > 0 ? [`${left} more errors were truncated`] : [])].join('\n')
}

/** Under characters that take more than one byte stand wide ones. */
const isWide = (character: string | undefined): boolean => character !== undefined && character > '\x7f'

/** With the place, and the line it is in. */
function describeProblem(source: string, { offset, message }: CelProblem): string {
  if (source === '') return `ERROR: <input>:1:0: ${message}`
  const before = source.slice(0, offset).split('\n')
  const characters = [...(source.split('\n')[before.length - 1] ?? '').replaceAll('\t', ' ')]
  const column = [...(before.at(-1) ?? '')].length
  const dots = characters.slice(0, column).map((each) => (isWide(each) ? '．' : '.'))
  const mark = isWide(characters[column]) ? '＾' : '^'
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${characters.join('')}\n | ${dots.join('')}${mark}`
}
