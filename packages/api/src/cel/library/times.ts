/** Durations and timestamps, in nanoseconds. */
import { parseDurationNanos } from '../../duration-text.ts'
import { CelError } from '../errors.ts'
import { overload } from '../functions.ts'
import { Duration, Timestamp } from '../values.ts'
import { type CivilDate, civilDate, dayNumber } from './calendar.ts'

const second = 1_000_000_000n
/** Durations of cel-go have 64 bits of nanoseconds. */
const durationMax = 2n ** 63n - 1n
/** The years 1 to 9999. */
export const timestampMin = -62_135_596_800n * second
const timestampMax = 253_402_300_800n * second - 1n

export function durationOf(nanos: bigint): Duration {
  if (nanos >= -durationMax - 1n && nanos <= durationMax) return new Duration(nanos)
  throw new CelError('integer overflow')
}

export function timestampOf(nanos: bigint, zoneMinutes = 0): Timestamp {
  if (nanos >= timestampMin && nanos <= timestampMax) return new Timestamp(nanos, zoneMinutes)
  throw new CelError('timestamp overflow')
}

export const timestampOfSeconds = (seconds: bigint): Timestamp => timestampOf(seconds * second)

/** A duration as Go writes it: `1h30m`, `-1.5s`. */
export function parseDuration(text: string): Duration {
  const nanos = parseDurationNanos(text)
  if (nanos === undefined) throw new CelError(`time: invalid duration ${JSON.stringify(text)}`)
  return durationOf(nanos)
}

export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  return `${sign}${size / second}${fractionText(size % second)}s`
}

const fractionText = (nanos: bigint): string =>
  nanos === 0n ? '' : `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`

const timestampPattern =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d{1,9})\d*)?(?:Z|([+-])(\d{2}):(\d{2}))$/

export function parseTimestamp(text: string): Timestamp {
  const parts = timestampPattern.exec(text)
  const invalid = (): CelError => new CelError(`invalid timestamp ${JSON.stringify(text)}`)
  if (parts === null) throw invalid()
  const [, year, month, day, hours, minutes, seconds, fraction = '', sign, zoneHours = '0', zoneMinutes = '0'] = parts
  const date = { year: Number(year), month: Number(month), day: Number(day) }
  const days = dayNumber(date)
  const isThere = date.month >= 1 && date.month <= 12 && civilDate(days).day === date.day && date.day > 0
  if (!isThere || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) throw invalid()
  // So much Go's parser lets be.
  if (Number(zoneHours) > 24 || Number(zoneMinutes) > 60) throw invalid()
  const zone = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const secondOfDay = (Number(hours) * 60 + Number(minutes) - zone) * 60 + Number(seconds)
  return timestampOf(BigInt(days * secondsPerDay + secondOfDay) * second + BigInt(fraction.padEnd(9, '0')), zone)
}

const secondsPerDay = 86_400

/** Whole seconds, and the nanoseconds after them. */
function split(nanos: bigint): { readonly seconds: number; readonly rest: bigint } {
  const rest = ((nanos % second) + second) % second
  return { seconds: Number((nanos - rest) / second), rest }
}

const digits = (value: number, length = 2): string => String(value).padStart(length, '0')

export function timestampText({ nanos, zoneMinutes }: Timestamp): string {
  const { seconds, rest } = split(nanos)
  const { year, month, day, secondOfDay } = momentOf(seconds + zoneMinutes * 60)
  const date = `${digits(year, 4)}-${digits(month)}-${digits(day)}`
  const time = `${digits(Math.floor(secondOfDay / 3600))}:${digits(Math.floor(secondOfDay / 60) % 60)}:${digits(secondOfDay % 60)}`
  return `${date}T${time}${fractionText(rest)}${zoneText(zoneMinutes)}`
}

function zoneText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${digits(Math.floor(size / 60))}:${digits(size % 60)}`
}

interface Moment extends CivilDate {
  readonly dayNumber: number
  readonly secondOfDay: number
}

function momentOf(seconds: number): Moment {
  const days = Math.floor(seconds / secondsPerDay)
  return { ...civilDate(days), dayNumber: days, secondOfDay: seconds - days * secondsPerDay }
}

/** How far the clocks of a time zone are ahead at a moment, in seconds. */
function zoneOffset(seconds: number, zone: string): number {
  if (zone === '' || zone === 'UTC') return 0
  const offset = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone)
  if (offset !== null) {
    const [, sign, hours, minutes] = offset
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60)
  }
  try {
    const options = { timeZone: zone, hourCycle: 'h23', dateStyle: 'short', timeStyle: 'medium' } as const
    const parts = new Intl.DateTimeFormat('en-CA', options).formatToParts(seconds * 1000)
    const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value ?? 0)
    const days = dayNumber({ year: part('year'), month: part('month'), day: part('day') })
    return days * secondsPerDay + part('hour') * 3600 + part('minute') * 60 + part('second') - seconds
  } catch {
    throw new CelError(`unknown time zone ${zone}`)
  }
}

const fields: Readonly<Record<string, (moment: Moment) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month - 1,
  getDate: ({ day }) => day,
  getDayOfMonth: ({ day }) => day - 1,
  // The first day of 1970 was a Thursday.
  getDayOfWeek: (moment) => (((moment.dayNumber + 4) % 7) + 7) % 7,
  getDayOfYear: (moment) => moment.dayNumber - dayNumber({ year: moment.year, month: 1, day: 1 }),
  getHours: ({ secondOfDay }) => Math.floor(secondOfDay / 3600),
  getMinutes: ({ secondOfDay }) => Math.floor(secondOfDay / 60) % 60,
  getSeconds: ({ secondOfDay }) => secondOfDay % 60,
}

function fieldOf(read: (moment: Moment) => number, { nanos }: Timestamp, zone: string): bigint {
  const { seconds } = split(nanos)
  return BigInt(read(momentOf(seconds + zoneOffset(seconds, zone))))
}

const milliseconds = ({ nanos }: Timestamp): bigint => split(nanos).rest / 1_000_000n

const spans: Readonly<Record<string, bigint>> = {
  getHours: 3_600n * second,
  getMinutes: 60n * second,
  getSeconds: second,
}

export const times = [
  ...Object.entries(fields).flatMap(([name, read]) => [
    overload(`timestamp.${name}(): int`, (time: Timestamp) => fieldOf(read, time, '')),
    overload(`timestamp.${name}(string): int`, (time: Timestamp, zone: string) => fieldOf(read, time, zone)),
  ]),
  ...Object.entries(spans).map(([name, span]) =>
    overload(`duration.${name}(): int`, ({ nanos }: Duration) => nanos / span),
  ),
  overload('timestamp.getMilliseconds(): int', milliseconds),
  overload('timestamp.getMilliseconds(string): int', milliseconds),
  overload('duration.getMilliseconds(): int', ({ nanos }: Duration) => (nanos % second) / 1_000_000n),
]
