/** Checked expressions made into functions. Errors are thrown, and caught where an operator may do without the side that failed. */
import {
  type CallExpression,
  type ConstructExpression,
  type Expression,
  type FoldExpression,
  type Literal,
  qualifiedName,
  type SelectExpression,
} from './ast.ts'
import { type Checked, typeNames } from './check.ts'
import { CelCostExceeded, CelError, noSuchKey } from './errors.ts'
import { listCreation, matches, type Overload } from './functions.ts'
import { CelList, CelMap, CelObject, type CelValue, Optional, sizeOf, TypeValue, typeName, Uint } from './values.ts'

/** Counts what an evaluation costs, and ends it where that is too much. */
export class CostMeter {
  readonly #limit: number
  #spent = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get spent(): number {
    return this.#spent
  }

  spend(cost: number): void {
    this.#spent += cost
    if (this.#spent > this.#limit) throw new CelCostExceeded()
  }
}

/** What names stand for, innermost first. */
interface Scope {
  readonly name: string
  /** An error where an element could not be judged; a later one may decide nevertheless. */
  value: CelValue | CelError
  readonly outer: Scope | undefined
}

interface Run {
  readonly variables: ReadonlyMap<string, CelValue>
  readonly meter: CostMeter
}

export type Evaluator = (run: Run, scope: Scope | undefined) => CelValue

/** What the parts of an expression cost, as cel-go counts: looking at a variable or a field, making a list, a map, an object. */
export const costs = { look: 1, list: listCreation, map: 30, object: 40 } as const

/** The function that evaluates an expression. */
export function evaluatorOf(checked: Checked): Evaluator {
  return compile(checked.expression, checked)
}

function compile(expression: Expression, checked: Checked): Evaluator {
  switch (expression.kind) {
    case 'literal': {
      const value = literalValue(expression.value)
      return () => value
    }
    case 'identifier':
      return identifier(expression.name)
    case 'select':
      return select(expression, checked)
    case 'call':
      return call(expression, checked)
    case 'list':
      return listLiteral(expression, checked)
    case 'map':
      return mapLiteral(expression, checked)
    case 'fold':
      return fold(expression, checked)
    case 'construct':
      return construct(expression, checked)
  }
}

function literalValue(value: Literal): CelValue {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return 'int' in value ? value.int : 'uint' in value ? new Uint(value.uint) : value.double
}

function identifier(name: string): Evaluator {
  const global = name.replace(/^\./, '')
  const isGlobal = name !== global
  const type = typeNames.has(global) ? new TypeValue(global) : undefined
  return ({ variables, meter }, scope) => {
    meter.spend(costs.look)
    if (!isGlobal) {
      for (let each = scope; each !== undefined; each = each.outer) {
        if (each.name !== name) continue
        if (each.value instanceof CelError) throw each.value
        return each.value
      }
    }
    const value = variables.get(global) ?? type
    if (value !== undefined) return value
    if (variables.has(global)) return null
    throw new CelError(`no such attribute(s): ${name}`)
  }
}

function select(expression: SelectExpression, checked: Checked): Evaluator {
  const { field, test, optional } = expression
  const name = qualifiedName(expression.operand)
  const qualified = name === undefined ? undefined : `${name}.${field}`
  if (qualified !== undefined && checked.variables.has(qualified)) return identifier(qualified)
  const operand = compile(expression.operand, checked)
  return (run, scope) => {
    const of = operand(run, scope)
    // As upstream has it, has() costs no more than what it looks into.
    if (!test) run.meter.spend(costs.look)
    if (of instanceof Optional) {
      if (of.value !== undefined && isPlain(of.value)) throw noSuchKey(field)
      const inner = of.value === undefined ? undefined : memberOf(of.value, field)
      return test ? inner !== undefined : inner === undefined ? Optional.none : optionalOf(inner)
    }
    const value = memberOf(of, field)
    if (test) return value !== undefined
    if (optional) return value === undefined ? Optional.none : optionalOf(value)
    if (value !== undefined) return value
    throw noSuchKey(field)
  }
}

const optionalOf = (value: CelValue): Optional => (value instanceof Optional ? value : new Optional(value))

/** Whether a value has neither members nor elements. */
const isPlain = (value: CelValue): boolean =>
  !(value instanceof CelObject || value instanceof CelMap || value instanceof CelList)

/** A member; undefined where there is none of that name, or no members at all (cel-go's `refQualify`). */
function memberOf(value: CelValue, field: string): CelValue | undefined {
  if (value instanceof CelObject || value instanceof CelMap) return value.get(field)
  if (value instanceof CelList) throw new CelError("unsupported index type 'string' in list")
  return undefined
}

function listLiteral(expression: Extract<Expression, { kind: 'list' }>, checked: Checked): Evaluator {
  const elements = expression.elements.map(({ value, optional }) => ({ value: compile(value, checked), optional }))
  return (run, scope) => {
    run.meter.spend(costs.list)
    const values: CelValue[] = []
    for (const { value, optional } of elements) {
      const made = value(run, scope)
      if (!optional) values.push(made)
      else if (made instanceof Optional && made.value !== undefined) values.push(made.value)
    }
    return CelList.of(values)
  }
}

