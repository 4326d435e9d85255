/**
 * Conversions between times as the API writes them (RFC 3339 in UTC) and milliseconds since 1970. Pure: nothing here
 * knows what time it is.
 */

// A burst of work writes and reads the same few seconds thousands of times: those of now, and when containers started.
// Conversions were 6 % of the time it took to bring up 1,000 pods.
const rememberedMax = 64
const parsed = new Map<string, number>()
const formatted = new Map<number, string>()

/** Keeps a conversion; where there are too many, all others are forgotten. */
function remember<K, V>(conversions: Map<K, V>, from: K, to: V): void {
  if (conversions.size >= rememberedMax) conversions.clear()
  conversions.set(from, to)
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** The last second that the API can write: 9999-12-31T23:59:59Z. */
export const timeMaxMs = 253_402_300_799_000

/** Milliseconds since 1970 of an RFC 3339 time; microseconds appear as fractions. NaN where `text` is no such time. */
export function parseTime(text: string): number {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const ms = parseAnew(text)
  // What is no time may be of any length, and is not worth keeping.
  if (!Number.isNaN(ms)) remember(parsed, text, ms)
  return ms
}

function parseAnew(text: string): number {
  const match = rfc3339.exec(text)
  if (match === null) return Number.NaN
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour = '',
    minute = '',
    second = '',
    fraction = '',
    sign,
    offHour,
    offMinute,
  ] = match
  if (!isDate(Number(year), Number(month), Number(day))) return Number.NaN
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN
  if (Number(offHour ?? 0) > 23 || Number(offMinute ?? 0) > 59) return Number.NaN
  const wholeMs = startOfDay(`${year}-${month}-${day}`) + secondOfDay(hour, minute, second) * 1000
  const fractionMs = fraction === '' ? 0 : Number(fraction.slice(0, 6).padEnd(6, '0')) / 1000
  const offsetMs = (Number(offHour ?? 0) * 60 + Number(offMinute ?? 0)) * 60_000
  return wholeMs + fractionMs + (sign === '-' ? offsetMs : -offsetMs)
}

const secondOfDay = (hour: string, minute: string, second: string): number =>
  (Number(hour) * 60 + Number(minute)) * 60 + Number(second)

/** The day that was asked for last: times of one moment are of one day. */
let latestDay = { text: '1970-01-01', startMs: 0 }

function startOfDay(text: string): number {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  if (latestDay.text !== text) latestDay = { text, startMs: Date.parse(`${text}T00:00:00Z`) }
  return latestDay.startMs
}

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > (daysOfMonth[month - 1] ?? 0)) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month !== 2 || day <= 28 || leap
}

/** `2026-01-01T00:00:00Z`: whole seconds, the rest cut off, as apimachinery's Time. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  const known = formatted.get(second)
  if (known !== undefined) return known
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  const text = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  remember(formatted, second, text)
  return text
}

/** `2026-01-01T00:00:00.000000Z`: six digits of seconds, as apimachinery's MicroTime. */
export function formatMicroTime(ms: number): string {
  const micros = Math.round((ms - Math.floor(ms / 1000) * 1000) * 1000)
  // Rounding may reach the next full second.
  const carried = micros >= 1_000_000 ? 1 : 0
  const seconds = formatTime(ms + carried * 1000).slice(0, 19)
  return `${seconds}.${String(micros - carried * 1_000_000).padStart(6, '0')}Z`
}

const canonicalTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
/** Times with microseconds have all six digits, unlike those with seconds, which may have any fraction. */
const microForm = /[.,]\d{6}(?:Z|[+-]\d\d:\d\d)$/
const canonicalMicroForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** The form in which the API stores a time; undefined where `text` is no RFC 3339 time. */
export function canonicalTime(text: string, micro: boolean): string | undefined {
  const ms = parseTime(text)
  if (Number.isNaN(ms)) return undefined
  if (!micro) return canonicalTimeForm.test(text) ? text : formatTime(ms)
  if (canonicalMicroForm.test(text)) return text
  return microForm.test(text) ? formatMicroTime(ms) : undefined
}
