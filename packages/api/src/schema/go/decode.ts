/** From JSON to values of a built-in kind's schema: what Go's decoder does with a struct, as an interpreter of the schema. */
import { nearestNumber } from '../../exact-json.ts'
import { illegalByte } from '../../illegal-base64.ts'
import { countValues, isJsonObject, nestingMax, nestsDeeperThan, setMember, withChanges } from '../../json.ts'
import { canonicalQuantity, quantityProblem } from '../../quantity.ts'
import { canonicalTime } from '../../time.ts'
import { goTimeFault } from '../../time-fault.ts'
import { type DecodeContext, type Decoder, objectValuesMax, Undecodable } from '../decode-context.ts'
import { resolveSchema, shortName } from '../resolve.ts'
import type {
  AnySchema,
  Field,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  TimeSchema,
} from '../schema.ts'
import { goType, omittedZero, zeroOf } from './go-types.ts'

const decoders = new WeakMap<object, Decoder>()

/** The function that decodes values of a schema of a built-in kind. */
export function decoderOf(schema: Schema): Decoder {
  const known = decoders.get(schema)
  if (known !== undefined) return known
  const made = makeDecoder(schema)
  decoders.set(schema, made)
  return made
}

function makeDecoder(schema: Schema): Decoder {
  switch (schema.type) {
    case 'string':
      return (value, context, owner) => {
        if (typeof value === 'string') return value
        return context.mistaken(value, goType(schema), owner)
      }
    case 'boolean':
      return (value, context, owner) => {
        if (typeof value === 'boolean') return value
        return context.mistaken(value, 'bool', owner)
      }
    case 'number':
      return (value, context, owner) => {
        if (typeof value === 'number') return value
        if (typeof value === 'bigint') return Number(value)
        return context.mistaken(value, 'float64', owner)
      }
    case 'integer':
      return integerDecoder(schema)
    case 'int-or-string':
      return decodeIntOrString
    case 'quantity':
      return decodeQuantity
    case 'time':
      return timeDecoder(schema)
    case 'bytes':
      return decodeBytes
    case 'any':
      return anyDecoder(schema)
    case 'list':
      return listDecoder(schema)
    case 'map':
      return mapDecoder(schema)
    case 'object':
      return objectDecoder(schema)
    case 'lazy':
      return (value, context, owner) => decoderOf(resolveSchema(schema))(value, context, owner)
  }
}

const bounds = { int32: 2 ** 31, int64: 2 ** 63 } as const

function integerDecoder({ format, exact = false }: IntegerSchema | IntegerSchema<number | bigint>): Decoder {
  const bound = bounds[format]
  return (value, context, owner) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= -bound && value < bound) return value
    // Beyond 2^53 the nearest number there is, unless it is told to be kept.
    if (typeof value === 'bigint' && value >= -bound && value < bound) return exact ? value : nearestNumber(value)
    return context.mistaken(value, format, owner)
  }
}

/** Nothing is decoded after what types that decode themselves in Go cannot take. */
const decodeIntOrString: Decoder = (value, context, owner) => {
  if (typeof value === 'string') return value
  const bound = bounds.int32
  if (typeof value === 'number' && Number.isInteger(value) && value >= -bound && value < bound) return value
  throw context.mismatch(value, 'int32', owner)
}

/** White space that JSON does not escape: Go's decoder passes over it around an amount. */
const space = /[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

function withoutSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && space.test(text.charAt(start))) start += 1
  while (end > start && space.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const decodeQuantity: Decoder = (value) => {
  const given = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value)
  const text = withoutSpaces(given)
  try {
    return canonicalQuantity(text)
  } catch {
    throw new Undecodable(quantityProblem(text) ?? '')
  }
}

function timeDecoder({ micro }: TimeSchema): Decoder {
  return (value, context, owner) => {
    if (typeof value !== 'string') throw context.mismatch(value, 'string', owner)
    const time = canonicalTime(value, micro)
    if (time !== undefined) return time
    throw new Undecodable(goTimeFault(value, micro ? 'micro' : 'second') ?? `not a time: ${value}`)
  }
}

const decodeBytes: Decoder = (value, context, owner) => {
  if (Array.isArray(value)) return encodedBytes(value, context, owner)
  if (typeof value !== 'string') return context.mistaken(value, '[]uint8', owner)
  const illegal = illegalByte(value)
  // Go's decoder passes over line breaks.
  const text = value.includes('\n') || value.includes('\r') ? value.replaceAll(/[\r\n]/g, '') : value
  return illegal === undefined ? text : context.wrong(`illegal base64 data at input byte ${illegal}`)
}

/** Go's decoder takes a list of numbers for bytes, too. */
function encodedBytes(values: readonly unknown[], context: DecodeContext, owner: string | undefined): unknown {
  const bytes = new Uint8Array(values.length)
  for (const [index, value] of values.entries()) {
    // A null leaves an element as it is.
    const byte = value === null ? 0 : value
    if (typeof byte !== 'number' || !Number.isInteger(byte) || byte < 0 || byte > 255) {
      return context.mistaken(value, 'uint8', owner)
    }
    bytes[index] = byte
  }
  return Buffer.from(bytes).toString('base64')
}

