/**
 * What an expression may cost at most, counted as cel-go's checker does (checker/cost.go, without a cost for `has()`), so that
 * rules are accepted and refused where upstream accepts and refuses them. That includes where it knows little: the size of
 * a value is known by its path from a variable, and what a call returns has a path only where the call is an index.
 */
import type { CallExpression, Expression, FoldExpression, SelectExpression } from './ast.ts'
import { type CallEstimate, estimateCall, type Operand } from './call-estimates.ts'
import type { Checked } from './check.ts'
import { costs } from './evaluate.ts'
import type { Overload } from './functions.ts'
import { accumulatorName } from './macros.ts'
import { exactly, plus, type Range, sumOf, times, unbounded, union } from './ranges.ts'
import type { CelType } from './types.ts'

/** A way to a value: a variable, then names of fields, `@items`, `@keys`, `@values`. Without the variable where that is not known. */
export type ValuePath = readonly string[]

/** How large the value at a path may be; undefined where that is not known. */
export type SizeAt = (path: ValuePath) => Range | undefined

/** What evaluating an expression may cost, from the sizes that its variables may have. */
export function estimateCost(checked: Checked, sizeAt: SizeAt): Range {
  return new Estimator(checked, sizeAt).cost(checked.expression)
}

/** Sizes of what is in a list or a map that the expression itself makes. */
interface EntrySizes {
  readonly container: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

/** A variable of a loop, or one that `cel.bind` names. */
interface Local {
  readonly name: string
  readonly path: ValuePath
  readonly size: Range | undefined
  readonly entries: EntrySizes | undefined
}

const one = exactly(costs.look)

class Estimator {
  readonly #checked: Checked
  readonly #sizeAt: SizeAt
  readonly #paths = new Map<Expression, ValuePath>()
  readonly #sizes = new Map<Expression, Range>()
  readonly #entries = new Map<Expression, EntrySizes>()
  /** Innermost last. */
  readonly #locals: Local[] = []

  constructor(checked: Checked, sizeAt: SizeAt) {
    this.#checked = checked
    this.#sizeAt = sizeAt
  }

