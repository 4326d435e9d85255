import type { Event, Pod, ReplicaSet } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { describeConditions } from './conditions.ts'
import { podsStatusText } from './describe-replication-controller.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { controllerText, describeAnnotations, describeLabels } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** A ReplicaSet in detail (kubectl's describeReplicaSet); `pods` are those it controls. */
export function describeReplicaSet(
  set: ReplicaSet,
  pods: readonly Pod[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status } = set
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.field(0, 'Selector', labelSelectorText(spec.selector))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  const controller = controllerText(set)
  if (controller !== undefined) text.field(0, 'Controlled By', controller)
  text.field(0, 'Replicas', `${status?.replicas ?? 0} current / ${spec.replicas ?? 0} desired`)
  text.field(0, 'Pods Status', podsStatusText(pods))
  describePodTemplate(text, spec.template)
  describeConditions(text, status?.conditions)
  describeEvents(text, events, nowMs)
  return text.toString()
}
