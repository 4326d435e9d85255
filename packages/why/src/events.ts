import { type Event, parseTime } from '@coracle/api'

/** When an event last happened. */
export function lastSeenMs({ series, lastTimestamp, eventTime, metadata }: Event): number {
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp
  return time === undefined ? 0 : parseTime(time)
}

/** In the order in which they last happened. */
export const inOrder = (events: readonly Event[]): readonly Event[] =>
  events.toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b))

/** The latest event of one of these reasons; undefined where one of `unless` has happened since. */
export function latestOf(
  events: readonly Event[],
  reasons: readonly string[],
  unless: readonly string[] = [],
): Event | undefined {
  const found = events.findLast(({ reason = '' }) => reasons.includes(reason))
  if (found === undefined) return undefined
  const over = events.findLast(({ reason = '' }) => unless.includes(reason))
  return over !== undefined && lastSeenMs(over) > lastSeenMs(found) ? undefined : found
}
