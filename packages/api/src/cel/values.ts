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

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
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

/** How a list of a custom resource is compared and added to: as its list type says. */
export type ListIdentity = { readonly type: 'set' } | { readonly type: 'map'; keyOf(element: CelValue): string }

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

/** A map by keys. Numbers that are equal are one key, whatever their type. */
export class CelMap {
  readonly #entries: ReadonlyMap<string, readonly [key: CelValue, value: CelValue]>

  constructor(entries: Iterable<readonly [CelValue, CelValue]>) {
    const made = new Map<string, readonly [CelValue, CelValue]>()
    for (const [key, value] of entries) {
      const text = keyText(key)
      if (text === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`)
      if (made.has(text)) throw new CelError('repeated key')
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

function keyText(key: CelValue): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  return typeof key === 'number' && Number.isInteger(key) ? `n${BigInt(key)}` : undefined
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
  constructor(typeName: string, value: T, text: string) {
    this.typeName = typeName
    this.value = value
    this.text = text
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

/** Numbers compare by value, across types; anything else of different types is not equal. */
export function equals(a: CelValue, b: CelValue): boolean {
  if (a === b) return true
  if (isNumeric(a)) return isNumeric(b) && order(numberOf(a), numberOf(b)) === 0
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b)
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b)
  if (a instanceof CelObject) return b instanceof CelObject && equalObjects(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Opaque) return b instanceof Opaque && a.typeName === b.typeName && a.text === b.text
  if (!(a instanceof Optional) || !(b instanceof Optional)) return false
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equals(a.value, b.value)
}

/** Sets have the same elements, maps the same by their keys, in any order. */
function equalLists(a: CelList, b: CelList): boolean {
  if (a.length !== b.length) return false
  const identity = a.identity ?? b.identity
  if (identity === undefined) return a.values().every((each, index) => equals(each, b.at(index)))
  if (identity.type === 'set') {
    return a.values().every((each) => b.values().some((other) => equals(each, other)))
  }
  const others = new Map(b.values().map((each) => [identity.keyOf(each), each]))
  return a.values().every((each) => {
    const other = others.get(identity.keyOf(each))
    return other !== undefined && equals(each, other)
  })
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  return (
    a.size === b.size &&
    a.entries().every(([key, value]) => {
      const other = b.get(key)
      return other !== undefined && equals(value, other)
    })
  )
}

/** Objects have the same fields, and as much of the rest: what both have of it is the same, as upstream's server compares them. */
function equalObjects(a: CelObject, b: CelObject): boolean {
  if (a.source !== undefined && b.source !== undefined && !equalRest(a.source, b.source)) return false
  const names = new Set([...a.names(), ...b.names()])
  for (const name of names) {
    const [one, other] = [a.get(name), b.get(name)]
    if (one === undefined || other === undefined ? one !== other : !equals(one, other)) return false
  }
  return true
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

/** How much of it there is: characters, bytes, elements, entries; 1 for all else. */
export function sizeOf(value: CelValue | undefined): number {
  if (typeof value === 'string' || value instanceof Uint8Array || value instanceof CelList) return value.length
  return value instanceof CelMap ? value.size : 1
}
