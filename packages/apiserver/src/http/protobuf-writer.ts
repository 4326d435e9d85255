import { varintBytesMax, wireTypes } from './wire-types.ts'

const initialBytes = 16 * 1024

const nothing = Buffer.alloc(0)

/** Room for messages up to this size is kept for the next. */
const keptBytesMax = 1024 * 1024

/** Shorter texts are written character by character, which costs less than asking for their length first. */
const inlineLengthMax = 48

/**
 * Writes a message from its end to its beginning: what is within a field is written before its length, which is known then.
 * Fields of an object go in from the last to the first, and so do the elements of a list.
 */
export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(initialBytes)
  /** Where the message begins. */
  #start = initialBytes

  /** How long the message is so far: what `message` wants to know of the end of what it holds. */
  get length(): number {
    return this.#bytes.length - this.#start
  }

  text(number: number, text: string): void {
    const end = this.length
    if (text.length > inlineLengthMax || !this.#ascii(text)) {
      const length = Buffer.byteLength(text)
      this.#reserve(length)
      this.#start -= length
      this.#bytes.write(text, this.#start, 'utf8')
    }
    this.message(number, end)
  }

  bytes(number: number, bytes: Buffer): void {
    const end = this.length
    this.#reserve(bytes.length)
    this.#start -= bytes.length
    bytes.copy(this.#bytes, this.#start)
    this.message(number, end)
  }

  /** Makes a field of what was written since the message had this length. */
  message(number: number, lengthBefore: number): void {
    this.start(number, this.length - lengthBefore)
  }

  /** What a field begins with whose message of this length follows elsewhere. */
  start(number: number, messageLength: number): void {
    this.#varint(messageLength)
    this.#tag(number, wireTypes.bytes)
  }

  integer(number: number, value: number | bigint): void {
    if (typeof value === 'bigint') this.#long(value)
    else this.#varint(value)
    this.#tag(number, wireTypes.varint)
  }

  double(number: number, value: number): void {
    this.#reserve(8)
    this.#start -= 8
    this.#bytes.writeDoubleLE(value, this.#start)
    this.#tag(number, wireTypes.fixed64)
  }

  /** The message behind what is to stand before it, in a buffer of its own. The writer is empty then. */
  finish(before: Buffer = nothing): Buffer {
    const message = Buffer.allocUnsafeSlow(before.length + this.length)
    before.copy(message)
    this.#bytes.copy(message, before.length, this.#start)
    this.clear()
    return message
  }

  /** Forgets what was written. */
  clear(): void {
    if (this.#bytes.length > keptBytesMax) this.#bytes = Buffer.allocUnsafeSlow(initialBytes)
    this.#start = this.#bytes.length
  }

  #tag(number: number, wireType: number): void {
    this.#varint(number * 8 + wireType)
  }

  /** False, with nothing written, where a character is none of ASCII. */
  #ascii(text: string): boolean {
    this.#reserve(text.length)
    let position = this.#start
    for (let index = text.length - 1; index >= 0; index--) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      this.#bytes[--position] = code
    }
    this.#start = position
    return true
  }

  #varint(value: number): void {
    this.#reserve(varintBytesMax)
    if (value < 0) {
      this.#long(BigInt(value))
      return
    }
    let length = 1
    for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) length++
    this.#start -= length
    let left = value
    let position = this.#start
    for (; left >= 0x80; left = Math.floor(left / 0x80)) this.#bytes[position++] = (left % 0x80) | 0x80
    this.#bytes[position] = left
  }

  /** As the number of 64 bits that has the same lowest bits: of what is below zero always ten bytes. */
  #long(value: bigint): void {
    this.#reserve(varintBytesMax)
    let left = BigInt.asUintN(64, value)
    this.#start -= Math.max(1, Math.ceil(left.toString(2).length / 7))
    let position = this.#start
    for (; left >= 0x80n; left >>= 7n) this.#bytes[position++] = Number(left & 0x7fn) | 0x80
    this.#bytes[position] = Number(left)
  }

  #reserve(length: number): void {
    if (length <= this.#start) return
    const used = this.length
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, used + length))
    this.#bytes.copy(grown, grown.length - used, this.#start)
    this.#bytes = grown
    this.#start = grown.length - used
  }
}
