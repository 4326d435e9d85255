/** Values of expressions. Integers are bigints, so that they have all 64 bits; doubles are numbers. */
import { deepEqual } from '../equality.ts'
import type { JsonObject } from '../json.ts'
import { CelError } from './errors.ts'

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | TypeValue
  | Optional
  | CelList
  | CelMap
  | CelObject
  | Opaque

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** Nanoseconds since 1970. It is shown in the zone that it was written in, and is the same moment in any other. */
export class Timestamp {
  readonly nanos: bigint
  /** East of Greenwich. */
  readonly zoneMinutes: number
  constructor(nanos: bigint, zoneMinutes = 0) {
    this.nanos = nanos
    this.zoneMinutes = zoneMinutes
  }
}

export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
}

/** How a list of a custom resource is compared and added to: as its list type says. Lists that expressions make have none. */
export type ListIdentity =
  | { readonly type: 'atomic' | 'set' }
  | { readonly type: 'map'; keyOf(element: CelValue): string }

/** A list, whose elements may be made when they are asked for. */
export class CelList {
  readonly length: number
  readonly identity: ListIdentity | undefined
  readonly #element: (index: number) => CelValue
  readonly #made: CelValue[] = []

  constructor(length: number, element: (index: number) => CelValue, identity?: ListIdentity) {
    this.length = length
    this.#element = element
    this.identity = identity
  }

  static of(values: readonly CelValue[], identity?: ListIdentity): CelList {
    return new CelList(values.length, (index) => values[index] ?? null, identity)
  }

  at(index: number): CelValue {
    const known = this.#made[index]
    if (known !== undefined) return known
    const made = this.#element(index)
    this.#made[index] = made
    return made
  }

  values(): readonly CelValue[] {
    return Array.from({ length: this.length }, (_, index) => this.at(index))
  }
}

/** A map by keys. Numbers that are equal are one key, whatever their type. Of a key that is there twice the last one counts. */
export class CelMap {
  readonly #entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>
  /** Whether it is one of a custom resource, which are compared with nothing but maps and objects. */
  readonly isDescribed: boolean

  constructor(entries: Iterable<readonly [CelValue, CelValue]>, isDescribed = false) {
    this.isDescribed = isDescribed
    const made = new Map<string, readonly [CelValue, CelValue]>()
    for (const [key, value] of entries) {
      const text = keyText(key)
      if (text === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`)
      made.set(text, [key, value])
    }
    this.#entries = made
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const text = keyText(key)
    return text === undefined ? undefined : this.#entries.get(text)?.[1]
  }

  has(key: CelValue): boolean {
    const text = keyText(key)
    return text !== undefined && this.#entries.has(text)
  }

  keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key)
  }

  entries(): readonly (readonly [CelValue, CelValue])[] {
    return [...this.#entries.values()]
  }
}

const keyText = (key: CelValue): string | undefined =>
  typeof key === 'number' && !Number.isInteger(key) ? undefined : primitiveText(key)

/** The same text for equal texts, booleans and numbers, whatever the type of the number; undefined for all else. */
export function primitiveText(value: CelValue): string | undefined {
  if (typeof value === 'string') return `s${value}`
  if (typeof value === 'boolean') return `b${value}`
  if (typeof value === 'bigint') return `n${value}`
  if (value instanceof Uint) return `n${value.value}`
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined
  return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`
}

/** What an object was made of, where there may be more in it than expressions can ask about. */
export interface ObjectSource {
  /** All that is in it. */
  readonly json: JsonObject
  /** Whether expressions can ask about a member of it. */
  isField(member: string): boolean
}

/** An object with named fields, made when they are asked for. */
export class CelObject {
  readonly typeName: string
  readonly source: ObjectSource | undefined
  readonly #field: (name: string) => CelValue | undefined
  readonly #names: () => readonly string[]

  constructor(
    typeName: string,
    names: () => readonly string[],
    field: (name: string) => CelValue | undefined,
    source?: ObjectSource,
  ) {
    this.typeName = typeName
    this.source = source
    this.#names = names
    this.#field = field
  }

  /** Undefined where the field is not there. */
  get(name: string): CelValue | undefined {
    return this.#field(name)
  }

  names(): readonly string[] {
    return this.#names()
  }
}

/** A value of a library's type. `text` tells values apart. */
export class Opaque<T = unknown> {
  readonly typeName: string
  readonly value: T
  readonly text: string
  /** What counts where a cost depends on sizes. */
  readonly size: number
  constructor(typeName: string, value: T, text: string, size = 1) {
    this.typeName = typeName
    this.value = value
    this.text = text
    this.size = size
  }
}

/** The name of a value's type, as `type(value)` has it. */
export function typeName(value: CelValue): string {
  if (value === null) return 'null_type'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
  }
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof CelList) return 'list'
  if (value instanceof CelMap) return 'map'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof TypeValue) return 'type'
  return value instanceof Optional ? 'optional_type' : value.typeName
}

const isNumeric = (value: CelValue): value is bigint | number | Uint =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint

const numberOf = (value: bigint | number | Uint): bigint | number => (value instanceof Uint ? value.value : value)

/** Whether values are equal; what cannot be compared is not. */
export const equals = (a: CelValue, b: CelValue): boolean => equality(a, b) === true

/**
 * Whether values are equal; undefined where they cannot be compared. Numbers compare by value, across types; anything else of
 * different types is not equal. Lists, maps and objects of a custom resource cannot be compared with what is none, as upstream
 * has it (apiserver/pkg/cel/common/valuesunstructured.go).
 */
