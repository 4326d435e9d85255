/**
 * `'%s is %d'.format([…])`, as the strings extension has it up to version 3 (ext/formatting.go), which is that of Kubernetes: lists and maps are written
 * as expressions have them, and numbers as people do who speak English.
 */
import { compareText } from '../../compare-text.ts'
import { goQuoted } from '../../go-text.ts'
import { CelError } from '../errors.ts'
import { CelList, CelMap, type CelValue, Duration, Timestamp, TypeValue, typeName, Uint } from '../values.ts'
import { decodeText, doubleText } from './conversions.ts'
import { durationText, timestampText } from './times.ts'

/** A clause of a format, or what is wrong with it. */
export interface FormatClause {
  readonly verb: string
  readonly precision: number | undefined
  readonly problem?: string
}

/** The texts and clauses that a format is made of. */
export function* formatParts(pattern: string): Iterable<string | FormatClause> {
  let at = 0
  for (;;) {
    const next = pattern.indexOf('%', at)
    yield next < 0 ? pattern.slice(at) : pattern.slice(at, next)
    if (next < 0) return
    if (pattern.charAt(next + 1) === '%') {
      yield '%'
      at = next + 2
      continue
    }
    const [whole = '', digits] = /^(?:\.(\d*))?/.exec(pattern.slice(next + 1, next + 2 + precisionDigitsMax)) ?? []
    const end = next + 1 + whole.length
    yield readClause(pattern.charAt(end), digits)
    at = end + 1
  }
}

/** More digits, and no number is written. */
const precisionDigitsMax = 20

