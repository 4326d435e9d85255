/** Functions over lists, maps, sets and optionals. */
import { CelError } from '../errors.ts'
import { type CallCost, elementsCost, overload } from '../functions.ts'
import { CelList, CelMap, type CelValue, compareValues, Duration, equals, Optional, Uint } from '../values.ts'
import { toInt, toUint } from './integers.ts'
import { durationOf } from './times.ts'

const product: CallCost = ([a = 1, b = 1]) => Math.max(1, a * b)

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

function unwrapped({ value }: Optional): CelValue {
  if (value !== undefined) return value
  throw new CelError('optional.none() dereference')
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof CelList || value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
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

export const collections = [
  ...insertions,
  overload('size(list<A>): int', (list: CelList) => BigInt(list.length)),
  overload('list<A>.size(): int', (list: CelList) => BigInt(list.length)),
  overload('size(map<A, B>): int', (map: CelMap) => BigInt(map.size)),
  overload('map<A, B>.size(): int', (map: CelMap) => BigInt(map.size)),
  ...comparable.flatMap((type) => [
    overload(`list<${type}>.isSorted(): bool`, isSorted, elementsCost),
    overload(`list<${type}>.min(): ${type}`, (list: CelList) => extreme(list, 'min', -1), elementsCost),
    overload(`list<${type}>.max(): ${type}`, (list: CelList) => extreme(list, 'max', 1), elementsCost),
  ]),
  ...summable.map((type) => overload(`list<${type}>.sum(): ${type}`, sum, elementsCost)),
  overload(
    'list<A>.indexOf(A): int',
    (list: CelList, value: CelValue) => position(list.values().findIndex((each) => equals(each, value))),
    elementsCost,
  ),
  overload(
    'list<A>.lastIndexOf(A): int',
    (list: CelList, value: CelValue) => position(list.values().findLastIndex((each) => equals(each, value))),
    elementsCost,
  ),
  overload('list<A>.distinct(): list<A>', distinct, elementsCost),
  overload('list<A>.flatten(): list<dyn>', (list: CelList) => flatten(list), elementsCost),
  overload('list<A>.flatten(int): list<dyn>', flatten, elementsCost),
  overload('list<A>.reverse(): list<A>', (list: CelList) => CelList.of([...list.values()].reverse()), elementsCost),
  overload('list<A>.slice(int, int): list<A>', slice, elementsCost),
  overload('sets.contains(list<A>, list<A>): bool', containsAll, product),
  overload(
    'sets.equivalent(list<A>, list<A>): bool',
    (a: CelList, b: CelList) => containsAll(a, b) && containsAll(b, a),
    product,
  ),
  overload(
    'sets.intersects(list<A>, list<A>): bool',
    (a: CelList, b: CelList) => b.values().some((each) => includes(a, each)),
    product,
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
