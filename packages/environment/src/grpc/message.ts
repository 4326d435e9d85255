import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** A scalar of protobuf; an enum is an int32. */
type Scalar = 'bytes' | 'string' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'double' | 'bool'

/** The type of a field: a scalar, a message, a list of either, or a map from text to text. */
type FieldType = Scalar | 'map' | Message | readonly [Message | Scalar]

/** A field: its number and its type. */
type Field = readonly [number: number, type: FieldType]

/** A protobuf message as data: its fields by name. Fields that are not named are skipped when a message is read. */
export interface Message<Fields extends Readonly<Record<string, Field>> = Readonly<Record<string, Field>>> {
  readonly fields: Fields
  readonly byNumber: ReadonlyMap<number, readonly [name: string, type: FieldType]>
}

type ScalarOf<T extends Scalar> = T extends 'bytes'
  ? Uint8Array
  : T extends 'string'
    ? string
    : T extends 'bool'
      ? boolean
      : number

/** Texts by text. */
type TextMap = Readonly<Record<string, string>>

type ValueOf<T extends FieldType> = T extends 'map'
  ? TextMap
  : T extends Scalar
    ? ScalarOf<T>
    : T extends readonly [infer M extends Message]
      ? readonly Decoded<M>[]
      : T extends readonly [infer S extends Scalar]
        ? readonly ScalarOf<S>[]
        : T extends Message
          ? Decoded<T> | undefined
          : never

/**
 * A message as it is read: what is absent has its type's zero value, a message undefined. An int64 is a number, and exact up to 2^53.
 */
export type Decoded<M extends Message> = {
  readonly [K in keyof M['fields']]: ValueOf<M['fields'][K][1]>
}

type InputOf<T extends FieldType> = T extends readonly [infer M extends Message]
  ? readonly Encodable<M>[]
  : T extends Message
    ? Encodable<T>
    : ValueOf<T>

/** A message to be written: what is left out is absent. */
export type Encodable<M extends Message> = { readonly [K in keyof M['fields']]?: InputOf<M['fields'][K][1]> }

export function message<const Fields extends Readonly<Record<string, Field>>>(fields: Fields): Message<Fields> {
  const byNumber = new Map(Object.entries(fields).map(([name, [number, type]]) => [number, [name, type] as const]))
  return { fields, byNumber }
}

export function encode<M extends Message>(type: M, value: Encodable<M>): Uint8Array {
  const writer = new BinaryWriter()
  write(writer, type, value)
  return writer.finish()
}

/** Throws for bytes that are no message. Values of type bytes are copies: they do not hold on to the whole message. */
export function decode<M extends Message>(type: M, bytes: Uint8Array): Decoded<M> {
  return read(new BinaryReader(bytes), type, bytes.length) as Decoded<M>
}

/** A message as it would be read if it were sent: what is left out has its type's zero value. */
export function complete<M extends Message>(type: M, value: Encodable<M>): Decoded<M> {
  const given = value as Readonly<Record<string, unknown>>
  const whole = Object.entries(type.fields).map(([name, [, fieldType]]) => [
    name,
    given[name] === undefined ? zeroOf(fieldType) : completeField(fieldType, given[name]),
  ])
  return Object.fromEntries(whole)
}

function completeField(type: FieldType, value: unknown): unknown {
  if (typeof type === 'string') return value
  if ('fields' in type) return complete(type, value as object)
  const [item] = type
  return typeof item === 'string' ? value : (value as readonly object[]).map((each) => complete(item, each))
}

/** An entry of a map, as it is on the wire. */
const mapEntry = message({ key: [1, 'string'], value: [2, 'string'] })

function write(writer: BinaryWriter, { fields }: Message, value: Readonly<Record<string, unknown>>): void {
  for (const name in value) {
    const field = fields[name]
    const item = value[name]
    if (field === undefined || item === undefined) continue
    const [number, type] = field
    if (type === 'map') {
      for (const [key, text] of Object.entries(item as TextMap))
        writeMessage(writer, number, mapEntry, { key, value: text })
    } else if (typeof type === 'string') writeScalar(writer, number, type, item)
    else if ('fields' in type) writeMessage(writer, number, type, item)
    else for (const each of item as readonly unknown[]) writeItem(writer, number, type[0], each)
  }
}