export function equality(a: CelValue, b: CelValue): boolean | undefined {
  if (a === b) return true
  if (a === null || b === null) return false
  if (isNumeric(a)) return isNumeric(b) && order(numberOf(a), numberOf(b)) === 0
  if (a instanceof CelList) return b instanceof CelList ? equalLists(a, b) : unlike(a.identity !== undefined)
  if (a instanceof CelMap) return isMembered(b) ? equalMembers(a, b) : unlike(a.isDescribed)
  if (a instanceof CelObject) return isMembered(b) ? equalMembers(a, b) : unlike(a.source !== undefined)
  if (typeof a !== 'object' || typeof b !== 'object') return false
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Opaque) return b instanceof Opaque && a.typeName === b.typeName && a.text === b.text
  if (!(a instanceof Optional) || !(b instanceof Optional)) return false
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equality(a.value, b.value)
}

const unlike = (isDescribed: boolean): false | undefined => (isDescribed ? undefined : false)
const isMembered = (value: CelValue): value is CelMap | CelObject =>
  value instanceof CelMap || value instanceof CelObject

/** The first comparison that does not say that all is equal; in what no schema describes one that cannot be made says nothing. */
function allEqual(comparisons: Iterable<boolean | undefined>, isDescribed: boolean): boolean | undefined {
  for (const each of comparisons) if (each === false || (each === undefined && isDescribed)) return each
  return true
}

/** Sets have the same elements, maps the same by their keys, in any order, as the list on the left has it. */
function equalLists(a: CelList, b: CelList): boolean | undefined {
  if (a.length !== b.length) return false
  const { identity } = a
  const values = a.values()
  switch (identity?.type) {
    case undefined:
    case 'atomic':
      return allEqual(comparedInTurn(values, b), identity !== undefined)
    case 'set':
      return b.values().every((other) => values.some((each) => equals(each, other)))
    case 'map': {
      const others = new Map(b.values().map((each) => [identity.keyOf(each), each]))
      return values.every((each) => {
        const other = others.get(identity.keyOf(each))
        return other !== undefined && equals(each, other)
      })
    }
  }
}

function* comparedInTurn(values: readonly CelValue[], others: CelList): Iterable<boolean | undefined> {
  for (const [index, each] of values.entries()) yield equality(each, others.at(index))
}

/**
 * Objects have the same fields, and as much of the rest: what both have of it is the same, as upstream's server compares them.
 * Maps have the same keys.
 */
function equalMembers(a: CelMap | CelObject, b: CelMap | CelObject): boolean | undefined {
  if (a instanceof CelObject && b instanceof CelObject) {
    if (a.source !== undefined && b.source !== undefined && !equalRest(a.source, b.source)) return false
  } else if (memberCount(a) !== memberCount(b)) return false
  const isDescribed = a instanceof CelMap ? a.isDescribed : a.source !== undefined
  return allEqual(comparedByName(a, b), isDescribed)
}

/** How many members there are, whether expressions can ask about them or not. */
function memberCount(value: CelMap | CelObject): number {
  if (value instanceof CelMap) return value.size
  return value.source === undefined ? value.names().length : Object.keys(value.source.json).length
}

function* comparedByName(a: CelMap | CelObject, b: CelMap | CelObject): Iterable<boolean | undefined> {
  const names = new Set([...namesOf(a), ...(a instanceof CelObject ? namesOf(b) : [])])
  for (const name of names) {
    const [one, other] = [memberOf(a, name), memberOf(b, name)]
    yield one === undefined || other === undefined ? one === other : equality(one, other)
  }
}

const namesOf = (value: CelMap | CelObject): readonly CelValue[] =>
  value instanceof CelMap ? value.keys() : value.names()

function memberOf(value: CelMap | CelObject, name: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.get(name)
  return typeof name === 'string' ? value.get(name) : undefined
}

function equalRest(a: ObjectSource, b: ObjectSource): boolean {
  const members = Object.keys(a.json)
  if (members.length !== Object.keys(b.json).length) return false
  return members.every(
    (name) => a.isField(name) || !Object.hasOwn(b.json, name) || deepEqual(a.json[name], b.json[name]),
  )
}

/** Negative, zero or positive as `a` is before, beside or after `b`; undefined where they have no order. */
export function compareValues(a: CelValue, b: CelValue): number | undefined {
  if (isNumeric(a) && isNumeric(b)) return order(numberOf(a), numberOf(b))
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return order(Number(a), Number(b))
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a instanceof Duration && b instanceof Duration) return order(a.nanos, b.nanos)
  if (a instanceof Timestamp && b instanceof Timestamp) return order(a.nanos, b.nanos)
  return undefined
}

/** Not a number has no order. What is compared with a double is made one, as cel-go does. */
function order(one: bigint | number, other: bigint | number): number | undefined {
  const mixed = typeof one !== typeof other
  const [a, b] = mixed ? [Number(one), Number(other)] : [one, other]
  return a < b ? -1 : a > b ? 1 : a === b ? 0 : undefined
}

function compareCodePoints(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** How much of it there is: characters, bytes, elements, entries, fields; of an optional value of what is in it; 1 for all else. */
export function sizeOf(value: CelValue | undefined): number {
  if (typeof value === 'string') return characterCount(value)
  if (value instanceof Uint8Array || value instanceof CelList) return value.length
  if (value instanceof CelMap || value instanceof Opaque) return value.size
  if (value instanceof CelObject) return value.names().length
  return value instanceof Optional ? sizeOf(value.value) : 1
}

/** Some characters are two units of a text. */
function characterCount(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g)
  return text.length - (pairs?.length ?? 0)
}
