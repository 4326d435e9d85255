/** Types of an expression, found without running it: what does not fit is refused when the rule is written. */
import {
  type CallExpression,
  type ConstructExpression,
  type Expression,
  type FoldExpression,
  type Literal,
  qualifiedName,
  type SelectExpression,
} from './ast.ts'
import { CelCheckError, type CelProblem } from './errors.ts'
import type { Overload } from './functions.ts'
import {
  type Bindings,
  type CelType,
  commonType,
  fieldNamed,
  hasUnknown,
  isAssignable,
  joined,
  listOf,
  mapOf,
  optionalOf,
  substitute,
  types,
  typeText,
} from './types.ts'

/** Functions by name. */
export type FunctionTable = ReadonlyMap<string, readonly Overload[]>

/** An expression of which everything is known but the values. */
export interface Checked {
  readonly expression: Expression
  readonly type: CelType
  readonly typeOf: (expression: Expression) => CelType
  /** The functions a call may mean; more than one where types are only known when it runs. */
  readonly overloadsOf: (call: CallExpression) => readonly Overload[]
  /** The names of types that parts of it stand for. */
  readonly typeNamed: (expression: Expression) => string | undefined
  /** Names of variables that it uses, apart from its own. */
  readonly variables: ReadonlySet<string>
}

/** Types that expressions can name. */
export const typeNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'type'] as const).map(
    (name) => [name, types[name]] as const,
  ),
  ['list', listOf(types.dyn)],
  ['map', mapOf(types.dyn, types.dyn)],
  ['null_type', types.null],
  ['optional_type', optionalOf(types.dyn)],
  ['google.protobuf.Duration', types.duration],
  ['google.protobuf.Timestamp', types.timestamp],
  ['net.IP', { kind: 'opaque', name: 'net.IP' }],
  ['net.CIDR', { kind: 'opaque', name: 'net.CIDR' }],
])

/** The types that expressions may make objects of, by their names. */
export type ConstructibleTypes = (name: string) => ConstructibleType | undefined

export interface ConstructibleType {
  readonly type: CelType
  /** Undefined for what is no field of the type. */
  fieldType(name: string): CelType | undefined
}

/** Finds the types of an expression over these variables. Throws a CelCheckError with all that does not fit. */
export function checkCel(
  expression: Expression,
  variables: ReadonlyMap<string, CelType>,
  functions: FunctionTable,
  constructible: ConstructibleTypes = () => undefined,
): Checked {
  const checker = new Checker(variables, functions, constructible)
  const type = checker.check(expression, undefined)
  if (checker.problems.length > 0) throw new CelCheckError(checker.problems)
  return {
    expression,
    type,
    typeOf: (each) => checker.types.get(each) ?? types.dyn,
    overloadsOf: (call) => checker.overloads.get(call) ?? [],
    typeNamed: (each) => checker.typeNames.get(each),
    variables: checker.used,
  }
}

/** Variables of loops, innermost first. */
interface Scope {
  readonly name: string
  readonly type: CelType
  readonly outer: Scope | undefined
}

class Checker {
  readonly types = new Map<Expression, CelType>()
  readonly overloads = new Map<CallExpression, readonly Overload[]>()
  readonly typeNames = new Map<Expression, string>()
  readonly used = new Set<string>()
  readonly problems: CelProblem[] = []
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #functions: FunctionTable
  readonly #constructible: ConstructibleTypes

  constructor(variables: ReadonlyMap<string, CelType>, functions: FunctionTable, constructible: ConstructibleTypes) {
    this.#variables = variables
    this.#functions = functions
    this.#constructible = constructible
  }

  check(expression: Expression, scope: Scope | undefined): CelType {
    const type = this.#typeOf(expression, scope)
    this.types.set(expression, type)
    return type
  }

  #typeOf(expression: Expression, scope: Scope | undefined): CelType {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value)
      case 'identifier':
        return this.#identifier(expression, expression.name, scope)
      case 'select':
        return this.#select(expression, scope)
      case 'call':
        return this.#call(expression, scope)
      case 'list': {
        const elements = expression.elements.map(({ value, optional }) => this.#element(value, optional, scope))
        return { ...listOf(commonType(elements)), maxSize: elements.length } as CelType
      }
      case 'map': {
        const keys = expression.entries.map(({ key }) => this.check(key, scope))
        const values = expression.entries.map(({ value, optional }) => this.#element(value, optional, scope))
        return { ...mapOf(commonType(keys), commonType(values)), maxSize: keys.length } as CelType
      }
      case 'fold':
        return this.#fold(expression, scope)
      case 'construct':
        return this.#construct(expression, scope)
    }
  }

