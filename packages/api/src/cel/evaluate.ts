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
import type { Checked } from './check.ts'
import { checkPattern, isConstant, membershipOf } from './constants.ts'
import { CelCostExceeded, CelError, noSuchKey } from './errors.ts'
import { constantCost, costsByOverload, listCreation, matches, type Overload } from './functions.ts'
import { elementOf, notFound } from './library/operators.ts'
import { noOverload, notIterable } from './no-overload.ts'
import { CelList, CelMap, CelObject, type CelValue, Optional, sizeOf, TypeValue, Uint } from './values.ts'

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
  /** An error where an element could not be judged; a later one may decide nevertheless. Undefined until somebody asks. */
  value: CelValue | CelError | undefined
  readonly initial?: () => CelValue
  readonly outer: Scope | undefined
}

interface Run {
  readonly variables: ReadonlyMap<string, CelValue>
  readonly meter: CostMeter
}

export type Evaluator = (run: Run, scope: Scope | undefined) => CelValue

/** What the parts of an expression cost, as cel-go counts: looking at a variable or a field, making a list, a map, an object. */
export const costs = { look: 1, list: listCreation, map: 30, object: 40 } as const

/** What is known of an expression before it runs. */
interface Plan {
  readonly checked: Checked
  readonly constants: Map<Expression, CelValue>
}

/**
 * The function that evaluates an expression. What is constant in it is evaluated here, and costs nothing later. Throws a CelError
 * where a constant cannot be converted or is no pattern, even in a part that would never be reached.
 */
export function evaluatorOf(checked: Checked): Evaluator {
  return compile(checked.expression, { checked, constants: new Map() })
}

function compile(expression: Expression, plan: Plan): Evaluator {
  const named = plan.checked.typeNamed(expression)
  if (named !== undefined) {
    const type = new TypeValue(named)
    plan.constants.set(expression, type)
    return () => type
  }
  const evaluator = evaluatorFor(expression, plan)
  if (evaluator !== inNothing && !isConstant(expression, plan.constants)) return evaluator
  const value = constantValue(expression, evaluator)
  if (value === undefined) return evaluator
  plan.constants.set(expression, value)
  return () => value
}

function constantValue(expression: Expression, evaluator: Evaluator): CelValue | undefined {
  try {
    return evaluator({ variables: new Map(), meter: new CostMeter(Number.POSITIVE_INFINITY) }, undefined)
  } catch (error) {
    // What is wrong with the elements of a list or the keys of a map is told when they are wanted.
    if (expression.kind !== 'call' && error instanceof CelError) return undefined
    throw error
  }
}

function evaluatorFor(expression: Expression, plan: Plan): Evaluator {
  switch (expression.kind) {
    case 'literal': {
      const value = literalValue(expression.value)
      return () => value
    }
    case 'identifier':
      return identifier(expression.name, costs.look)
    case 'select':
      return select(expression, plan, costs.look)
    case 'call':
      return call(expression, plan)
    case 'list':
      return listLiteral(expression, plan)
    case 'map':
      return mapLiteral(expression, plan)
    case 'fold':
      return fold(expression, plan)
    case 'construct':
      return construct(expression, plan)
  }
}

function literalValue(value: Literal): CelValue {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return 'int' in value ? value.int : 'uint' in value ? new Uint(value.uint) : value.double
}

/** `look`: what looking at it costs. */
function identifier(name: string, look: number): Evaluator {
  const global = name.replace(/^\./, '')
  const isGlobal = name !== global
  return ({ variables, meter }, scope) => {
    meter.spend(look)
    if (!isGlobal) {
      for (let each = scope; each !== undefined; each = each.outer) {
        if (each.name !== name) continue
        if (each.value === undefined) each.value = each.initial?.() ?? null
        if (each.value instanceof CelError) throw each.value
        return each.value
      }
    }
    const value = variables.get(global)
    if (value !== undefined) return value
    if (variables.has(global)) return null
    throw new CelError(`no such attribute(s): ${name}`)
  }
}

/** What is looked up, step by step, from where it begins: what cel-go calls attributes. */
const isAttribute = (expression: Expression): boolean =>
  expression.kind === 'identifier' || expression.kind === 'select' || isIndex(expression) || isConditional(expression)

const isIndex = (expression: Expression): expression is IndexExpression =>
  expression.kind === 'call' && (expression.name === '_[_]' || expression.name === '_[?_]')

const isConditional = (expression: Expression): expression is ConditionalExpression =>
  expression.kind === 'call' && expression.name === '_?_:_'

interface IndexExpression extends CallExpression {
  readonly name: '_[_]' | '_[?_]'
}
interface ConditionalExpression extends CallExpression {
  readonly name: '_?_:_'
}

