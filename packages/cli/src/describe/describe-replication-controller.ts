import { type Event, formatLabels, type Pod, type ReplicationController } from '@coracle/api'
import { describeConditions } from './conditions.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** A replication controller in detail; `pods` are those it controls. */
export function describeReplicationController(
  controller: ReplicationController,
  pods: readonly Pod[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status } = controller
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.field(0, 'Selector', formatLabels(spec.selector))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.field(0, 'Replicas', `${status?.replicas ?? 0} current / ${spec.replicas ?? 0} desired`)
  text.field(0, 'Pods Status', podsStatusText(pods))
  describePodTemplate(text, spec.template)
  describeConditions(text, status?.conditions)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** `2 Running / 0 Waiting / 0 Succeeded / 0 Failed` */
export function podsStatusText(pods: readonly Pod[]): string {
  const count = (phase: string): number => pods.filter(({ status }) => status?.phase === phase).length
  return `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`
}
