/** How functions are declared: by signature, what they do, and what they cost. */
import { type CelType, parseType, splitTop } from './types.ts'
import {
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from './values.ts'

export interface Overload {
  readonly name: string
  /** Whether it is called on its first argument: `text.size()`. */
  readonly method: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
  readonly invoke: (...args: readonly never[]) => CelValue
  readonly cost: CallCost
}

/**
 * What a call costs when it is made, by the sizes of its arguments, and by themselves, as cel-go and Kubernetes count it
 * (interpreter/runtimecost.go, apiserver/pkg/cel/library/cost.go). What it may cost at most is in `call-estimates.ts`.
 */
export type CallCost = (sizes: readonly number[], args: readonly CelValue[]) => number

/** Looking through a text costs a tenth of its length. */
export const stringTraversal = 0.1
/** A regular expression costs a quarter of its length for each tenth of the text. */
export const regexTraversal = 0.25

/** Asking for an authorization, of which the answer may come from elsewhere. */
export const authorizationCost = 350_000

/** Reading a selector of this length: a list, and for every other character a requirement with a list of its own, as upstream. */
export const selectorCost = (length: number): number =>
  10 + Math.ceil(length * stringTraversal) + Math.ceil(length * 0.5) * 50

export const constantCost: CallCost = () => 1
/** Walks through the first argument once: nothing, where it is empty. */
export const traversalCost: CallCost = ([size = 1]) => Math.ceil(size * stringTraversal)
/** Walks through the first argument, and makes another of it. */
export const rewritingCost: CallCost = ([size = 1]) => Math.ceil(size * 2 * stringTraversal)
/** Walks through the first argument, and through what is in it. */
export const searchingCost: CallCost = (_, [value = null]) => depthCost(value)

/** Of texts less than ten bytes cost nothing. */
function depthCost(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * stringTraversal)
  if (value instanceof Uint8Array) return Math.floor(value.length * stringTraversal)
  if (value instanceof CelList) return value.values().reduce<number>((cost, each) => cost + depthCost(each), 0)
  if (value instanceof CelMap) {
    return value.entries().reduce((cost, [key, each]) => cost + depthCost(key) + depthCost(each), 0)
  }
  if (value instanceof CelObject) {
    return value.names().reduce((cost, name) => cost + depthCost(name) + depthCost(value.get(name) ?? null), 0)
  }
  return 1
}

/**
 * Functions whose cost depends on which of their overloads is called. Where that is only known when it runs they cost what any
 * call does.
 */
export const costsByOverload: ReadonlySet<string> = new Set([
  ...['_+_', '_<_', '_<=_', '_>_', '_>=_', '@in', 'matches', 'string', 'bytes'],
  ...['flatten', 'sort', '@sortByAssociatedKeys'],
])

/**
 * Declares a function: `size(string): int` is called by itself, `string.size(): int` on its first argument. Capital letters
 * stand for any type.
 */
export function overload(
  signature: string,
  invoke: (...args: readonly never[]) => CelValue,
  cost: CallCost = constantCost,
): Overload {
  const parts = /^(?:(.+)\.)?([^\s(]+)\((.*)\): (.+)$/.exec(signature)
  const [, receiver, name = '', params = '', result = 'dyn'] = parts ?? []
  // A name with a namespace, such as math.abs, is no method: its receiver is no type.
  const isNamespace = receiver !== undefined && namespaces.has(receiver)
  const method = receiver !== undefined && !isNamespace
  return {
    name: isNamespace ? `${receiver}.${name}` : name,
    method,
    params: [...(method ? [receiver] : []), ...splitTop(params)].map(parseType),
    result: parseType(result),
    invoke,
    cost,
  }
}

/** What making a list costs, apart from the work on it: the call itself, and the room for it. */
export const listCost = (work: number): number => work + 1 + listCreation
/** What the room for a list costs. */
export const listCreation = 10

/** Namespaces of functions. */
export const namespaces: ReadonlySet<string> = new Set([
  'optional',
  'sets',
  'lists',
  'math',
  'strings',
  'ip',
  'cidr',
  'format',
  'jsonpatch',
  'base64',
])

/** Whether a value may be an argument where this type is wanted, as far as its outermost type goes. */
export function matches(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true
    case 'error':
      return false
    case 'null':
      return value === null
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint'
    case 'uint':
      return value instanceof Uint
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'bytes':
      return value instanceof Uint8Array
    case 'duration':
      return value instanceof Duration
    case 'timestamp':
      return value instanceof Timestamp
    case 'type':
      return value instanceof TypeValue
    case 'list':
      return value instanceof CelList
    case 'map':
      return value instanceof CelMap
    case 'optional':
      return value instanceof Optional
    case 'object':
      return value instanceof CelObject && value.typeName === type.name
    case 'opaque':
      return value instanceof Opaque && value.typeName === type.name
  }
}
