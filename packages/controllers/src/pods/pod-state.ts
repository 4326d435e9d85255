import type { Pod, PodCondition } from '@coracle/api'
import { parseTime } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'

/** Whether a pod counts as one that runs or will: it has not ended and nobody has asked it to go. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined
}

/** Whether a pod has been asked to go and has not ended yet. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !hasEnded(pod)
}

/** Whether a pod has ended for good. */
export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Whether a pod may get requests. */
export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True'
}

/** When a pod became ready, in milliseconds; undefined where it is not, or nobody has said when. */
export function readySince(pod: Pod): Time | undefined {
  const ready = readyCondition(pod)
  return ready?.status === 'True' ? timeOf(ready.lastTransitionTime) : undefined
}

/**
 * When a ready pod counts as available: once it has been ready for `minReadySeconds`. May be in the future; Infinity for a
 * pod that is not ready.
 */
export function availableAt(pod: Pod, minReadySeconds: number): Time {
  if (!isReady(pod)) return Number.POSITIVE_INFINITY
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY
  const since = readySince(pod)
  return since === undefined ? Number.POSITIVE_INFINITY : since + minReadySeconds * 1000
}

/** A time of the API in milliseconds; undefined where there is none. */
export function timeOf(text: string | undefined): Time | undefined {
  if (text === undefined) return undefined
  const ms = parseTime(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** The condition that says whether a pod may get requests. */
export function readyCondition(pod: Pod): PodCondition | undefined {
  return getCondition(pod.status?.conditions, 'Ready')
}
