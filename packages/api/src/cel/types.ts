/** Types of expressions, and when a value of one may stand where another is wanted. */
import { reservedWords } from './tokens.ts'

export type CelType =
  | {
      readonly kind: 'null' | 'bool' | 'int' | 'uint' | 'double' | 'error'
    }
  /** Of types themselves: `type(int)`. */
  | { readonly kind: 'type'; readonly of?: CelType }
  | (Sized & { readonly kind: 'string' | 'bytes' | 'duration' | 'timestamp' | 'dyn' })
  | (Sized & { readonly kind: 'list'; readonly element: CelType })
  | (Sized & { readonly kind: 'map'; readonly key: CelType; readonly value: CelType })
  | ObjectType
  | { readonly kind: 'optional'; readonly of: CelType }
  /** A type of a library, such as a quantity. */
  | { readonly kind: 'opaque'; readonly name: string }
  /** Stands for any one type in the signature of a function. */
  | { readonly kind: 'param'; readonly name: string }

interface Sized {
  /** How many characters, elements or entries there may be, where that is known. */
  readonly maxSize?: number
}

export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  readonly fields: ReadonlyMap<string, CelType>
}

/** A field by its name in an expression. Fields named by reserved words are escaped, `__namespace__`, and found by the word as well. */
export function fieldNamed<T>(fields: ReadonlyMap<string, T>, name: string): T | undefined {
  return fields.get(name) ?? (reservedWords.has(name) ? fields.get(`__${name}__`) : undefined)
}

const simple = [
  'null',
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'duration',
  'timestamp',
  'dyn',
  'type',
  /** Of what is wrong and has been told: it fits everywhere, so that nothing more is told of it. */
  'error',
] as const
type SimpleName = (typeof simple)[number]

export const types = Object.fromEntries(simple.map((kind) => [kind, { kind }])) as {
  readonly [K in SimpleName]: Extract<CelType, { readonly kind: K }>
}

export const listOf = (element: CelType): CelType => ({ kind: 'list', element })
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value })
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of })

const names: Readonly<Partial<Record<CelType['kind'], string>>> = {
  error: '!error!',
}

/** A type as messages show it. */
export function typeText(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.element)})`
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.value)})`
    case 'optional':
      return `optional_type(${typeText(type.of)})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${typeText(type.of)})`
    case 'param':
      return isOfNothing(type) ? 'dyn' : type.name
    case 'object':
    case 'opaque':
      return type.name
    default:
      return names[type.kind] ?? type.kind
  }
}

/** Which types the parameters of a signature stand for in one call. */
export type Bindings = Map<string, CelType>

/** The type of the elements of an empty list. */
const ofNothing: CelType = { kind: 'param', name: '@unknown' }
const isOfNothing = (type: CelType): boolean => type.kind === 'param' && type.name === '@unknown'

/** Whether a value of one type may stand where another is wanted. Learns what parameters stand for. */
export function isAssignable(from: CelType, to: CelType, bindings: Bindings): boolean {
  // What holds nothing yet fits anything, each time anew: its key is not of the type of its value.
  if (isOfNothing(from) && to.kind !== 'param') return true
  if (isOfNothing(to)) return true
  if (to.kind === 'param') return bind(to.name, from, bindings)
  if (from.kind === 'param') return bind(from.name, to, bindings)
  if (isDynOrError(from) || isDynOrError(to)) return true
  if (from.kind === 'null') return isNullable(to)
  if (to.kind === 'null') return isNullable(from)
  if (from.kind === 'list') return to.kind === 'list' && isAssignable(from.element, to.element, bindings)
  if (from.kind === 'map') {
    return to.kind === 'map' && isAssignable(from.key, to.key, bindings) && isAssignable(from.value, to.value, bindings)
  }
  if (from.kind === 'optional') return to.kind === 'optional' && isAssignable(from.of, to.of, bindings)
  if (from.kind === 'object' || from.kind === 'opaque') return from.kind === to.kind && from.name === to.name
  return from.kind === to.kind
}

const isDynOrError = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'error'

/** Whether there may be null where a value of a type is wanted, as cel-go's type checker has it. */
const isNullable = ({ kind }: CelType): boolean => nullableKinds.has(kind)

const nullableKinds: ReadonlySet<CelType['kind']> = new Set([
  'null',
  'object',
  'opaque',
  'optional',
  'duration',
  'timestamp',
] as const)