/** `look`: what it costs to look at the variable that an attribute begins with. As cel-go counts, nothing in a branch or an index. */
function attribute(expression: Expression, plan: Plan, look: number): Evaluator {
  if (expression.kind === 'identifier') return identifier(expression.name, look)
  if (expression.kind === 'select' && !expression.test) return select(expression, plan, look)
  return isIndex(expression) ? index(expression, plan, look) : compile(expression, plan)
}

/** What a step is taken from. A value that is no attribute is looked at as a variable is. */
function origin(expression: Expression, plan: Plan, look: number): Evaluator {
  if (isAttribute(expression)) return attribute(expression, plan, look)
  const evaluator = compile(expression, plan)
  return (run, scope) => {
    const value = evaluator(run, scope)
    run.meter.spend(look)
    return value
  }
}

function select(expression: SelectExpression, plan: Plan, look: number): Evaluator {
  const { field, test, optional } = expression
  const name = qualifiedName(expression.operand)
  const qualified = name === undefined ? undefined : `${name}.${field}`
  if (qualified !== undefined && plan.checked.variables.has(qualified)) return identifier(qualified, look)
  const operand = origin(expression.operand, plan, look)
  return (run, scope) => {
    const of = operand(run, scope)
    if (!test && !optional && !(of instanceof Optional)) return foundIn(of, field, run)
    const from = of instanceof Optional ? of.value : of
    const found = from === undefined ? undefined : memberOf(from, field)
    // As upstream has it, has() costs no more than what it looks into.
    return test ? found !== undefined : optionally(found, run)
  }
}

function foundIn(of: CelValue, field: string, { meter }: Run): CelValue {
  meter.spend(costs.look)
  const value = memberOf(of, field)
  if (value === undefined) throw noSuchKey(field)
  return value
}

/** As cel-go counts, only a step that finds something costs. */
function optionally(found: CelValue | undefined, { meter }: Run): Optional {
  if (found === undefined) return Optional.none
  meter.spend(costs.look)
  return new Optional(found)
}

function index(expression: CallExpression, plan: Plan, look: number): Evaluator {
  const [of, at] = expression.args as [Expression, Expression]
  const [operand, key] = [origin(of, plan, look), attribute(at, plan, 0)]
  const isOptional = expression.name === '_[?_]'
  return (run, scope) => {
    const [from, name] = [operand(run, scope), key(run, scope)]
    if (from instanceof Optional) return optionally(from.value && elementOf(from.value, name), run)
    if (isOptional) return optionally(elementOf(from, name), run)
    run.meter.spend(costs.look)
    const value = elementOf(from, name)
    if (value === undefined) throw notFound(from, name)
    return value
  }
}

/** A member; undefined where there is none of that name, or no members at all (cel-go's `refQualify`). */
function memberOf(value: CelValue, field: string): CelValue | undefined {
  if (value instanceof CelObject || value instanceof CelMap) return value.get(field)
  if (value instanceof CelList) throw new CelError("unsupported index type 'string' in list")
  return undefined
}

