/** Macros: calls that are rewritten while they are read, since they bind variables. */
import type { Expression, FoldExpression } from './ast.ts'
import { CelSyntaxError } from './errors.ts'

export interface MacroOptions {
  /** Whether `cel.bind` is one. */
  readonly bindings: boolean
}

/** The expression a call stands for, where it is one of a macro. */
export function expandMacro(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  offset: number,
  { bindings }: MacroOptions,
): Expression | undefined {
  if (target === undefined) {
    const [operand] = args
    return name === 'has' && args.length === 1 && operand !== undefined ? has(operand, offset) : undefined
  }
  if (bindings && name === 'bind' && args.length === 3 && target.kind === 'identifier' && target.name === 'cel') {
    return bind(args, offset)
  }
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) return optMap(name, target, args, offset)
  const macro = `${name}/${args.length}`
  const make = folds[macro] ?? twoVariableFolds[macro]
  return make?.(target, args, offset)
}

type Fold = (range: Expression, args: readonly Expression[], offset: number) => FoldExpression

/** The accumulator of the macros' loops; those that only bind a variable have it as accumulator. */
export const accumulatorName = '@result'

const folds: Readonly<Record<string, Fold>> = {
  'all/2': (range, [variable, test], offset) => {
    const at = build(offset)
    return at.fold(variable, range, {
      initial: at.literal(true),
      condition: at.call('@not_strictly_false', at.accumulator),
      step: at.call('_&&_', at.accumulator, test),
    })
  },
  'exists/2': (range, [variable, test], offset) => {
    const at = build(offset)
    return at.fold(variable, range, {
      initial: at.literal(false),
      condition: at.call('@not_strictly_false', at.call('!_', at.accumulator)),
      step: at.call('_||_', at.accumulator, test),
    })
  },
  'exists_one/2': existsOne,
  'map/2': (range, [variable, value], offset) => mapping(range, variable, undefined, value, offset),
  'map/3': (range, [variable, test, value], offset) => mapping(range, variable, test, value, offset),
  'filter/2': (range, [variable, test], offset) => {
    simpleName(variable, offset, notAnIdentifier)
    return collect(range, variable, test, variable, offset)
  },
  'sortBy/2': sortBy,
}

/** Macros over the index and the element of a list, or the key and the value of a map (cel-go's TwoVarComprehensions). */
const twoVariableFolds: Readonly<Record<string, Fold>> = {
  'all/3': ofElement('all/2'),
  'exists/3': ofElement('exists/2'),
  'exists_one/3': ofElement('exists_one/2'),
  'existsOne/3': ofElement('exists_one/2'),
  'transformList/3': (range, [first, second, value], offset) =>
    withSecond(collect(range, first, undefined, value, offset), second),
  'transformList/4': (range, [first, second, test, value], offset) =>
    withSecond(collect(range, first, test, value, offset), second),
  'transformMap/3': (range, [first, second, value], offset) =>
    inserting(range, [first, second], undefined, (first) => [first, value], offset),
  'transformMap/4': (range, [first, second, test, value], offset) =>
    inserting(range, [first, second], test, (first) => [first, value], offset),
  'transformMapEntry/3': (range, [first, second, entry], offset) =>
    inserting(range, [first, second], undefined, () => [entry], offset),
  'transformMapEntry/4': (range, [first, second, test, entry], offset) =>
    inserting(range, [first, second], test, () => [entry], offset),
}

/** The same macro with a variable for the index or key before that of the element. */
function ofElement(name: string): Fold {
  return (range, [first, second, ...rest], offset) => {
    const made = folds[name]?.(range, first === undefined ? rest : [first, ...rest], offset)
    return withSecond(made as FoldExpression, second)
  }
}

function withSecond(fold: FoldExpression, second: Expression | undefined): FoldExpression {
  const name = simpleName(second, fold.offset)
  if (name === fold.variable)
    throw new CelSyntaxError(second?.offset ?? fold.offset, `duplicate variable name: ${name}`)
  return { ...fold, second: name }
}

/** What an argument names; it may not be the accumulator that other implementations have. */
function simpleName(
  argument: Expression | undefined,
  offset: number,
  otherwise = 'argument must be a simple name',
): string {
  if (argument?.kind !== 'identifier' || argument.name.startsWith('.')) {
    throw new CelSyntaxError(argument?.offset ?? offset, otherwise)
  }
  if (argument.name !== '__result__') return argument.name
  throw new CelSyntaxError(argument.offset, 'iteration variable overwrites accumulator variable')
}

/** Makes a map; `added` are a key and its value, or a map of such. */
function inserting(
  range: Expression,
  [first, second]: readonly (Expression | undefined)[],
  test: Expression | undefined,
  added: (first: Expression | undefined) => readonly (Expression | undefined)[],
  offset: number,
): FoldExpression {
  const at = build(offset)
  const inserted = at.call('@mapInsert', at.accumulator, ...added(first))
  const fold = at.fold(first, range, {
    initial: { kind: 'map', entries: [], offset },
    step: test === undefined ? inserted : at.call('_?_:_', test, inserted, at.accumulator),
  })
  return withSecond(fold, second)
}

