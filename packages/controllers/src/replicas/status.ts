import { deepEqual, type KubernetesObject } from '@coracle/api'
import { getCondition, removeCondition, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import type { ReplicasStatus } from './desired.ts'
import type { ReplicaCounts } from './tally.ts'

/** The condition that says that pods could not be made or deleted. */
export const replicaFailure = 'ReplicaFailure'

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

/** Whether a status says no more than one before it, but of a later generation. */
export function isOnlyLater(status: ReplicasStatus, old: ReplicasStatus | undefined): boolean {
  const timeless = ({ observedGeneration: _generation, ...rest }: ReplicasStatus) => ({
    terminatingReplicas: 0,
    ...rest,
  })
  return old !== undefined && deepEqual(timeless(status), timeless(old))
}

/** The same status saying that pods could not be made or deleted. A failure that is told of already stays as it is. */
export function withFailure(
  status: ReplicasStatus,
  old: ReplicasStatus | undefined,
  reason: 'FailedCreate' | 'FailedDelete',
  error: unknown,
  nowMs: Time,
): ReplicasStatus {
  const isTold = getCondition(old?.conditions, replicaFailure) !== undefined
  if (isTold) return { ...status, conditions: old?.conditions }
  const failure = { type: replicaFailure, status: 'True', reason, message: messageOf(error) }
  return { ...status, conditions: setCondition(status.conditions, failure, nowMs) }
}

function conditionsOrNone(conditions: NonNullable<ReplicasStatus['conditions']>): Pick<ReplicasStatus, 'conditions'> {
  return conditions.length === 0 ? {} : { conditions }
}

function messageOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error ? first.message : String(first)
}