function listLiteral(expression: Extract<Expression, { kind: 'list' }>, plan: Plan): Evaluator {
  const elements = expression.elements.map(({ value, optional }) => ({ value: compile(value, plan), optional }))
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

function mapLiteral(expression: Extract<Expression, { kind: 'map' }>, plan: Plan): Evaluator {
  const entries = expression.entries.map(({ key, value, optional }) => ({
    key: compile(key, plan),
    value: compile(value, plan),
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

function construct(expression: ConstructExpression, plan: Plan): Evaluator {
  const { typeName } = expression
  const fields = expression.fields.map(({ name, value, optional }) => ({
    name,
    value: compile(value, plan),
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

function fold(expression: FoldExpression, plan: Plan): Evaluator {
  const [range, initial, condition, step, result] = [
    expression.range,
    expression.initial,
    expression.condition,
    expression.step,
    expression.result,
  ].map((each) => compile(each, plan)) as [Evaluator, Evaluator, Evaluator, Evaluator, Evaluator]
  return (run, scope) => {
    const over = range(run, scope)
    const accumulator: Scope = {
      name: expression.accumulator,
      value: undefined,
      initial: () => initial(run, scope),
      outer: scope,
    }
    if (!(over instanceof CelList) && !(over instanceof CelMap)) throw notIterable(over)
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

function call(expression: CallExpression, plan: Plan): Evaluator {
  if (isIndex(expression)) return index(expression, plan, costs.look)
  if (isConditional(expression)) return conditional(expression, plan)
  return invocation(expression, plan)
}

function invocation(expression: CallExpression, plan: Plan): Evaluator {
  const overloads = plan.checked.overloadsOf(expression)
  const method = overloads[0]?.method === true && expression.target !== undefined
  const operands = method && expression.target !== undefined ? [expression.target, ...expression.args] : expression.args
  const args = operands.map((each) => compile(each, plan))
  checkPattern(expression, operands, plan.constants)
  const [first = nothing, second = nothing] = args
  switch (expression.name) {
    case '_&&_':
      return logical(first, second, false)
    case '_||_':
      return logical(first, second, true)
    case 'or':
    case 'orValue':
      return otherwise(first, second, expression.name)
    case '@not_strictly_false':
      return (run, scope) => notStrictlyFalse(first, run, scope)
    case '@in': {
      const list = operands[1] && plan.constants.get(operands[1])
      const isMember = list instanceof CelList && overloads.length === 1 ? membershipOf(list) : undefined
      if (list instanceof CelList && list.length === 0 && isMember !== undefined) return inNothing
      if (isMember !== undefined) return (run, scope) => isMember(first(run, scope))
      return invoked(overloads, args)
    }
    default:
      return invoked(overloads, args)
  }
}

function conditional({ args }: CallExpression, plan: Plan): Evaluator {
  const [test, whenTrue, whenFalse] = args as [Expression, Expression, Expression]
  const condition = compile(test, plan)
  const [one, other] = [attribute(whenTrue, plan, 0), attribute(whenFalse, plan, 0)]
  return (run, scope) => (mustBeBool(condition(run, scope)) ? one(run, scope) : other(run, scope))
}

/** `a.or(b)` and `a.orValue(b)` look at `b` only where there is no `a`, and cost nothing themselves. */
function otherwise(optional: Evaluator, other: Evaluator, name: 'or' | 'orValue'): Evaluator {
  return (run, scope) => {
    const value = optional(run, scope)
    if (!(value instanceof Optional)) return value
    if (value.value === undefined) return other(run, scope)
    return name === 'or' ? value : value.value
  }
}

const nothing: Evaluator = () => null
/** What is looked for in an empty list is not even evaluated. */
const inNothing: Evaluator = () => false

function invoked(overloads: readonly Overload[], args: readonly Evaluator[]): Evaluator {
  const [{ name } = { name: '' }] = overloads
  const isCostKnown = overloads.length === 1 || !costsByOverload.has(name)
  const valuesOf = args.length === 2 ? ofBoth(args as [Evaluator, Evaluator]) : ofAll(args)
  return (run, scope) => {
    const values = valuesOf(run, scope)
    const overload = overloads.find(({ params }) =>
      params.every((param, index) => matches(values[index] ?? null, param)),
    )
    if (overload === undefined) {
      run.meter.spend(failedCallCost)
      throw noOverload(name, values)
    }
    run.meter.spend(isCostKnown ? overload.cost(values.map(sizeOf), values) : constantCost([], []))
    return overload.invoke(...(values as never[]))
  }
}

/** What a call costs that cannot be made. */
const failedCallCost = 1

type Values = (run: Run, scope: Scope | undefined) => readonly CelValue[]

/** As in cel-go a call of one argument that fails costs what any does; of more than two it costs nothing. */
const ofAll =
  (args: readonly Evaluator[]): Values =>
  (run, scope) =>
    args.map((arg) => (args.length === 1 ? unlessFailed(arg, run, scope) : arg(run, scope)))

function unlessFailed(arg: Evaluator, run: Run, scope: Scope | undefined): CelValue {
  const value = outcomeOf(arg, run, scope)
  if (!(value instanceof CelError)) return value
  run.meter.spend(failedCallCost)
  throw value
}

/** As in cel-go the second of two arguments is evaluated, even where the first fails. */
const ofBoth =
  ([first, second]: readonly [Evaluator, Evaluator]): Values =>
  (run, scope) => {
    const values = [outcomeOf(first, run, scope), outcomeOf(second, run, scope)] as const
    const failure = values.find((value) => value instanceof CelError)
    if (failure === undefined) return values as readonly CelValue[]
    run.meter.spend(failedCallCost)
    throw failure
  }

function outcomeOf(evaluator: Evaluator, run: Run, scope: Scope | undefined): CelValue | CelError {
  try {
    return evaluator(run, scope)
  } catch (error) {
    if (error instanceof CelError) return error
    throw error
  }
}

function mustBeBool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  throw new CelError('no such overload')
}

function notStrictlyFalse(operand: Evaluator, run: Run, scope: Scope | undefined): boolean {
  const value = attempt(operand, run, scope)
  run.meter.spend(costs.look)
  return value !== false
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
