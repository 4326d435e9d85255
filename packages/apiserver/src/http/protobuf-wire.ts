import { exactInteger, nearestNumber } from '@coracle/api'
import { varintBytesMax, wireTypes } from './wire-types.ts'

/** Why bytes are no message. The words are those of Go's generated code, as far as it has any. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** Messages that hold each other deeper than this are refused, as JSON is. */
export const messageDepthMax = 200

/** An integer of this many bytes is exact as a number; longer ones need 64 bits. */
const exactVarintBytes = 7
const fieldNumberMax = 2 ** 29 - 1

/**
 * Reads the fields of a message one after another: `next`, then the one method for what the field is, or `skip`.
 * Throws a ProtobufError where the bytes are not what is read. Never reads beyond the message it is in.
 */
export class WireReader {
  /** Of the field that `next` came to. */
  number = 0
  wireType = 0
  readonly #bytes: Buffer
  #position = 0
  #end: number
  #depth = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#end = bytes.length
  }

  /** Goes on to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#position >= this.#end) return false
    const tag = this.#varint()
    this.number = Math.floor(tag / 8)
    this.wireType = tag % 8
    if (this.number < 1 || this.number > fieldNumberMax) {
      throw new ProtobufError(`proto: illegal tag ${this.number} (wire type ${this.wireType})`)
    }
    if (this.wireType === wireTypes.groupEnd) throw new ProtobufError('proto: wiretype end group for non-group')
    return true
  }

  /** Reads the message that the field holds: `read` is called for each of its fields. */
  message(read: () => void): void {
    const end = this.#lengthDelimited()
    const outerEnd = this.#end
    this.#end = end
    if (++this.#depth > messageDepthMax) throw new ProtobufError('exceeded max depth')
    while (this.next()) read()
    this.#depth--
    this.#end = outerEnd
  }

  /** The numbers of a repeated field that is written as one run of bytes, each read by `read`. */
  packed(read: () => void): void {
    const end = this.#lengthDelimited()
    const outerEnd = this.#end
    this.#end = end
    this.wireType = wireTypes.varint
    while (this.#position < end) read()
    this.#end = outerEnd
  }

  /** A view of the bytes, not a copy. */
  bytes(): Buffer {
    const end = this.#lengthDelimited()
    const start = this.#position
    this.#position = end
    return this.#bytes.subarray(start, end)
  }

  /** What is not UTF-8 in it is replaced (U+FFFD), as Go's JSON does: clients cut texts within a character. */
  text(): string {
    const end = this.#lengthDelimited()
    const text = this.#bytes.toString('utf8', this.#position, end)
    this.#position = end
    return text
  }

  boolean(): boolean {
    this.#expect(wireTypes.varint)
    return this.#varint() !== 0
  }

  /** What is beyond 32 bits is cut off, as in Go. */
  int32(): number {
    this.#expect(wireTypes.varint)
    return this.#varint() | 0
  }

  /** Beyond 2^53 the nearest number that can be told, as with JSON. */
  int64(): number {
    this.#expect(wireTypes.varint)
    return this.#varint()
  }

  /** As it is. */
  exactInt64(): number | bigint {
    this.#expect(wireTypes.varint)
    return this.#varint(exactInteger)
  }

  double(): number {
    this.#expect(wireTypes.fixed64)
    const end = this.#take(8)
    const value = this.#bytes.readDoubleLE(this.#position)
    this.#position = end
    return value
  }

  /** Passes over the field, whatever it is. */
  skip(): void {
    let openGroups = 0
    for (;;) {
      switch (this.wireType) {
        case wireTypes.varint:
          this.#varint()
          break
        case wireTypes.fixed64:
          this.#position = this.#take(8)
          break
        case wireTypes.bytes:
          this.#position = this.#lengthDelimited()
          break
        case wireTypes.groupStart:
          openGroups++
          break
        case wireTypes.groupEnd:
          openGroups--
          break
        case wireTypes.fixed32:
          this.#position = this.#take(4)
          break
        default:
          throw new ProtobufError(`proto: illegal wireType ${this.wireType}`)
      }
      if (openGroups === 0) return
      this.wireType = this.#varint() % 8
    }
  }

  /** Where the bytes of the field end, which begin here. */
  #lengthDelimited(): number {
    this.#expect(wireTypes.bytes)
    return this.#take(this.#varint())
  }

  #take(length: number): number {
    if (length < 0) throw new ProtobufError('proto: negative length found during unmarshaling')
    if (length > this.#end - this.#position) throw new ProtobufError('unexpected EOF')
    return this.#position + length
  }

  #expect(wireType: number): void {
    if (this.wireType !== wireType) {
      throw new ProtobufError(`proto: wrong wireType = ${this.wireType} for field ${this.number}`)
    }
  }

  #varint(): number
  #varint(hold: (value: bigint) => number | bigint): number | bigint
  #varint(hold: (value: bigint) => number | bigint = nearestNumber): number | bigint {
    const start = this.#position
    let value = 0
    let factor = 1
    for (let count = 0; count < exactVarintBytes; count++, factor *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    this.#position = start
    return this.#longVarint(hold)
  }

  #longVarint(hold: (value: bigint) => number | bigint): number | bigint {
    let value = 0n
    for (let count = 0; count < varintBytesMax; count++) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << BigInt(7 * count)
      if (byte < 0x80) return hold(BigInt.asIntN(64, value))
    }
    throw new ProtobufError('proto: integer overflow')
  }

  #byte(): number {
    const byte = this.#position < this.#end ? this.#bytes[this.#position] : undefined
    if (byte === undefined) throw new ProtobufError('unexpected EOF')
    this.#position++
    return byte
  }
}
