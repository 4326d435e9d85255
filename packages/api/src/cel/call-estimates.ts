/** What calls may cost at most, by the sizes of what they are given: of CEL itself as cel-go has it, of its extensions as Kubernetes. */
import type { Expression } from './ast.ts'
import { costs } from './evaluate.ts'
import { authorizationCost, type Overload, regexTraversal, selectorCost, stringTraversal } from './functions.ts'
import { exactly, plus, type Range, scaled, times, unbounded } from './ranges.ts'
import type { CelType } from './types.ts'

/** What is known of the target or an argument of a call. */
export interface Operand {
  readonly expression: Expression
  readonly type: CelType
  readonly size: Range | undefined
  /** The size of the elements, where it is a list whose path is known. */
  readonly elementSize: Range | undefined
}

export interface CallEstimate {
  readonly cost: Range
  /** The size of the result, where it has one that is known. */
  readonly size?: Range | undefined
}

/** The cost of a call without that of its target and arguments. */
export function estimateCall(overload: Overload, target: Operand | undefined, args: readonly Operand[]): CallEstimate {
  return estimates[overload.name]?.({ overload, target, args }) ?? { cost: exactly(1) }
}

interface Call {
  readonly overload: Overload
  readonly target: Operand | undefined
  readonly args: readonly Operand[]
}

/** Undefined where a call costs what any other does. */
type Estimate = (call: Call) => CallEstimate | undefined

const sizeOf = (operand: Operand | undefined): Range => operand?.size ?? unbounded
/** Looks through a text once. */
const traversal = (text: Range): Range => scaled(text, stringTraversal)

const onTarget =
  (estimate: (target: Operand, args: readonly Operand[]) => CallEstimate): Estimate =>
  ({ target, args }) =>
    target === undefined ? undefined : estimate(target, args)

/** Makes a text of the same length. */
const rewriting: Estimate = onTarget((target) => ({ cost: traversal(sizeOf(target)), size: sizeOf(target) }))

/** Reads a text as something else. */
const parsing =
  (walks: number): Estimate =>
  ({ args: [text] }) => ({ cost: scaled(sizeOf(text), walks * stringTraversal) })

/** Looks at each element of a list, and through it where it is a text; or through a text. */
const searching: Estimate = onTarget((target) => {
  const size = sizeOf(target)
  if (target.type.kind !== 'list') return { cost: traversal(size) }
  const isText = target.type.element.kind === 'string' || target.type.element.kind === 'bytes'
  const perElement = isText ? plus(exactly(1), traversal(target.elementSize ?? unbounded)) : exactly(1)
  return { cost: times(size, perElement) }
})

/** One more character, so that an expensive pattern is not free on an empty text. */
const matching = (text: Range, pattern: Range): Range =>
  times(traversal(plus(text, exactly(1))), scaled(pattern, regexTraversal))

const finding: Estimate = onTarget((target, [pattern]) => {
  const text = sizeOf(target)
  return { cost: matching(text, sizeOf(pattern)), size: { min: 0, max: text.max } }
})

const prefix: Estimate = ({ args: [part] }) => ({ cost: traversal(sizeOf(part)) })

const splitting: Estimate = onTarget((target, [, limit]) => {
  const size = sizeOf(target)
  return { cost: scaled(size, 2 * stringTraversal), size: { min: 0, max: literalLimit(limit) ?? size.max } }
})

const joining: Estimate = onTarget((target, [separator]) => {
  const count = sizeOf(target)
  const texts = target.type.kind === 'list' ? times(count, target.elementSize ?? unbounded) : exactly(0)
  const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  const size = separator === undefined ? texts : plus(texts, times(sizeOf(separator), between))
  return { cost: traversal(size), size }
})

const replacing: Estimate = onTarget((target, [old, by]) => {
  const text = sizeOf(target)
  const replaced = sizeOf(old)
  const replacement = sizeOf(by)
  const longest = replacedEnd(text.max, replaced.min, replacement.max, replacement.max <= replaced.min)
  const shortest = replacedEnd(text.min, replaced.max, replacement.min, replaced.max <= replacement.min)
  return { cost: scaled(text, 2 * stringTraversal), size: { min: shortest, max: longest } }
})

