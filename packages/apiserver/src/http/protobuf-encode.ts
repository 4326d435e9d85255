import {
  compareText,
  type Field,
  jsonSchemaProps,
  type ObjectSchema,
  parseTime,
  type ResolvedSchema,
  resolveSchema,
} from '@coracle/api'
import { protobufMark, schemaOr } from './protobuf.ts'
import { type ProtobufField, protobufFieldsOf } from './protobuf-messages.ts'
import { WireWriter } from './protobuf-writer.ts'

/**
 * The message of a value that is as decoding by this schema leaves it: the bytes that Go's generated code would write. Fields
 * are in the order of their numbers, and maps in that of their keys. What is empty is written unless it is a pointer in Go:
 * see `protobufMessages`. Kind and version are left to the envelope.
 */
export function encodeProtobuf(schema: ObjectSchema, value: unknown): Buffer {
  return written(() => writeObject(schema, value as JsonObject))
}

/** The number of the field that holds the object in an envelope, and one object in a list: both are 2. */
const heldNumber = 2

/** The field that holds such a message in an envelope (`encloseProtobuf`), and in a list (`encloseItems`). */
export function encodeHeld(schema: ObjectSchema, value: unknown): Buffer {
  return written(() => {
    writeObject(schema, value as JsonObject)
    writer.message(heldNumber, 0)
  })
}

/** What `encodeHeld` made, in upstream's envelope (runtime.Unknown): as every object is sent that stands for itself. */
export function encloseProtobuf(apiVersion: string, kind: string, held: Buffer): Buffer {
  return Buffer.concat([envelopeHead(apiVersion, kind), held, envelopeTail])
}

/** What stands before and after the items of a list, each made by `encodeHeld`, in an envelope; `metadata` is a message. */
export function encloseItems(
  apiVersion: string,
  kind: string,
  metadata: Buffer,
  items: readonly Buffer[],
): { readonly head: Buffer; readonly tail: Buffer } {
  let itemsLength = 0
  for (const item of items) itemsLength += item.length
  const metadataField = written(() => writer.bytes(1, metadata))
  const start = written(() => writer.start(heldNumber, metadataField.length + itemsLength))
  return { head: Buffer.concat([envelopeHead(apiVersion, kind), start, metadataField]), tail: envelopeTail }
}

/** A frame of a watch: the length of a WatchEvent in four bytes, and that message; `object` is in its envelope. */
export function encodeWatchEvent(type: string, object: Buffer): Buffer {
  const frame = written(() => {
    // The object is raw bytes in a message of its own (runtime.RawExtension).
    writer.bytes(1, object)
    writer.message(2, 0)
    writer.text(1, type)
  }, lengthBytes)
  frame.writeUInt32BE(frame.length - lengthBytes.length)
  return frame
}

const lengthBytes = Buffer.alloc(4)

function envelopeHead(apiVersion: string, kind: string): Buffer {
  return written(() => {
    writer.text(2, kind)
    writer.text(1, apiVersion)
    writer.message(1, 0)
  }, protobufMark)
}

/** Two texts that say how the message is encoded, and are empty where it is not. */
const envelopeTail = Buffer.of(0x1a, 0, 0x22, 0)

/** One for all: nothing waits while a message is written. */
const writer = new WireWriter()

/** What is written meanwhile, behind what is to stand before it. */
function written(write: () => void, before?: Buffer): Buffer {
  try {
    write()
    return writer.finish(before)
  } finally {
    writer.clear()
  }
}

type JsonObject = Readonly<Record<string, unknown>>

/** Writes a field of an object. */
type FieldWriter = (object: JsonObject) => void

/** How the fields of a message are written, those with the highest numbers first. */
type Message = readonly FieldWriter[]

const messages = new WeakMap<ObjectSchema, Message>()

function writeObject(schema: ObjectSchema, object: JsonObject): void {
  let message = messages.get(schema)
  if (message === undefined) {
    message = compileMessage(schema, protobufFieldsOf(schema.name) ?? [])
    messages.set(schema, message)
  }
  for (const write of message) write(object)
}

const compileMessage = (schema: ObjectSchema, fields: readonly ProtobufField[]): Message =>
  fields.toReversed().flatMap((field) => {
    if ('embedded' in field) return [embeddedWriter(field.number, compileMessage(schema, field.embedded))]
    const described = schema.fields[field.name]
    return described === undefined ? [] : [writerOf(field, described)]
  })

