/** Operators of the language. */
import { CelError, noSuchKey } from '../errors.ts'
import { type CallCost, constantCost, overload, stringTraversal } from '../functions.ts'
import {
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  compareValues,
  type Duration,
  equality,
  equals,
  Opaque,
  type Timestamp,
  typeName,
  Uint,
} from '../values.ts'
import { toInt, toUint } from './integers.ts'
import { durationOf, timestampOf } from './times.ts'

/** Comparing looks at no more than the shorter of both. */
const comparison: CallCost = ([a = 1, b = 1]) => Math.ceil(Math.min(a, b) * stringTraversal)
/** Values of Kubernetes' own types are small. */
const equalityCost: CallCost = (sizes, values) => (values[0] instanceof Opaque ? 1 : comparison(sizes, values))
const joining: CallCost = ([a = 1, b = 1]) => Math.ceil((a + b) * stringTraversal)
const membership: CallCost = ([, size = 1]) => size

const add = (a: bigint, b: bigint): bigint => toInt(a + b)
const subtract = (a: bigint, b: bigint): bigint => toInt(a - b)
const multiply = (a: bigint, b: bigint): bigint => toInt(a * b)
const divide = (a: bigint, b: bigint): bigint => {
  if (b === 0n) throw new CelError('division by zero')
  return toInt(a / b)
}
const remainder = (a: bigint, b: bigint): bigint => {
  if (b === 0n) throw new CelError('modulus by zero')
  return a % b
}
const onUints = (operation: (a: bigint, b: bigint) => bigint) => (a: Uint, b: Uint) => toUint(rawUint(operation, a, b))
const rawUint = (operation: (a: bigint, b: bigint) => bigint, a: Uint, b: Uint): bigint => operation(a.value, b.value)

const arithmetic = [
  overload('_+_(int, int): int', add),
  overload(
    '_+_(uint, uint): uint',
    onUints((a, b) => a + b),
  ),
  overload('_+_(double, double): double', (a: number, b: number) => a + b),
  overload('_+_(string, string): string', (a: string, b: string) => a + b, joining),
  overload('_+_(bytes, bytes): bytes', (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b]), joining),
  overload('_+_(list<A>, list<A>): list<A>', concatenate),
  overload('_+_(duration, duration): duration', (a: Duration, b: Duration) => durationOf(a.nanos + b.nanos)),
  overload('_+_(timestamp, duration): timestamp', (a: Timestamp, b: Duration) =>
    timestampOf(a.nanos + b.nanos, a.zoneMinutes),
  ),
  overload('_+_(duration, timestamp): timestamp', (a: Duration, b: Timestamp) =>
    timestampOf(a.nanos + b.nanos, b.zoneMinutes),
  ),
  overload('_-_(int, int): int', subtract),
  overload(
    '_-_(uint, uint): uint',
    onUints((a, b) => a - b),
  ),
  overload('_-_(double, double): double', (a: number, b: number) => a - b),
  overload('_-_(duration, duration): duration', (a: Duration, b: Duration) => durationOf(a.nanos - b.nanos)),
  overload('_-_(timestamp, duration): timestamp', (a: Timestamp, b: Duration) =>
    timestampOf(a.nanos - b.nanos, a.zoneMinutes),
  ),
  overload('_-_(timestamp, timestamp): duration', (a: Timestamp, b: Timestamp) => durationOf(a.nanos - b.nanos)),
  overload('_*_(int, int): int', multiply),
  overload(
    '_*_(uint, uint): uint',
    onUints((a, b) => a * b),
  ),
  overload('_*_(double, double): double', (a: number, b: number) => a * b),
  overload('_/_(int, int): int', divide),
  overload('_/_(uint, uint): uint', onUints(divideUints)),
  overload('_/_(double, double): double', (a: number, b: number) => a / b),
  overload('_%_(int, int): int', remainder),
  overload('_%_(uint, uint): uint', onUints(remainder)),
  overload('-_(int): int', (a: bigint) => toInt(-a)),
  overload('-_(double): double', (a: number) => -a),
  overload('!_(bool): bool', (a: boolean) => !a),
]

function divideUints(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CelError('division by zero')
  return a / b
}

