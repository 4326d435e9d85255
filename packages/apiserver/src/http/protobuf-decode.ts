import {
  type Field,
  formatMicroTime,
  formatTime,
  jsonSchemaProps,
  type ListSchema,
  type MapSchema,
  type ObjectSchema,
  omittedZero,
  parseExactJson,
  type ResolvedSchema,
  resolveSchema,
  setMember,
} from '@coracle/api'
import { protobufMark, schemaOr } from './protobuf.ts'
import { type ProtobufField, protobufFieldsOf } from './protobuf-messages.ts'
import { ProtobufError, WireReader } from './protobuf-wire.ts'
import { wireTypes } from './wire-types.ts'

export { ProtobufError }

/**
 * Reads objects that Go's typed clients send as protobuf (controller-runtime, `kubectl create configmap`, leader
 * election, Helm's releases) into the JSON that the same clients would send otherwise. What a message holds, the
 * schema says; which number a field has, `protobufMessages`. The way back is `protobuf-encode.ts`. Loaded with the first such object.
 */

/** What an envelope holds (upstream's runtime.Unknown). */
export interface ProtobufEnvelope {
  /** Empty where the sender did not say. */
  readonly apiVersion: string
  readonly kind: string
  /** The message of the object itself. */
  readonly raw: Buffer
}

