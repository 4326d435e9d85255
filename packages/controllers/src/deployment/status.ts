import type { Deployment, DeploymentStatus, ReplicaSet } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import {
  type Conditions,
  progressDeadline,
  progressing,
  progressReasons,
  renewed,
  withCondition,
  without,
} from './conditions.ts'
import type { Draft } from './draft.ts'
import { desiredOf, minAvailable, progressDeadlineSeconds } from './limits.ts'
import { allSets, type Rollout, totalReplicas } from './rollout.ts'

/** The counts of the ReplicaSets as they last were, and whether enough pods are available. */
export function statusOf(
  deployment: Deployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): DeploymentStatus {
  const sets = allSets(rollout).map(({ set }) => set)
  const available = sum(sets, ({ status }) => status?.availableReplicas)
  const unavailable = Math.max(0, totalReplicas(allSets(rollout)) - available)
  const { collisionCount } = deployment.status ?? {}
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: sum(sets, ({ status }) => status?.replicas) || undefined,
    updatedReplicas: rollout.newSet?.set.status?.replicas || undefined,
    readyReplicas: sum(sets, ({ status }) => status?.readyReplicas) || undefined,
    availableReplicas: available || undefined,
    unavailableReplicas: unavailable || undefined,
    terminatingReplicas: terminatingOf(sets),
    conditions: withAvailability(deployment, available, conditions, nowMs),
    collisionCount,
  }
}

/** The status while a rollout goes on or is over: with its progress, and what keeps its ReplicaSets from making pods. */
export function rolloutStatus(
  deployment: Deployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): DeploymentStatus {
  const status = statusOf(deployment, rollout, conditions, nowMs)
  const progressed = withProgress(deployment, rollout, status, nowMs)
  return { ...status, conditions: withReplicaFailure(rollout, progressed) }
}

/** Whether all pods that are wanted are of the present template and available, and no others are left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = desiredOf(deployment)
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status
  return (
    updatedReplicas === desired &&
    replicas === desired &&
    availableReplicas === desired &&
    observedGeneration >= (deployment.metadata.generation ?? 0)
  )
}

function withAvailability(deployment: Deployment, available: number, conditions: Conditions, nowMs: Time): Conditions {
  const statement =
    available >= minAvailable(deployment)
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        }
  return withCondition(conditions, statement, nowMs)
}

function withProgress(deployment: Deployment, { newSet }: Rollout, status: DeploymentStatus, nowMs: Time): Conditions {
  const conditions = status.conditions ?? []
  if (progressDeadlineSeconds(deployment) === undefined) return without(conditions, 'Progressing')
  const said = getCondition(conditions, 'Progressing')
  // A rollout that is over makes no progress, and is expected to make none.
  if (said?.reason === progressReasons.available && status.replicas === status.updatedReplicas) return conditions
  const subject = subjectOf(deployment, newSet)
  if (isComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`
    return withCondition(conditions, progressing('True', progressReasons.available, message), nowMs)
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const message = `${subject} is progressing.`
    return renewed(conditions, progressing('True', progressReasons.updated, message), nowMs)
  }
  const deadline = progressDeadline(deployment, conditions)
  if (deadline === undefined || nowMs <= deadline) return conditions
  const message = `${subject} has timed out progressing.`
  return withCondition(conditions, progressing('False', progressReasons.timedOut, message), nowMs)
}

function subjectOf({ metadata }: Deployment, newSet: Draft | undefined): string {
  const { name } = newSet?.set.metadata ?? {}
  return newSet === undefined ? `Deployment "${metadata.name}"` : `ReplicaSet "${name}"`
}

/** Whether there are more new pods, more ready or available ones, or fewer old ones. */
function hasProgressed(old: DeploymentStatus, now: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  return (
    (now.updatedReplicas ?? 0) > (old.updatedReplicas ?? 0) ||
    oldPods(now) < oldPods(old) ||
    (now.readyReplicas ?? 0) > (old.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (old.availableReplicas ?? 0)
  )
}

/** What keeps a ReplicaSet from making or deleting pods, that of the present template first. */
function withReplicaFailure({ newSet, oldSets }: Rollout, conditions: Conditions): Conditions {
  const sets = [...(newSet === undefined ? [] : [newSet]), ...oldSets].map(({ set }) => set)
  const failure = sets.map(({ status }) => getCondition(status?.conditions, 'ReplicaFailure')).find(Boolean)
  if (failure === undefined) return without(conditions, 'ReplicaFailure')
  const { type, status, reason, message, lastTransitionTime } = failure
  const said = getCondition(conditions, type)
  if (said?.status === status && said.reason === reason) return conditions
  const since = said?.status === status ? said.lastTransitionTime : lastTransitionTime
  const shown = { type, status, reason, message, lastUpdateTime: lastTransitionTime, lastTransitionTime: since }
  return [...without(conditions, type), shown]
}

/** Pods on their way out; undefined where a ReplicaSet does not say how many it has, though somebody has looked at it. */
function terminatingOf(sets: readonly ReplicaSet[]): number | undefined {
  let total = 0
  for (const { status } of sets) {
    const count = status?.terminatingReplicas
    if (count === undefined && (status?.observedGeneration ?? 0) > 0) return undefined
    total += count ?? 0
  }
  return total
}

function sum(sets: readonly ReplicaSet[], countOf: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (countOf(set) ?? 0), 0)
}