/** Adding to a set adds what it lacks; adding to a map list replaces elements of the same keys, and appends others. */
function concatenate(a: CelList, b: CelList): CelList {
  const { identity } = a
  if (identity === undefined || identity.type === 'atomic') {
    const element = (index: number): CelValue => (index < a.length ? a.at(index) : b.at(index - a.length))
    return new CelList(a.length + b.length, element, identity)
  }
  const values = [...a.values()]
  const isSame = (one: CelValue, other: CelValue): boolean =>
    identity.type === 'map' ? identity.keyOf(one) === identity.keyOf(other) : equals(one, other)
  for (const value of b.values()) {
    const index = values.findIndex((each) => isSame(each, value))
    if (index === -1) values.push(value)
    else values[index] = value
  }
  return CelList.of(values, identity)
}

const numbers = ['int', 'uint', 'double'] as const
const ordered = ['bool', 'string', 'bytes', 'duration', 'timestamp'] as const
const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

const comparisons = Object.entries(orders).flatMap(([operator, holds]) => {
  const compare = (a: CelValue, b: CelValue): boolean => {
    const order = compareValues(a, b)
    return order !== undefined && holds(order)
  }
  const pairs = [
    ...numbers.flatMap((a) => numbers.map((b) => `${a}, ${b}`)),
    ...ordered.map((each) => `${each}, ${each}`),
  ]
  return pairs.map((pair) => overload(`_${operator}_(${pair}): bool`, compare, comparison))
})

function areEqual(a: CelValue, b: CelValue): boolean {
  const areSame = equality(a, b)
  if (areSame === undefined) throw new CelError('no such overload')
  return areSame
}

/** In a list of a custom resource nothing is found by a comparison that cannot be made; in any other it is not there. */
function isIn(value: CelValue, list: CelList): boolean {
  const comparisons = list.values().map((each) => equality(each, value))
  if (comparisons.includes(true)) return true
  if (list.identity !== undefined && comparisons.includes(undefined)) throw new CelError('no such overload')
  return false
}

const comparingEquality = [
  overload('_==_(A, A): bool', areEqual, equalityCost),
  overload('_!=_(A, A): bool', (a: CelValue, b: CelValue) => !equals(a, b), comparison),
]

/** Declared for the checker: the evaluator knows them itself, since they may leave out a side. */
const branches = [
  overload('_&&_(bool, bool): bool', () => false),
  overload('_||_(bool, bool): bool', () => false),
  overload('_?_:_(bool, A, A): A', () => null),
  overload('@not_strictly_false(bool): bool', () => false),
]

/** What is found at a key or an index; undefined where nothing is, as in a value that has no elements. */
export function elementOf(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelList) return elementAt(value, key)
  if (value instanceof CelMap) return value.get(key)
  return value instanceof CelObject && typeof key === 'string' ? value.get(key) : undefined
}

export const notFound = (value: CelValue, key: CelValue): CelError =>
  value instanceof CelList ? new CelError(`index out of bounds: ${keyText(key)}`) : noSuchKey(keyText(key))

const keyText = (key: CelValue): string => String(key instanceof Uint ? key.value : key)

/** An index may be any number without a fraction. */
function elementAt(list: CelList, index: CelValue): CelValue | undefined {
  const raw = index instanceof Uint ? index.value : index
  const position =
    typeof raw === 'bigint' || (typeof raw === 'number' && Number.isInteger(raw)) ? Number(raw) : undefined
  if (position === undefined) throw unsupportedIndex(index)
  return position >= 0 && position < list.length ? list.at(position) : undefined
}

/** In cel-go's words (`IndexOrError`). */
const unsupportedIndex = (index: CelValue): CelError =>
  new CelError(
    typeof index === 'number'
      ? `unsupported index value ${index} in list`
      : `unsupported index type '${typeName(index)}' in list`,
  )

/** Declared for the checker as well: the evaluator looks up itself. */
const nothing = (): CelValue => null

const access = [
  overload('_[_](list<A>, int): A', nothing),
  overload('_[_](map<A, B>, A): B', nothing),
  overload('_[?_](list<A>, int): optional<A>', nothing),
  overload('_[?_](map<A, B>, A): optional<B>', nothing),
  overload('_[_](optional<list<A>>, int): optional<A>', nothing),
  overload('_[_](optional<map<A, B>>, A): optional<B>', nothing),
  overload('_[?_](optional<list<A>>, int): optional<A>', nothing),
  overload('_[?_](optional<map<A, B>>, A): optional<B>', nothing),
  overload('@in(A, list<A>): bool', isIn, membership),
  overload('@in(A, map<A, B>): bool', (a: CelValue, map: CelMap) => map.has(a), constantCost),
]

export const operators = [...arithmetic, ...comparisons, ...comparingEquality, ...branches, ...access]
