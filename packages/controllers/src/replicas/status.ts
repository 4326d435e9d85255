import { type KubernetesObject, type Pod, selectorFromMap } from '@coracle/api'
import { getCondition, removeCondition, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { availableAt, isReady } from '../pods/pod-state.ts'
import type { DesiredReplicas, ReplicasStatus } from './desired.ts'

/** The condition that says that pods could not be made or deleted. */
export const replicaFailure = 'ReplicaFailure'

/** What the pods of an object come to. */
export interface ReplicaCounts {
  readonly replicas: number
  readonly fullyLabeled: number
  readonly ready: number
  readonly available: number
  /** When the next ready pod becomes available; undefined where none will by itself. */
  readonly nextAvailableAt: Time | undefined
}

/** Counts pods as status shows them. */
export function countReplicas(pods: readonly Pod[], desired: DesiredReplicas, nowMs: Time): ReplicaCounts {
  const templateLabels = selectorFromMap(desired.template?.metadata?.labels)
  let fullyLabeled = 0
  let ready = 0
  let available = 0
  let nextAvailableAt = Number.POSITIVE_INFINITY
  for (const pod of pods) {
    if (templateLabels.matches(pod.metadata.labels)) fullyLabeled++
    if (!isReady(pod)) continue
    ready++
    const at = availableAt(pod, desired.minReadySeconds)
    if (at <= nowMs) available++
    else nextAvailableAt = Math.min(nextAvailableAt, at)
  }
  const next = Number.isFinite(nextAvailableAt) ? nextAvailableAt : undefined
  return { replicas: pods.length, fullyLabeled, ready, available, nextAvailableAt: next }
}

/** The status that shows these counts, as of the owner's present generation and without a failure. */
export function statusOf(
  owner: KubernetesObject,
  counts: ReplicaCounts,
  old: ReplicasStatus | undefined,
): ReplicasStatus {
  return {
    replicas: counts.replicas,
    fullyLabeledReplicas: counts.fullyLabeled || undefined,
    readyReplicas: counts.ready || undefined,
    availableReplicas: counts.available || undefined,
    observedGeneration: owner.metadata.generation,
    ...conditionsOrNone(removeCondition(old?.conditions, replicaFailure)),
  }
}

/** The same status saying that pods could not be made or deleted. A failure that is told of already stays as it is. */
export function withFailure(
  status: ReplicasStatus,
  old: ReplicasStatus | undefined,
  reason: 'FailedCreate' | 'FailedDelete',
  error: unknown,
  nowMs: Time,
): ReplicasStatus {
  const told = getCondition(old?.conditions, replicaFailure)
  const failure = told ?? { type: replicaFailure, status: 'True', reason, message: messageOf(error) }
  return {
    ...status,
    conditions: told === undefined ? setCondition(status.conditions, failure, nowMs) : old?.conditions,
  }
}

function conditionsOrNone(conditions: NonNullable<ReplicasStatus['conditions']>): Pick<ReplicasStatus, 'conditions'> {
  return conditions.length === 0 ? {} : { conditions }
}

function messageOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}
