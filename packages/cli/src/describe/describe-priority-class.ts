import { type Event, formatLabels, type PriorityClass } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'

/** A PriorityClass in detail (kubectl's describePriorityClass). */
export function describePriorityClass(
  { metadata, value, globalDefault, preemptionPolicy, description }: PriorityClass,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Value', value)
  text.field(0, 'GlobalDefault', globalDefault === true).field(0, 'PreemptionPolicy', preemptionPolicy ?? '')
  text.field(0, 'Description', description ?? '').field(0, 'Annotations', formatLabels(metadata.annotations))
  describeEvents(text, events, nowMs)
  return text.toString()
}
