import { dayNumber } from '../cel/library/calendar.ts'
import { parseDurationNanos } from '../duration-text.ts'
import type { LocalTime, TimeZone } from './time-zone.ts'

/** When something is to happen, again and again. */
export interface CronSchedule {
  /** The first time after `afterMs`, in milliseconds since 1970; undefined where there is none within five years. */
  next(afterMs: number): number | undefined
}

/** A schedule that is none. The message says why. */
export class CronError extends Error {}

/**
 * Reads a schedule as upstream does (robfig/cron v3): five fields (minute, hour, day of the month, month, day of the week),
 * a macro such as `@daily`, or `@every 1h30m`. Times are those of `zone`. Throws a CronError with upstream's words.
 */
export function parseCron(text: string, zone: TimeZone): CronSchedule {
  if (text === '') throw new CronError('empty spec string')
  if (text.startsWith('@')) return parseMacro(text, zone)
  const fields = text.split(/\s+/).filter((each) => each !== '')
  if (fields.length !== 5) {
    throw new CronError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`)
  }
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields
  return new FieldSchedule(
    {
      minutes: parseField(minute, { min: 0, max: 59 }),
      hours: parseField(hour, { min: 0, max: 23 }),
      daysOfMonth: parseField(dayOfMonth, { min: 1, max: 31 }),
      months: parseField(month, { min: 1, max: 12, names: months }),
      daysOfWeek: parseField(dayOfWeek, { min: 0, max: 6, names: weekdays }),
    },
    zone,
  )
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const months = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const every = '@every '

function parseMacro(text: string, zone: TimeZone): CronSchedule {
  if (Object.hasOwn(macros, text)) return parseCron(macros[text] as string, zone)
  if (!text.startsWith(every)) throw new CronError(`unrecognized descriptor: ${text}`)
  const seconds = Math.floor(durationSeconds(text))
  const delayMs = Math.max(seconds, 1) * 1000
  return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + delayMs }
}

/** Durations of Go have 64 bits of nanoseconds. */
function durationSeconds(text: string): number {
  const duration = text.slice(every.length)
  const nanos = parseDurationNanos(duration)
  if (nanos === undefined || BigInt.asIntN(64, nanos) !== nanos) {
    throw new CronError(`failed to parse duration ${text}: time: invalid duration "${duration}"`)
  }
  return Number(nanos) / 1e9
}

interface Bounds {
  readonly min: number
  readonly max: number
  /** Names of values, by value. */
  readonly names?: readonly string[]
}

/** The values a field allows. `isAny`: it was left open, so that the other day field alone decides. */
interface FieldValues {
  readonly values: ReadonlySet<number>
  readonly isAny: boolean
}

function parseField(text: string, bounds: Bounds): FieldValues {
  const values = new Set<number>()
  let isAny = false
  for (const part of text.split(',').filter((each) => each !== '')) {
    const { from, to, step, isOpen } = parseRange(part, bounds)
    for (let value = from; value <= to; value += step) values.add(value)
    isAny ||= isOpen
  }
  return { values, isAny }
}

function parseRange(text: string, bounds: Bounds) {
  const [range = '', stepText, ...moreSteps] = text.split('/')
  const [low = '', high, ...moreBounds] = range.split('-')
  const isStar = low === '*' || low === '?'
  if (!isStar && moreBounds.length > 0) throw new CronError(`too many hyphens: ${text}`)
  const from = isStar ? bounds.min : parseValue(low, bounds)
  let to = from
  if (isStar) to = bounds.max
  else if (high !== undefined) to = parseValue(high, bounds)
  if (moreSteps.length > 0) throw new CronError(`too many slashes: ${text}`)
  const step = stepText === undefined ? 1 : parseNumber(stepText)
  // N/step means N-max/step.
  if (stepText !== undefined && high === undefined) to = bounds.max
  if (from < bounds.min) throw new CronError(`beginning of range (${from}) below minimum (${bounds.min}): ${text}`)
  if (to > bounds.max) throw new CronError(`end of range (${to}) above maximum (${bounds.max}): ${text}`)
  if (from > to) throw new CronError(`beginning of range (${from}) beyond end of range (${to}): ${text}`)
  if (step === 0) throw new CronError(`step of range should be a positive number: ${text}`)
  return { from, to, step, isOpen: isStar && step === 1 }
}

function parseValue(text: string, { names = [] }: Bounds): number {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase())
  return named >= 0 ? named : parseNumber(text)
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d{1,9}$/.test(text)) {
    throw new CronError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  const value = Number(text)
  if (value < 0) throw new CronError(`negative number (${value}) not allowed: ${text}`)
  return value
}

interface Fields {
  readonly minutes: FieldValues
  readonly hours: FieldValues
  readonly daysOfMonth: FieldValues
  readonly months: FieldValues
  readonly daysOfWeek: FieldValues
}

const minuteMs = 60_000
/** A day that does not come within so many years, such as 30 February, never comes. */
const yearsMax = 5

/** Goes through days, then hours, then minutes of the zone's clock: an hour that the clock leaves out is not there. */
class FieldSchedule implements CronSchedule {
  readonly #fields: Fields
  readonly #zone: TimeZone

  constructor(fields: Fields, zone: TimeZone) {
    this.#fields = fields
    this.#zone = zone
  }

  next(afterMs: number): number | undefined {
    const { hours, minutes } = this.#fields
    const zone = this.#zone
    let ms = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs
    const lastYear = zone.localTime(ms).year + yearsMax
    for (;;) {
      const local = zone.localTime(ms)
      if (local.year > lastYear) return undefined
      if (!this.#isDay(local)) {
        ms = this.#startOfNextDay(ms, local)
      } else if (!hours.values.has(local.hour)) {
        ms += (60 - local.minute) * minuteMs
      } else if (!minutes.values.has(local.minute)) {
        ms += (nextIn(minutes.values, local.minute) - local.minute) * minuteMs
      } else return ms
    }
  }

  #isDay({ month, day, weekday }: LocalTime): boolean {
    const { months, daysOfMonth, daysOfWeek } = this.#fields
    if (!months.values.has(month)) return false
    const isDayOfMonth = daysOfMonth.values.has(day)
    const isDayOfWeek = daysOfWeek.values.has(weekday)
    // Where both are restricted one of them is enough.
    return daysOfMonth.isAny || daysOfWeek.isAny ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek
  }

  /** Of a month that is not meant, all days are left out at once. */
  #startOfNextDay(ms: number, { year, month, day }: LocalTime): number {
    const nextMonth = month === 12 ? { year: year + 1, month: 1 } : { year, month: month + 1 }
    const isMonth = this.#fields.months.values.has(month)
    const next = isMonth ? dayNumber({ year, month, day }) + 1 : dayNumber({ ...nextMonth, day: 1 })
    return this.#zone.startOfDay(next, ms)
  }
}

/** The first minute that is allowed after another, or the end of the hour. */
function nextIn(minutes: ReadonlySet<number>, after: number): number {
  for (let minute = after + 1; minute < 60; minute += 1) if (minutes.has(minute)) return minute
  return 60
}