function embeddedWriter(number: number, message: Message): FieldWriter {
  return (object) => {
    const end = writer.length
    for (const write of message) write(object)
    writer.message(number, end)
  }
}

type NamedField = Extract<ProtobufField, { readonly name: string }>

function writerOf(field: NamedField, described: Field): FieldWriter {
  const { name, number } = field
  const schema = resolveSchema(described.schema)
  const unset = unsetOf(field, schema, described)
  switch (schema.type) {
    case 'list': {
      const items = resolveSchema(schema.items)
      return (object) => {
        const list = object[name] as readonly unknown[] | undefined
        if (list !== undefined) writeList(number, items, list)
      }
    }
    case 'map': {
      const values = resolveSchema(schema.values)
      return (object) => {
        const map = object[name] as JsonObject | undefined
        if (map !== undefined) writeMap(number, values, map)
      }
    }
    default:
      return (object) => {
        const value = object[name] ?? unset
        if (value !== undefined) writeValue(number, schema, value)
      }
  }
}

/** What is written for a field that is not there; undefined for nothing. */
function unsetOf(field: NamedField, schema: ResolvedSchema, described: Field): unknown {
  if (described.pointer === true) return undefined
  switch (schema.type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case 'time':
      return field.alwaysThere ? '' : undefined
    case 'object':
      return described.byValue === true || described.default !== undefined ? {} : undefined
    default:
      return undefined
  }
}

function writeList(number: number, items: ResolvedSchema, list: readonly unknown[]): void {
  for (let index = list.length - 1; index >= 0; index--) writeValue(number, items, list[index])
}

function writeMap(number: number, values: ResolvedSchema, map: JsonObject): void {
  for (const key of Object.keys(map).sort(compareText).reverse()) {
    const end = writer.length
    writeValue(2, values, map[key])
    writer.text(1, key)
    writer.message(number, end)
  }
}

function writeValue(number: number, schema: ResolvedSchema, value: unknown): void {
  switch (schema.type) {
    case 'string':
      writer.text(number, value as string)
      break
    case 'bytes':
      writer.bytes(number, Buffer.from(value as string, 'base64'))
      break
    case 'boolean':
    case 'integer':
      writer.integer(number, typeof value === 'bigint' ? value : Number(value))
      break
    case 'number':
      writer.double(number, value as number)
      break
    default: {
      const end = writer.length
      writeContent(schema, value)
      writer.message(number, end)
    }
  }
}

function writeContent(schema: ResolvedSchema, value: unknown): void {
  switch (schema.type) {
    case 'time':
      writeTime(value as string)
      break
    case 'quantity':
      writer.text(1, value as string)
      break
    case 'int-or-string':
      writer.text(3, typeof value === 'string' ? value : '')
      writer.integer(2, typeof value === 'string' ? 0 : (value as number))
      writer.integer(1, typeof value === 'string' ? 1 : 0)
      break
    case 'any':
      // Null is what is not there.
      if (value !== null && !writeAlternative(schema.name, value)) writer.text(1, JSON.stringify(value))
      break
    case 'object':
      writeObject(schema, (value ?? {}) as JsonObject)
      break
    case 'list':
      // The value of a map, which has a message of its own.
      writeList(1, resolveSchema(schema.items), (value ?? []) as readonly unknown[])
      break
    default:
      throw new Error(`a ${schema.type} has no message`)
  }
}

/** Where a schema may be a schema or something simpler, the message has a field for each. False for other values. */
function writeAlternative(name: string | undefined, value: unknown): boolean {
  const writeSchema = (number: number, each: unknown) => writeValue(number, jsonSchemaProps as ObjectSchema, each)
  switch (name) {
    case schemaOr('OrBool'):
      if (typeof value !== 'boolean') writeSchema(2, value)
      // Beside a schema it is true, and says nothing.
      writer.integer(1, value === false ? 0 : 1)
      return true
    case schemaOr('OrArray'):
    case schemaOr('OrStringArray'):
      if (!Array.isArray(value)) writeSchema(1, value)
      else if (name === schemaOr('OrArray')) for (const each of value.toReversed()) writeSchema(2, each)
      else for (const each of value.toReversed()) writer.text(2, String(each))
      return true
    default:
      return false
  }
}

/** Nothing of a time that is none. */
function writeTime(time: string): void {
  if (time === '') return
  const ms = parseTime(time)
  const seconds = Math.floor(ms / 1000)
  writer.integer(2, Math.round((ms - seconds * 1000) * 1000) * 1000)
  writer.integer(1, seconds)
}
