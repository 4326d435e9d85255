import { type Event, type PersistentVolumeClaim, type Pod, type StatefulSet, storageClassOfClaim } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { podsStatusText } from './describe-replication-controller.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeAnnotations, describeLabels, labelLines } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** A StatefulSet in detail (kubectl's describeStatefulSet); `pods` are those it controls. */
export function describeStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status } = set
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.timeOrZero(0, 'CreationTimestamp', metadata.creationTimestamp)
  text.field(0, 'Selector', labelSelectorText(spec.selector, ''))
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.field(0, 'Replicas', `${spec.replicas ?? 0} desired | ${status?.replicas ?? 0} total`)
  const { type = '', rollingUpdate } = spec.updateStrategy ?? {}
  text.field(0, 'Update Strategy', type)
  if (rollingUpdate?.partition !== undefined) {
    text.field(1, 'Partition', rollingUpdate.partition)
    if (rollingUpdate.maxUnavailable !== undefined) text.field(1, 'MaxUnavailable', rollingUpdate.maxUnavailable)
  }
  text.field(0, 'Pods Status', podsStatusText(pods))
  describePodTemplate(text, spec.template)
  describeClaims(text, spec.volumeClaimTemplates)
  describeEvents(text, events, nowMs)
  return text.toString()
}

function describeClaims(text: Description, claims: readonly PersistentVolumeClaim[] = []): void {
  if (claims.length === 0) {
    text.field(0, 'Volume Claims', '<none>')
    return
  }
  text.heading(0, 'Volume Claims')
  for (const claim of claims) {
    const { metadata, spec } = claim
    text.field(1, 'Name', metadata.name ?? '').field(1, 'StorageClass', storageClassOfClaim(claim) ?? '')
    text.lines(1, 'Labels', labelLines(metadata.labels), '  ')
    text.lines(1, 'Annotations', labelLines(metadata.annotations), '  ')
    text.field(1, 'Capacity', spec?.resources?.requests?.storage ?? '<default>')
    text.field(1, 'Access Modes', `[${(spec?.accessModes ?? []).join(' ')}]`)
  }
}
