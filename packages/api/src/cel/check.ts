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
import { CelSyntaxError } from './errors.ts'
import type { Overload } from './functions.ts'
import {
  type Bindings,
  type CelType,
  fieldNamed,
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
  /** Names of variables that it uses, apart from its own. */
  readonly variables: ReadonlySet<string>
}

/** Types are named like functions that make values of them. */
export const typeNames: ReadonlyMap<string, string> = new Map([
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type', 'optional_type'].map(
    (name) => [name, name] as const,
  ),
])

/** The types that expressions may make objects of, by their names. */
export type ConstructibleTypes = (name: string) => ConstructibleType | undefined

export interface ConstructibleType {
  readonly type: CelType
  /** Undefined for what is no field of the type. */
  fieldType(name: string): CelType | undefined
}

/** Whether what stands in one list, or as keys or values in one map, may be of several types: Kubernetes does not let it. */
export type AggregateLiterals = 'mixed' | 'alike'

/** Finds the types of an expression over these variables. Throws CelSyntaxError where it does not fit. */
export function checkCel(
  expression: Expression,
  variables: ReadonlyMap<string, CelType>,
  functions: FunctionTable,
  constructible: ConstructibleTypes = () => undefined,
  literals: AggregateLiterals = 'mixed',
): Checked {
  const checker = new Checker(variables, functions, constructible, literals)
  const type = checker.check(expression, undefined)
  return {
    expression,
    type,
    typeOf: (each) => checker.types.get(each) ?? types.dyn,
    overloadsOf: (call) => checker.overloads.get(call) ?? [],
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
  readonly used = new Set<string>()
  readonly #variables: ReadonlyMap<string, CelType>
  readonly #functions: FunctionTable
  readonly #constructible: ConstructibleTypes
  readonly #literals: AggregateLiterals

  constructor(
    variables: ReadonlyMap<string, CelType>,
    functions: FunctionTable,
    constructible: ConstructibleTypes,
    literals: AggregateLiterals,
  ) {
    this.#literals = literals
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
        return this.#identifier(expression.name, expression.offset, scope)
      case 'select':
        return this.#select(expression, scope)
      case 'call':
        return this.#call(expression, scope)
      case 'list': {
        const elements = expression.elements.map(({ value, optional }) => element(this.check(value, scope), optional))
        if (this.#literals === 'alike') checkAlike(elements, (index) => expression.elements[index]?.value)
        return { ...listOf(joined(elements)), maxSize: elements.length } as CelType
      }
      case 'map': {
        const keys = expression.entries.map(({ key }) => this.check(key, scope))
        const values = expression.entries.map(({ value, optional }) => element(this.check(value, scope), optional))
        if (this.#literals === 'alike') {
          checkAlike(keys, (index) => expression.entries[index]?.key)
          checkAlike(values, (index) => expression.entries[index]?.value)
        }
        return { ...mapOf(joined(keys), joined(values)), maxSize: keys.length } as CelType
      }
      case 'fold':
        return this.#fold(expression, scope)
      case 'construct':
        return this.#construct(expression, scope)
    }
  }

  #construct({ typeName, fields, offset }: ConstructExpression, scope: Scope | undefined): CelType {
    const constructed = this.#constructible(typeName)
    if (constructed === undefined) {
      throw new CelSyntaxError(offset, `undeclared reference to '${typeName}' (in container '')`)
    }
    for (const field of fields) {
      const wanted = constructed.fieldType(field.name)
      if (wanted === undefined) throw new CelSyntaxError(field.offset, `undefined field '${field.name}'`)
      const given = element(this.check(field.value, scope), field.optional)
      if (isAssignable(given, wanted, new Map())) continue
      const problem = `expected type of field '${field.name}' is '${typeText(wanted)}' but provided type is '${typeText(given)}'`
      throw new CelSyntaxError(field.offset, problem)
    }
    return constructed.type
  }

  #identifier(name: string, offset: number, scope: Scope | undefined): CelType {
    const local = name.startsWith('.') ? undefined : find(name, scope)
    if (local !== undefined) return local
    const global = name.replace(/^\./, '')
    const type = this.#variables.get(global)
    if (type !== undefined) {
      this.used.add(global)
      return type
    }
    if (typeNames.has(global)) return types.type
    throw new CelSyntaxError(offset, `undeclared reference to '${name}' (in container '')`)
  }

  #select({ operand, field, test, optional, offset }: SelectExpression, scope: Scope | undefined): CelType {
    const qualified = qualifiedName(operand)
    if (qualified !== undefined && find(qualified.split('.')[0] ?? '', scope) === undefined) {
      const type = this.#variables.get(`${qualified}.${field}`)
      if (type !== undefined) {
        this.used.add(`${qualified}.${field}`)
        return test ? types.bool : type
      }
    }
    const of = this.check(operand, scope)
    const isOptional = of.kind === 'optional'
    const type = fieldType(isOptional ? of.of : of, field, offset)
    if (test) return types.bool
    return isOptional || optional ? (type.kind === 'optional' ? type : optionalOf(type)) : type
  }

  #call(call: CallExpression, scope: Scope | undefined): CelType {
    const name = this.#functionName(call, scope)
    const method = call.target !== undefined && name === call.name
    const operands = method && call.target !== undefined ? [call.target, ...call.args] : call.args
    const args = operands.map((each) => this.check(each, scope))
    if (name === '_&&_' || name === '_||_') {
      operands.forEach((operand, index) => {
        requireBool(operand, args[index] ?? types.dyn)
      })
    }
    const candidates: { readonly overload: Overload; readonly result: CelType }[] = []
    const known = this.#functions.get(name)
    for (const overload of known ?? []) {
      if (overload.method !== method || overload.params.length !== args.length) continue
      const bindings: Bindings = new Map()
      const isFit = overload.params.every((param, index) => isAssignable(args[index] ?? types.dyn, param, bindings))
      if (isFit) candidates.push({ overload, result: substitute(overload.result, bindings) })
    }
    if (candidates.length === 0) {
      if (known === undefined)
        throw new CelSyntaxError(call.offset, `undeclared reference to '${name}' (in container '')`)
      const shown = method
        ? `${typeText(args[0] ?? types.dyn)}.(${args.slice(1).map(typeText).join(', ')})`
        : `(${args.map(typeText).join(', ')})`
      throw new CelSyntaxError(call.offset, `found no matching overload for '${name}' applied to '${shown}'`)
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
    const elementType =
      range.kind === 'list'
        ? range.element
        : range.kind === 'map'
          ? range.key
          : range.kind === 'dyn'
            ? types.dyn
            : undefined
    if (elementType === undefined) {
      const text = `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`
      throw new CelSyntaxError(fold.range.offset, text)
    }
    const initial = this.check(fold.initial, scope)
    const outer: Scope = { name: fold.accumulator, type: initial, outer: scope }
    const inner = variablesOf(fold, range, elementType, outer)
    this.#mustBeBool(fold.condition, inner)
    const step = this.check(fold.step, inner)
    const isFit = isAssignable(step, initial, new Map())
    if (!isFit) {
      const text = `found no matching overload for '_?_:_' applied to '(${typeText(initial)}, ${typeText(step)})'`
      throw new CelSyntaxError(fold.step.offset, text)
    }
    // The list that a loop makes holds what its steps add.
    const made = step.kind === 'list' && range.kind === 'list' ? { ...step, maxSize: range.maxSize ?? Infinity } : step
    return this.check(fold.result, { name: fold.accumulator, type: made as CelType, outer: scope })
  }

  #mustBeBool(expression: Expression, scope: Scope): void {
    requireBool(expression, this.check(expression, scope))
  }
}

