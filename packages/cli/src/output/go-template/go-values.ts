import { compareText, isJsonObject, type JsonObject } from '@coracle/api'

/**
 * A value as kubectl has it once JSON is decoded: a number without a fraction is an int64, any other a float64. What a
 * template brings in itself may be an int, which is a bigint here, or a Float. Undefined is what Go calls an invalid
 * value, null a nil.
 */
export type GoValue = unknown

/** A float64 that may well have no fraction: `1.0` in a template. */
export class Float {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

export type GoKind = 'bool' | 'float64' | 'int' | 'int64' | 'list' | 'map' | 'nil' | 'string'

export function kindOf(value: GoValue): GoKind {
  if (value === null || value === undefined) return 'nil'
  if (value instanceof Float) return 'float64'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return isInt64(value) ? 'int64' : 'float64'
    case 'bigint':
      return 'int'
    case 'boolean':
      return 'bool'
    default:
      return Array.isArray(value) ? 'list' : 'map'
  }
}

/** The whole number that a value is; undefined where it is none. */
export function integerOf(value: GoValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && isInt64(value) ? BigInt(value) : undefined
}

/** The number that a float64 is; undefined where it is none. */
export function floatOf(value: GoValue): number | undefined {
  if (value instanceof Float) return value.value
  return typeof value === 'number' && !isInt64(value) ? value : undefined
}

/** Larger numbers without a fraction are float64s. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63

/** The type of a value in Go's words. */
export function goType(value: GoValue): string {
  const kind = kindOf(value)
  return kind === 'list' ? '[]interface {}' : kind === 'map' ? 'map[string]interface {}' : kind
}

/** What `if` and `with` go by: nothing, zero, false and what is empty are not true. */
export function isTrue(value: GoValue): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof Float) return value.value !== 0
  if (isJsonObject(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** The keys of a map in the order in which Go goes through it. */
export const mapKeys = (map: JsonObject): readonly string[] => Object.keys(map).sort(compareText)

/**
 * A float64 as Go's `%v` and `%g` print it: with as few digits as tell it from its neighbours, or with `precision` digits at
 * most; 1e+06 from a million on, or from where there are more digits than `precision`.
 */
export function floatText(value: number, precision?: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const rounded = precision === undefined ? value.toExponential() : exponentialText(value, Math.max(1, precision) - 1)
  const [, sign = '', mantissa = '', exponent = '0'] = /^(-?)(.*?)e(.*)$/.exec(rounded) ?? []
  const digits = mantissa.replace('.', '').replace(/(?<=.)0+$/, '')
  const power = Number(exponent)
  const isLong = power >= (precision === undefined ? exponentMin : Math.max(1, precision))
  if (power < exponentMax || isLong) return `${sign}${pointed(digits, 1)}${exponentOf(power)}`
  return sign + (power < 0 ? `0.${'0'.repeat(-power - 1)}${digits}` : pointed(digits.padEnd(power + 1, '0'), power + 1))
}

/** From this power of ten on numbers are written with an exponent, where no precision is asked for. */
const exponentMin = 6
/** Below this power of ten, too. */
const exponentMax = -4

const pointed = (digits: string, whole: number): string =>
  digits.length > whole ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : digits

const exponentOf = (power: number): string => `e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`

/** Digits that JavaScript writes after the point, at most. */
const decimalsMax = 100

/** A number with so many digits after the point, as Go's `%f` prints it. */
export function fixedText(value: number, decimals: number): string {
  const kept = Math.min(decimals, decimalsMax)
  return halfToEven(value.toFixed(kept), value.toFixed(Math.min(kept + tieDigits, decimalsMax)))
}

/** The same with an exponent, as Go's `%e` prints it. */
export function exponentialText(value: number, decimals: number): string {
  const kept = Math.min(decimals, decimalsMax)
  const [mantissa = '', exponent] = value.toExponential(kept).split('e')
  const [exact = ''] = value.toExponential(Math.min(kept + tieDigits, decimalsMax)).split('e')
  return halfToEven(mantissa, exact) + exponentOf(Number(exponent))
}

/** More digits than these no float64 has between itself and half of a digit. */
const tieDigits = 25

/** JavaScript rounds what is right between two numbers up, Go to the even one. */
function halfToEven(rounded: string, exact: string): string {
  const decimals = rounded.length - (rounded.indexOf('.') + 1 || rounded.length)
  const rest = exact.slice(exact.indexOf('.') + 1 + decimals)
  const last = Number(rounded.at(-1))
  return /^50*$/.test(rest) && last % 2 === 1 ? `${rounded.slice(0, -1)}${last - 1}` : rounded
}

/** A value as Go's `%v` prints it. */
export function goValueText(value: GoValue): string {
  if (value === null || value === undefined) return '<nil>'
  const [whole, float] = [integerOf(value), floatOf(value)]
  if (whole !== undefined) return String(whole)
  if (float !== undefined) return floatText(float)
  if (Array.isArray(value)) return `[${value.map(goValueText).join(' ')}]`
  if (!isJsonObject(value)) return String(value)
  return `map[${mapKeys(value)
    .map((key) => `${key}:${goValueText(value[key])}`)
    .join(' ')}]`
}
