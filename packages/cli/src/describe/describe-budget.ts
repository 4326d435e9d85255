import type { Event, PodDisruptionBudget } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'

/** A PodDisruptionBudget in detail (kubectl's describePodDisruptionBudget). */
export function describeBudget(
  { metadata, spec, status }: PodDisruptionBudget,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  if (spec?.minAvailable !== undefined) text.field(0, 'Min available', spec.minAvailable)
  else if (spec?.maxUnavailable !== undefined) text.field(0, 'Max unavailable', spec.maxUnavailable)
  text.field(0, 'Selector', spec?.selector === undefined ? '<unset>' : labelSelectorText(spec.selector))
  text.heading(0, 'Status')
  text.field(2, 'Allowed disruptions', status?.disruptionsAllowed ?? 0)
  text.field(2, 'Current', status?.currentHealthy ?? 0).field(2, 'Desired', status?.desiredHealthy ?? 0)
  text.field(2, 'Total', status?.expectedPods ?? 0)
  describeEvents(text, events, nowMs)
  return text.toString()
}