function existsOne(range: Expression, [variable, test]: readonly Expression[], offset: number): FoldExpression {
  const at = build(offset)
  return at.fold(variable, range, {
    initial: at.literal({ int: 0n }),
    step: at.call('_?_:_', test, at.call('_+_', at.accumulator, at.literal({ int: 1n })), at.accumulator),
    result: at.call('_==_', at.accumulator, at.literal({ int: 1n })),
  })
}

/** Sorts what is bound to a name by the keys that a loop over it makes. */
function sortBy(list: Expression, [variable, key]: readonly Expression[], offset: number): FoldExpression {
  if (list.kind === 'literal' || list.kind === 'map' || list.kind === 'construct') {
    const problem = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression'
    throw new CelSyntaxError(list.offset, problem)
  }
  const name = '@__sortBy_input__'
  const input: Expression = { kind: 'identifier', name, offset }
  const keys = mapping({ ...input }, variable, undefined, key, offset)
  const sorted: Expression = { kind: 'call', name: '@sortByAssociatedKeys', target: input, args: [keys], offset }
  return boundTo(name, list, sorted, offset)
}

function mapping(...[range, variable, test, value, offset]: Parameters<typeof collect>): FoldExpression {
  simpleName(variable, offset, notAnIdentifier)
  return collect(range, variable, test, value, offset)
}

const notAnIdentifier = 'argument is not an identifier'

function collect(
  range: Expression,
  variable: Expression | undefined,
  test: Expression | undefined,
  value: Expression | undefined,
  offset: number,
): FoldExpression {
  const at = build(offset)
  const added = at.call('_+_', at.accumulator, at.list(value))
  return at.fold(variable, range, {
    initial: at.list(),
    step: test === undefined ? added : at.call('_?_:_', test, added, at.accumulator),
  })
}

function has(operand: Expression, offset: number): Expression {
  if (operand.kind !== 'select' || operand.optional) {
    throw new CelSyntaxError(operand.offset, 'invalid argument to has() macro')
  }
  return { ...operand, test: true, offset }
}

/** A loop that runs not once: the variable is the accumulator. */
function bind([variable, value, body]: readonly Expression[], offset: number): Expression {
  if (variable?.kind !== 'identifier' || value === undefined || body === undefined) {
    throw new CelSyntaxError(variable?.offset ?? offset, 'cel.bind() variable names must be simple identifiers')
  }
  return boundTo(variable.name, value, body, offset)
}

function boundTo(name: string, value: Expression, result: Expression, offset: number): FoldExpression {
  const at = build(offset)
  const step: Expression = { kind: 'identifier', name, offset }
  const condition = at.literal(false)
  return {
    kind: 'fold',
    variable: '#unused',
    range: at.list(),
    accumulator: name,
    initial: value,
    condition,
    step,
    result,
    offset,
  }
}

function optMap(
  name: string,
  target: Expression,
  [variable, value]: readonly Expression[],
  offset: number,
): Expression {
  if (variable?.kind !== 'identifier' || value === undefined) {
    throw new CelSyntaxError(variable?.offset ?? offset, `${name}() variable name must be a simple identifier`)
  }
  const at = build(offset)
  const call = (method: string, ...args: readonly Expression[]): Expression => ({
    kind: 'call',
    name: method,
    target,
    args,
    offset,
  })
  const optional: Expression = { kind: 'identifier', name: 'optional', offset }
  const bound = boundTo(variable.name, call('value'), value, offset)
  const some: Expression =
    name === 'optMap' ? { kind: 'call', name: 'of', target: optional, args: [bound], offset } : bound
  const none: Expression = { kind: 'call', name: 'none', target: optional, args: [], offset }
  return at.call('_?_:_', call('hasValue'), some, none)
}

interface FoldParts {
  readonly initial: Expression
  readonly condition?: Expression
  readonly step: Expression
  readonly result?: Expression
}

/** Makes expressions that all stand at one place. */
function build(offset: number) {
  const literal = (value: boolean | { readonly int: bigint }): Expression => ({ kind: 'literal', value, offset })
  const accumulator: Expression = { kind: 'identifier', name: accumulatorName, offset }
  const known = (expression: Expression | undefined): Expression => {
    if (expression === undefined) throw new CelSyntaxError(offset, 'argument missing')
    return expression
  }
  return {
    literal,
    accumulator,
    call: (name: string, ...args: readonly (Expression | undefined)[]): Expression => ({
      kind: 'call',
      name,
      args: args.map(known),
      offset,
    }),
    list: (...values: readonly (Expression | undefined)[]): Expression => ({
      kind: 'list',
      elements: values.map((value) => ({ value: known(value), optional: false })),
      offset,
    }),
    fold: (variable: Expression | undefined, range: Expression, parts: FoldParts): FoldExpression => {
      return {
        kind: 'fold',
        variable: simpleName(variable, offset),
        range,
        accumulator: accumulatorName,
        condition: literal(true),
        result: accumulator,
        ...parts,
        offset,
      }
    },
  }
}
