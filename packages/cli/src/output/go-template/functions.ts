import { compareText, illegalByte, isJsonObject } from '@coracle/api'
import { floatOf, type GoKind, type GoValue, goType, goValueText, integerOf, isTrue, kindOf } from './go-values.ts'
import { sprintf } from './printf.ts'

/** A function of templates. Throws an Error that says, in Go's words, why it cannot answer. */
export interface TemplateFunction {
  readonly parametersMin: number
  /** Absent: any number. */
  readonly parametersMax?: number
  /** Whether the first has to be a string. */
  readonly startsWithString?: true
  call(...values: readonly GoValue[]): GoValue
}

const any = (call: TemplateFunction['call'], parametersMin = 0): TemplateFunction => ({ parametersMin, call })
const exactly = (count: number, call: TemplateFunction['call']): TemplateFunction => ({
  parametersMin: count,
  parametersMax: count,
  call,
})

/** Functions of Go's text/template (funcs.go) and the two that kubectl adds. `and` and `or` stop early elsewhere. */
export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['and', any((...values) => values.find((value) => !isTrue(value)) ?? values.at(-1), 1)],
  ['base64decode', { ...exactly(1, base64Decode), startsWithString: true }],
  // What it would call is nowhere in data of JSON: the evaluator says so.
  ['call', any(() => undefined, 1)],
  ['eq', any(equalsAny, 1)],
  ['exists', any(exists, 1)],
  ['ge', exactly(2, (a, b) => !isLess(a, b))],
  ['gt', exactly(2, (a, b) => !isLess(a, b) && !equals(a, b))],
  ['html', any((...values) => escapeHtml(printed(values)))],
  ['index', any(indexed, 1)],
  ['js', any((...values) => escapeScript(printed(values)))],
  ['le', exactly(2, (a, b) => isLess(a, b) || equals(a, b))],
  ['len', exactly(1, lengthOf)],
  ['lt', exactly(2, isLess)],
  ['ne', exactly(2, (a, b) => !equals(a, b))],
  ['not', exactly(1, (value) => !isTrue(value))],
  ['or', any((...values) => values.find((value) => isTrue(value)) ?? values.at(-1), 1)],
  ['print', any((...values) => sprint(values))],
  ['printf', { ...any((format, ...values) => sprintf(String(format), values), 1), startsWithString: true }],
  ['println', any((...values) => `${values.map(goValueText).join(' ')}\n`)],
  ['slice', any(sliced, 1)],
  ['urlquery', any((...values) => escapeQuery(printed(values)))],
])

/** Go's fmt.Sprint: a space between operands of which neither is a string. */
function sprint(values: readonly GoValue[]): string {
  return values
    .map((value, index) => {
      const parted = index > 0 && typeof value !== 'string' && typeof values[index - 1] !== 'string'
      return `${parted ? ' ' : ''}${goValueText(value)}`
    })
    .join('')
}

const printed = (values: readonly GoValue[]): string => {
  const [only] = values
  return values.length === 1 && typeof only === 'string' ? only : sprint(values)
}

function base64Decode(value: GoValue): string {
  const text = String(value)
  const illegal = illegalByte(text)
  if (illegal !== undefined) throw new Error(`base64 decode failed: illegal base64 data at input byte ${illegal}`)
  return Buffer.from(text, 'base64').toString('utf8')
}

function lengthOf(value: GoValue): bigint {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value))
  if (Array.isArray(value)) return BigInt(value.length)
  if (isJsonObject(value)) return BigInt(Object.keys(value).length)
  if (value === null || value === undefined) throw new Error('reflect: call of reflect.Value.Type on zero Value')
  throw new Error(`len of type ${goType(value)}`)
}

function indexed(of: GoValue, ...indexes: readonly GoValue[]): GoValue {
  if (of === null || of === undefined) throw new Error('index of untyped nil')
  let item: GoValue = of
  for (const index of indexes) {
    if (item === null || item === undefined) throw new Error('index of nil pointer')
    if (isJsonObject(item)) item = Object.hasOwn(item, mapKey(index)) ? item[mapKey(index)] : null
    else if (Array.isArray(item) || typeof item === 'string') {
      const at = position(index, Array.isArray(item) ? item.length : Buffer.byteLength(item), false)
      item = Array.isArray(item) ? item[at] : BigInt(Buffer.from(item)[at] ?? 0)
    } else throw new Error(`can't index item of type ${goType(item)}`)
  }
  return item
}

function mapKey(index: GoValue): string {
  if (index === null || index === undefined) throw new Error('value is nil; should be of type string')
  if (typeof index !== 'string') throw new Error(`value has type ${goType(index)}; should be string`)
  return index
}

