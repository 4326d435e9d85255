import { type Event, humanDuration, parseTime } from '@coracle/api'
import type { Description } from './description.ts'

/** The events of an object, in order of their last times; nothing where there are none to be had or wanted (undefined). */
export function describeEvents(text: Description, events: readonly Event[] | undefined, nowMs: number): void {
  if (events === undefined) return
  if (events.length === 0) {
    text.field(0, 'Events', '<none>')
    return
  }
  text.heading(0, 'Events').line(1, 'Type\tReason\tAge\tFrom\tMessage').line(1, '----\t------\t----\t----\t-------')
  for (const event of events.toSorted((a, b) => timeMs(a.lastTimestamp) - timeMs(b.lastTimestamp))) {
    const { type = '', reason = '' } = event
    text.line(1, [type, reason, ageText(event, nowMs), sourceText(event), messageText(event)].join('\t'))
  }
}

/** `5s`, or `5s (x3 over 2m)` for what has happened before. */
export function ageText({ eventTime, firstTimestamp, lastTimestamp, series, count = 0 }: Event, nowMs: number): string {
  const first = since(timeMs(eventTime ?? firstTimestamp), nowMs)
  if (series !== undefined) {
    return `${since(timeMs(series.lastObservedTime), nowMs)} (x${series.count ?? 0} over ${first})`
  }
  return count > 1 ? `${since(timeMs(lastTimestamp), nowMs)} (x${count} over ${first})` : first
}

/** When it was seen last; 0 where nobody knows. */
export const lastSeenMs = ({ series, lastTimestamp, eventTime }: Event): number =>
  timeMs(series === undefined ? (lastTimestamp ?? eventTime) : series.lastObservedTime)

const since = (timeMs: number, nowMs: number): string => (timeMs === 0 ? '<unknown>' : humanDuration(nowMs - timeMs))

const timeMs = (time: string | undefined): number => (time === undefined ? 0 : parseTime(time))

const sourceText = ({ source, reportingComponent }: Event): string => source?.component || reportingComponent || ''

/** The message after the part of the object it is about. */
function messageText({ message = '', involvedObject: { fieldPath = '' } }: Event): string {
  return fieldPath === '' ? message.trim() : `${fieldPath}: ${message.trim()}`
}
