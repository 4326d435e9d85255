/** Conversions between types. */
import { CelError } from '../errors.ts'
import { overload, traversalCost } from '../functions.ts'
import { type CelValue, type Duration, type Timestamp, TypeValue, typeName, type Uint } from '../values.ts'
import { toInt, toUint } from './integers.ts'
import {
  durationOfSeconds,
  durationText,
  parseDuration,
  parseTimestamp,
  timestampOfSeconds,
  timestampText,
} from './times.ts'

const same = (value: CelValue): CelValue => value

function doubleToInteger(value: number): bigint {
  if (!Number.isFinite(value)) throw new CelError('integer overflow')
  return BigInt(Math.trunc(value))
}

/** The lowest integer is refused: a double so large may stand for a lower one. */
function doubleToInt(value: number): bigint {
  if (value <= -(2 ** 63)) throw new CelError('integer overflow')
  return toInt(doubleToInteger(value))
}

/** What cel-go says of a text that is no value of a type. */
const notConverted = (type: string): CelError => new CelError(`type conversion error from 'string' to '${type}'`)

function parseInteger(text: string, type: 'int' | 'uint'): bigint {
  if (/^[+-]?\d+$/.test(text)) return BigInt(text.replace(/^\+/, ''))
  throw notConverted(type)
}

function parseDouble(text: string): number {
  const known: Readonly<Record<string, number>> = {
    inf: Number.POSITIVE_INFINITY,
    '+inf': Number.POSITIVE_INFINITY,
    infinity: Number.POSITIVE_INFINITY,
    '-inf': Number.NEGATIVE_INFINITY,
    '-infinity': Number.NEGATIVE_INFINITY,
    nan: Number.NaN,
  }
  const special = known[text.toLowerCase()]
  if (special !== undefined) return special
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text)
  throw notConverted('double')
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

/** Doubles as Go writes them with the fewest digits. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  if (exponent < -4 || exponent >= 21) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  }
  return String(value)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeText(bytes: Uint8Array): string {
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
  overload('int(string): int', (text: string) => toInt(parseInteger(text, 'int'))),
  overload('int(timestamp): int', ({ nanos }: Timestamp) => floorDivide(nanos, 1_000_000_000n)),
  overload('uint(uint): uint', same),
  overload('uint(int): uint', (value: bigint) => toUint(value)),
  overload('uint(double): uint', (value: number) => toUint(doubleToInteger(value))),
  overload('uint(string): uint', (text: string) => toUint(parseInteger(text, 'uint'))),
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
  overload('string(timestamp): string', ({ nanos }: Timestamp) => timestampText(nanos)),
  overload('string(duration): string', ({ nanos }: Duration) => durationText(nanos)),
  overload('bytes(bytes): bytes', same),
  overload('bytes(string): bytes', (text: string) => Uint8Array.from(Buffer.from(text)), traversalCost),
  overload('duration(duration): duration', same),
  overload('duration(string): duration', (text: string) => converted(text, 'Duration', parseDuration)),
  overload('duration(int): duration', durationOfSeconds),
  overload('timestamp(timestamp): timestamp', same),
  overload('timestamp(string): timestamp', (text: string) => converted(text, 'Timestamp', parseTimestamp)),
  overload('timestamp(int): timestamp', timestampOfSeconds),
]

/** Division that rounds down, for negative numbers too. */
function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

/** A text that is none is told by what it was to become. */
function converted<T>(text: string, type: 'Duration' | 'Timestamp', parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    throw new CelError(`type conversion error from 'string' to 'google.protobuf.${type}'`)
  }
}
