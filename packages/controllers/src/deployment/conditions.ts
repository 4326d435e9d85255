import { type Deployment, type DeploymentCondition, formatTime, parseTime } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { progressDeadlineSeconds } from './limits.ts'

export type Conditions = readonly DeploymentCondition[]

/** Why a deployment progresses, or does not. Clients read these. */
export const progressReasons = {
  created: 'NewReplicaSetCreated',
  createFailed: 'ReplicaSetCreateError',
  found: 'FoundNewReplicaSet',
  updated: 'ReplicaSetUpdated',
  available: 'NewReplicaSetAvailable',
  timedOut: 'ProgressDeadlineExceeded',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const

/** What a condition says; its times follow from when it is said. */
export type Statement = Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>

/**
 * The conditions with this one set. One that has the same status and reason already stays as it is, whatever its message; a new
 * one goes to the end.
 */
export function withCondition(conditions: Conditions, statement: Statement, nowMs: Time): Conditions {
  const old = getCondition(conditions, statement.type)
  if (old?.status === statement.status && old.reason === statement.reason) return conditions
  return renewed(conditions, statement, nowMs)
}

/** The same, said anew even where it is said already: its update time moves. */
export function renewed(conditions: Conditions, statement: Statement, nowMs: Time): Conditions {
  const old = getCondition(conditions, statement.type)
  const now = formatTime(nowMs)
  const lastTransitionTime = old?.status === statement.status ? (old.lastTransitionTime ?? now) : now
  return [...without(conditions, statement.type), { ...statement, lastUpdateTime: now, lastTransitionTime }]
}

/** The conditions without those of a type. */
export function without(conditions: Conditions, type: string): Conditions {
  return conditions.filter((condition) => condition.type !== type)
}

/** What is said of the progress of a rollout. */
export function progressing(status: 'True' | 'False' | 'Unknown', reason: string, message: string): Statement {
  return { type: 'Progressing', status, reason, message }
}

/**
 * Says that a deployment is paused, or goes on: no progress is expected of one that is paused, and the time to make some begins
 * anew when it goes on. That it has run out of time stays said.
 */
export function withPausing(deployment: Deployment, conditions: Conditions, nowMs: Time): Conditions {
  if (progressDeadlineSeconds(deployment) === undefined) return conditions
  const reason = getCondition(conditions, 'Progressing')?.reason
  if (reason === progressReasons.timedOut) return conditions
  const isPaused = deployment.spec.paused === true
  const saysPaused = reason === progressReasons.paused
  if (isPaused === saysPaused) return conditions
  return isPaused
    ? withCondition(conditions, progressing('Unknown', progressReasons.paused, 'Deployment is paused'), nowMs)
    : withCondition(conditions, progressing('Unknown', progressReasons.resumed, 'Deployment is resumed'), nowMs)
}

/** When a rollout that makes no progress from here on has failed; undefined: never, or it is over. */
export function progressDeadline(deployment: Deployment, conditions: Conditions): Time | undefined {
  const seconds = progressDeadlineSeconds(deployment)
  const condition = getCondition(conditions, 'Progressing')
  if (seconds === undefined || condition === undefined) return undefined
  if (condition.reason === progressReasons.available || condition.reason === progressReasons.timedOut) return undefined
  return parseTime(condition.lastUpdateTime ?? condition.lastTransitionTime ?? '') + seconds * 1000
}
