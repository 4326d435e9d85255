import { type ObjectSchema, parseTime, type ResolvedSchema, resolveSchema, type Schema } from '@coracle/api'
import { type ProtobufField, protobufFieldsOf } from '../protobuf-messages.ts'

/** A number as protobuf writes it: seven bits a byte, negative ones in 64 bits. */
export function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  return Buffer.from([...bytes, Number(left)])
}

/** A field that holds bytes: text, or a message. */
export function bytesField(number: number, content: Buffer | string): Buffer {
  const body = Buffer.from(content)
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body])
}

/** A field that holds an integer or a boolean. */
export const integerField = (number: number, value: number): Buffer =>
  Buffer.concat([varint(number * 8), varint(value)])

/** Fields one after another. */
export const messageOf = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields)

/** A message in upstream's envelope. */
export const enveloped = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  messageOf(
    Buffer.from('k8s\0'),
    bytesField(1, messageOf(bytesField(1, apiVersion), bytesField(2, kind))),
    bytesField(2, raw),
    bytesField(3, ''),
    bytesField(4, ''),
  )

/**
 * The message of an object as Go's clients write it: fields in the order of their numbers, and empty values written
 * for what is not there, except where an empty value would be a chosen one.
 */
export function encodeProtobuf(schema: ObjectSchema, value: unknown): Buffer {
  return encodeFields(schema, protobufFieldsOf(schema.name) ?? [], value as JsonObject)
}

type JsonObject = Readonly<Record<string, unknown>>

function encodeFields(schema: ObjectSchema, fields: readonly ProtobufField[], object: JsonObject): Buffer {
  return messageOf(
    ...fields.map((field) => {
      if ('embedded' in field) return bytesField(field.number, encodeFields(schema, field.embedded, object))
      const described = schema.fields[field.name]
      if (described === undefined) return Buffer.alloc(0)
      const value = object[field.name] ?? (field.keepsEmpty ? undefined : unsetOf(described.schema))
      return value === undefined ? Buffer.alloc(0) : encodeField(field.number, described.schema, value)
    }),
  )
}

function unsetOf(schema: Schema): unknown {
  const { type } = resolveSchema(schema)
  return type === 'string' ? '' : type === 'integer' ? 0 : type === 'boolean' ? false : undefined
}

function encodeField(number: number, schema: Schema, value: unknown): Buffer {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list') {
    return messageOf(...(value as readonly unknown[]).map((element) => encodeField(number, resolved.items, element)))
  }
  if (resolved.type === 'map') {
    const entries = Object.entries(value as JsonObject)
    return messageOf(
      ...entries.map(([key, each]) =>
        bytesField(number, messageOf(bytesField(1, key), encodeField(2, resolved.values, each))),
      ),
    )
  }
  if (resolved.type === 'integer' || resolved.type === 'boolean') return integerField(number, Number(value))
  if (resolved.type === 'number') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value as number)
    return messageOf(varint(number * 8 + 1), bytes)
  }
  return bytesField(number, contentOf(resolved, value))
}

function contentOf(schema: ResolvedSchema, value: unknown): Buffer {
  switch (schema.type) {
    case 'string':
      return Buffer.from(value as string)
    case 'bytes':
      return Buffer.from(value as string, 'base64')
    case 'time': {
      const ms = parseTime(value as string)
      const seconds = Math.floor(ms / 1000)
      return messageOf(integerField(1, seconds), integerField(2, Math.round((ms - seconds * 1000) * 1e6)))
    }
    case 'quantity':
      return bytesField(1, value as string)
    case 'int-or-string':
      return typeof value === 'string'
        ? messageOf(integerField(1, 1), integerField(2, 0), bytesField(3, value))
        : messageOf(integerField(1, 0), integerField(2, value as number), bytesField(3, ''))
    case 'any':
      return bytesField(1, JSON.stringify(value))
    case 'object':
      return encodeProtobuf(schema, value)
    default:
      throw new Error(`a ${schema.type} is not written as bytes`)
  }
}