function requireBool({ offset }: Expression, type: CelType): void {
  if (isAssignable(type, types.bool, new Map())) return
  throw new CelSyntaxError(offset, `expected type 'bool' but found '${typeText(type)}'`)
}

function find(name: string, scope: Scope | undefined): CelType | undefined {
  for (let each = scope; each !== undefined; each = each.outer) if (each.name === name) return each.type
  return undefined
}

function element(type: CelType, optional: boolean): CelType {
  return optional && type.kind === 'optional' ? type.of : type
}

function fieldType(type: CelType, field: string, offset: number): CelType {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return types.dyn
    case 'map':
      return type.value
    case 'object': {
      const found = fieldNamed(type.fields, field)
      if (found !== undefined) return found
      throw new CelSyntaxError(offset, `undefined field '${field}'`)
    }
    default:
      throw new CelSyntaxError(offset, `type '${typeText(type)}' does not support field selection`)
  }
}

function literalType(value: Literal): CelType {
  if (value === null) return types.null
  if (typeof value === 'boolean') return types.bool
  if (typeof value === 'string') return { kind: 'string', maxSize: value.length }
  if (value instanceof Uint8Array) return { kind: 'bytes', maxSize: value.length }
  return 'int' in value ? types.int : 'uint' in value ? types.uint : types.double
}

/** What the variables of a loop hold: with two of them the first is the index of a list, or the key of a map. */
function variablesOf(fold: FoldExpression, range: CelType, elementType: CelType, outer: Scope): Scope {
  if (fold.second === undefined) return { name: fold.variable, type: elementType, outer }
  const [first, second] =
    range.kind === 'list'
      ? [types.int, range.element]
      : range.kind === 'map'
        ? [range.key, range.value]
        : [types.dyn, types.dyn]
  return { name: fold.second, type: second, outer: { name: fold.variable, type: first, outer } }
}

/** Refuses what is of another type than what stands before it. */
function checkAlike(all: readonly CelType[], expressionAt: (index: number) => Expression | undefined): void {
  all.forEach((type, index) => {
    const before = all[index - 1]
    if (before === undefined || isAssignable(before, type, new Map()) || isAssignable(type, before, new Map())) return
    const { offset } = expressionAt(index) ?? { offset: 0 }
    throw new CelSyntaxError(offset, `expected type '${typeText(before)}' but found '${typeText(type)}'`)
  })
}
