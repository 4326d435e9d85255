import type { Deployment } from '@coracle/api'
import { shareOf } from '../share-of.ts'

/** The greatest int32. In a field of a deployment it stands for "without limit". */
export const unlimited = 2 ** 31 - 1

/** How many pods a deployment asks for. */
export const desiredOf = ({ spec }: Deployment): number => spec.replicas ?? 1

/** Whether pods are replaced few at a time. */
export const isRollingUpdate = ({ spec }: Deployment): boolean =>
  (spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'

/** How many pods there may be too many during a rollout. */
export function maxSurge(deployment: Deployment): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0
}

/** How many pods may be missing during a rollout. */
export function maxUnavailable(deployment: Deployment): number {
  const desired = desiredOf(deployment)
  return isRollingUpdate(deployment) ? Math.min(desired, fenceposts(deployment).unavailable) : 0
}

/** How many pods a deployment may have at most. */
export const maxReplicas = (deployment: Deployment): number => desiredOf(deployment) + maxSurge(deployment)

/** How many pods have to be available all the time. */
export const minAvailable = (deployment: Deployment): number => desiredOf(deployment) - maxUnavailable(deployment)

/** A surge is rounded up and what is missing down. Should both come to nothing, one may be missing: else nothing would move. */
function fenceposts({ spec }: Deployment): { readonly surge: number; readonly unavailable: number } {
  const { replicas = 1, strategy } = spec
  const surge = shareOf(strategy?.rollingUpdate?.maxSurge ?? 0, replicas, 'up')
  const unavailable = shareOf(strategy?.rollingUpdate?.maxUnavailable ?? 0, replicas, 'down')
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

/** Whether lack of progress is a failure, sooner or later. */
export function progressDeadlineSeconds({ spec }: Deployment): number | undefined {
  const seconds = spec.progressDeadlineSeconds
  return seconds === unlimited ? undefined : seconds
}

/** How many old ReplicaSets are kept; undefined: all. */
export function historyLimit({ spec }: Deployment): number | undefined {
  const limit = spec.revisionHistoryLimit
  return limit === unlimited ? undefined : limit
}
