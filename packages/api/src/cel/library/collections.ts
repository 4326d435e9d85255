/** Functions over lists, maps, sets and optionals. */
import { CelError } from '../errors.ts'
import { type CallCost, listCost, overload, searchingCost, stringTraversal } from '../functions.ts'
import {
  CelList,
  CelMap,
  type CelValue,
  compareValues,
  Duration,
  equals,
  Optional,
  Timestamp,
  typeName,
  Uint,
} from '../values.ts'
import { toInt, toUint } from './integers.ts'
import { durationOf, timestampMin } from './times.ts'

/** Each element may be compared with each, as often as `factor` says. */
const comparingSets =
  (factor: number): CallCost =>
  ([a = 1, b = 1]) =>
    1 + a * b * factor

const includes = (list: CelList, value: CelValue): boolean => list.values().some((each) => equals(each, value))
const containsAll = (list: CelList, other: CelList): boolean => other.values().every((each) => includes(list, each))

function isSorted(list: CelList): boolean {
  return list.values().every((each, index) => index === 0 || ordered(list.at(index - 1), each) <= 0)
}

function ordered(a: CelValue, b: CelValue): number {
  const order = compareValues(a, b)
  if (order === undefined) throw new CelError('no such overload')
  return order
}

function extreme(list: CelList, name: string, sign: 1 | -1): CelValue {
  const [first, ...rest] = list.values()
  if (first === undefined) throw new CelError(`${name} called on empty list`)
  return rest.reduce<CelValue>((best, each) => (ordered(each, best) * sign > 0 ? each : best), first)
}

function sum(list: CelList): CelValue {
  const values = list.values()
  const [first] = values
  if (first instanceof Uint)
    return values.reduce<Uint>((total, each) => toUint(total.value + (each as Uint).value), new Uint(0n))
  if (first instanceof Duration) {
    return values.reduce<Duration>(
      (total, each) => durationOf(total.nanos + (each as Duration).nanos),
      new Duration(0n),
    )
  }
  if (typeof first === 'number') return values.reduce<number>((total, each) => total + (each as number), 0)
  return values.reduce<bigint>((total, each) => toInt(total + (each as bigint)), 0n)
}

const position = (index: number): bigint => BigInt(index)

function flatten(list: CelList, depth = 1n): CelList {
  if (depth < 0n) throw new CelError('level must be non-negative')
  const flat = (each: CelValue, left: bigint): readonly CelValue[] =>
    each instanceof CelList && left > 0n ? each.values().flatMap((inner) => flat(inner, left - 1n)) : [each]
  return CelList.of(list.values().flatMap((each) => flat(each, depth)))
}

function slice(list: CelList, start: bigint, end: bigint): CelList {
  if (start < 0n || end < 0n) throw new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    throw new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  if (end > BigInt(list.length)) throw new CelError(`cannot slice(${start}, ${end}), list is length ${list.length}`)
  return CelList.of(list.values().slice(Number(start), Number(end)))
}

const distinct = (list: CelList): CelList =>
  CelList.of(list.values().filter((each, index, all) => all.findIndex((other) => equals(each, other)) === index))

/** The integers from zero up to, without, `count`; none where it is negative. */
const range = (count: bigint): CelList => new CelList(Number(count > 0n ? count : 0n), (index) => BigInt(index))

const sort = (list: CelList): CelList => sortByKeys(list, list)

/** The elements in the order of their keys, which are those at the same places of another list. */
function sortByKeys(list: CelList, keys: CelList): CelList {
  const all = keys.values()
  const [first = null] = all
  if (all.some((key) => typeName(key) !== typeName(first))) throw new CelError('list elements must have the same type')
  // Not a number has no order: as in cel-go it stays where it is compared.
  const order = all.map((_, index) => index).sort((a, b) => compareValues(all[a] ?? null, all[b] ?? null) ?? 0)
  return CelList.of(order.map((index) => list.at(index)))
}

/** As cel-go's list library counts (`trackListSelfCompare`): each element is compared with each, twice. */
function comparingAll(list: CelList): number {
  const first = list.length === 0 ? null : list.at(0)
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return listCost(Math.floor(list.length ** 2 * (isText ? 2 + stringTraversal : 2)))
}

const selfComparison: CallCost = (_, [list]) => comparingAll(list as CelList)
const keyComparison: CallCost = (_, [, keys]) => comparingAll(keys as CelList)
const copying: CallCost = ([size = 0]) => listCost(size)
/** What cannot be cut out counts as one element. */
const slicing: CallCost = ([size = 0], [, start, end]) => {
  const [from, to] = [Number(start), Number(end)]
  return listCost(from >= 0 && from <= to && to <= size ? to - from : 1)
}
const counting: CallCost = (_, [count]) => listCost(Math.max(0, Number(count)))
const flattening: CallCost = ([size = 0], [, depth = 1n]) => listCost(Math.max(0, size * Number(depth)))

