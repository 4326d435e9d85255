/** What an expression may cost at most, from the sizes that its types allow; as cel-go's checker estimates it. */
import type { Expression } from './ast.ts'
import type { Checked } from './check.ts'
import { costs } from './evaluate.ts'
import type { CelType } from './types.ts'

interface Estimate {
  readonly cost: number
  /** How large the value is at most. */
  readonly size: number
}

/** The highest cost that evaluating an expression may have; infinite where nothing bounds it. */
export function estimateCost(checked: Checked): number {
  return estimate(checked.expression, checked, undefined).cost
}

/** Sizes of accumulators, which grow with the loop. */
interface Sizes {
  readonly name: string
  readonly size: number
  readonly outer: Sizes | undefined
}

function estimate(expression: Expression, checked: Checked, sizes: Sizes | undefined): Estimate {
  switch (expression.kind) {
    case 'literal':
      return { cost: 0, size: maxSize(checked.typeOf(expression)) }
    case 'identifier': {
      for (let each = sizes; each !== undefined; each = each.outer) {
        if (each.name === expression.name) return { cost: costs.look, size: each.size }
      }
      return { cost: costs.look, size: maxSize(checked.typeOf(expression)) }
    }
    case 'select': {
      const { cost } = estimate(expression.operand, checked, sizes)
      return { cost: cost + (expression.test ? 0 : costs.look), size: maxSize(checked.typeOf(expression)) }
    }
    case 'list': {
      const elements = expression.elements.map(({ value }) => estimate(value, checked, sizes))
      return { cost: costs.list + sum(elements), size: elements.length }
    }
    case 'map': {
      const parts = expression.entries.flatMap(({ key, value }) => [key, value])
      return {
        cost: costs.map + sum(parts.map((each) => estimate(each, checked, sizes))),
        size: expression.entries.length,
      }
    }
    case 'construct':
      return {
        cost: costs.object + sum(expression.fields.map(({ value }) => estimate(value, checked, sizes))),
        size: 1,
      }
    case 'fold':
      return estimateFold(expression, checked, sizes)
    case 'call':
      return estimateCall(expression, checked, sizes)
  }
}

const sum = (estimates: readonly Estimate[]): number => estimates.reduce((total, { cost }) => total + cost, 0)

function maxSize(type: CelType): number {
  switch (type.kind) {
    case 'string':
    case 'bytes':
    case 'list':
    case 'map':
      return type.maxSize ?? Number.POSITIVE_INFINITY
    case 'dyn':
    case 'param':
      return Number.POSITIVE_INFINITY
    case 'optional':
      return maxSize(type.of)
    default:
      return 1
  }
}

function estimateFold(
  fold: Extract<Expression, { kind: 'fold' }>,
  checked: Checked,
  sizes: Sizes | undefined,
): Estimate {
  const range = estimate(fold.range, checked, sizes)
  const initial = estimate(fold.initial, checked, sizes)
  const inner: Sizes = { name: fold.accumulator, size: Math.max(range.size, initial.size), outer: sizes }
  const turn = estimate(fold.condition, checked, inner).cost + estimate(fold.step, checked, inner).cost
  const result = estimate(fold.result, checked, inner)
  // Nothing times without end is nothing.
  const turns = range.size === 0 ? 0 : range.size * turn
  return { cost: range.cost + initial.cost + turns + result.cost, size: result.size }
}

function estimateCall(
  call: Extract<Expression, { kind: 'call' }>,
  checked: Checked,
  sizes: Sizes | undefined,
): Estimate {
  const overloads = checked.overloadsOf(call)
  const method = overloads[0]?.method === true && call.target !== undefined
  const operands = method && call.target !== undefined ? [call.target, ...call.args] : call.args
  const args = operands.map((each) => estimate(each, checked, sizes))
  if (call.name === '_?_:_') {
    const [condition, yes, no] = args
    return {
      cost: (condition?.cost ?? 0) + Math.max(yes?.cost ?? 0, no?.cost ?? 0),
      size: Math.max(yes?.size ?? 0, no?.size ?? 0),
    }
  }
  const cost = sum(args)
  if (call.name === '_&&_' || call.name === '_||_' || call.name === '@not_strictly_false') return { cost, size: 1 }
  const argSizes = args.map(({ size }) => size)
  const elementSize = elementSizeOf(operands[0], checked)
  const dearest = Math.max(1, ...overloads.map((each) => each.cost.cost(argSizes, elementSize)))
  const resultSize = Math.max(0, ...overloads.map((each) => each.cost.resultSize?.(argSizes, elementSize) ?? 0))
  return { cost: cost + dearest, size: resultSize > 0 ? resultSize : maxSize(checked.typeOf(call)) }
}

/** How long the texts in a list may be; 0 where it holds none. */
function elementSizeOf(list: Expression | undefined, checked: Checked): number {
  const type = list === undefined ? undefined : checked.typeOf(list)
  if (type?.kind !== 'list') return 0
  return type.element.kind === 'string' || type.element.kind === 'bytes' ? maxSize(type.element) : 0
}
