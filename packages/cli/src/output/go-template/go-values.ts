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
      return Number.isInteger(value) ? 'int64' : 'float64'
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
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined
}

/** The number that a float64 is; undefined where it is none. */
export function floatOf(value: GoValue): number | undefined {
  if (value instanceof Float) return value.value
  return typeof value === 'number' && !Number.isInteger(value) ? value : undefined
}

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

/** A float64 as Go's `%v` prints it: 1e+06 from a million on, and as few digits as tell it from its neighbours. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [, mantissa = '', exponent = '0'] = /^(.*)e(.*)$/.exec(value.toExponential()) ?? []
  const power = Number(exponent)
  if (power >= -4 && power < floatExponentMin) return plainDecimal(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** From this power of ten on numbers are written with an exponent. */
const floatExponentMin = 21

/** Without an exponent, which JavaScript writes for what is small. */
const plainDecimal = (value: number): string =>
  String(value).includes('e') ? value.toFixed(20).replace(/0+$/, '') : String(value)

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
