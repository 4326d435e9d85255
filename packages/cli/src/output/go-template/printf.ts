import { isJsonObject } from '@coracle/api'
import { goQuoted } from '@coracle/api/go-text'
import {
  exponentialText,
  fixedText,
  floatOf,
  floatText,
  type GoValue,
  goType,
  goValueText,
  integerOf,
  mapKeys,
} from './go-values.ts'

const directive = /%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d+)?)?(\[\d+\])?(.)?/gsu

interface Directive {
  readonly flags: string
  readonly width: number | undefined
  readonly precision: number | undefined
  readonly verb: string
}

/** Widest that a value is padded to: a width asks for memory. */
const widthMax = 1_000_000

/** What Go's fmt.Sprintf makes of a format and its operands, mistakes included: `%!d(string=a)`. */
export function sprintf(format: string, operands: readonly GoValue[]): string {
  let next = 0
  const text = format.replace(directive, (whole, flags: string, width, precision, _index, verb) => {
    if (verb === undefined) return '%!(NOVERB)'
    if (verb === '%') return '%'
    const takeNumber = (part: string | undefined): number | undefined => {
      if (part === undefined) return undefined
      if (part !== '*') return Math.min(Number(part), widthMax)
      const given = operands[next++]
      const whole = integerOf(given)
      return whole === undefined ? undefined : Math.min(Number(whole), widthMax)
    }
    const padTo = takeNumber(width)
    const hasPoint = whole.includes('.')
    const digits = hasPoint ? (takeNumber(precision) ?? 0) : undefined
    if (next >= operands.length) return `%!${verb}(MISSING)`
    const operand = operands[next++]
    return pad(formatOne(operand, { flags, width: padTo, precision: digits, verb }), flags, padTo, operand)
  })
  const extra = operands.slice(next)
  if (extra.length === 0) return text
  const texts = extra.map((each) => (isNil(each) ? '<nil>' : `${goType(each)}=${goValueText(each)}`))
  return `${text}%!(EXTRA ${texts.join(', ')})`
}

const isNil = (value: GoValue): boolean => value === null || value === undefined

function pad(text: string, flags: string, width: number | undefined, operand: GoValue): string {
  const missing = (width ?? 0) - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  const isNumber = integerOf(operand) !== undefined || floatOf(operand) !== undefined
  if (!flags.includes('0') || !isNumber) return ' '.repeat(missing) + text
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(text) ?? []
  return sign + '0'.repeat(missing) + digits
}

/** A value by a verb; lists and maps by their members, as Go does. */
function formatOne(value: GoValue, how: Directive): string {
  const { verb } = how
  if (verb === 'T') return isNil(value) ? '<nil>' : goType(value)
  if (isNil(value)) return verb === 'v' ? '<nil>' : `%!${verb}(<nil>)`
  if (Array.isArray(value)) return `[${value.map((item) => formatOne(item, how)).join(' ')}]`
  if (isJsonObject(value) && floatOf(value) === undefined) {
    const members = mapKeys(value).map((key) => `${formatOne(key, how)}:${formatOne(value[key], how)}`)
    return `map[${members.join(' ')}]`
  }
  const text = scalarText(value, how)
  return text ?? `%!${verb}(${goType(value)}=${goValueText(value)})`
}

/** Undefined where the verb is none for values of this type. */
function scalarText(value: GoValue, how: Directive): string | undefined {
  if (typeof value === 'string') return stringText(value, how)
  const [whole, float] = [integerOf(value), floatOf(value)]
  if (whole !== undefined) return integerText(whole, how)
  if (float !== undefined) return numberText(float, how)
  return how.verb === 't' || how.verb === 'v' ? String(value) : undefined
}

function stringText(value: string, { verb, precision, flags }: Directive): string | undefined {
  const shown = precision === undefined ? value : [...value].slice(0, precision).join('')
  switch (verb) {
    case 'v':
      return flags.includes('#') ? goQuoted(shown) : shown
    case 's':
      return shown
    case 'q':
      return flags.includes('#') && !shown.includes('`') ? `\`${shown}\`` : goQuoted(shown)
    case 'x':
    case 'X': {
      const hex = Buffer.from(shown, 'utf8').toString('hex')
      return verb === 'x' ? hex : hex.toUpperCase()
    }
    default:
      return undefined
  }
}

function numberText(value: number, { verb, precision, flags }: Directive): string | undefined {
  const plus = value >= 0 ? signOf(flags, verb) : ''
  switch (verb) {
    case 'v':
    case 'g':
      return plus + floatText(value, precision)
    case 'G':
      return plus + floatText(value, precision).toUpperCase()
    case 'f':
    case 'F':
      return plus + fixedText(value, precision ?? 6)
    case 'e':
      return plus + exponentialText(value, precision ?? 6)
    case 'E':
      return plus + exponentialText(value, precision ?? 6).toUpperCase()
    default:
      return undefined
  }
}

/** What stands before a number that is not negative. To `%v` a plus means something else, and nothing for numbers. */
const signOf = (flags: string, verb: string): string =>
  flags.includes('+') && verb !== 'v' ? '+' : flags.includes(' ') ? ' ' : ''

function integerText(value: bigint, { verb, flags, precision }: Directive): string | undefined {
  const magnitude = value < 0n ? -value : value
  const sign = value < 0n ? '-' : signOf(flags, verb)
  const inBase = (base: number, prefix = ''): string =>
    sign + (flags.includes('#') ? prefix : '') + magnitude.toString(base).padStart(precision ?? 0, '0')
  switch (verb) {
    case 'v':
    case 'd':
      return inBase(10)
    case 'b':
      return inBase(2, '0b')
    case 'o':
      return inBase(8, '0')
    case 'O':
      return `${sign}0o${magnitude.toString(8)}`
    case 'x':
      return inBase(16, '0x')
    case 'X':
      return inBase(16, '0X').toUpperCase()
    case 'c':
      return String.fromCodePoint(Number(value))
    case 'q':
      return `'${String.fromCodePoint(Number(value))}'`
    case 'U':
      return `U+${magnitude.toString(16).toUpperCase().padStart(4, '0')}`
    default:
      return undefined
  }
}