/** An index of a list as a number that is one of it, or, as a bound, its end. */
function position(index: GoValue, length: number, isBound: boolean): number {
  if (index === null || index === undefined) throw new Error('cannot index slice/array with nil')
  const whole = integerOf(index)
  if (whole === undefined) throw new Error(`cannot index slice/array with type ${goType(index)}`)
  const isWithin = whole >= 0n && (isBound ? whole <= BigInt(length) : whole < BigInt(length))
  if (!isWithin) throw new Error(`index out of range: ${whole}`)
  return Number(whole)
}

function sliced(of: GoValue, ...bounds: readonly GoValue[]): GoValue {
  if (of === null || of === undefined) throw new Error('slice of untyped nil')
  if (bounds.length > 3) throw new Error(`too many slice indexes: ${bounds.length}`)
  if (typeof of !== 'string' && !Array.isArray(of)) throw new Error(`can't slice item of type ${goType(of)}`)
  if (typeof of === 'string' && bounds.length === 3) throw new Error('cannot 3-index slice a string')
  const whole = typeof of === 'string' ? Buffer.from(of) : of
  const [start = 0, end = whole.length] = bounds.map((bound) => position(bound, whole.length, true))
  if (start > end) throw new Error(`invalid slice index: ${start} > ${end}`)
  return typeof of === 'string' ? Buffer.from(of).subarray(start, end).toString('utf8') : of.slice(start, end)
}

/** Whether `index` with these arguments would find something. */
function exists(of: GoValue, ...indexes: readonly GoValue[]): boolean {
  let item: GoValue = of
  for (const index of indexes) {
    if (isJsonObject(item) && typeof index === 'string' && Object.hasOwn(item, index)) item = item[index]
    else if (Array.isArray(item) && isWithin(index, item.length)) item = item[Number(index)]
    else if (typeof item === 'string' && isWithin(index, Buffer.byteLength(item))) item = 0n
    else return false
  }
  return true
}

function isWithin(index: GoValue, length: number): boolean {
  const whole = integerOf(index)
  return whole !== undefined && whole >= 0n && whole < BigInt(length)
}

type BasicKind = 'bool' | 'float' | 'int' | 'string' | undefined

const basicKinds: Readonly<Partial<Record<GoKind, BasicKind>>> = {
  bool: 'bool',
  float64: 'float',
  int: 'int',
  int64: 'int',
  string: 'string',
}

const basicKind = (value: GoValue): BasicKind => basicKinds[kindOf(value)]

const incompatible = (a: GoValue, b: GoValue): Error =>
  new Error(`incompatible types for comparison: ${goType(a)} and ${goType(b)}`)

function equalsAny(value: GoValue, ...others: readonly GoValue[]): boolean {
  if (others.length === 0) throw new Error('missing argument for comparison')
  return others.some((other) => equals(value, other))
}

const isMissing = (value: GoValue): boolean => value === null || value === undefined

function equals(a: GoValue, b: GoValue): boolean {
  const kind = basicKind(a)
  if (kind !== basicKind(b)) {
    if (!isMissing(a) && !isMissing(b)) throw incompatible(a, b)
    return false
  }
  if (kind !== undefined) return scalar(a) === scalar(b)
  if (isMissing(a) || isMissing(b)) return isMissing(a) === isMissing(b)
  if (kindOf(a) === kindOf(b)) throw new Error(sprintf(`non-comparable type %s: ${goType(a)}`, [a]))
  throw new Error(sprintf(`non-comparable types %s: ${goType(a)}, ${goType(b)}: %v`, [a, b]))
}

function isLess(a: GoValue, b: GoValue): boolean {
  const [kind, other] = [basicKind(a), basicKind(b)]
  if (kind === undefined || other === undefined) throw new Error('invalid type for comparison')
  if (kind !== other) throw incompatible(a, b)
  if (kind === 'bool') throw new Error('invalid type for comparison')
  return kind === 'string' ? compareText(String(a), String(b)) < 0 : scalar(a) < scalar(b)
}

/** What JavaScript compares as Go compares the values. */
const scalar = (value: GoValue): bigint | boolean | number | string =>
  integerOf(value) ?? floatOf(value) ?? (typeof value === 'boolean' ? value : String(value))

const htmlEscapes: Readonly<Record<string, string>> = {
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\0': '\uFFFD',
}

const escapeHtml = (text: string): string => text.replaceAll(/["'&<>\0]/g, (char) => htmlEscapes[char] ?? char)

const scriptEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}

const escapeScript = (text: string): string =>
  text.replaceAll(/[\\'"<>&=]|\p{Cc}/gu, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return scriptEscapes[char] ?? `\\u${code}`
  })

/** Go's url.QueryEscape. */
const escapeQuery = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
