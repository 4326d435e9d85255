import { civilDate } from '../cel/library/calendar.ts'

/** What a clock on the wall shows. */
export interface LocalTime {
  readonly year: number
  /** 1 is January. */
  readonly month: number
  readonly day: number
  /** 0 is Sunday. */
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

/** The clock of a place. Pure: it turns times into what its clock shows then. */
export interface TimeZone {
  localTime(ms: number): LocalTime
  /** When a day (counted from 1 January 1970) begins. It is later than `afterMs`, also where its midnight is left out. */
  startOfDay(day: number, afterMs: number): number
}

const minuteMs = 60_000
const dayMs = 86_400_000
/** Clocks are set forward and back at full quarters of an hour. */
const quarterMs = 15 * minuteMs
/** So many quarters' offsets are remembered for each zone. */
const rememberedMax = 512

/** Coordinated universal time. */
export const utc: TimeZone = zoneWith(() => 0)

const zones = new Map<string, TimeZone>()
const zonesMax = 1000

/** The zone of that name in the IANA database, such as Europe/Berlin; undefined where there is none. */
export function timeZone(name: string): TimeZone | undefined {
  const known = zones.get(name)
  if (known !== undefined) return known
  const offsetOf = offsetReader(name)
  if (offsetOf === undefined) return undefined
  if (zones.size >= zonesMax) zones.clear()
  const zone = zoneWith(offsetOf)
  zones.set(name, zone)
  return zone
}

/** Tells by how much a zone's clock is before UTC; undefined where there is no such zone. */
function offsetReader(name: string): ((ms: number) => number) | undefined {
  // Offsets such as +01:00 are no names.
  if (!/^[A-Za-z]/.test(name)) return undefined
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  } catch {
    return undefined
  }
  const remembered = new Map<number, number>()
  return (ms) => {
    const quarter = Math.floor(ms / quarterMs)
    let offset = remembered.get(quarter)
    if (offset === undefined) {
      if (remembered.size >= rememberedMax) remembered.clear()
      const shown = format.formatToParts(quarter * quarterMs).find(({ type }) => type === 'timeZoneName')?.value ?? ''
      offset = parseOffset(shown)
      remembered.set(quarter, offset)
    }
    return offset
  }
}

/** `GMT+05:30` or `GMT`. */
function parseOffset(text: string): number {
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{2}):(\d{2})/.exec(text) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * minuteMs
  return sign === '-' ? -offset : offset
}

function zoneWith(offsetOf: (ms: number) => number): TimeZone {
  const localTime = (ms: number): LocalTime => {
    const local = ms + offsetOf(ms)
    const day = Math.floor(local / dayMs)
    const minutes = Math.floor((local - day * dayMs) / minuteMs)
    return {
      ...civilDate(day),
      weekday: (((day + 4) % 7) + 7) % 7,
      hour: Math.floor(minutes / 60),
      minute: minutes % 60,
    }
  }
  return {
    localTime,
    startOfDay(day, afterMs) {
      // The offset at midnight depends on when that is: it is one of those half a day before and after.
      const candidates = [-dayMs / 2, dayMs / 2].map((away) => day * dayMs - offsetOf(day * dayMs + away))
      const later = candidates.filter((ms) => ms > afterMs).sort((a, b) => a - b)
      const midnight = later.find((ms) => ms + offsetOf(ms) === day * dayMs)
      // Where the clock goes over midnight, the day begins with the first time that it shows.
      return midnight ?? Math.max(...later, afterMs + minuteMs)
    },
  }
}