function bind(name: string, type: CelType, bindings: Bindings): boolean {
  const known = bindings.get(name)
  if (known === undefined || known === type) {
    bindings.set(name, type)
    return true
  }
  if (type.kind === 'param') return true
  // Of an empty list or map nothing is known until something is put into it.
  if (known.kind === 'param') {
    bindings.set(name, type)
    return true
  }
  if (!isAssignable(type, known, bindings)) return false
  if (known.kind === 'null') bindings.set(name, type)
  // What is known of one side only is not known of the whole.
  else if (type.kind === 'dyn') bindings.set(name, type)
  return true
}

/** A type with its parameters replaced by what they stand for; nothing is known of those that stand for nothing yet. */
export function substitute(type: CelType, bindings: Bindings): CelType {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? ofNothing
    case 'list':
      return { ...type, element: substitute(type.element, bindings) }
    case 'map':
      return { ...type, key: substitute(type.key, bindings), value: substitute(type.value, bindings) }
    case 'optional':
      return { ...type, of: substitute(type.of, bindings) }
    case 'type':
      return type.of === undefined ? type : { ...type, of: substitute(type.of, bindings) }
    default:
      return type
  }
}

/** The one type of what one call may come to: `dyn` where they differ, and where there are several of which something is not known. */
export function joined(all: readonly CelType[]): CelType {
  const [first, ...rest] = all
  if (first === undefined) return ofNothing
  if (rest.length > 0 && hasUnknown(first)) return types.dyn
  return rest.every((each) => typeText(each) === typeText(first)) ? first : types.dyn
}

/** Whether there is something in a type of which nothing is known. */
export function hasUnknown(type: CelType): boolean {
  switch (type.kind) {
    case 'param':
      return true
    case 'list':
      return hasUnknown(type.element)
    case 'map':
      return hasUnknown(type.key) || hasUnknown(type.value)
    case 'optional':
      return hasUnknown(type.of)
    default:
      return false
  }
}

/** The one type of values in a list or map: `dyn` where they differ, and any where there are none. */
export function commonType(all: readonly CelType[]): CelType {
  const [first, ...rest] = all
  if (first === undefined) return ofNothing
  let type = first
  for (const each of rest) {
    if (!isEquivalent(type, each)) return types.dyn
    type = completed(type, each)
  }
  return type
}

/** What is not known of an empty list or map, as it is in another of the same type. */
function completed(type: CelType, other: CelType): CelType {
  if (isOfNothing(type)) return other
  if (type.kind === 'list' && other.kind === 'list') {
    return { ...type, element: completed(type.element, other.element) }
  }
  if (type.kind === 'map' && other.kind === 'map') {
    return { ...type, key: completed(type.key, other.key), value: completed(type.value, other.value) }
  }
  return type.kind === 'optional' && other.kind === 'optional' ? { ...type, of: completed(type.of, other.of) } : type
}

/** Whether types are the same; of what is in an empty list or map nothing is known, and it is the same as any. */
export function isEquivalent(a: CelType, b: CelType): boolean {
  if (isOfNothing(a) || isOfNothing(b)) return true
  if (a.kind === 'list') return b.kind === 'list' && isEquivalent(a.element, b.element)
  if (a.kind === 'map') return b.kind === 'map' && isEquivalent(a.key, b.key) && isEquivalent(a.value, b.value)
  if (a.kind === 'optional') return b.kind === 'optional' && isEquivalent(a.of, b.of)
  return typeText(a) === typeText(b)
}

/** Reads types as signatures of functions write them: `list<A>`, `map<string, int>`, `optional<A>`, `Quantity`. */
export function parseType(text: string): CelType {
  const trimmed = text.trim()
  const open = trimmed.indexOf('<')
  if (open !== -1) {
    const inner = splitTop(trimmed.slice(open + 1, -1)).map(parseType)
    const [first = types.dyn, second = types.dyn] = inner
    switch (trimmed.slice(0, open)) {
      case 'list':
        return listOf(first)
      case 'map':
        return mapOf(first, second)
      case 'type':
        return { kind: 'type', of: first }
      default:
        return optionalOf(first)
    }
  }
  if ((simple as readonly string[]).includes(trimmed)) return types[trimmed as SimpleName]
  return /^[A-Z]$/.test(trimmed) ? { kind: 'param', name: trimmed } : { kind: 'opaque', name: trimmed }
}

/** The parts between commas that are in no brackets. */
export function splitTop(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] === '<') depth += 1
    if (text[at] === '>') depth -= 1
    if (at === text.length || (text[at] === ',' && depth === 0)) {
      const part = text.slice(start, at).trim()
      if (part !== '') parts.push(part)
      start = at + 1
    }
  }
  return parts
}