/** How long a text is after parts of it were replaced; an empty part is around each character. */
function replacedEnd(text: number, part: number, replacement: number, keeps: boolean): number {
  const added = (count: number): number => (count === 0 || replacement === 0 ? 0 : count * replacement)
  if (part === 0) return added(text + 1) + text
  // Of a text there is at least one part, however long that may be.
  return keeps ? text : added(part === Infinity ? Math.min(text, 1) : Math.ceil(text / part))
}

/** Lists are appended without a look at what they hold. */
const adding: Estimate = ({ overload, args: [a, b] }) => {
  const kind = overload.params[0]?.kind
  if (kind !== 'string' && kind !== 'bytes' && kind !== 'list') return undefined
  const size = plus(sizeOf(a), sizeOf(b))
  return { cost: kind === 'list' ? exactly(1) : traversal(size), size }
}

/** The shorter of two values decides. */
const comparing: Estimate = ({ args: [a, b] }) => {
  const max = Math.min(sizeOf(a).max, sizeOf(b).max)
  return { cost: traversal({ min: max > 0 ? 1 : 0, max }) }
}

const ordering: Estimate = (call) => {
  const [a, b] = call.overload.params
  const isText = (type: CelType | undefined): boolean => type?.kind === 'string' || type?.kind === 'bytes'
  return isText(a) && isText(b) ? comparing(call) : undefined
}

/** Values of Kubernetes' own types are small; its formats have names. */
const formatNameMax = 64

const equality: Estimate = (call) => {
  const [a, b] = call.args
  if (a?.type.kind !== 'opaque' || b?.type.kind !== 'opaque' || a.type.name !== b.type.name) return comparing(call)
  if (a.type.name === 'kubernetes.NamedFormat') return { cost: traversal({ min: 1, max: formatNameMax }) }
  if (a.type.name === 'kubernetes.URL') return { cost: traversal({ min: 1, max: b.size?.max ?? 1 }) }
  return { cost: exactly(1) }
}

/** Patterns of named formats are no longer than this. */
const formatPatternMax = 128

/** An address takes 4 or 16 bytes. */
const addressSize: Range = { min: 4, max: 16 }

const containing =
  (own: Range): Estimate =>
  ({ overload, args: [other] }) => ({
    cost: overload.params.at(-1)?.kind === 'string' ? plus(own, traversal(sizeOf(other))) : own,
  })
const containsAddress = traversal(plus(addressSize, addressSize))

/** A list made of another, or of the product of its size with itself. */
const listing =
  (factor: number, isSquare: boolean): Estimate =>
  (call) => {
    const of = sizeOf(call.target)
    return listCost(isSquare ? times(of, of) : of, factor)
  }
/** Each element is compared with each, twice. */
const comparingAll = (list: Operand | undefined, element: CelType | undefined): CallEstimate => {
  const isText = element?.kind === 'string' || element?.kind === 'bytes'
  return listCost(times(sizeOf(list), sizeOf(list)), isText ? 2 + stringTraversal : 2)
}
const elementOf = (list: CelType | undefined): CelType | undefined => (list?.kind === 'list' ? list.element : undefined)
const listCost = (size: Range, factor: number): CallEstimate => ({
  cost: plus(scaled(size, factor), exactly(1 + costs.list)),
  size,
})

const sets =
  (factor: number): Estimate =>
  ({ args: [a, b] }) => ({ cost: plus(scaled(times(sizeOf(a), sizeOf(b)), factor), exactly(1)) })

/** A negative one is none. */
function literalLimit(operand: Operand | undefined): number | undefined {
  const literal = operand?.expression.kind === 'literal' ? operand.expression.value : undefined
  if (literal === null || typeof literal !== 'object' || !('int' in literal)) return undefined
  return literal.int < 0n ? Infinity : Number(literal.int)
}

function literalInt(operand: Operand | undefined): number | undefined {
  const literal = operand?.expression.kind === 'literal' ? operand.expression.value : undefined
  if (literal === null || typeof literal !== 'object' || !('int' in literal)) return undefined
  return Math.max(0, Number(literal.int))
}