  /** Tells a problem; what has it is of no type that could be wrong once more. */
  #problem(offset: number, message: string): CelType {
    this.problems.push({ offset, message })
    return types.error
  }

  #mismatch(offset: number, wanted: CelType, given: CelType): CelType {
    return this.#problem(offset, `expected type '${typeText(wanted)}' but found '${typeText(given)}'`)
  }

  /** The type of what is put into a list, a map or a field; with `optional` only where there is something. */
  #element(value: Expression, optional: boolean, scope: Scope | undefined): CelType {
    const type = this.check(value, scope)
    if (!optional) return type
    if (type.kind === 'optional') return type.of
    if (type.kind !== 'dyn') this.#mismatch(value.offset, optionalOf(type), type)
    return type
  }

  #construct({ typeName, fields, offset }: ConstructExpression, scope: Scope | undefined): CelType {
    const constructed = this.#constructible(typeName)
    if (constructed === undefined) {
      if (typeNames.has(typeName)) return this.#problem(offset, `'${typeName}' is not a message type`)
      return this.#undeclared(offset, typeName)
    }
    for (const field of fields) {
      const given = this.#element(field.value, field.optional, scope)
      const wanted = constructed.fieldType(field.name)
      if (wanted === undefined) {
        this.#problem(field.offset, `undefined field '${field.name}'`)
        continue
      }
      if (isAssignable(given, wanted, new Map())) continue
      const problem = `expected type of field '${field.name}' is '${typeText(wanted)}' but provided type is '${typeText(given)}'`
      this.#problem(field.offset, problem)
    }
    return constructed.type
  }

  #undeclared(offset: number, name: string): CelType {
    return this.#problem(offset, `undeclared reference to '${name}' (in container '')`)
  }

  #identifier(expression: Expression, name: string, scope: Scope | undefined): CelType {
    const local = name.startsWith('.') ? undefined : find(name, scope)
    if (local !== undefined) return local
    const global = name.replace(/^\./, '')
    const type = this.#variables.get(global)
    if (type !== undefined) {
      this.used.add(global)
      return type
    }
    return this.#namedType(expression, global) ?? this.#undeclared(expression.offset, name)
  }

  /** Undefined where there is no type of this name. */
  #namedType(expression: Expression, name: string): CelType | undefined {
    const named = typeNames.get(name)
    if (named === undefined) return undefined
    this.typeNames.set(expression, name)
    return { kind: 'type', of: named }
  }

  #select(expression: SelectExpression, scope: Scope | undefined): CelType {
    const { operand, field, test, optional, offset } = expression
    const qualified = qualifiedName(operand)
    if (qualified !== undefined && find(qualified.split('.')[0] ?? '', scope) === undefined) {
      const type = this.#variables.get(`${qualified}.${field}`)
      if (type !== undefined) {
        this.used.add(`${qualified}.${field}`)
        return test ? types.bool : type
      }
      const name = `${qualified.replace(/^\./, '')}.${field}`
      const named = test || optional ? undefined : this.#namedType(expression, name)
      if (named !== undefined) return named
    }
    const of = this.check(operand, scope)
    const isOptional = of.kind === 'optional'
    const type = this.#fieldType(isOptional ? of.of : of, field, offset)
    if (test) return types.bool
    return isOptional || optional ? optionalOf(type) : type
  }

  #call(call: CallExpression, scope: Scope | undefined): CelType {
    const name = this.#functionName(call, scope)
    const method = call.target !== undefined && name === call.name
    const operands = method && call.target !== undefined ? [call.target, ...call.args] : call.args
    const args = operands.map((each) => this.check(each, scope))
    if (name === '_&&_' || name === '_||_') {
      const areBool = operands.map((operand, index) => this.#mustBeBool(operand, args[index] ?? types.dyn))
      if (areBool.includes(false)) return types.error
    }
    const candidates: { readonly overload: Overload; readonly result: CelType }[] = []
    const known = this.#functions.get(name)
    for (const overload of known ?? []) {
      if (overload.method !== method || overload.params.length !== args.length) continue
      const bindings: Bindings = new Map()
      const isFit = overload.params.every((param, index) => isAssignable(args[index] ?? types.dyn, param, bindings))
      if (!isFit) continue
      candidates.push({ overload, result: substitute(overload.result, bindings) })
      // As in cel-go elements of which nothing is known become those that the first overload wants.
      if (args.some((arg, index) => becomesKnown(arg, overload.params[index]))) break
    }
    if (candidates.length === 0) {
      if (known === undefined) return this.#undeclared(call.offset, name)
      const shown = method
        ? `${typeText(args[0] ?? types.dyn)}.(${args.slice(1).map(typeText).join(', ')})`
        : `(${args.map(typeText).join(', ')})`
      return this.#problem(call.offset, `found no matching overload for '${name}' applied to '${shown}'`)
    }
    this.overloads.set(
      call,
      candidates.map(({ overload }) => overload),
    )
    return joined(candidates.map(({ result }) => result))
  }

  /** A function with a namespace looks like a method of a variable. */
  #functionName({ name, target }: CallExpression, scope: Scope | undefined): string {
    const qualified = target === undefined ? undefined : qualifiedName(target)
    if (qualified === undefined || find(qualified, scope) !== undefined || this.#variables.has(qualified)) return name
    return this.#functions.has(`${qualified}.${name}`) ? `${qualified}.${name}` : name
  }

  #fold(fold: FoldExpression, scope: Scope | undefined): CelType {
    const range = this.check(fold.range, scope)
    const elementType = this.#elementType(range, fold.range.offset)
    const initial = this.check(fold.initial, scope)
    const outer: Scope = { name: fold.accumulator, type: initial, outer: scope }
    const inner = variablesOf(fold, range, elementType, outer)
    this.#mustBeBool(fold.condition, this.check(fold.condition, inner))
    const step = this.check(fold.step, inner)
    const isFit = isAssignable(step, initial, new Map())
    if (!isFit) this.#mismatch(fold.step.offset, initial, step)
    const made = isFit && step.kind !== 'error' ? step : initial
    // The list that a loop makes holds what its steps add.
    const sized = made.kind === 'list' && range.kind === 'list' ? { ...made, maxSize: range.maxSize ?? Infinity } : made
    return this.check(fold.result, { name: fold.accumulator, type: sized as CelType, outer: scope })
  }

  /** What the variable of a loop holds. */
  #elementType(range: CelType, offset: number): CelType {
    switch (range.kind) {
      case 'list':
        return range.element
      case 'map':
        return range.key
      case 'dyn':
      case 'error':
        return types.dyn
      default:
        return this.#problem(
          offset,
          `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
    }
  }

  #mustBeBool({ offset }: Expression, type: CelType): boolean {
    if (isAssignable(type, types.bool, new Map())) return true
    this.#mismatch(offset, types.bool, type)
    return false
  }

  #fieldType(type: CelType, field: string, offset: number): CelType {
    switch (type.kind) {
      case 'dyn':
      case 'param':
      case 'error':
        return types.dyn
      case 'map':
        return type.value
      case 'object':
        return fieldNamed(type.fields, field) ?? this.#problem(offset, `undefined field '${field}'`)
      default:
        this.#problem(offset, `type '${typeText(type)}' does not support field selection`)
        return types.dyn
    }
  }
}

function find(name: string, scope: Scope | undefined): CelType | undefined {
  for (let each = scope; each !== undefined; each = each.outer) if (each.name === name) return each.type
  return undefined
}

function literalType(value: Literal): CelType {
  if (value === null) return types.null
  if (typeof value === 'boolean') return types.bool
  if (typeof value === 'string') return { kind: 'string', maxSize: value.length }
  if (value instanceof Uint8Array) return { kind: 'bytes', maxSize: value.length }
  return 'int' in value ? types.int : 'uint' in value ? types.uint : types.double
}

/** Whether of the elements of a list nothing is known until a parameter wants some of one type, as those of `max()` and `sort()` do. */
const becomesKnown = (given: CelType, wanted: CelType | undefined): boolean =>
  given.kind === 'list' && hasUnknown(given.element) && wanted?.kind === 'list' && !hasUnknown(wanted)

/** What the variables of a loop hold: with two of them the first is the index of a list, or the key of a map. */
function variablesOf(fold: FoldExpression, range: CelType, elementType: CelType, outer: Scope): Scope {
  if (fold.second === undefined) return { name: fold.variable, type: elementType, outer }
  const [first, second] =
    range.kind === 'list'
      ? [types.int, range.element]
      : range.kind === 'map'
        ? [range.key, range.value]
        : [elementType, elementType]
  return { name: fold.second, type: second, outer: { name: fold.variable, type: first, outer } }
}
