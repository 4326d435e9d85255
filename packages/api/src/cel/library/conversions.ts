/** Conversions between types. */
import { CelError } from '../errors.ts'
import { overload, traversalCost } from '../functions.ts'
import { type CelValue, type Duration, type Timestamp, TypeValue, typeName, type Uint } from '../values.ts'
import { toInt, toUint } from './integers.ts'
import { durationText, parseDuration, parseTimestamp, timestampOfSeconds, timestampText } from './times.ts'

const durationName = 'google.protobuf.Duration'
const timestampName = 'google.protobuf.Timestamp'

const same = (value: CelValue): CelValue => value

/** The lowest integer is refused: a double so large may stand for a lower one. */
function doubleToInt(value: number): bigint {
  if (!Number.isFinite(value) || value <= -(2 ** 63)) throw new CelError('integer overflow')
  return toInt(BigInt(Math.trunc(value)))
}

function doubleToUint(value: number): Uint {
  if (!Number.isFinite(value)) throw new CelError('unsigned integer overflow')
  return toUint(BigInt(Math.trunc(value)))
}

/** What cel-go says of what is no value of a type. */
const notConverted = (type: string, from = 'string'): CelError =>
  new CelError(`type conversion error from '${from}' to '${type}'`)

function parseInt64(text: string): bigint {
  const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined
  if (value === undefined || BigInt.asIntN(64, value) !== value) throw notConverted('int')
  return value
}

/** Without a sign. */
function parseUint64(text: string): bigint {
  const value = /^\d+$/.test(text) ? BigInt(text) : undefined
  if (value === undefined || BigInt.asUintN(64, value) !== value) throw notConverted('uint')
  return value
}

function parseDouble(text: string): number {
  const known: Readonly<Record<string, number>> = {
    inf: Number.POSITIVE_INFINITY,
    '+inf': Number.POSITIVE_INFINITY,
    infinity: Number.POSITIVE_INFINITY,
    '+infinity': Number.POSITIVE_INFINITY,
    '-inf': Number.NEGATIVE_INFINITY,
    '-infinity': Number.NEGATIVE_INFINITY,
    nan: Number.NaN,
  }
  const special = known[text.toLowerCase()]
  if (special !== undefined) return special
  const value = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
  // What is too large for a double is none.
  if (value === undefined || !Number.isFinite(value)) throw notConverted('double')
  return value
}

const truths: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
}

function parseBool(text: string): boolean {
  const value = Object.hasOwn(truths, text) ? truths[text] : undefined
  if (value !== undefined) return value
  throw notConverted('bool')
}

/** Doubles as Go writes them with the fewest digits: with an exponent from a million on (strconv's `g`). */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  if (exponent < -4 || exponent >= 6) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  }
  return String(value)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws a CelError where the bytes are no text. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

export const conversions = [
  overload('dyn(A): dyn', same),
  overload('type(A): type<A>', (value: CelValue) => new TypeValue(typeName(value))),
  overload('int(int): int', same),
  overload('int(uint): int', ({ value }: Uint) => toInt(value)),
  overload('int(double): int', doubleToInt),
  overload('int(string): int', parseInt64),
  overload('int(timestamp): int', ({ nanos }: Timestamp) => floorDivide(nanos, 1_000_000_000n)),
  overload('uint(uint): uint', same),
  overload('uint(int): uint', (value: bigint) => toUint(value)),
  overload('uint(double): uint', doubleToUint),
  overload('uint(string): uint', (text: string) => toUint(parseUint64(text))),
  overload('double(double): double', same),
  overload('double(int): double', (value: bigint) => Number(value)),
  overload('double(uint): double', ({ value }: Uint) => Number(value)),
  overload('double(string): double', parseDouble),
  overload('bool(bool): bool', same),
  overload('bool(string): bool', parseBool),
  overload('string(string): string', same),
  overload('string(int): string', (value: bigint) => value.toString()),
  overload('string(uint): string', ({ value }: Uint) => value.toString()),
  overload('string(double): string', doubleText),
  overload('string(bool): string', (value: boolean) => String(value)),
  overload('string(bytes): string', decodeText, traversalCost),
  overload('string(timestamp): string', timestampText),
  overload('string(duration): string', ({ nanos }: Duration) => durationText(nanos)),
  overload('bytes(bytes): bytes', same),
  overload('bytes(string): bytes', (text: string) => Uint8Array.from(Buffer.from(text)), traversalCost),
  overload('duration(duration): duration', same),
  overload('duration(string): duration', (text: string) => converted(text, durationName, parseDuration)),
  // Declared, and yet no integer is a duration.
  overload('duration(int): duration', () => {
    throw notConverted(durationName, 'int')
  }),
  overload('timestamp(timestamp): timestamp', same),
  overload('timestamp(string): timestamp', (text: string) => converted(text, timestampName, parseTimestamp)),
  overload('timestamp(int): timestamp', timestampOfSeconds),
]

/** Division that rounds down, for negative numbers too. */
function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

/** A text that is none is told by what it was to become. */
function converted<T>(text: string, type: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    throw notConverted(type)
  }
}