  cost(expression: Expression): Range {
    switch (expression.kind) {
      case 'literal':
        return exactly(0)
      case 'identifier':
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name])
        return one
      case 'select':
        return this.#costOfSelect(expression)
      case 'list': {
        const cost = sumOf(expression.elements.map(({ value }) => this.cost(value)))
        const value = this.#unionOfSizes(expression.elements.map((element) => element.value))
        this.#entries.set(expression, { container: 'list', key: exactly(1), value })
        return plus(cost, exactly(costs.list))
      }
      case 'map': {
        const cost = sumOf(expression.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]))
        this.#entries.set(expression, {
          container: 'map',
          key: this.#unionOfSizes(expression.entries.map(({ key }) => key)),
          value: this.#unionOfSizes(expression.entries.map(({ value }) => value)),
        })
        return plus(cost, exactly(costs.map))
      }
      case 'construct':
        return plus(sumOf(expression.fields.map(({ value }) => this.cost(value))), exactly(costs.object))
      case 'fold':
        return isBinding(expression) ? this.#costOfBinding(expression) : this.#costOfLoop(expression)
      case 'call':
        return this.#costOfCall(expression)
    }
  }

  #costOfSelect(select: SelectExpression): Range {
    const cost = this.cost(select.operand)
    if (select.test) return cost
    if (select.optional) return plus(cost, one)
    this.#paths.set(select, [...this.#path(select.operand), select.field])
    return selectCosts.has(this.#checked.typeOf(select.operand).kind) ? plus(cost, one) : cost
  }

  #costOfBinding(fold: FoldExpression): Range {
    const before = plus(this.cost(fold.range), this.cost(fold.initial))
    const result = this.#within([this.#localFor(fold.accumulator, fold.initial)], () => this.cost(fold.result))
    this.#copySizes(fold, fold.result)
    return plus(before, result)
  }

  #costOfLoop(fold: FoldExpression): Range {
    const before = plus(this.cost(fold.range), this.cost(fold.initial))
    const accumulator = this.#localFor(fold.accumulator, fold.initial)
    const turn = this.#within([accumulator, ...this.#loopVariables(fold)], () =>
      plus(this.cost(fold.condition), this.cost(fold.step)),
    )
    const result = this.#within([accumulator], () => this.cost(fold.result))
    const turns = this.#sizeOf(fold.range) ?? unbounded
    if (fold.initial.kind === 'literal') this.#setSize(fold, this.#sizeOf(fold.initial))
    if (fold.initial.kind === 'list' || fold.initial.kind === 'map') {
      this.#setSize(fold, turns)
      this.#setEntries(fold, this.#entriesOf(fold.step))
    }
    return sumOf([before, result, times(turns, turn)])
  }

  #loopVariables(fold: FoldExpression): readonly Local[] {
    const entries = this.#entriesOf(fold.range)
    const isList = (entries?.container ?? this.#checked.typeOf(fold.range).kind) === 'list'
    const local = (name: string, part: string, size: Range | undefined): Local => ({
      name,
      path: [...this.#path(fold.range), part],
      size,
      entries: undefined,
    })
    const key = (name: string) => local(name, isList ? '@indices' : '@keys', entries?.key)
    const value = (name: string) => local(name, isList ? '@items' : '@values', entries?.value)
    if (fold.second !== undefined) return [key(fold.variable), value(fold.second)]
    return [isList ? value(fold.variable) : key(fold.variable)]
  }

  #costOfCall(call: CallExpression): Range {
    const [first] = call.args
    if (call.name === 'dyn' && call.target === undefined && first !== undefined) {
      const cost = plus(this.cost(first), one)
      this.#copySizes(call, first)
      return cost
    }
    const argCosts = call.args.map((each) => this.cost(each))
    const args = call.args.map((each) => this.#operand(each))
    const overloads = this.#checked.overloadsOf(call)
    if (overloads.length === 0) return exactly(0)
    const isMethod = overloads[0]?.method === true && call.target !== undefined
    const targetCost = isMethod && call.target !== undefined ? this.cost(call.target) : exactly(0)
    const target = isMethod && call.target !== undefined ? this.#operand(call.target) : undefined
    let cost: Range | undefined
    let size: Range | undefined
    for (const overload of overloads) {
      const estimate = this.#estimate(call, overload, target, args, argCosts)
      cost = cost === undefined ? estimate.cost : union(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : union(size, estimate.size)
      const indexed = overload.name === '_[_]' ? overload.params[0]?.kind : undefined
      if ((indexed === 'list' || indexed === 'map') && first !== undefined) {
        size = this.#entriesOf(first)?.value
        this.#paths.set(call, [...this.#path(first), indexed === 'list' ? '@items' : '@values'])
      }
      size ??= this.#sizeOf(call)
    }
    this.#setSize(call, size)
    return plus(targetCost, cost ?? exactly(0))
  }

  #estimate(
    call: CallExpression,
    overload: Overload,
    target: Operand | undefined,
    args: readonly Operand[],
    argCosts: readonly Range[],
  ): CallEstimate {
    const [a = exactly(0), b = exactly(0), c = exactly(0)] = argCosts
    const [, second, third] = call.args
    switch (overload.name) {
      case '_&&_':
      case '_||_':
        return { cost: { min: a.min, max: a.max + b.max } }
      case '_?_:_': {
        this.#setEntries(call, commonEntries(this.#entriesOf(second), this.#entriesOf(third)))
        const size = union(args[1]?.size ?? unbounded, args[2]?.size ?? unbounded)
        return { cost: plus(a, union(b, c)), size: isScalar(this.#checked.typeOf(call)) ? exactly(1) : size }
      }
      case '_+_':
        this.#setEntries(call, commonEntries(this.#entriesOf(call.args[0]), this.#entriesOf(second)))
    }
    const { cost, size } = estimateCall(overload, target, args)
    return { cost: plus(cost, sumOf(argCosts)), size }
  }

  #operand(expression: Expression): Operand {
    const path = this.#path(expression)
    const type = this.#checked.typeOf(expression)
    return {
      expression,
      type,
      size: this.#sizeOf(expression),
      // What an accumulator holds has no path.
      elementSize: path[0] === accumulatorName ? undefined : this.#elementSize(path),
    }
  }

  #elementSize(path: ValuePath): Range | undefined {
    return this.#sizeAt([...path, '@items'])
  }

  #unionOfSizes(expressions: readonly Expression[]): Range {
    const [first, ...rest] = expressions.map((each) => this.#sizeOf(each) ?? unbounded)
    return first === undefined ? exactly(0) : rest.reduce(union, first)
  }

  #sizeOf(expression: Expression): Range | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression)
    if (known !== undefined) return known
    const path = this.#path(expression)
    const size = path.length === 0 ? undefined : this.#sizeAt(path)
    if (size !== undefined) {
      this.#sizes.set(expression, size)
      return size
    }
    if (isScalar(this.#checked.typeOf(expression))) return exactly(1)
    return expression.kind === 'identifier' ? this.#local(expression.name)?.size : undefined
  }

  #entriesOf(expression: Expression | undefined): EntrySizes | undefined {
    if (expression === undefined) return undefined
    const known = this.#entries.get(expression)
    return known ?? (expression.kind === 'identifier' ? this.#local(expression.name)?.entries : undefined)
  }

  #setSize(expression: Expression, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expression, size)
  }

  #setEntries(expression: Expression, entries: EntrySizes | undefined): void {
    if (entries !== undefined) this.#entries.set(expression, entries)
  }

  #copySizes(to: Expression, from: Expression): void {
    this.#setSize(to, this.#sizeOf(from))
    this.#setEntries(to, this.#entriesOf(from))
  }

  #path(expression: Expression): ValuePath {
    const local = expression.kind === 'identifier' ? this.#local(expression.name) : undefined
    return local?.path ?? this.#paths.get(expression) ?? []
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((each) => each.name === name)
  }

  #localFor(name: string, value: Expression): Local {
    return { name, path: this.#path(value), size: this.#sizeOf(value), entries: this.#entriesOf(value) }
  }

  #within<T>(locals: readonly Local[], act: () => T): T {
    this.#locals.push(...locals)
    const result = act()
    this.#locals.length -= locals.length
    return result
  }
}

/** Types whose fields are looked up. */
const selectCosts: ReadonlySet<CelType['kind']> = new Set(['map', 'object', 'opaque', 'param'])

/** Whether a fold is what `cel.bind` becomes: a loop that runs not once. */
function isBinding({ range, condition, accumulator }: FoldExpression): boolean {
  const isEmpty = range.kind === 'list' && range.elements.length === 0
  return isEmpty && condition.kind === 'literal' && condition.value === false && accumulator !== accumulatorName
}

function commonEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined
  return { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) }
}

function literalSize(expression: Expression): Range | undefined {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression
      if (typeof value === 'string') return exactly([...value].length)
      return exactly(value instanceof Uint8Array ? value.length : 1)
    }
    case 'list':
      return exactly(expression.elements.length)
    case 'map':
      return exactly(expression.entries.length)
    default:
      return undefined
  }
}

const scalars: ReadonlySet<CelType['kind']> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

/** Whether all values of a type are of one size. */
const isScalar = (type: CelType): boolean => scalars.has(type.kind) || (type.kind === 'optional' && isScalar(type.of))
