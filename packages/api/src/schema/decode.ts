/** From JSON to values of a schema: what Go's decoder does with a struct, as an interpreter of the schema. */
import { countValues, isJsonObject, type JsonObject, nestingMax, nestsDeeperThan, setMember } from '../json.ts'
import { canonicalQuantity, quantityProblem } from '../quantity.ts'
import { badRequest } from '../status.ts'
import { canonicalTime } from '../time.ts'
import { DecodeContext, type Decoder, type FieldValidation, objectValuesMax, Undecodable } from './decode-context.ts'
import { resolveSchema, shortName, versionOf } from './resolve.ts'
import type {
  AnySchema,
  Field,
  IntegerSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  TimeSchema,
} from './schema.ts'

export interface DecodeOptions {
  /** `Ignore` unless said otherwise. */
  readonly fieldValidation?: FieldValidation
  /** Kind and version for messages; taken from the schema's name unless given. */
  readonly kind?: string
  readonly version?: string
  /**
   * An object of this schema that was decoded before: members of the value that are this object's own are taken over without
   * looking into them. A patch of the status does not pay for the spec.
   */
  readonly known?: object
}

export interface Decoded<T> {
  readonly value: T
  /** `unknown field "spec.foo"`, one per field that was dropped; none with `Ignore`. */
  readonly warnings: readonly string[]
  /** How many values were looked at: what any work on the value takes grows with it. */
  readonly valuesCount: number
}

/** Decodes a whole object with the decoder of its schema. See CompiledSchema.decode. */
export function decodeRoot<T>(schema: Schema<T>, value: unknown, options: DecodeOptions, decoder: Decoder): Decoded<T> {
  const context = new DecodeContext(options.fieldValidation ?? 'Ignore', options.known)
  const resolved = resolveSchema(schema)
  const name = resolved.type === 'object' ? resolved.name : ''
  const explain = (why: string): string => {
    const kind = options.kind ?? shortName(name)
    const version = options.version ?? versionOf(name)
    return kind === '' ? why : `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`
  }
  try {
    const decoded = decoder(value, context, undefined) as T
    if (options.fieldValidation === 'Strict' && context.unknown.length > 0) {
      throw badRequest(explain(`strict decoding error: ${context.unknown.join(', ')}`))
    }
    return { value: decoded, warnings: context.unknown, valuesCount: context.valuesCount }
  } catch (error) {
    if (error instanceof Undecodable) throw badRequest(explain(error.message))
    throw error
  }
}

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
        throw context.mismatch(value, 'string', owner)
      }
    case 'boolean':
      return (value, context, owner) => {
        if (typeof value === 'boolean') return value
        throw context.mismatch(value, 'bool', owner)
      }
    case 'number':
      return (value, context, owner) => {
        if (typeof value === 'number') return value
        throw context.mismatch(value, 'float64', owner)
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

function integerDecoder({ format }: IntegerSchema): Decoder {
  const bound = bounds[format]
  return (value, context, owner) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= -bound && value < bound) return value
    throw context.mismatch(value, format, owner)
  }
}

/** Types that decode themselves in Go report errors without the field. */
const decodeIntOrString: Decoder = (value, context) => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < bounds.int32) return value
  throw context.mismatch(value, 'int32', undefined)
}

const decodeQuantity: Decoder = (value) => {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : JSON.stringify(value)
  try {
    return canonicalQuantity(text)
  } catch {
    throw new Undecodable(quantityProblem(text) ?? '')
  }
}

const layouts = { second: '2006-01-02T15:04:05Z07:00', micro: '2006-01-02T15:04:05.000000Z07:00' } as const

