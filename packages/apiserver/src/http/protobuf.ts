import { formatMicroTime, formatTime, type ObjectSchema, type Schema } from '@coracle/api'
import { protobufFields } from './protobuf-fields.ts'

/**
 * Reads objects that Go's typed clients send as protobuf (kubectl's `create configmap`, leader election, Helm's
 * releases), into the JSON they would be otherwise. What a message holds, the schema says; which number a field has,
 * `protobuf-fields.ts`. Answers are JSON, which every such client takes too.
 */

/** What every message begins with: upstream's mark for its envelope. */
const magic = Buffer.from('k8s\0')

/** Why bytes are no message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** Whether objects of this schema, and all that they hold, have their numbers in the table. */
export function hasProtobufFields(schema: ObjectSchema): boolean {
  return isCovered(schema, new Set())
}

function isCovered(schema: Schema, seen: Set<Schema>): boolean {
  const resolved = resolve(schema)
  if (seen.has(resolved)) return true
  seen.add(resolved)
  if (resolved.type === 'list') return isCovered(resolved.items, seen)
  if (resolved.type === 'map') return isCovered(resolved.values, seen)
  if (resolved.type !== 'object') return true
  const numbers = protobufFields[resolved.name]
  if (numbers === undefined) return false
  return Object.entries(resolved.fields).every(
    ([name, field]) => typeNames.has(name) || (numbers[name] !== undefined && isCovered(field.schema, seen)),
  )
}

/** In the envelope instead of the message. */
const typeNames = new Set(['apiVersion', 'kind'])

/** The JSON value of a message in upstream's envelope. Throws a ProtobufError where it is not one. */
export function decodeProtobuf(schema: ObjectSchema, bytes: Buffer): unknown {
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  let apiVersion = ''
  let kind = ''
  let raw: Buffer = Buffer.alloc(0)
  readFields(bytes.subarray(magic.length), (number, field) => {
    if (number === 1) {
      readFields(field.bytes(), (part, text) => {
        if (part === 1) apiVersion = text.text()
        if (part === 2) kind = text.text()
      })
    } else if (number === 2) {
      raw = field.bytes()
    }
  })
  return { ...(apiVersion === '' ? {} : { apiVersion }), ...(kind === '' ? {} : { kind }), ...readObject(schema, raw) }
}

type JsonObject = Record<string, unknown>

function readObject(schema: ObjectSchema, bytes: Buffer): JsonObject {
  const object: JsonObject = {}
  const names = fieldNames(schema.name)
  readFields(bytes, (number, field) => {
    const name = names.get(number)
    const described = name === undefined ? undefined : schema.fields[name]
    if (name === undefined || described === undefined) return
    const fieldSchema = resolve(described.schema)
    if (fieldSchema.type === 'list') {
      const list = (object[name] ?? []) as unknown[]
      list.push(readValue(fieldSchema.items, field))
      object[name] = list
    } else if (fieldSchema.type === 'map') {
      const map = (object[name] ?? {}) as JsonObject
      const [key, value] = readEntry(fieldSchema.values, field.bytes())
      // Plain assignment would take the key `__proto__` for the prototype.
      Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
      object[name] = map
    } else {
      const value = readValue(fieldSchema, field)
      // Go writes strings that are empty and times that are zero; in JSON both are left out.
      if (value !== undefined && value !== '') object[name] = value
    }
  })
  return object
}

function readEntry(values: Schema, bytes: Buffer): [string, unknown] {
  let key = ''
  let value: unknown = resolve(values).type === 'object' ? {} : ''
  readFields(bytes, (number, field) => {
    if (number === 1) key = field.text()
    if (number === 2) value = readValue(values, field)
  })
  return [key, value]
}