function readClause(verb: string, digits: string | undefined): FormatClause {
  const precision = digits === undefined ? undefined : Number(digits)
  const wrong = (problem: string): FormatClause => ({ verb, precision, problem })
  const wrongPrecision = 'could not parse formatting clause: error while parsing precision: '
  if (verb === '') {
    return wrong(
      digits === undefined ? 'unexpected end of string' : `${wrongPrecision}could not find end of precision specifier`,
    )
  }
  if (digits === '') {
    return wrong(
      `${wrongPrecision}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
    )
  }
  return verbs.has(verb) ? { verb, precision } : wrong(unrecognizedClause(verb))
}

const verbs = new Set('sdfebxXo')

export const unrecognizedClause = (verb: string): string =>
  `could not parse formatting clause: unrecognized formatting clause "${verb}"`

/** What is said of what a clause does not take. */
const clauseProblems: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
}

export const notFormatted = (verb: string, type: string): string =>
  `error during formatting: ${clauseProblems[verb.toLowerCase()]}, was given ${type}`

export function formatText(pattern: string, args: CelList): string {
  let next = 0
  let text = ''
  for (const part of formatParts(pattern)) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    if (next >= args.length) throw new CelError(`index ${next} out of range`)
    if (part.problem !== undefined) throw new CelError(part.problem)
    text += formatted(part.verb, args.at(next), part.precision)
    next += 1
  }
  return text
}

function formatted(verb: string, value: CelValue, precision: number | undefined): string {
  switch (verb) {
    case 's':
      return shownText(value)
    case 'd':
      return integerText(value, 10, verb)
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : integerText(value, 2, verb)
    case 'o':
      return integerText(value, 8, verb)
    case 'x':
    case 'X': {
      const text =
        typeof value === 'string' || value instanceof Uint8Array
          ? Buffer.from(value as string).toString('hex')
          : integerText(value, 16, verb)
      return verb === 'X' ? text.toUpperCase() : text
    }
    case 'f':
      return spoken(fixed(doubleOf(verb, value), precision ?? decimalsOfDoubles))
    case 'e':
      return scientific(doubleOf(verb, value), precision)
    default:
      throw new CelError(unrecognizedClause(verb))
  }
}

function integerText(value: CelValue, base: number, verb: string): string {
  const raw = value instanceof Uint ? value.value : value
  if (typeof raw === 'bigint') return raw.toString(base)
  throw new CelError(notFormatted(verb, typeName(value)))
}

/** How many decimals a double has where nobody says. */
const decimalsOfDoubles = 6
/** No text is made that is longer than what anybody reads. */
const widthMax = 100

/** What is no finite number may be given by its name. */
function doubleOf(verb: string, value: CelValue): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string' && /^(NaN|-?Infinity)$/.test(value)) return Number(value)
  throw new CelError(notFormatted(verb, typeName(value)))
}

const specialText = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞')

/** With this many decimals. What is half between two goes to the even one. */
function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return specialText(value)
  const kept = Math.min(decimals, widthMax)
  const size = Math.abs(value)
  // From here on all doubles are whole numbers.
  const exact = size >= 1e21 ? `${BigInt(size)}.` : size.toFixed(Math.min(100, kept + 30))
  const [whole = '', fraction = ''] = exact.split('.')
  const digits = halfEven(whole + fraction.padEnd(kept, '0'), Math.max(0, fraction.length - kept)).padStart(
    kept + 1,
    '0',
  )
  const sign = value < 0 ? '-' : ''
  return sign + digits.slice(0, digits.length - kept) + (kept === 0 ? '' : `.${digits.slice(digits.length - kept)}`)
}

/** `1.500000×10⁰³`. The precision is taken for a width; what is no number has one, where nobody says. */
function scientific(value: number, precision: number | undefined): string {
  if (!Number.isFinite(value)) return padded(specialText(value), precision ?? decimalsOfDoubles)
  return padded(scientificText(value), precision ?? 0)
}

const padded = (text: string, width: number): string => text.padStart(Math.min(width, widthMax))

function scientificText(value: number): string {
  const [mantissa = '', exponent = '0'] = Math.abs(value).toExponential(50).split('e')
  const rounded = halfEven(mantissa.replace('.', ''), 50 - decimalsOfDoubles).padStart(decimalsOfDoubles + 1, '0')
  // Rounding up may have made a digit more.
  const more = rounded.length - decimalsOfDoubles - 1
  const power = Number(exponent) + more
  const powerText = String(Math.abs(power))
    .padStart(2, '0')
    .replaceAll(/\d/g, (digit) => superscripts.charAt(Number(digit)))
  const digits = rounded.slice(0, decimalsOfDoubles + 1)
  return `${value < 0 ? '-' : ''}${digits.charAt(0)}.${digits.slice(1)}×10${power < 0 ? '⁻' : ''}${powerText}`
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** Digits without the last of them, rounded. */
function halfEven(digits: string, dropped: number): string {
  if (dropped === 0) return digits
  const unit = 10n ** BigInt(dropped)
  const number = BigInt(digits)
  const [kept, rest] = [number / unit, number % unit]
  const isUp = rest * 2n > unit || (rest * 2n === unit && kept % 2n === 1n)
  return String(isUp ? kept + 1n : kept).padStart(digits.length - dropped, '0')
}

/** With commas between thousands. */
const spoken = (text: string): string =>
  text.replace(/^(-?)(\d+)/, (_, sign: string, whole: string) => sign + whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','))

/** A value as text. */
function shownText(value: CelValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (typeof value === 'number') return doubleText(value)
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof Uint8Array) return decodeText(value)
  if (value instanceof Duration) return durationText(value.nanos)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof CelList) return `[${value.values().map(elementText).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = value.entries().map(([key, each]) => [keyText(key), elementText(each)] as const)
    return `{${[...entries]
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, each]) => `${key}:${each}`)
      .join(', ')}}`
  }
  throw new CelError(notFormatted('s', typeName(value)))
}

/** A value in a list or map, as an expression has it. */
function elementText(value: CelValue): string {
  if (typeof value === 'string') return goQuoted(value)
  if (typeof value === 'number') {
    return Number.isFinite(value) ? fixed(value, decimalsOfDoubles) : goQuoted(doubleText(value))
  }
  if (value instanceof Uint8Array) return `b${goQuoted(decodeText(value))}`
  if (value instanceof Duration) return `duration(${goQuoted(durationText(value.nanos))})`
  if (value instanceof Timestamp) return `timestamp(${goQuoted(timestampText(value))})`
  const isShown =
    value === null ||
    typeof value !== 'object' ||
    [Uint, TypeValue, CelList, CelMap].some((type) => value instanceof type)
  if (!isShown) throw new CelError(`no formatting function for ${typeName(value)}`)
  return shownText(value)
}

function keyText(key: CelValue): string {
  if (typeof key === 'string') return goQuoted(key)
  if (typeof key === 'boolean' || typeof key === 'bigint' || key instanceof Uint) return shownText(key)
  throw new CelError(`no formatting function for map key of type ${typeName(key)}`)
}
