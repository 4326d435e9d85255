/**
 * What is refused of an expression whose types fit, as cel-go's validators do (cel/validator.go): literals that cannot be what
 * they are taken for, and lists and maps of several types. Kubernetes has all of them (apiserver/pkg/cel/environment/base.go).
 */
import { compilePattern } from '../custom/pattern.ts'
import { type CallExpression, type Expression, partsOf } from './ast.ts'
import type { Checked } from './check.ts'
import { CelCheckError, CelError, type CelProblem } from './errors.ts'
import { parseDuration, parseTimestamp } from './library/times.ts'
import { type CelType, isEquivalent, types, typeText } from './types.ts'

/** Whether what stands in one list, or as keys or values in one map, may be of several types: Kubernetes does not let it. */
export type AggregateLiterals = 'mixed' | 'alike'

/** Throws a CelCheckError with all that is wrong. */
export function validate(checked: Checked, literals: AggregateLiterals): void {
  const problems = [...problemsOf(checked.expression, checked, literals)]
  if (problems.length > 0) throw new CelCheckError(problems)
}

function* problemsOf(expression: Expression, checked: Checked, literals: AggregateLiterals): Iterable<CelProblem> {
  if (expression.kind === 'call') yield* literalProblems(expression)
  if (literals === 'alike') yield* mixtures(expression, checked)
  // What is to be formatted is of several types.
  const within = expression.kind === 'call' && expression.name === 'format' ? 'mixed' : literals
  for (const part of partsOf(expression)) yield* problemsOf(part, checked, within)
}

/** Functions whose first argument is read when the expression is written, where it is a literal text. */
const readers: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => canBeRead(parseDuration, text),
  timestamp: (text) => canBeRead(parseTimestamp, text),
  matches: (text) => compilePattern(text).problem === undefined,
}

function* literalProblems({ name, args: [first] }: CallExpression): Iterable<CelProblem> {
  if (first?.kind !== 'literal' || typeof first.value !== 'string' || !Object.hasOwn(readers, name)) return
  if (readers[name]?.(first.value) === false) yield { offset: first.offset, message: `invalid ${name} argument` }
}

function canBeRead(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text)
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/** Of a list the first that is of another type than the first element; of a map all that are. */
function* mixtures(expression: Expression, checked: Checked): Iterable<CelProblem> {
  if (expression.kind === 'list') {
    const elements = expression.elements.map(({ value, optional }) => typed(value, checked, optional))
    const [problem] = othersThanFirst(elements)
    if (problem !== undefined) yield problem
  }
  if (expression.kind === 'map') {
    yield* othersThanFirst(expression.entries.map(({ key }) => typed(key, checked, false)))
    yield* othersThanFirst(expression.entries.map(({ value, optional }) => typed(value, checked, optional)))
  }
}

interface Typed {
  readonly offset: number
  readonly type: CelType
}

function typed(value: Expression, checked: Checked, optional: boolean): Typed {
  const type = checked.typeOf(value)
  const inner = type.kind === 'optional' ? type.of : types.dyn
  return { offset: value.offset, type: optional ? inner : type }
}

function* othersThanFirst([first, ...rest]: readonly Typed[]): Iterable<CelProblem> {
  if (first === undefined) return
  for (const { offset, type } of rest) {
    if (isEquivalent(first.type, type)) continue
    yield { offset, message: `expected type '${typeText(first.type)}' but found '${typeText(type)}'` }
  }
}