function readValue(schema: Schema, field: Field): unknown {
  const resolved = resolve(schema)
  switch (resolved.type) {
    case 'string':
      return field.text()
    case 'bytes':
      return field.bytes().toString('base64')
    case 'boolean':
      return field.integer() !== 0
    case 'integer':
      return field.integer()
    case 'number':
      return field.double()
    case 'time':
      return readTime(field.bytes(), resolved.micro)
    case 'quantity':
      return readWrapped(field.bytes())
    case 'int-or-string':
      return readIntOrString(field.bytes())
    case 'any':
      return JSON.parse(readWrapped(field.bytes()) || 'null')
    case 'object':
      return readObject(resolved, field.bytes())
    default:
      throw new ProtobufError(`a ${resolved.type} cannot be an element`)
  }
}

/** The one field of a message that only wraps a text: Quantity, FieldsV1, RawExtension. */
function readWrapped(bytes: Buffer): string {
  let text = ''
  readFields(bytes, (number, field) => {
    if (number === 1) text = field.text()
  })
  return text
}

function readIntOrString(bytes: Buffer): number | string {
  let isText = false
  let integer = 0
  let text = ''
  readFields(bytes, (number, field) => {
    if (number === 1) isText = field.integer() === 1
    if (number === 2) integer = field.integer()
    if (number === 3) text = field.text()
  })
  return isText ? text : integer
}

/** Undefined for Go's zero time, which is an empty message. */
function readTime(bytes: Buffer, micro: boolean): string | undefined {
  if (bytes.length === 0) return undefined
  let seconds = 0
  let nanos = 0
  readFields(bytes, (number, field) => {
    if (number === 1) seconds = field.integer()
    if (number === 2) nanos = field.integer()
  })
  const ms = seconds * 1000 + nanos / 1e6
  return micro ? formatMicroTime(ms) : formatTime(seconds * 1000)
}

function resolve(schema: Schema): Exclude<Schema, { readonly type: 'lazy' }> {
  let resolved = schema
  while (resolved.type === 'lazy') resolved = resolved.resolve()
  return resolved
}

const namesByNumber = new Map<string, ReadonlyMap<number, string>>()

function fieldNames(definition: string): ReadonlyMap<number, string> {
  let names = namesByNumber.get(definition)
  if (names === undefined) {
    names = new Map(Object.entries(protobufFields[definition] ?? {}).map(([name, number]) => [number, name]))
    namesByNumber.set(definition, names)
  }
  return names
}

/** One field of a message as it is on the wire; reading it as what it is not is an error. */
interface Field {
  bytes(): Buffer
  text(): string
  integer(): number
  double(): number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Calls back for each field of a message, in order. */
function readFields(message: Buffer, onField: (number: number, field: Field) => void): void {
  let position = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[position++]
      if (byte === undefined) throw new ProtobufError('unexpected EOF')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new ProtobufError('integer overflow')
  }
  const take = (length: number): Buffer => {
    if (length > message.length - position) throw new ProtobufError('unexpected EOF')
    position += length
    return message.subarray(position - length, position)
  }
  while (position < message.length) {
    const tag = Number(varint())
    const wire = tag % 8
    const content = wire === 0 ? varint() : take(wire === 2 ? Number(varint()) : fixedLength(wire))
    onField(Math.floor(tag / 8), fieldOf(wire, content))
  }
}

function fixedLength(wire: number): number {
  if (wire === 1) return 8
  if (wire === 5) return 4
  throw new ProtobufError(`illegal wireType ${wire}`)
}

function fieldOf(wire: number, content: bigint | Buffer): Field {
  const bytes = (): Buffer => {
    if (wire !== 2 || typeof content === 'bigint') throw new ProtobufError(`wrong wireType = ${wire}`)
    return content
  }
  return {
    bytes,
    text: () => {
      try {
        return utf8.decode(bytes())
      } catch {
        throw new ProtobufError('a string is not valid UTF-8')
      }
    },
    integer: () => {
      if (typeof content !== 'bigint') throw new ProtobufError(`wrong wireType = ${wire}`)
      return Number(BigInt.asIntN(64, content))
    },
    double: () => {
      if (wire !== 1 || typeof content === 'bigint') throw new ProtobufError(`wrong wireType = ${wire}`)
      return content.readDoubleLE()
    },
  }
}