function unwrapped({ value }: Optional): CelValue {
  if (value !== undefined) return value
  throw new CelError('optional.none() dereference')
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof CelList || value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
  // As in Go the first day of the first year is that of no time.
  if (value instanceof Timestamp) return value.nanos === timestampMin
  return value instanceof CelMap && value.size === 0
}

const summable = ['int', 'uint', 'double', 'duration'] as const
const comparable = [...summable, 'bool', 'string', 'bytes', 'timestamp'] as const

function inserted(map: CelMap, key: CelValue, value: CelValue): CelMap {
  if (map.get(key) !== undefined) throw new CelError(`insert failed: key ${String(key)} already exists`)
  return new CelMap([...map.entries(), [key, value]])
}

/** What the macros over two variables add to the maps that they make. */
const insertions = [
  overload('@mapInsert(map<A, B>, A, B): map<A, B>', inserted),
  overload('@mapInsert(map<A, B>, map<A, B>): map<A, B>', (map: CelMap, more: CelMap) =>
    more.entries().reduce((made, [key, value]) => inserted(made, key, value), map),
  ),
]

/** Version 3 of cel-go's list library, with its costs, and what optional types add to lists. */
const listLibrary = [
  overload('list<A>.distinct(): list<A>', distinct, selfComparison),
  overload('list<list<A>>.flatten(): list<A>', (list: CelList) => flatten(list), flattening),
  overload('list<dyn>.flatten(int): list<dyn>', flatten, flattening),
  overload('lists.range(int): list<int>', range, counting),
  overload('list<A>.reverse(): list<A>', (list: CelList) => CelList.of([...list.values()].reverse()), copying),
  overload('list<A>.slice(int, int): list<A>', slice, slicing),
  ...comparable.flatMap((type) => [
    overload(`list<${type}>.sort(): list<${type}>`, sort, selfComparison),
    overload(`list<A>.@sortByAssociatedKeys(list<${type}>): list<A>`, sortByKeys, keyComparison),
  ]),
  overload('list<A>.first(): optional<A>', (list: CelList) => elementAt(list, 0)),
  overload('list<A>.last(): optional<A>', (list: CelList) => elementAt(list, list.length - 1)),
  overload('optional.unwrap(list<optional<A>>): list<A>', present),
  overload('list<optional<A>>.unwrapOpt(): list<A>', present),
]

function elementAt(list: CelList, index: number): Optional {
  return list.length === 0 ? Optional.none : new Optional(list.at(index))
}

/** The values of those that have one. */
function present(list: CelList): CelList {
  const values = list.values().map((each) => {
    if (each instanceof Optional) return each.value
    throw new CelError('no such overload')
  })
  return CelList.of(values.filter((value) => value !== undefined))
}

export const collections = [
  ...insertions,
  overload('size(list<A>): int', (list: CelList) => BigInt(list.length)),
  overload('list<A>.size(): int', (list: CelList) => BigInt(list.length)),
  overload('size(map<A, B>): int', (map: CelMap) => BigInt(map.size)),
  overload('map<A, B>.size(): int', (map: CelMap) => BigInt(map.size)),
  ...comparable.flatMap((type) => [
    overload(`list<${type}>.isSorted(): bool`, isSorted, searchingCost),
    overload(`list<${type}>.min(): ${type}`, (list: CelList) => extreme(list, 'min', -1), searchingCost),
    overload(`list<${type}>.max(): ${type}`, (list: CelList) => extreme(list, 'max', 1), searchingCost),
  ]),
  ...summable.map((type) => overload(`list<${type}>.sum(): ${type}`, sum, searchingCost)),
  overload(
    'list<A>.indexOf(A): int',
    (list: CelList, value: CelValue) => position(list.values().findIndex((each) => equals(each, value))),
    searchingCost,
  ),
  overload(
    'list<A>.lastIndexOf(A): int',
    (list: CelList, value: CelValue) => position(list.values().findLastIndex((each) => equals(each, value))),
    searchingCost,
  ),
  ...listLibrary,
  overload('sets.contains(list<A>, list<A>): bool', containsAll, comparingSets(1)),
  overload(
    'sets.equivalent(list<A>, list<A>): bool',
    (a: CelList, b: CelList) => containsAll(a, b) && containsAll(b, a),
    comparingSets(2),
  ),
  overload(
    'sets.intersects(list<A>, list<A>): bool',
    (a: CelList, b: CelList) => b.values().some((each) => includes(a, each)),
    comparingSets(1),
  ),
  overload('optional.of(A): optional<A>', (value: CelValue) => new Optional(value)),
  overload('optional.ofNonZeroValue(A): optional<A>', (value: CelValue) =>
    isZero(value) ? Optional.none : new Optional(value),
  ),
  overload('optional.none(): optional<A>', () => Optional.none),
  overload('optional<A>.hasValue(): bool', ({ value }: Optional) => value !== undefined),
  overload('optional<A>.value(): A', unwrapped),
  overload('optional<A>.or(optional<A>): optional<A>', (a: Optional, b: Optional) => (a.value === undefined ? b : a)),
  overload('optional<A>.orValue(A): A', (a: Optional, b: CelValue) => (a.value === undefined ? b : a.value)),
]
