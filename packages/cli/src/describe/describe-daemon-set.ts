import { type DaemonSet, type Event, formatLabels, type Pod } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { podsStatusText } from './describe-replication-controller.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** A DaemonSet in detail (kubectl's describeDaemonSet); `pods` are those it controls. */
export function describeDaemonSet(
  set: DaemonSet,
  pods: readonly Pod[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status } = set
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.field(0, 'Selector', labelSelectorText(spec.selector, ''))
  text.field(0, 'Node-Selector', formatLabels(spec.template?.spec.nodeSelector))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  // These stand beside their labels, and in no column.
  text.line(0, `Desired Number of Nodes Scheduled: ${status?.desiredNumberScheduled ?? 0}`)
  text.line(0, `Current Number of Nodes Scheduled: ${status?.currentNumberScheduled ?? 0}`)
  text.line(0, `Number of Nodes Scheduled with Up-to-date Pods: ${status?.updatedNumberScheduled ?? 0}`)
  text.line(0, `Number of Nodes Scheduled with Available Pods: ${status?.numberAvailable ?? 0}`)
  text.line(0, `Number of Nodes Misscheduled: ${status?.numberMisscheduled ?? 0}`)
  text.field(0, 'Pods Status', podsStatusText(pods))
  describePodTemplate(text, spec.template)
  describeEvents(text, events, nowMs)
  return text.toString()
}
