/**
 * Decoding of custom resources: JSON stays as it is, except that fields the schema does not know go, and nulls that may not be
 * there. A value of the wrong type is kept, for validation to name.
 */
import { describeFieldError, invalidField } from '../../field-error.ts'
import { countValues, isJsonObject, nestingMax, nestsDeeperThan, withChanges } from '../../json.ts'
import { type DecodeContext, type Decoder, objectValuesMax, Undecodable } from '../decode-context.ts'
import { decoderOf } from '../go/decode.ts'
import { resolveSchema, shortName } from '../resolve.ts'
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../schema.ts'

const decoders = new WeakMap<object, Decoder>()

/** The function that decodes values of a schema of a custom kind. */
export function structuralDecoderOf(schema: Schema): Decoder {
  const known = decoders.get(schema)
  if (known !== undefined) return known
  const made = makeDecoder(schema)
  decoders.set(schema, made)
  return made
}

function makeDecoder(schema: Schema): Decoder {
  switch (schema.type) {
    case 'object':
      return schema.dialect === 'go' ? decoderOf(schema) : objectDecoder(schema)
    case 'map':
      return mapDecoder(schema)
    case 'list':
      return listDecoder(schema)
    case 'lazy':
      return (value, context, owner) => structuralDecoderOf(resolveSchema(schema))(value, context, owner)
    case 'any':
      return schema.isUndescribed === true ? undescribed : keep
    default:
      return undescribed
  }
}

/** Nothing is known of what is in a value that should have no parts: its fields go, and elements stay as far as they have none. */
const undescribed: Decoder = (value, context, owner) => {
  if (Array.isArray(value)) return undescribedElements(value, context)
  if (!isJsonObject(value)) return keep(value, context, owner)
  for (const name of Object.keys(value)) context.unknownField(name)
  return Object.keys(value).length === 0 ? value : {}
}

function undescribedElements(list: readonly unknown[], context: DecodeContext): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index += 1) {
    context.enter(index)
    const after = undescribed(list[index], context, undefined)
    context.leave()
    if (after === list[index]) continue
    copy ??= list.slice()
    copy[index] = after
  }
  return copy ?? list
}

/** What the schema does not look into may still not nest too deep. What is frozen was decoded before. */
const keep: Decoder = (value, context) => {
  if (typeof value === 'object' && !Object.isFrozen(value) && nestsDeeperThan(value, nestingMax - context.depth)) {
    throw new Undecodable('exceeded max depth')
  }
  if (typeof value === 'object') context.addValues(countValues(value, objectValuesMax + 1))
  return value
}

interface DecodedField {
  readonly decode: Decoder
  readonly dropsNull: boolean
}

/** So has one in another. */
const decodeInnerText: Decoder = (value, context) => {
  if (typeof value === 'string') return value
  throw new Undecodable(describeFieldError(invalidField(context.path, value, 'must be a string')))
}

/** Metadata, with what is wrong with it in the words of encoding/json. */
const decodeMetadata =
  (decode: Decoder): Decoder =>
  (value, context, owner) => {
    try {
      const metadata = decode(value, context, owner)
      if (context.firstMistake !== undefined) throw context.firstMistake
      return metadata
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      // It knows nothing of what is around, nor of the key of a map.
      const problem = error.message.replace(
        /Go struct field (\w*)\.(?:\S*?\.)?metadata(?:\.(\S+))? of type/,
        (_, owner: string, at?: string) =>
          at === undefined
            ? 'Go value of type'
            : `Go struct field ${owner}.${at.replace(/^(labels|annotations)\..*/, '$1')} of type`,
      )
      throw new Undecodable(problem)
    }
  }

/** The same of an object in another. */
function decodeInnerMetadata(decode: Decoder): Decoder {
  const decodeOwn = decodeMetadata(decode)
  return (value, context, owner) => {
    const path = context.path
    context.isInEmbeddedMetadata = true
    try {
      return decodeOwn(value, context, owner)
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      throw new Undecodable(describeFieldError(invalidField(path, value, error.message)))
    } finally {
      context.isInEmbeddedMetadata = false
    }
  }
}

/** Every object of the API has its kind and apiVersion as text. */
const decodeText: Decoder = (value, context, owner) => {
  if (typeof value === 'string') return value
  throw context.mismatch(value, 'string', owner)
}

