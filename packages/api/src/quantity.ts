/**
 * Amounts of resources: `100m`, `1.5`, `2Gi`, `1e3`. Exact arithmetic in billionths, and upstream's canonical form
 * (apimachinery's api/resource): no fractional digits, the largest suffix that loses nothing, in the family of suffixes
 * the amount was written with.
 */

/** Which suffixes an amount is written with: `Ki Mi Gi …`, `m k M G …`, or `e3 e6 …`. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent'

/** An exact amount. */
export interface Quantity {
  /** Billionths of a unit: the finest amount there is. */
  readonly nanos: bigint
  readonly format: QuantityFormat
}

/** An amount or its text. Functions that take one throw as parseQuantity does where the text is none. */
export type QuantityLike = Quantity | string

/** Longer texts are refused: no sensible amount comes near. */
export const quantityLengthMax = 1024
/** Larger exponents are refused, or a short text would stand for a number of any size. */
export const quantityExponentMax = 64

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const numericWrong = 'unable to parse numeric part of quantity'
const suffixWrong = "unable to parse quantity's suffix"

/** No digit can belong to two of its parts: what does not match is found out in one pass. */
const shape = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/
const binaryPowers = new Map([
  ['Ki', 10n],
  ['Mi', 20n],
  ['Gi', 30n],
  ['Ti', 40n],
  ['Pi', 50n],
  ['Ei', 60n],
])
const decimalPowers = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const decimalSuffixes = new Map([...decimalPowers].map(([suffix, power]) => [power, suffix]))
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const nano = 1_000_000_000n
const int64Max = 2n ** 63n - 1n

/** The amount `text` stands for. Throws an Error with upstream's wording where it stands for none. */
export function parseQuantity(text: string): Quantity {
  const result = tryParse(text)
  if (typeof result === 'string') throw new Error(result)
  return result
}

/** Whether `text` is an amount. */
export function isQuantity(text: string): boolean {
  return plain.test(text) || typeof tryParse(text) !== 'string'
}

/** What is wrong with `text` as an amount, in upstream's words; undefined where nothing is. */
export function quantityProblem(text: string): string | undefined {
  const result = tryParse(text)
  return typeof result === 'string' ? result : undefined
}

/** One to three digits and a suffix are canonical as they stand, but for Ei, which may exceed what there is. */
const plain = /^[1-9]\d{0,2}(?:Ki|Mi|Gi|Ti|Pi|[numkMGTPE])?$/

/** `text` in canonical form: `0.1` is `100m`, `1024Mi` is `1Gi`. Throws as parseQuantity. */
export function canonicalQuantity(text: string): string {
  return plain.test(text) ? text : formatQuantity(parseQuantity(text))
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareQuantity(a: QuantityLike, b: QuantityLike): number {
  const left = toQuantity(a).nanos
  const right = toQuantity(b).nanos
  return left < right ? -1 : left > right ? 1 : 0
}

/** The sum, in the format of `a` (of `b` where `a` is zero). */
export function addQuantity(a: QuantityLike, b: QuantityLike): Quantity {
  const [left, right] = [toQuantity(a), toQuantity(b)]
  return { nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format }
}

/** The difference, in the format of `a` (of `b` where `a` is zero). */
export function subtractQuantity(a: QuantityLike, b: QuantityLike): Quantity {
  const [left, right] = [toQuantity(a), toQuantity(b)]
  return { nanos: left.nanos - right.nanos, format: left.nanos === 0n ? right.format : left.format }
}

/** The nearest number: exact up to 2^53 and for what binary fractions can say. */
export function quantityToNumber(value: QuantityLike): number {
  const { nanos } = toQuantity(value)
  return nanos % nano === 0n ? Number(nanos / nano) : Number(nanos) / 1e9
}

/** Whole units, rounded away from zero: bytes of memory, counts. */
export function quantityValue(value: QuantityLike): number {
  return Number(roundUp(toQuantity(value).nanos, nano))
}

/** Thousandths, rounded away from zero: millicores of a CPU. */
export function quantityMilli(value: QuantityLike): number {
  return Number(roundUp(toQuantity(value).nanos, 1_000_000n))
}

/** The canonical text of an amount. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0'
  const whole = nanos % nano === 0n
  const small = nanos > -1024n * nano && nanos < 1024n * nano
  if (format === 'BinarySI' && whole && !small) return formatBinary(nanos / nano)
  return formatDecimal(nanos, format === 'DecimalExponent')
}

const toQuantity = (value: QuantityLike): Quantity => (typeof value === 'string' ? parseQuantity(value) : value)

function formatBinary(units: bigint): string {
  let mantissa = units
  let step = 0
  while (step < binarySuffixes.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n
    step += 1
  }
  return `${mantissa}${binarySuffixes[step]}`
}

function formatDecimal(nanos: bigint, exponentForm: boolean): string {
  let mantissa = nanos
  let power = -9
  while (mantissa % 1000n === 0n && (exponentForm || power < 18)) {
    mantissa /= 1000n
    power += 3
  }
  if (!exponentForm) return `${mantissa}${decimalSuffixes.get(power)}`
  return power === 0 ? String(mantissa) : `${mantissa}e${power}`
}

function roundUp(amount: bigint, unit: bigint): bigint {
  const rest = amount % unit
  const truncated = amount / unit
  if (rest === 0n) return truncated
  return rest > 0n ? truncated + 1n : truncated - 1n
}

/** The amount, or what is wrong with the text. */
function tryParse(text: string): Quantity | string {
  const match = shape.exec(text)
  // As upstream, no digits at all are a zero, but of nothing.
  if (match === null || text === '') return formatWrong
  if (text.length > quantityLengthMax) return numericWrong
  const [, sign = '', digits = '', decimals = '', suffix = ''] = match
  const mantissa = BigInt(digits + decimals)
  const scaled = scale(mantissa, decimals.length, suffix)
  if (scaled === undefined) return suffixWrong
  return sign === '-' ? { ...scaled, nanos: -scaled.nanos } : scaled
}

function scale(mantissa: bigint, decimals: number, suffix: string): Quantity | undefined {
  const binary = binaryPowers.get(suffix)
  if (binary !== undefined) return scaleBinary(mantissa, decimals, binary)
  const decimal = decimalPowers.get(suffix)
  if (decimal !== undefined) return { nanos: timesPowerOfTen(mantissa, decimal - decimals + 9), format: 'DecimalSI' }
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1]
  if (exponent === undefined || Math.abs(Number(exponent)) > quantityExponentMax) return undefined
  return { nanos: timesPowerOfTen(mantissa, Number(exponent) - decimals + 9), format: 'DecimalExponent' }
}

function scaleBinary(mantissa: bigint, decimals: number, power: bigint): Quantity {
  const nanos = timesPowerOfTen(mantissa * 2n ** power, 9 - decimals)
  const capped = nanos > int64Max * nano ? int64Max * nano : nanos
  return { nanos: capped, format: capped > 0n && capped < nano ? 'DecimalSI' : 'BinarySI' }
}

/** Rounds up what is finer than a billionth: whoever asks for a little gets a little. */
function timesPowerOfTen(value: bigint, power: number): bigint {
  return power >= 0 ? value * 10n ** BigInt(power) : roundUp(value, 10n ** BigInt(-power))
}
