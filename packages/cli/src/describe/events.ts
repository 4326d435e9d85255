import { type Event, humanDuration, parseTime } from '@coracle/api'
import type { Description } from './description.ts'

/** The events of an object, oldest first; nothing where there are none to be had or wanted (undefined). */
export function describeEvents(text: Description, events: readonly Event[] | undefined, nowMs: number): void {
  if (events === undefined) return
  const rows = events
    .toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b))
    .map((event) => [
      event.type ?? '',
      event.reason ?? '',
      ageText(event, nowMs),
      sourceText(event),
      messageText(event),
    ])
  if (rows.length === 0) {
    text.field(0, 'Events', '<none>')
    return
  }
  text.heading(0, 'Events').line(1, 'Type\tReason\tAge\tFrom\tMessage').line(1, '----\t------\t----\t----\t-------')
  for (const row of rows) text.line(1, row.join('\t'))
}

/** `5s`, or `5s (x3 over 2m)` for what has happened before. */
export function ageText(event: Event, nowMs: number): string {
  const firstMs = timeMs(event.firstTimestamp ?? event.eventTime)
  const count = event.series?.count ?? event.count ?? 1
  const last = since(lastSeenMs(event), nowMs)
  return count > 1 ? `${last} (x${count} over ${since(firstMs, nowMs)})` : since(firstMs, nowMs)
}

/** When it was seen last; 0 where nobody knows. */
export const lastSeenMs = (event: Event): number =>
  timeMs(event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp)

const since = (timeMs: number, nowMs: number): string => (timeMs === 0 ? '<unknown>' : humanDuration(nowMs - timeMs))

const timeMs = (time: string | undefined): number => (time === undefined ? 0 : parseTime(time))

const sourceText = ({ source, reportingComponent }: Event): string => source?.component || reportingComponent || ''

/** The message on one line, after the part of the object it is about. */
function messageText({ message = '', involvedObject: { fieldPath = '' } }: Event): string {
  const text = message.trim().replaceAll(/\s*\n\s*/g, ' ')
  return fieldPath === '' ? text : `${fieldPath}: ${text}`
}
