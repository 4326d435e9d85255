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