function anyDecoder(schema: AnySchema): Decoder {
  return (value, context, owner) => {
    // The types with a name keep whatever JSON they get.
    if (schema.object && schema.name === undefined && !isJsonObject(value)) {
      return context.mistaken(value, goType(schema), owner)
    }
    // What is frozen was decoded before, so it is known not to be too deep.
    if (!Object.isFrozen(value) && nestsDeeperThan(value, nestingMax - context.depth)) {
      throw new Undecodable('exceeded max depth')
    }
    context.addValues(countValues(value, objectValuesMax + 1))
    return value
  }
}

function listDecoder(schema: ListSchema): Decoder {
  let items: Decoder | undefined
  return (value, context, owner) => {
    if (!Array.isArray(value)) return context.mistaken(value, goType(schema), owner)
    items ??= decoderOf(schema.items)
    let copy: unknown[] | undefined
    for (let index = 0; index < value.length; index += 1) {
      const before: unknown = value[index]
      context.enter(index)
      const after = before === null ? zeroOf(schema.items) : items(before, context, owner)
      context.leave()
      if (after !== before) {
        copy ??= value.slice()
        copy[index] = after
      }
    }
    return copy ?? value
  }
}

function mapDecoder(schema: MapSchema): Decoder {
  let values: Decoder | undefined
  return (value, context, owner) => {
    if (!isJsonObject(value)) return context.mistaken(value, goType(schema), owner)
    values ??= decoderOf(schema.values)
    let changes: Map<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const before = value[key]
      context.enterKey(key)
      const after =
        before === null ? zeroOf(schema.values) : before === undefined ? undefined : values(before, context, owner)
      context.leaveKey()
      if (after === before && after !== undefined) continue
      changes ??= new Map()
      changes.set(key, after)
    }
    return changes === undefined ? value : withChanges(value, changes)
  }
}

interface CompiledField {
  readonly name: string
  readonly position: number
  readonly decode: Decoder
  /** Empty lists and maps are absence, as with Go's omitempty. */
  readonly dropsEmpty: boolean
  /** The scalar that is absence, as with Go's omitempty; undefined where there is none. */
  readonly zero: unknown
  readonly nullable: boolean
}

function objectDecoder(schema: ObjectSchema): Decoder {
  const owner = shortName(schema.name)
  let fields: ReadonlyMap<string, CompiledField> | undefined
  return (value, context, outerOwner) => {
    if (!isJsonObject(value)) return context.mistaken(value, goType(schema), outerOwner)
    fields ??= compileFields(schema)
    let position = -1
    let changed = false
    const names = Object.keys(value)
    // By their positions; most objects come as they are to be, and need no list.
    let decoded: unknown[] | undefined
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at] as string
      const field = fields.get(name)
      if (field === undefined) {
        if (schema.preserveUnknownFields === true) {
          // What is kept stands after all known fields: one that follows it makes the object anew.
          position = Number.POSITIVE_INFINITY
        } else {
          changed = true
          context.unknownField(name)
        }
        continue
      }
      const before = value[name]
      const after = context.isKnown(name, before) ? before : decodeField(field, before, context, owner)
      changed ||= after !== before || after === undefined || field.position < position
      position = Math.max(position, field.position)
      if (!changed) continue
      decoded ??= asTheyAre(fields, value, names, at)
      decoded[field.position] = after
    }
    if (!changed) return value
    return rebuild(schema, fields, value, decoded ?? asTheyAre(fields, value, names, names.length))
  }
}

/** The values of the first `count` members, by the positions of their fields. */
function asTheyAre(
  fields: ReadonlyMap<string, CompiledField>,
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
  count: number,
): unknown[] {
  const decoded: unknown[] = []
  for (let at = 0; at < count; at += 1) {
    const name = names[at] as string
    const field = fields.get(name)
    if (field !== undefined) decoded[field.position] = value[name]
  }
  return decoded
}

function decodeField(field: CompiledField, value: unknown, context: DecodeContext, owner: string): unknown {
  if (value === undefined) return undefined
  if (value === null) return field.nullable || (context.keepsNulls && context.keepsZeros) ? null : undefined
  context.enter(field.name)
  const decoded = field.decode(value, context, owner)
  context.leave()
  const isAbsence = decoded === field.zero || (field.dropsEmpty && isEmpty(decoded))
  return isAbsence && !context.keepsZeros ? undefined : decoded
}

function compileFields(schema: ObjectSchema): ReadonlyMap<string, CompiledField> {
  return new Map(
    Object.entries(schema.fields).map(([name, field], position) => [name, compileField(name, field, position)]),
  )
}

function compileField(name: string, field: Field, position: number): CompiledField {
  const { type, nullable } = resolveSchema(field.schema)
  return {
    name,
    position,
    decode: decoderOf(field.schema),
    dropsEmpty: !field.required && field.keepsEmpty !== true && (type === 'list' || type === 'map'),
    zero: omittedZero(field),
    nullable: nullable === true,
  }
}

/** Known fields in the schema's order, then what is kept although unknown. */
function rebuild(
  schema: ObjectSchema,
  fields: ReadonlyMap<string, CompiledField>,
  value: Readonly<Record<string, unknown>>,
  decoded: readonly unknown[],
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const { name, position } of fields.values()) {
    const after = decoded[position]
    if (after !== undefined) setMember(result, name, after)
  }
  if (schema.preserveUnknownFields === true) {
    for (const name of Object.keys(value)) {
      if (!fields.has(name) && value[name] !== undefined) setMember(result, name, value[name])
    }
  }
  return result
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value as object) return false
  return true
}