/** Opens upstream's envelope. Throws a ProtobufError where there is none. */
export function openProtobuf(bytes: Buffer): ProtobufEnvelope {
  if (bytes.length === 0) throw new ProtobufError('empty data')
  if (!bytes.subarray(0, protobufMark.length).equals(protobufMark)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  if (bytes.length === protobufMark.length) throw new ProtobufError('empty body')
  const reader = new WireReader(bytes.subarray(protobufMark.length))
  const envelope: { apiVersion: string; kind: string; raw: Buffer } = { apiVersion: '', kind: '', raw: Buffer.alloc(0) }
  const readType = () => {
    if (reader.number === 1) envelope.apiVersion = reader.text()
    else if (reader.number === 2) envelope.kind = reader.text()
    else reader.skip()
  }
  while (reader.next()) {
    if (reader.number === 1) reader.message(readType)
    else if (reader.number === 2) envelope.raw = reader.bytes()
    else reader.skip()
  }
  return envelope
}

/**
 * The JSON value of a message of this schema, without its kind and version, which are in the envelope. Fields of
 * numbers that are not known are passed over, as upstream does. Throws a ProtobufError where it is no such message.
 */
export function decodeProtobuf(schema: ObjectSchema, raw: Buffer): Record<string, unknown> {
  const reader = new WireReader(raw)
  const object: JsonObject = {}
  const message = messageOf(schema)
  while (reader.next()) readField(message, reader, object)
  return object
}

type JsonObject = Record<string, unknown>

/** Puts what a field holds into the object its message becomes. */
type FieldReader = (reader: WireReader, object: JsonObject) => void

/** How the fields of a message are read, by their numbers. */
type Message = ReadonlyMap<number, FieldReader>

const messages = new WeakMap<ObjectSchema, Message>()

function messageOf(schema: ObjectSchema): Message {
  let message = messages.get(schema)
  if (message === undefined) {
    message = compileMessage(schema, protobufFieldsOf(schema.name) ?? [])
    messages.set(schema, message)
  }
  return message
}

function compileMessage(schema: ObjectSchema, fields: readonly ProtobufField[]): Message {
  const readers = new Map<number, FieldReader>()
  for (const field of fields) {
    if ('embedded' in field) {
      const message = compileMessage(schema, field.embedded)
      readers.set(field.number, (reader, object) => reader.message(() => readField(message, reader, object)))
      continue
    }
    const described = schema.fields[field.name]
    if (described !== undefined) {
      readers.set(field.number, readerOf(field.name, described))
    }
  }
  return readers
}

function readField(message: Message, reader: WireReader, object: JsonObject): void {
  const read = message.get(reader.number)
  if (read === undefined) reader.skip()
  else read(reader, object)
}

function readerOf(name: string, field: Field): FieldReader {
  const schema = resolveSchema(field.schema)
  switch (schema.type) {
    case 'list':
      return listReader(name, schema)
    case 'map':
      return mapReader(name, schema)
    case 'object':
      return (reader, object) => {
        // Parts of a message may come apart; they are parts of one object.
        object[name] = readObject(schema, reader, (object[name] ?? {}) as JsonObject)
      }
    default: {
      const zero = omittedZero(field)
      return (reader, object) => {
        const value = readValue(schema, reader)
        if (value === undefined || value === zero) delete object[name]
        else object[name] = value
      }
    }
  }
}

function readObject(schema: ObjectSchema, reader: WireReader, object: JsonObject): JsonObject {
  const message = messageOf(schema)
  reader.message(() => readField(message, reader, object))
  return object
}

const numeric: readonly string[] = ['integer', 'boolean']

function listReader(name: string, { items }: ListSchema): FieldReader {
  const schema = resolveSchema(items)
  const packable = numeric.includes(schema.type)
  return (reader, object) => {
    const list = (object[name] ?? []) as unknown[]
    const readElement = () => list.push(readValue(schema, reader) ?? null)
    if (packable && reader.wireType === wireTypes.bytes) reader.packed(readElement)
    else readElement()
    object[name] = list
  }
}

function mapReader(name: string, { values }: MapSchema): FieldReader {
  const schema = resolveSchema(values)
  const readMapValue =
    schema.type === 'list' ? listMessageReader(schema) : (reader: WireReader) => readValue(schema, reader)
  return (reader, object) => {
    let key = ''
    let value = emptyOf(schema)
    reader.message(() => {
      if (reader.number === 1) key = reader.text()
      else if (reader.number === 2) value = readMapValue(reader) ?? null
      else reader.skip()
    })
    const map = (object[name] ?? {}) as JsonObject
    setMember(map, key, value)
    object[name] = map
  }
}

/** Reads a message of which field 1 is a list, and nothing else. */
function listMessageReader(schema: ListSchema): (reader: WireReader) => unknown {
  const readList = listReader('items', schema)
  return (reader) => {
    const message: JsonObject = { items: [] }
    reader.message(() => {
      if (reader.number === 1) readList(reader, message)
      else reader.skip()
    })
    return message.items
  }
}

/** What an entry of a map holds that has no value. */
function emptyOf(schema: ResolvedSchema): unknown {
  switch (schema.type) {
    case 'string':
    case 'bytes':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
    case 'int-or-string':
      return 0
    case 'quantity':
      return '0'
    case 'object':
      return {}
    case 'list':
      return []
    default:
      return null
  }
}

/** Undefined for what is null in Go's JSON: a zero time, raw JSON of no bytes. */
function readValue(schema: ResolvedSchema, reader: WireReader): unknown {
  switch (schema.type) {
    case 'string':
      return reader.text()
    case 'bytes':
      return reader.bytes().toString('base64')
    case 'boolean':
      return reader.boolean()
    case 'integer':
      if (schema.exact === true) return reader.exactInt64()
      return schema.format === 'int32' ? reader.int32() : reader.int64()
    case 'number':
      return reader.double()
    case 'time':
      return readTime(reader, schema.micro)
    case 'quantity':
      return readWrapped(reader) || '0'
    case 'int-or-string':
      return readIntOrString(reader)
    case 'any':
      return readAlternative(schema.name, reader) ?? parseRaw(readWrapped(reader))
    case 'object':
      return readObject(schema, reader, {})
    case 'list':
    case 'map':
      throw new ProtobufError(`a ${schema.type} cannot be an element`)
  }
}

/** Where a schema may be a schema or something simpler, the message has a field for each. Undefined for other values. */
function readAlternative(name: string | undefined, reader: WireReader): unknown {
  const readSchema = () => readObject(jsonSchemaProps as ObjectSchema, reader, {})
  let value: unknown
  const list: unknown[] = []
  switch (name) {
    case schemaOr('OrBool'):
      reader.message(() => {
        // Beside a schema it is true, and says nothing.
        if (reader.number === 1) value ??= reader.boolean()
        else if (reader.number === 2) value = readSchema()
        else reader.skip()
      })
      return value ?? false
    case schemaOr('OrArray'):
    case schemaOr('OrStringArray'):
      reader.message(() => {
        if (reader.number === 1) value = readSchema()
        else if (reader.number === 2) list.push(name === schemaOr('OrArray') ? readSchema() : reader.text())
        else reader.skip()
      })
      return value ?? list
    default:
      return undefined
  }
}

/** The one field of a message that only wraps a text: Quantity, FieldsV1, RawExtension. */
function readWrapped(reader: WireReader): string {
  let text = ''
  reader.message(() => {
    if (reader.number === 1) text = reader.text()
    else reader.skip()
  })
  return text
}

function parseRaw(text: string): unknown {
  if (text === '') return undefined
  try {
    return parseExactJson(text)
  } catch {
    throw new ProtobufError('raw JSON in the message is not JSON')
  }
}

function readIntOrString(reader: WireReader): number | string {
  let isText = false
  let integer = 0
  let text = ''
  reader.message(() => {
    if (reader.number === 1) isText = reader.int64() === 1
    else if (reader.number === 2) integer = reader.int32()
    else if (reader.number === 3) text = reader.text()
    else reader.skip()
  })
  return isText ? text : integer
}

/** What four digits of a year can say, in milliseconds since 1970. */
const timeMinMs = -62_167_219_200_000
const timeMaxMs = 253_402_300_799_000

/** Undefined for Go's zero time, which is an empty message. */
function readTime(reader: WireReader, micro: boolean): string | undefined {
  let seconds: number | undefined
  let nanos = 0
  reader.message(() => {
    if (reader.number === 1) seconds = reader.int64()
    else if (reader.number === 2) nanos = reader.int32()
    else reader.skip()
  })
  if (seconds === undefined) return undefined
  const ms = seconds * 1000 + Math.trunc(nanos / 1000) / 1000
  if (ms < timeMinMs || ms > timeMaxMs) throw new ProtobufError('a time is outside of the years 0 to 9999')
  return micro ? formatMicroTime(ms) : formatTime(ms)
}