function timeDecoder({ micro }: TimeSchema): Decoder {
  const layout = micro ? layouts.micro : layouts.second
  return (value, context) => {
    if (typeof value !== 'string') throw context.mismatch(value, 'string', undefined)
    const time = canonicalTime(value, micro)
    if (time !== undefined) return time
    throw new Undecodable(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(value)} as "2006"`,
    )
  }
}

const decodeBytes: Decoder = (value, context, owner) => {
  if (typeof value !== 'string') throw context.mismatch(value, '[]uint8', owner)
  // Go's decoder passes over line breaks.
  const text = value.includes('\n') || value.includes('\r') ? value.replaceAll(/[\r\n]/g, '') : value
  const problem = firstIllegalByte(text)
  if (problem === -1) return text
  throw new Undecodable(`illegal base64 data at input byte ${problem}`)
}

/** Where a text stops being standard base64 with padding; -1 where it does not. */
function firstIllegalByte(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const illegal = text.slice(0, text.length - padding).search(/[^A-Za-z0-9+/]/)
  if (illegal !== -1) return illegal
  return text.length % 4 === 0 ? -1 : text.length - (text.length % 4)
}

function anyDecoder(schema: AnySchema): Decoder {
  return (value, context, owner) => {
    if (schema.object && !isJsonObject(value)) throw context.mismatch(value, goType(schema), owner)
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
    if (!Array.isArray(value)) throw context.mismatch(value, goType(schema), owner)
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
    if (!isJsonObject(value)) throw context.mismatch(value, goType(schema), owner)
    values ??= decoderOf(schema.values)
    let changes: Map<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const before = value[key]
      context.enter(key)
      const after =
        before === null ? zeroOf(schema.values) : before === undefined ? undefined : values(before, context, owner)
      context.leave()
      if (after === before && after !== undefined) continue
      changes ??= new Map()
      changes.set(key, after)
    }
    return changes === undefined ? value : withChanges(value, changes)
  }
}

/** A copy in which some members have other values, or, where those are undefined, are gone. */
export function withChanges(value: JsonObject, changes: ReadonlyMap<string, unknown>): JsonObject {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const after = changes.has(key) ? changes.get(key) : value[key]
    if (after !== undefined) setMember(copy, key, after)
  }
  return copy
}

interface CompiledField {
  readonly name: string
  readonly position: number
  readonly decode: Decoder
  /** Empty lists and maps are absence, as with Go's omitempty. */
  readonly dropsEmpty: boolean
  readonly nullable: boolean
}

function objectDecoder(schema: ObjectSchema): Decoder {
  const owner = shortName(schema.name)
  let fields: ReadonlyMap<string, CompiledField> | undefined
  return (value, context, outerOwner) => {
    if (!isJsonObject(value)) throw context.mismatch(value, goType(schema), outerOwner)
    fields ??= compileFields(schema)
    let position = -1
    let changed = false
    const decoded: unknown[] = []
    for (const name of Object.keys(value)) {
      const field = fields.get(name)
      if (field === undefined) {
        if (schema.preserveUnknownFields === true) position = Number.POSITIVE_INFINITY
        else changed = true
        if (schema.preserveUnknownFields !== true) context.unknownField(name)
        continue
      }
      const before = value[name]
      const after = context.isKnown(name, before) ? before : decodeField(field, before, context, owner)
      changed ||= after !== before || after === undefined || field.position < position
      position = Math.max(position, field.position)
      decoded[field.position] = after
    }
    if (!changed) return value
    return rebuild(schema, fields, value, decoded)
  }
}

function decodeField(field: CompiledField, value: unknown, context: DecodeContext, owner: string): unknown {
  if (value === undefined) return undefined
  if (value === null) return field.nullable ? null : undefined
  context.enter(field.name)
  const decoded = field.decode(value, context, owner)
  context.leave()
  return field.dropsEmpty && isEmpty(decoded) ? undefined : decoded
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
    dropsEmpty: !field.required && (type === 'list' || type === 'map'),
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

/** What Go makes of a null where it cannot be absence: in a list or map. */
function zeroOf(schema: Schema): unknown {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'integer':
    case 'number':
    case 'int-or-string':
      return 0
    case 'boolean':
      return false
    case 'quantity':
      return '0'
    case 'list':
      return []
    case 'map':
    case 'object':
      return {}
    case 'any':
      return resolved.object ? {} : null
    default:
      return ''
  }
}

/** The type upstream's structs have for a schema, as messages show it. */
function goType(schema: Schema): string {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'integer':
      return resolved.format
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'int-or-string':
      return 'intstr.IntOrString'
    case 'quantity':
      return 'resource.Quantity'
    case 'time':
      return resolved.micro ? 'v1.MicroTime' : 'v1.Time'
    case 'bytes':
      return '[]uint8'
    case 'any':
      return resolved.name === undefined
        ? 'map[string]interface {}'
        : `${versionOf(resolved.name)}.${shortName(resolved.name)}`
    case 'list':
      return `[]${goType(resolved.items)}`
    case 'map':
      return `map[string]${goType(resolved.values)}`
    case 'object':
      return resolved.name === '' ? 'struct' : `${versionOf(resolved.name)}.${shortName(resolved.name)}`
    case 'string':
      return 'string'
  }
}