/** One of a list: numbers stand each for themselves, which every reader takes. */
function writeItem(writer: BinaryWriter, number: number, type: Message | Scalar, value: unknown): void {
  if (typeof type === 'string') writeScalar(writer, number, type, value)
  else writeMessage(writer, number, type, value)
}

function writeMessage(writer: BinaryWriter, number: number, type: Message, value: unknown): void {
  writer.tag(number, WireType.LengthDelimited).fork()
  write(writer, type, value as Readonly<Record<string, unknown>>)
  writer.join()
}

function writeScalar(writer: BinaryWriter, number: number, type: Scalar, value: unknown): void {
  switch (type) {
    case 'bytes':
      writer.tag(number, WireType.LengthDelimited).bytes(value as Uint8Array)
      break
    case 'string':
      writer.tag(number, WireType.LengthDelimited).string(value as string)
      break
    case 'int32':
      writer.tag(number, WireType.Varint).int32(value as number)
      break
    case 'uint32':
      writer.tag(number, WireType.Varint).uint32(value as number)
      break
    case 'int64':
      writer.tag(number, WireType.Varint).int64(value as number)
      break
    case 'uint64':
      writer.tag(number, WireType.Varint).uint64(value as number)
      break
    case 'double':
      writer.tag(number, WireType.Bit64).double(value as number)
      break
    case 'bool':
      writer.tag(number, WireType.Varint).bool(value as boolean)
      break
  }
}

function read(reader: BinaryReader, type: Message, end: number): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const name in type.fields) value[name] = zeroOf((type.fields[name] as Field)[1])
  while (reader.pos < end) {
    const [number, wireType] = reader.tag()
    const field = type.byNumber.get(number)
    if (field === undefined) reader.skip(wireType, number)
    else readField(reader, field, wireType, value)
  }
  return value
}

function readField(
  reader: BinaryReader,
  [name, type]: readonly [string, FieldType],
  wireType: WireType,
  value: Record<string, unknown>,
): void {
  if (type === 'map') {
    const { key, value: text } = readMessage(reader, mapEntry)
    // A key may be any text, also one that means something to an object.
    Object.defineProperty(value[name], key as string, entryOf(text))
  } else if (typeof type === 'string') value[name] = readScalar(reader, type)
  else if ('fields' in type) value[name] = readMessage(reader, type)
  else readItems(reader, type[0], wireType, value[name] as unknown[])
}

const entryOf = (value: unknown) => ({ value, enumerable: true, configurable: true, writable: true })

/** One of a list, or, of numbers, several in one piece. */
function readItems(reader: BinaryReader, type: Message | Scalar, wireType: WireType, items: unknown[]): void {
  if (typeof type !== 'string') items.push(readMessage(reader, type))
  else if (wireType !== WireType.LengthDelimited || type === 'string' || type === 'bytes')
    items.push(readScalar(reader, type))
  else for (const end = reader.uint32() + reader.pos; reader.pos < end; ) items.push(readScalar(reader, type))
}

function readMessage(reader: BinaryReader, type: Message): Record<string, unknown> {
  const length = reader.uint32()
  return read(reader, type, reader.pos + length)
}

function readScalar(reader: BinaryReader, type: Scalar): unknown {
  switch (type) {
    case 'bytes':
      return new Uint8Array(reader.bytes())
    case 'string':
      return reader.string()
    case 'int32':
      return reader.int32()
    case 'uint32':
      return reader.uint32()
    case 'int64':
      return Number(reader.int64())
    case 'uint64':
      return Number(reader.uint64())
    case 'double':
      return reader.double()
    case 'bool':
      return reader.bool()
  }
}

const noBytes = new Uint8Array()

function zeroOf(type: FieldType): unknown {
  switch (type) {
    case 'bytes':
      return noBytes
    case 'string':
      return ''
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
    case 'double':
      return 0
    case 'bool':
      return false
    case 'map':
      return {}
    default:
      return 'fields' in type ? undefined : []
  }
}
