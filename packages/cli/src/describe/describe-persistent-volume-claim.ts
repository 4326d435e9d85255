import { type Event, goText, type PersistentVolumeClaim, type Pod } from '@coracle/api'
import { describeClaimSpec } from './claim-spec.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { formatLocalTime, zeroTime } from './local-time.ts'
import { lifecycleText } from './metadata.ts'

/** A PersistentVolumeClaim in detail (kubectl's describePersistentVolumeClaim); `pods` are all of its namespace. */
export function describePersistentVolumeClaim(
  claim: PersistentVolumeClaim,
  pods: readonly Pod[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, status } = claim
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  describeClaimSpec(text, 0, claim, {
    status: lifecycleText(metadata, status?.phase ?? '', nowMs),
    finalizers: goText(metadata.finalizers ?? []),
  })
  const users = pods.filter((pod) => uses(pod, claim)).map((pod) => pod.metadata.name ?? '')
  text.lines(0, 'Used By', users.sort())
  describeConditions(text, status?.conditions)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** Whether a pod has the claim as a volume, or owns it. */
function uses({ metadata, spec }: Pod, claim: PersistentVolumeClaim): boolean {
  const { name, ownerReferences = [] } = claim.metadata
  return (
    (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) ||
    ownerReferences.some(({ kind, uid }) => kind === 'Pod' && uid === metadata.uid)
  )
}

type Conditions = NonNullable<PersistentVolumeClaim['status']>['conditions']

function describeConditions(text: Description, conditions: Conditions = []): void {
  if (conditions.length === 0) return
  text.heading(0, 'Conditions').line(1, 'Type\tStatus\tLastProbeTime\tLastTransitionTime\tReason\tMessage')
  text.line(1, '----\t------\t-----------------\t------------------\t------\t-------')
  for (const { type, status, lastProbeTime, lastTransitionTime, reason = '', message = '' } of conditions) {
    const times = [lastProbeTime, lastTransitionTime].map((time) => formatLocalTime(time ?? zeroTime))
    text.line(1, `${type} \t${status} \t${times.join(' \t')} \t${reason} \t${message}`)
  }
}
