/** Expressions after parsing. Macros are gone: what is left are calls, selections, literals and folds. */

/** A value that stands in the text itself. */
export type Literal =
  | null
  | boolean
  | string
  | Uint8Array
  | { readonly int: bigint }
  | { readonly uint: bigint }
  | { readonly double: number }

interface Node {
  /** Where in the text it begins. */
  readonly offset: number
}

export type Expression = Node &
  (
    | { readonly kind: 'literal'; readonly value: Literal }
    | { readonly kind: 'identifier'; readonly name: string }
    | SelectExpression
    | CallExpression
    | { readonly kind: 'list'; readonly elements: readonly Element[] }
    | { readonly kind: 'map'; readonly entries: readonly Entry[] }
    | FoldExpression
    | ConstructExpression
  )

/** `operand.field`; with `test` whether the field is there: `has(operand.field)`; with `optional` `operand.?field`. */
export interface SelectExpression extends Node {
  readonly kind: 'select'
  readonly operand: Expression
  readonly field: string
  readonly test: boolean
  readonly optional: boolean
}

/** `Type.name{field: value}`: an object of a type that a library or the surroundings know. */
export interface ConstructExpression extends Node {
  readonly kind: 'construct'
  readonly typeName: string
  readonly fields: readonly ConstructedField[]
}

export interface ConstructedField {
  readonly name: string
  readonly value: Expression
  /** `?field: value`: left out where the optional is empty. */
  readonly optional: boolean
  readonly offset: number
}

/** Operators are calls as well, under the names that CEL gives them: `_+_`, `_[_]`, `_?_:_`. */
export interface CallExpression extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target?: Expression
  readonly args: readonly Expression[]
}

/** What the macros over lists and maps become: a loop with an accumulator. */
export interface FoldExpression extends Node {
  readonly kind: 'fold'
  /** Holds the element of a list, or the key of a map; with `second` the index instead of the element. */
  readonly variable: string
  /** Holds the element of a list, or the value of a map's key. */
  readonly second?: string
  readonly range: Expression
  readonly accumulator: string
  readonly initial: Expression
  /** While it is true the loop goes on. */
  readonly condition: Expression
  readonly step: Expression
  readonly result: Expression
}

export interface Element {
  readonly value: Expression
  /** `[?value]`: left out where the optional is empty. */
  readonly optional: boolean
}

export interface Entry {
  readonly key: Expression
  readonly value: Expression
  readonly optional: boolean
}

/** `a.b` of the expression that says so. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name
  if (expression.kind !== 'select' || expression.test || expression.optional) return undefined
  const operand = qualifiedName(expression.operand)
  return operand === undefined ? undefined : `${operand}.${expression.field}`
}

/** Whether an expression selects `field` of a variable somewhere: `variable.field`, `variable.?field` or `has(variable.field)`. */
export function selects(expression: Expression, variable: string, field: string): boolean {
  if (expression.kind === 'select') {
    const { operand } = expression
    if (expression.field === field && operand.kind === 'identifier' && operand.name === variable) return true
  }
  return partsOf(expression).some((part) => selects(part, variable, field))
}

/** The expressions that an expression is directly made of. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [expression.operand]
    case 'call':
      return [...(expression.target === undefined ? [] : [expression.target]), ...expression.args]
    case 'list':
      return expression.elements.map(({ value }) => value)
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value])
    case 'construct':
      return expression.fields.map(({ value }) => value)
    case 'fold': {
      const { range, initial, condition, step, result } = expression
      return [range, initial, condition, step, result]
    }
  }
}
