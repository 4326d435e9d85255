import { parseTime } from '@coracle/api'

/** What Go makes of a time that is not there. */
export const zeroTime = '0001-01-01T00:00:00Z'

/** `Thu, 01 Jan 2026 00:00:00 +0000` (RFC 1123) in the host's time zone, or the one given; the text itself where it is no time. */
export function formatLocalTime(time: string, timeZone?: string): string {
  const ms = parseTime(time)
  if (Number.isNaN(ms)) return time
  const parts = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(ms)
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? ''
  const offset = part('timeZoneName').replace('GMT', '').replace(':', '') || '+0000'
  // September is Sept in British English alone.
  const month = part('month').slice(0, 3)
  return `${part('weekday')}, ${part('day')} ${month} ${part('year').padStart(4, '0')} ${part('hour')}:${part('minute')}:${part('second')} ${offset}`
}

/** `2026-01-01 00:00:00 +0000 UTC`, as Go prints a time that nobody formats, in the host's time zone or the one given. */
export function formatGoTime(time: string, timeZone?: string): string {
  const ms = parseTime(time)
  if (Number.isNaN(ms)) return time
  const zone = timeZone === undefined ? {} : { timeZone }
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...zone,
  }).formatToParts(ms)
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? ''
  const offset = formatLocalTime(time, timeZone).slice(-5)
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}:${part('second')} ${offset} ${part('timeZoneName')}`
}