function mapLiteral(expression: Extract<Expression, { kind: 'map' }>, checked: Checked): Evaluator {
  const entries = expression.entries.map(({ key, value, optional }) => ({
    key: compile(key, checked),
    value: compile(value, checked),
    optional,
  }))
  return (run, scope) => {
    run.meter.spend(costs.map)
    const made: (readonly [CelValue, CelValue])[] = []
    for (const { key, value, optional } of entries) {
      const [name, each] = [key(run, scope), value(run, scope)]
      if (!optional) made.push([name, each])
      else if (each instanceof Optional && each.value !== undefined) made.push([name, each.value])
    }
    return new CelMap(made)
  }
}

function construct(expression: ConstructExpression, checked: Checked): Evaluator {
  const { typeName } = expression
  const fields = expression.fields.map(({ name, value, optional }) => ({
    name,
    value: compile(value, checked),
    optional,
  }))
  return (run, scope) => {
    run.meter.spend(costs.object)
    const made = new Map<string, CelValue>()
    for (const { name, value, optional } of fields) {
      const each = value(run, scope)
      if (!optional) made.set(name, each)
      else if (each instanceof Optional && each.value !== undefined) made.set(name, each.value)
    }
    return new CelObject(
      typeName,
      () => [...made.keys()],
      (name) => made.get(name),
    )
  }
}

function fold(expression: FoldExpression, checked: Checked): Evaluator {
  const [range, initial, condition, step, result] = [
    expression.range,
    expression.initial,
    expression.condition,
    expression.step,
    expression.result,
  ].map((each) => compile(each, checked)) as [Evaluator, Evaluator, Evaluator, Evaluator, Evaluator]
  return (run, scope) => {
    const over = range(run, scope)
    const accumulator: Scope = { name: expression.accumulator, value: initial(run, scope), outer: scope }
    if (!(over instanceof CelList) && !(over instanceof CelMap)) throw new CelError('no such overload')
    const keys = over instanceof CelMap ? over.keys() : undefined
    const count = sizeOf(over)
    for (let index = 0; index < count; index += 1) {
      const value = keys === undefined ? (over as CelList).at(index) : (keys[index] ?? null)
      const inner =
        expression.second === undefined
          ? { name: expression.variable, value, outer: accumulator }
          : twoVariables(expression, over, index, value, accumulator)
      if (condition(run, inner) !== true) break
      try {
        accumulator.value = step(run, inner)
      } catch (error) {
        if (!isLogical(expression.step) || !(error instanceof CelError)) throw error
        // A later element may decide what this one could not.
        accumulator.value = error
      }
    }
    return result(run, accumulator)
  }
}

function twoVariables(
  { variable, second = '' }: FoldExpression,
  over: CelList | CelMap,
  index: number,
  value: CelValue,
  outer: Scope,
): Scope {
  const [first, other] = over instanceof CelList ? [BigInt(index), value] : [value, over.get(value) ?? null]
  return { name: second, value: other, outer: { name: variable, value: first, outer } }
}

const isLogical = (expression: Expression): boolean =>
  expression.kind === 'call' && (expression.name === '_&&_' || expression.name === '_||_')

function call(expression: CallExpression, checked: Checked): Evaluator {
  const overloads = checked.overloadsOf(expression)
  const method = overloads[0]?.method === true && expression.target !== undefined
  const operands = method && expression.target !== undefined ? [expression.target, ...expression.args] : expression.args
  const args = operands.map((each) => compile(each, checked))
  const [first = nothing, second = nothing, third = nothing] = args
  switch (expression.name) {
    case '_&&_':
      return logical(first, second, false)
    case '_||_':
      return logical(first, second, true)
    case '_?_:_':
      return (run, scope) => (mustBeBool(first(run, scope)) ? second(run, scope) : third(run, scope))
    case '@not_strictly_false':
      return (run, scope) => notStrictlyFalse(first, run, scope)
    default:
      return invocation(expression.name, overloads, args)
  }
}

const nothing: Evaluator = () => null

function invocation(name: string, overloads: readonly Overload[], args: readonly Evaluator[]): Evaluator {
  return (run, scope) => {
    const values = args.map((arg) => arg(run, scope))
    const overload = overloads.find(({ params }) =>
      params.every((param, index) => matches(values[index] ?? null, param)),
    )
    if (overload === undefined) throw noOverload(name, values)
    run.meter.spend(overload.cost(values.map(sizeOf), values))
    return overload.invoke(...(values as never[]))
  }
}

/** What has no elements at all has not the one that is asked for either (cel-go's `refQualify`). */
function noOverload(name: string, values: readonly CelValue[]): CelError {
  const [of = null, key = null] = values
  if (name === '_[_]' && isPlain(of)) return noSuchKey(key instanceof Uint ? key.value : key)
  return new CelError(`no such overload: ${name}(${values.map(typeName).join(', ')})`)
}

function mustBeBool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  throw new CelError('no such overload')
}

function notStrictlyFalse(operand: Evaluator, run: Run, scope: Scope | undefined): boolean {
  try {
    return operand(run, scope) !== false
  } catch (error) {
    if (error instanceof CelError) return true
    throw error
  }
}

/** Either side may decide alone: an error on the other is then none. */
function logical(left: Evaluator, right: Evaluator, deciding: boolean): Evaluator {
  return (run, scope) => {
    const one = attempt(left, run, scope)
    if (one === deciding) return deciding
    const other = attempt(right, run, scope)
    if (other === deciding) return deciding
    if (one instanceof CelError) throw one
    if (other instanceof CelError) throw other
    return !deciding
  }
}

function attempt(operand: Evaluator, run: Run, scope: Scope | undefined): boolean | CelError {
  try {
    return mustBeBool(operand(run, scope))
  } catch (error) {
    if (error instanceof CelError) return error
    throw error
  }
}
