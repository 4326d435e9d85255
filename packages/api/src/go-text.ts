import { compareText } from './compare-text.ts'
import { isJsonObject } from './json.ts'

/** A value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`. Columns, descriptions and templates of kubectl show values so, and messages of the server what Go prints with it. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value === 'number') return goNumber(value)
  if (!isJsonObject(value)) return String(value)
  const members = Object.keys(value).sort(compareText)
  return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
}

/**
 * A number of JSON as Go's `%v` prints it: a whole one that an int64 holds by its digits, any other as a float64, with an
 * exponent below 1e-04 and from 1e+06 on.
 */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return String(value)
  return goFloat(value)
}

/** The int64 that Go's `strconv.ParseInt` reads from a decimal text; undefined where it reads none. */
export function int64Of(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  // To make a number of a million digits takes long, and an int64 has 19.
  if (text.replace(/^[+-]?0*/, '').length > 19) return undefined
  const value = BigInt(text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

/** A float64 with as few digits as tell it from its neighbours, as Go's `%g` writes it. */
export function goFloat(value: number): string {
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/**
 * A text without what it ends with of a character, as Go's `strings.TrimRight` has it. Not by a pattern: `/x+$/` looks at each run of the
 * character once for every character of it, and texts come from clients.
 */
export function trimRight(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

const namedEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** A text in quotes as Go's `%q` writes it: what cannot be printed is escaped. */
export function goQuoted(text: string): string {
  return `"${text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`
}

function escaped(char: string): string {
  const named = namedEscapes[char]
  if (named !== undefined) return named
  const code = char.codePointAt(0) ?? 0
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0')
  if (code < 0x80) return `\\x${hex(2)}`
  // Half of a pair of UTF-16 is no character.
  if (code >= 0xd800 && code < 0xe000) return '\ufffd'
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`
}
