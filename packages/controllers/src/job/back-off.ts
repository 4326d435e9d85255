import type { Job, Pod } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { endedAt, isCountable, isFailed, isSucceeded, isTracked } from './job-pods.ts'

const backOffMs = 10_000
const backOffMaxMs = 600_000

/** How long a pod is not replaced after so many failures in a row: 10 s, and twice as long after each, up to 10 min. */
export function backOffAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(backOffMs * 2 ** (failures - 1), backOffMaxMs)
}

/**
 * When the next pod of a Job may be made. Only failures since the last success count; where none has succeeded, those
 * count too whose pods are gone.
 */
export function nextPodAt(job: Job, pods: readonly Pod[], totals: { succeeded: number; failed: number }): Time {
  const counted = pods.filter((pod) => isCountable(pod, job.spec))
  const lastSuccess = Math.max(...counted.filter(isSucceeded).map(endedAt), Number.NEGATIVE_INFINITY)
  const failed = counted.filter((pod) => isFailed(pod, job))
  const sure = failed.filter((pod) => isTracked(pod) || pod.metadata.deletionTimestamp === undefined)
  // One on its way out that is not to be counted may have been, or the Job takes it away itself: then it is in no total.
  const failures = (totals.failed > sure.length ? failed : sure).filter((pod) => endedAt(pod) > lastSuccess)
  if (failures.length === 0) return Number.NEGATIVE_INFINITY
  const inARow = totals.succeeded === 0 ? Math.max(failures.length, totals.failed) : failures.length
  return Math.max(...failures.map(endedAt)) + backOffAfter(inARow)
}
