/**
 * What is refused of an expression whose types fit, as cel-go's validators do (cel/validator.go): literals that cannot be what
 * they are taken for, and lists and maps of several types. Kubernetes has all of them (apiserver/pkg/cel/environment/base.go).
 */
import { compilePattern } from '../custom/pattern.ts'
import { type CallExpression, type Expression, type Literal, partsOf } from './ast.ts'
import type { Checked } from './check.ts'
import { CelCheckError, CelError, type CelProblem } from './errors.ts'
import { formatParts, notFormatted } from './library/format.ts'
import { parseDuration, parseTimestamp, timestampOfSeconds } from './library/times.ts'
import { type CelType, isEquivalent, types, typeText } from './types.ts'

/**
 * Whether what stands in one list, or as keys or values in one map, may be of several types, and formats take what does not fit:
 * Kubernetes does not let them.
 */
export type AggregateLiterals = 'mixed' | 'alike'

/** Throws a CelCheckError with all that is wrong. */
export function validate(checked: Checked, literals: AggregateLiterals): void {
  const problems = [...problemsOf(checked.expression, checked, literals, false)]
  if (problems.length > 0) throw new CelCheckError(problems)
}

/** `isFormatted`: it is among what is formatted, which may be of several types. */
function* problemsOf(
  expression: Expression,
  checked: Checked,
  literals: AggregateLiterals,
  isFormatted: boolean,
): Iterable<CelProblem> {
  if (expression.kind === 'call') yield* literalProblems(expression)
  if (literals === 'alike') {
    if (expression.kind === 'call') yield* formatProblems(expression, checked)
    if (!isFormatted) yield* mixtures(expression, checked)
  }
  const isWithin = isFormatted || (expression.kind === 'call' && expression.name === 'format')
  for (const part of partsOf(expression)) yield* problemsOf(part, checked, literals, isWithin)
}

/** Functions whose first argument is looked at when the expression is written, where it is a literal. */
const readers: Readonly<Record<string, (literal: Literal) => boolean>> = {
  // No integer is a duration, and as a timestamp it is in seconds.
  duration: (literal) => !isInteger(literal) && canBeRead(() => typeof literal === 'string' && parseDuration(literal)),
  timestamp: (literal) =>
    canBeRead(() =>
      isInteger(literal) ? timestampOfSeconds(literal.int) : typeof literal === 'string' && parseTimestamp(literal),
    ),
  matches: (literal) => typeof literal !== 'string' || compilePattern(literal).problem === undefined,
}

function* literalProblems({ name, args: [first] }: CallExpression): Iterable<CelProblem> {
  if (first?.kind !== 'literal' || !Object.hasOwn(readers, name)) return
  if (readers[name]?.(first.value) === false) yield { offset: first.offset, message: `invalid ${name} argument` }
}

const isInteger = (literal: Literal): literal is { readonly int: bigint } =>
  typeof literal === 'object' && literal !== null && 'int' in literal

function canBeRead(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

const integers = ['int', 'uint'] as const

/** What clauses of a format take (ext/formatting.go). */
const clauses: Readonly<Record<string, readonly CelType['kind'][]>> = {
  s: [
    ...integers,
    ...(['list', 'map', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'] as const),
  ],
  d: integers,
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: [...integers, 'bool'],
  o: integers,
  x: [...integers, 'string', 'bytes'],
}

/** Of a literal format with a list of what is to be formatted the first thing that does not fit. */
function* formatProblems(
  { name, target, args: [list], offset }: CallExpression,
  checked: Checked,
): Iterable<CelProblem> {
  if (name !== 'format' || target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list')
    return
  const wanted = [...formatParts(target.value)].filter((part) => typeof part !== 'string')
  for (const [index, { verb, problem }] of wanted.entries()) {
    const given = list.elements[index]?.value
    if (given === undefined) {
      yield { offset, message: `index ${index} out of range` }
      return
    }
    if (problem !== undefined) {
      yield { offset, message: problem }
      return
    }
    const takes = clauses[verb.toLowerCase()] ?? []
    const unfit = firstUnfit(given, takes, checked, verb === 's')
    if (unfit === undefined) continue
    yield { offset: unfit.offset, message: notFormatted(verb, runtimeName(checked.typeOf(unfit))) }
    return
  }
  if (list.elements.length <= wanted.length) return
  const counts = `expected ${wanted.length}, got ${list.elements.length}`
  yield { offset, message: `too many arguments supplied to string.format (${counts})` }
}

/** The expression itself, or with `within` one in it where it is a literal list or map, that is of none of these kinds. */
function firstUnfit(
  given: Expression,
  kinds: readonly CelType['kind'][],
  checked: Checked,
  within: boolean,
): Expression | undefined {
  const { kind } = checked.typeOf(given)
  // Of what is in an empty list or map nothing is known.
  const isUnknown = kind === 'dyn' || kind === 'param'
  if (!isUnknown && !kinds.includes(kind)) return given
  if (!within || (given.kind !== 'list' && given.kind !== 'map')) return undefined
  for (const part of partsOf(given)) {
    const unfit = firstUnfit(part, kinds, checked, within)
    if (unfit !== undefined) return unfit
  }
  return undefined
}

const runtimeNames: Readonly<Partial<Record<CelType['kind'], string>>> = {
  null: 'null_type',
  optional: 'optional_type',
  list: 'list',
  map: 'map',
  type: 'type',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
}

/** The name of a type without what it is made of. */
const runtimeName = (type: CelType): string => runtimeNames[type.kind] ?? typeText(type)

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
