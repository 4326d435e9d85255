import { type ColumnSource, column, nameColumn, timeSince, wideColumn } from '../../columns.ts'
import type { Event } from './event-schema.ts'

/** The columns of `kubectl get events` (printers/internalversion printEvent): the name comes last, and only if asked. */
export const eventColumns: readonly ColumnSource<Event>[] = [
  column('Last Seen', lastSeen, 'Time since it last happened.'),
  column('Type', ({ type }) => type ?? '', { field: 'type' }),
  column('Reason', ({ reason }) => reason ?? '', { field: 'reason' }),
  column('Object', objectText, 'What it is about.'),
  wideColumn('Subobject', ({ involvedObject }) => involvedObject.fieldPath ?? '', {
    field: 'involvedObject.fieldPath',
  }),
  wideColumn('Source', sourceText, 'Who reported it.'),
  column('Message', ({ message }) => (message ?? '').trim(), { field: 'message' }),
  wideColumn('First Seen', firstSeen, 'Time since it first happened.'),
  wideColumn('Count', count, 'How often it happened.'),
  { ...nameColumn, priority: 1 },
]

function firstSeen(event: Event, nowMs: number): string {
  return timeSince(event.firstTimestamp ?? event.eventTime, nowMs)
}

function lastSeen(event: Event, nowMs: number): string {
  if (event.series !== undefined) return timeSince(event.series.lastObservedTime, nowMs)
  return event.lastTimestamp === undefined ? firstSeen(event, nowMs) : timeSince(event.lastTimestamp, nowMs)
}

function objectText({ involvedObject }: Event): string {
  const kind = (involvedObject.kind ?? '').toLowerCase()
  return involvedObject.name ? `${kind}/${involvedObject.name}` : kind
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || ''
  const instance = source?.host || reportingInstance || ''
  return instance === '' ? component : `${component}, ${instance}`
}

function count({ series, count: counted }: Event): number {
  return series === undefined ? counted || 1 : (series.count ?? 0)
}
