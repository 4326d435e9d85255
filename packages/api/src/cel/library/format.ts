/** `'%s is %d'.format([…])`, as the strings extension has it. */
import { CelError } from '../errors.ts'
import { CelList, CelMap, type CelValue, Duration, Opaque, Timestamp, TypeValue, typeName, Uint } from '../values.ts'
import { doubleText } from './conversions.ts'
import { durationText, timestampText } from './times.ts'

/** A clause of a format, with its precision and its verb. */
export const formatClause = /%(?:%|(?:\.(\d+))?([a-zA-Z]))/g

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
  const text = pattern.replaceAll(
    formatClause,
    (whole: string, digits: string | undefined, verb: string | undefined) => {
      if (whole === '%%' || verb === undefined) return '%'
      if (next >= args.length) throw new CelError(`index ${next} out of range`)
      const value = args.at(next)
      next += 1
      return formatted(verb, value, digits === undefined ? 6 : Number(digits))
    },
  )
  return text
}

function formatted(verb: string, value: CelValue, digits: number): string {
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
      return fixedText(verb, value, (number) => fixed(number, Math.min(digits, 100)))
    case 'e':
      return fixedText(verb, value, (number) =>
        number.toExponential(Math.min(digits, 100)).replace(/e([+-])(\d)$/, 'e$10$2'),
      )
    default:
      throw new CelError(unrecognizedClause(verb))
  }
}

function integerText(value: CelValue, base: number, verb: string): string {
  const raw = value instanceof Uint ? value.value : value
  if (typeof raw === 'bigint') return raw.toString(base)
  if (verb === 'd' && typeof raw === 'number') return shownText(raw)
  throw new CelError(notFormatted(verb, typeName(value)))
}

function fixedText(verb: string, value: CelValue, write: (number: number) => string): string {
  const raw = value instanceof Uint ? Number(value.value) : typeof value === 'bigint' ? Number(value) : value
  if (typeof raw !== 'number') throw new CelError(notFormatted(verb, typeName(value)))
  return Number.isFinite(raw) ? write(raw) : doubleText(raw).replace('+Inf', 'Infinity').replace('-Inf', '-Infinity')
}

/** Halves go to the even neighbour. */
function fixed(number: number, digits: number): string {
  const scaled = Math.abs(number) * 10 ** digits
  const isHalf = scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0
  return (isHalf ? (Math.sign(number) * Math.floor(scaled)) / 10 ** digits : number).toFixed(digits)
}

/** A value as text. Maps are in the order of their keys. */
export function shownText(value: CelValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (typeof value === 'number') return doubleText(value).replace('+Inf', 'Infinity').replace('-Inf', '-Infinity')
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof Duration) return durationText(value.nanos)
  if (value instanceof Timestamp) return timestampText(value.nanos)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Opaque) return value.text
  if (value instanceof CelList) return `[${value.values().map(shownText).join(', ')}]`
  if (value instanceof CelMap) {
    const entries = value.entries().map(([key, each]) => `${shownText(key)}: ${shownText(each)}`)
    return `{${entries.sort().join(', ')}}`
  }
  throw new CelError(notFormatted('s', typeName(value)))
}