function objectDecoder(schema: ObjectSchema): Decoder {
  const owner = shortName(schema.name)
  const isInner = schema.dialect !== 'structural'
  const isResource = !isInner || schema.embeddedResource === true
  const keepsUnknown = schema.preserveUnknownFields === true
  let fields: ReadonlyMap<string, DecodedField> | undefined
  return (value, context, outerOwner) => {
    if (!isJsonObject(value)) return (keepsUnknown ? keep : undescribed)(value, context, outerOwner)
    fields ??= new Map(
      Object.entries(schema.fields).map(([name, field]) => [
        name,
        decodedField(name, field.schema, isResource, isInner),
      ]),
    )
    let changes: Map<string, unknown> | undefined
    for (const name of Object.keys(value)) {
      const before = value[name]
      const field = fields.get(name)
      const after =
        field === undefined
          ? unknownField(name, before, keepsUnknown, context)
          : context.isKnown(name, before)
            ? before
            : decodeMember(field, name, before, context, owner)
      if (after === before && after !== undefined) continue
      changes ??= new Map()
      changes.set(name, after)
    }
    return changes === undefined ? value : withChanges(value, changes)
  }
}

function decodedField(name: string, schema: Schema, inResource: boolean, isInner: boolean): DecodedField {
  return { decode: fieldDecoder(name, schema, inResource, isInner), dropsNull: dropsNull(schema) }
}

function fieldDecoder(name: string, schema: Schema, inResource: boolean, isInner: boolean): Decoder {
  if (inResource && (name === 'apiVersion' || name === 'kind')) return isInner ? decodeInnerText : decodeText
  const decode = structuralDecoderOf(schema)
  if (!inResource || name !== 'metadata') return decode
  return isInner ? decodeInnerMetadata(decode) : decodeMetadata(decode)
}

/** A null that may not be there goes; where there is a default it stays for that to take its place. */
function dropsNull(schema: Schema): boolean {
  const { nullable, default: byDefault } = resolveSchema(schema)
  return nullable !== true && byDefault === undefined
}

function decodeMember(
  { decode, dropsNull }: DecodedField,
  name: string,
  value: unknown,
  context: DecodeContext,
  owner: string,
): unknown {
  if (value === null) return dropsNull && !context.keepsNulls ? undefined : null
  if (value === undefined) return undefined
  context.enter(name)
  const decoded = decode(value, context, owner)
  context.leave()
  return decoded
}

function unknownField(name: string, value: unknown, keepsUnknown: boolean, context: DecodeContext): unknown {
  if (keepsUnknown) return keep(value, context, undefined)
  context.unknownField(name)
  return undefined
}

function mapDecoder(schema: MapSchema): Decoder {
  let values: DecodedField | undefined
  return (value, context, owner) => {
    if (!isJsonObject(value)) return undescribed(value, context, owner)
    values ??= { decode: structuralDecoderOf(schema.values), dropsNull: dropsNull(schema.values) }
    let changes: Map<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const before = value[key]
      const after = decodeMember(values, key, before, context, '')
      if (after === before && after !== undefined) continue
      changes ??= new Map()
      changes.set(key, after)
    }
    return changes === undefined ? value : withChanges(value, changes)
  }
}

function listDecoder(schema: ListSchema): Decoder {
  let items: Decoder | undefined
  return (value, context, owner) => {
    if (!Array.isArray(value))
      return (schema.preserveUnknownFields === true ? keep : undescribed)(value, context, owner)
    items ??= structuralDecoderOf(schema.preserveUnknownFields === true ? preserving(schema.items) : schema.items)
    let copy: unknown[] | undefined
    for (let index = 0; index < value.length; index += 1) {
      const before: unknown = value[index]
      if (before === null) continue
      context.enter(index)
      const after = items(before, context, owner)
      context.leave()
      if (after === before) continue
      copy ??= value.slice()
      copy[index] = after
    }
    return copy ?? value
  }
}

/** A list that keeps what it does not know keeps it in its elements. */
function preserving(items: Schema): Schema {
  const resolved = resolveSchema(items)
  return resolved.type === 'object' || resolved.type === 'list' ? { ...resolved, preserveUnknownFields: true } : items
}