const selecting: Estimate = ({ args: [selector] }) => {
  const { min, max } = sizeOf(selector)
  return { cost: { min: selectorCost(min), max: selectorCost(max) } }
}

/** By the names of functions. Whatever is not here costs 1. */
const estimates: Readonly<Record<string, Estimate>> = {
  '_+_': adding,
  '_<_': ordering,
  '_<=_': ordering,
  '_>_': ordering,
  '_>=_': ordering,
  '_==_': equality,
  '_!=_': comparing,
  '@in': ({ overload, args: [, list] }) =>
    overload.params[1]?.kind === 'list' ? { cost: scaled(sizeOf(list), 1) } : undefined,
  string: ({ overload, args: [bytes] }) => {
    if (overload.params[0]?.kind !== 'bytes') return undefined
    const { min, max } = sizeOf(bytes)
    return { cost: traversal({ min, max }), size: { min: Math.floor(min / 4), max } }
  },
  bytes: ({ overload, args: [text] }) => {
    if (overload.params[0]?.kind !== 'string') return undefined
    const { min, max } = sizeOf(text)
    return { cost: traversal({ min, max }), size: { min, max: max * 4 } }
  },
  startsWith: prefix,
  endsWith: prefix,
  contains: onTarget((target, [part]) => ({ cost: times(traversal(sizeOf(target)), traversal(sizeOf(part))) })),
  matches: onTarget((target, [pattern]) => ({ cost: matching(sizeOf(target), sizeOf(pattern)) })),
  find: finding,
  findAll: finding,
  format: onTarget((target) => ({ cost: traversal(sizeOf(target)) })),
  'strings.quote': ({ args: [text] }) => {
    const { min, max } = sizeOf(text)
    return { cost: traversal({ min, max }), size: { min: min + 2, max: max * 2 + 2 } }
  },
  lowerAscii: rewriting,
  upperAscii: rewriting,
  substring: rewriting,
  trim: rewriting,
  replace: replacing,
  split: splitting,
  join: joining,
  isSorted: searching,
  sum: searching,
  min: searching,
  max: searching,
  indexOf: searching,
  lastIndexOf: searching,
  reverse: listing(1, false),
  distinct: listing(2, true),
  flatten: (call) => listing(call.args.length === 0 ? 1 : (literalInt(call.args[0]) ?? Infinity), false)(call),
  'lists.range': ({ args: [count] }) => listCost(exactly(literalInt(count) ?? Infinity), 1),
  sort: ({ overload, target }) => comparingAll(target, elementOf(overload.params[0])),
  '@sortByAssociatedKeys': ({ overload, args: [keys] }) => comparingAll(keys, elementOf(overload.params[1])),
  slice: onTarget((target, [from, to]) =>
    listCost(exactly(Math.max(0, (literalInt(to) ?? sizeOf(target).max) - (literalInt(from) ?? 0))), 1),
  ),
  'sets.contains': sets(1),
  'sets.intersects': sets(1),
  'sets.equivalent': sets(2),
  url: ({ args: [text] }) => ({ cost: traversal(sizeOf(text)), size: sizeOf(text) }),
  'jsonpatch.escapeKey': ({ args: [text] }) => ({ cost: traversal(sizeOf(text)), size: sizeOf(text) }),
  isIP: parsing(1),
  // The one that is called on a CIDR has no text to read.
  ip: (call) => (call.target === undefined ? parsing(1)(call) : undefined),
  // The canonical form is compared with the text.
  'ip.isCanonical': parsing(2),
  isCIDR: parsing(1),
  cidr: parsing(1),
  isQuantity: parsing(1),
  quantity: parsing(1),
  isSemver: parsing(1),
  semver: parsing(1),
  validate: onTarget((_, [text]) => ({
    cost: scaled(traversal(sizeOf(text)), formatPatternMax * regexTraversal),
  })),
  containsIP: containing(containsAddress),
  containsCIDR: containing(plus(containsAddress, plus(traversal(addressSize), exactly(1)))),
  check: () => ({ cost: exactly(authorizationCost) }),
  fieldSelector: selecting,
  labelSelector: selecting,
}
