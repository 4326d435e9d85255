import { skipWhitespace } from './json-whitespace.ts'

/**
 * Why `text` is not JSON, in the words of Go's encoding/json (`invalid character '}' looking for beginning of object
 * key string`), which is what people find when they search for it.
 */
export const jsonSyntaxError = (text: string): string => findJsonFault(text)?.message ?? endOfInput

/** The same of bytes, which may be no text at all. */
export const jsonBytesError = (bytes: Buffer): string =>
  findFault(bytes.toString('latin1'), true)?.message ?? endOfInput

const endOfInput = 'unexpected end of JSON input'

/** What is wrong with a text that is no JSON. */
export interface JsonFault {
  readonly message: string
  /** How many characters were read when that was found; the whole text where more was expected. */
  readonly offset: number
  /** The text ends too early. */
  readonly isEnd: boolean
}

/** Why `text` is not JSON; undefined where it is. */
export const findJsonFault = (text: string): JsonFault | undefined => findFault(text, false)

function findFault(text: string, isBytes: boolean): JsonFault | undefined {
  try {
    new SyntaxChecker(text, isBytes).check()
    return undefined
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return { message: error.message, offset: error.offset, isEnd: error.message === endOfInput }
  }
}

class JsonSyntaxError extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Follows Go's scanner without recursion: what is open is kept on a stack of its own. */
class SyntaxChecker {
  readonly #text: string
  /** Whether characters stand for bytes. */
  readonly #isBytes: boolean
  readonly #open: ('{' | '[')[] = []
  /** Nothing of what was opened last has been read. */
  #entered = false
  #position = 0

  constructor(text: string, isBytes: boolean) {
    this.#text = text
    this.#isBytes = isBytes
  }

  check(): void {
    this.#value()
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (open === '{') this.#pair()
      else this.#element()
    }
    if (this.#next() !== '') this.#fail('after top-level value')
  }

  /** Reads a value, or the beginning of one that holds others. */
  #value(): void {
    const first = this.#next()
    if (first === '{' || first === '[') this.#enter(first)
    else if (first === '"') this.#string()
    else if (first === 't') this.#literal('true')
    else if (first === 'f') this.#literal('false')
    else if (first === 'n') this.#literal('null')
    else if (first === '-' || isDigit(first)) this.#number()
    else this.#fail('looking for beginning of value')
  }

  #enter(kind: '{' | '['): void {
    this.#open.push(kind)
    this.#entered = true
    this.#position++
  }

  /** In an object: its end, or what precedes the next value, and that value. */
  #pair(): void {
    const first = this.#entered
    this.#entered = false
    const next = this.#next()
    if (next === '}') {
      this.#leave()
      return
    }
    if (!first) {
      if (next !== ',') this.#fail('after object key:value pair')
      this.#position++
    }
    if (this.#next() !== '"') this.#fail('looking for beginning of object key string')
    this.#string()
    if (this.#next() !== ':') this.#fail('after object key')
    this.#position++
    this.#value()
  }

  /** In an array: its end, or what precedes the next value, and that value. */
  #element(): void {
    const first = this.#entered
    this.#entered = false
    const next = this.#next()
    if (next === ']') {
      this.#leave()
      return
    }
    if (!first) {
      if (next !== ',') this.#fail('after array element')
      this.#position++
    }
    this.#value()
  }

  #leave(): void {
    this.#open.pop()
    this.#position++
  }

  #string(): void {
    this.#position++
    for (;;) {
      const character = this.#current()
      if (character === '"') break
      if (character < ' ') this.#fail('in string literal')
      this.#position++
      if (character === '\\') this.#escape()
    }
    this.#position++
  }

  #escape(): void {
    const code = this.#current()
    if (!'bfnrt\\/"u'.includes(code)) this.#fail('in string escape code')
    this.#position++
    if (code !== 'u') return
    for (let digit = 0; digit < 4; digit++) {
      if (!/[\da-fA-F]/.test(this.#current())) this.#fail('in \\u hexadecimal character escape')
      this.#position++
    }
  }

  #literal(word: string): void {
    for (const expected of word) {
      if (this.#current() !== expected) this.#fail(`in literal ${word} (expecting ${quoted(expected.charCodeAt(0))})`)
      this.#position++
    }
  }

  #number(): void {
    if (this.#current() === '-') this.#position++
    if (this.#current() === '0') this.#position++
    else this.#digits('in numeric literal')
    if (this.#text.charAt(this.#position) === '.') {
      this.#position++
      this.#digits('after decimal point in numeric literal')
    }
    if (/[eE]/.test(this.#text.charAt(this.#position))) {
      this.#position++
      if (/[+-]/.test(this.#current())) this.#position++
      this.#digits('in exponent of numeric literal')
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#current())) this.#fail(where)
    while (isDigit(this.#text.charAt(this.#position))) this.#position++
  }

  /** The character at the position; the end of the text is an error. */
  #current(): string {
    if (this.#position >= this.#text.length) throw new JsonSyntaxError(endOfInput, this.#text.length)
    return this.#text.charAt(this.#position)
  }

  /** Skips white space; '' at the end of the text. */
  #next(): string {
    this.#position = skipWhitespace(this.#text, this.#position)
    return this.#text.charAt(this.#position)
  }

  #fail(where: string): never {
    this.#current()
    const code = this.#text.codePointAt(this.#position) ?? 0
    const byte = this.#isBytes ? code : firstByte(code)
    throw new JsonSyntaxError(`invalid character ${quoted(byte)} ${where}`, this.#position + 1)
  }
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9' && character !== ''

const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  39: "\\'",
  92: '\\\\',
}

/** A byte as Go shows it. */
function quoted(byte: number): string {
  const hex = byte.toString(16).padStart(2, '0')
  const isPrinted = (byte >= 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  const shown = isPrinted ? String.fromCharCode(byte) : byte < 0x80 ? `\\x${hex}` : `\\u00${hex}`
  return `'${escapes[byte] ?? shown}'`
}

/** The first byte of a character in UTF-8, which is what Go comes to. */
function firstByte(code: number): number {
  if (code < 0x80) return code
  if (code < 0x800) return 0xc0 | (code >> 6)
  return code < 0x10000 ? 0xe0 | (code >> 12) : 0xf0 | (code >> 18)
}
