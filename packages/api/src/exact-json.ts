/**
 * Whole numbers of JSON that no JavaScript number holds exactly, and an int64 does, are bigints: custom resources keep what they are
 * given, as upstream's do. Wherever such a value is written as JSON it is a number again.
 */

/** May have such a number in it: sixteen digits are the fewest. */
const longNumber = /\d{16}/

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const

// TypeScript's library does not know of it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint) {
    return rawJSON(this.toString())
  },
  configurable: true,
  writable: true,
})

/**
 * May have a number in it that is written as JavaScript would not write it: with a fraction or an exponent, or too long. Only what follows
 * a key, or stands in a list, is looked at: texts in quotes rarely look like that.
 */
export const oddNumber = /(?:"\s*:|[[,])\s*-?(?:\d+[.eE]|\d{16})/

/** A number that is not written as JavaScript would write it, such as `1.0`: Go takes it for no integer. */
export class WrittenNumber {
  readonly #value: number
  readonly #source: string

  constructor(value: number, source: string) {
    this.#value = value
    this.#source = source
  }

  /** As near as JavaScript has it: infinite, where it is beyond all numbers. */
  valueOf(): number {
    return this.#value
  }

  /** As it is written. */
  toString(): string {
    return this.#source
  }

  toJSON(): unknown {
    return rawJSON(this.#source)
  }
}

/** A number beyond all that a float64 holds: JavaScript would make a null of it. */
export class InfiniteNumberError extends Error {
  override readonly name = 'InfiniteNumberError'

  /** `source` is how it is written. */
  constructor(source: string) {
    super(`json: cannot unmarshal number ${source} into Go value of type float64`)
  }
}

/** May have a number in it that is beyond a float64. */
const hugeNumber = /\d[eE]\+?\d{3}|\d{309}/

/** As `parseExactJson`. Throws an InfiniteNumberError for a number that no float64 holds. */
export function parseFiniteJson(text: string): unknown {
  if (!hugeNumber.test(text)) return parseExactJson(text)
  return JSON.parse(text, finiteNumber)
}

/** A reviver as `exactNumber`, which throws an InfiniteNumberError. */
export function finiteNumber(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new InfiniteNumberError(context?.source ?? String(value))
  }
  return exactNumber(key, value, context)
}

/** A reviver as `exactNumber`, with numbers that are not written as JavaScript would write them as WrittenNumbers. */
export function writtenNumber(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  const { source } = context
  const exact = exactNumber(key, value, context)
  const isPlain = typeof exact === 'bigint' || String(value) === source || source === '-0'
  return isPlain ? exact : new WrittenNumber(value, source)
}

/** As `JSON.parse`, with whole numbers as they are written. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return longNumber.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

/** A reviver that keeps whole numbers as they are written. */
export function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {}
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  return exactInteger(BigInt(source))
}

/** A whole number as it is held: a number where that is exact, or where no int64 holds it either. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) || value < int64.min || value > int64.max ? number : value
}

/** The largest number below 2^63. */
const int64Nearest = 2 ** 63 - 1024

/** The nearest number that an int64 holds as well, for fields that are numbers. */
export const nearestNumber = (value: bigint): number =>
  value > 0n && value <= int64.max ? Math.min(Number(value), int64Nearest) : Number(value)
