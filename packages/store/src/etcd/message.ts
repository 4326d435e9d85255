import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** The type of a field: a scalar of protobuf (an enum is an int32), a message, or a list of messages. */
type FieldType = 'bytes' | 'string' | 'int32' | 'int64' | 'bool' | Message | readonly [Message]

/** A field: its number and its type. */
type Field = readonly [number: number, type: FieldType]

/** A protobuf message as data: its fields by name. Fields that are not named are skipped when a message is read. */
export interface Message<Fields extends Readonly<Record<string, Field>> = Readonly<Record<string, Field>>> {
  readonly fields: Fields
  readonly byNumber: ReadonlyMap<number, readonly [name: string, type: FieldType]>
}

type ValueOf<T extends FieldType> = T extends 'bytes'
  ? Uint8Array
  : T extends 'string'
    ? string
    : T extends 'int32' | 'int64'
      ? number
      : T extends 'bool'
        ? boolean
        : T extends readonly [infer M extends Message]
          ? readonly Decoded<M>[]
          : T extends Message
            ? Decoded<T> | undefined
            : never

/** A message as it is read: what is absent has its type's zero value, a message undefined. An int64 is a number, and exact up to 2^53. */
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

function write(writer: BinaryWriter, { fields }: Message, value: Readonly<Record<string, unknown>>): void {
  for (const name in value) {
    const field = fields[name]
    const item = value[name]
    if (field === undefined || item === undefined) continue
    const [number, type] = field
    if (typeof type === 'string') writeScalar(writer, number, type, item)
    else if ('fields' in type) writeMessage(writer, number, type, item)
    else for (const each of item as readonly unknown[]) writeMessage(writer, number, type[0], each)
  }
}

function writeMessage(writer: BinaryWriter, number: number, type: Message, value: unknown): void {
  writer.tag(number, WireType.LengthDelimited).fork()
  write(writer, type, value as Readonly<Record<string, unknown>>)
  writer.join()
}

function writeScalar(writer: BinaryWriter, number: number, type: FieldType & string, value: unknown): void {
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
    case 'int64':
      writer.tag(number, WireType.Varint).int64(value as number)
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
    else readField(reader, field, value)
  }
  return value
}

function readField(
  reader: BinaryReader,
  [name, type]: readonly [string, FieldType],
  value: Record<string, unknown>,
): void {
  if (typeof type === 'string') value[name] = readScalar(reader, type)
  else if ('fields' in type) value[name] = readMessage(reader, type)
  else (value[name] as unknown[]).push(readMessage(reader, type[0]))
}

function readMessage(reader: BinaryReader, type: Message): Record<string, unknown> {
  const length = reader.uint32()
  return read(reader, type, reader.pos + length)
}

function readScalar(reader: BinaryReader, type: FieldType & string): unknown {
  switch (type) {
    case 'bytes':
      return new Uint8Array(reader.bytes())
    case 'string':
      return reader.string()
    case 'int32':
      return reader.int32()
    case 'int64':
      return Number(reader.int64())
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
    case 'int64':
      return 0
    case 'bool':
      return false
    default:
      return 'fields' in type ? undefined : []
  }
}
