/**
 * What of an expression is known before it runs, as cel-go finds it where it optimizes (interpreter/decorators.go), which
 * Kubernetes always asks for: literals, lists and maps of constants, and what constants are converted to.
 */
import { compilePattern } from '../custom/pattern.ts'
import { type CallExpression, type Expression, partsOf } from './ast.ts'
import { CelError } from './errors.ts'
import { type CelList, type CelValue, primitiveText } from './values.ts'

/** What parts of an expression come to, whatever its variables are. */
export type Constants = ReadonlyMap<Expression, CelValue>

const conversions: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
])

/** Whether an expression is constant, where the constants in it are known. */
export function isConstant(expression: Expression, constants: Constants): boolean {
  switch (expression.kind) {
    case 'literal':
      return true
    case 'list':
    case 'map':
      return partsOf(expression).every((part) => constants.has(part))
    case 'call':
      return conversions.has(expression.name) && partsOf(expression).every((part) => constants.has(part))
    default:
      return false
  }
}

/** Tells whether a value is among the elements of a list; undefined where some of them are no primitive values. */
export function membershipOf(list: CelList): ((value: CelValue) => boolean) | undefined {
  const texts = list.values().map(primitiveText)
  if (texts.includes(undefined)) return undefined
  const members: ReadonlySet<string | undefined> = new Set(texts)
  return (value) => members.has(primitiveText(value))
}

const withPatterns: ReadonlySet<string> = new Set(['matches', 'find', 'findAll'])

/** Throws where a constant is to be a regular expression and is none. `operands`: with what the function is called on. */
export function checkPattern({ name }: CallExpression, operands: readonly Expression[], constants: Constants): void {
  const [, pattern] = operands
  if (!withPatterns.has(name) || pattern === undefined) return
  const source = constants.get(pattern)
  const problem = typeof source === 'string' ? compilePattern(source).problem : undefined
  if (problem !== undefined) throw new CelError(problem)
}
