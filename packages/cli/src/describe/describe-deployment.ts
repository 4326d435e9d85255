import type { Deployment, Event, ReplicaSet } from '@coracle/api'
import { labelSelectorText } from '../resources/selector-text.ts'
import { describeConditions } from './conditions.ts'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'
import { describePodTemplate } from './pod-template.ts'

/** The ReplicaSets of a Deployment: the one of its present template, and the others, the oldest first. */
export interface DeploymentSets {
  readonly current: ReplicaSet | undefined
  readonly old: readonly ReplicaSet[]
}

/** A Deployment in detail (kubectl's describeDeployment). */
export function describeDeployment(
  deployment: Deployment,
  { current, old }: DeploymentSets,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec, status = {} } = deployment
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '').field(0, 'Namespace', metadata.namespace ?? '')
  text.timeOrZero(0, 'CreationTimestamp', metadata.creationTimestamp)
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.field(0, 'Selector', labelSelectorText(spec.selector, ''))
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, unavailableReplicas = 0 } = status
  text.field(
    0,
    'Replicas',
    `${spec.replicas ?? 0} desired | ${updatedReplicas} updated | ${replicas} total | ${availableReplicas} available | ${unavailableReplicas} unavailable`,
  )
  const { type = '', rollingUpdate } = spec.strategy ?? {}
  text.field(0, 'StrategyType', type).field(0, 'MinReadySeconds', spec.minReadySeconds ?? 0)
  if (rollingUpdate !== undefined) {
    const { maxUnavailable = '', maxSurge = '' } = rollingUpdate
    text.field(0, 'RollingUpdateStrategy', `${maxUnavailable} max unavailable, ${maxSurge} max surge`)
  }
  describePodTemplate(text, spec.template)
  describeConditions(text, status.conditions)
  if (current !== undefined || old.length > 0) {
    text.field(0, 'OldReplicaSets', setsText(old))
    text.field(0, 'NewReplicaSet', setsText(current === undefined ? [] : [current]))
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** `web-6d4cf56db6 (2/2 replicas created)` */
function setsText(sets: readonly ReplicaSet[]): string {
  if (sets.length === 0) return '<none>'
  return sets
    .map(
      ({ metadata, spec, status }) =>
        `${metadata.name} (${status?.replicas ?? 0}/${spec.replicas ?? 0} replicas created)`,
    )
    .join(', ')
}
