/**
 * Counts pods that have ended, each once: first it is named in the status, then it loses its finalizer, then the number goes
 * up and the name goes (https://kep.k8s.io/2307). Whatever is lost in between, nothing is counted twice or not at all.
 */
import { addIndexes, type IndexInterval, type Job, type JobStatus, type Pod, parseIndexes } from '@coracle/api'
import { indexOf, isCountable, isFailed, isIndexed, isSucceeded, isTracked } from './job-pods.ts'
import { judgeFailure } from './pod-failure-policy.ts'

/** Pods named in a status at a time, at most (upstream's MaxUncountedPods). */
export const uncountedMax = 500

export interface Account {
  /** Numbers and names as the status is to have them. */
  readonly counted: Pick<JobStatus, 'succeeded' | 'failed' | 'uncountedTerminatedPods' | 'completedIndexes'>
  /** All that have succeeded and failed, those that are named among them. */
  readonly succeeded: number
  readonly failed: number
  readonly succeededIndexes: readonly IndexInterval[]
  /** Pods that may lose their finalizer once the status is written. */
  readonly released: readonly Pod[]
  /** Whether there are pods that have ended and are not counted yet. */
  readonly isSettled: boolean
}

/**
 * What becomes of pods that have not ended: they are not counted yet; or they lose their finalizer whatever they do, and count as
 * failures, as those of a Job that fails, or not at all, as those of one that is done without them or on its way out.
 */
export type Unended = 'wait' | 'fail' | 'leave'

/** `held` are failed pods that keep their finalizer for now. */
export function account(job: Job, pods: readonly Pod[], held: ReadonlySet<Pod>, unended: Unended): Account {
  const { spec, status = {} } = job
  const tracked = pods.filter(isTracked)
  const named = status.uncountedTerminatedPods ?? {}
  const waiting = (uids: readonly string[] = []): string[] => {
    if (uids.length === 0) return []
    const trackedUids = new Set(tracked.map(({ metadata }) => metadata.uid ?? ''))
    return uids.filter((uid) => trackedUids.has(uid))
  }
  const [succeededNames, failedNames] = [waiting(named.succeeded), waiting(named.failed)]
  let succeeded = (status.succeeded ?? 0) + (named.succeeded ?? []).length - succeededNames.length
  const failed = (status.failed ?? 0) + (named.failed ?? []).length - failedNames.length
  const names = new Set([...succeededNames, ...failedNames])
  const released: Pod[] = []
  const newIndexes: number[] = []
  let isSettled = true
  for (const pod of tracked) {
    const uid = pod.metadata.uid ?? ''
    if (names.has(uid)) {
      released.push(pod)
      continue
    }
    const outcome = outcomeOf(pod, job, unended)
    if (outcome === undefined) continue
    if (held.has(pod) || succeededNames.length + failedNames.length >= uncountedMax) {
      isSettled = false
      continue
    }
    if (outcome === 'succeeded') {
      const index = indexOf(pod, spec.completions ?? 0)
      if (!isIndexed(spec)) succeededNames.push(uid)
      else if (index !== undefined) newIndexes.push(index)
    } else if (outcome === 'failed' && isCountable(pod, spec)) {
      failedNames.push(uid)
    }
    released.push(pod)
  }
  const succeededIndexes = addIndexes(parseIndexes(status.completedIndexes, spec.completions ?? 0), newIndexes)
  if (isIndexed(spec)) succeeded = succeededIndexes.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  const uncounted = {
    ...(succeededNames.length === 0 ? {} : { succeeded: succeededNames }),
    ...(failedNames.length === 0 ? {} : { failed: failedNames }),
  }
  return {
    counted: {
      ...(succeeded === 0 ? {} : { succeeded }),
      ...(failed === 0 ? {} : { failed }),
      uncountedTerminatedPods: uncounted,
    },
    succeeded: succeeded + succeededNames.length,
    failed: failed + failedNames.length,
    succeededIndexes,
    released,
    // Whatever is named has a finalizer yet, and is released.
    isSettled: isSettled && released.length === 0,
  }
}

/** A failure that the policy ignores is no outcome to count, but the pod has ended all the same. */
function outcomeOf(pod: Pod, job: Job, unended: Unended): 'succeeded' | 'failed' | 'uncounted' | undefined {
  if (isSucceeded(pod)) return 'succeeded'
  if (!isFailed(pod, job) && unended === 'wait') return undefined
  if (!isFailed(pod, job) && unended === 'leave') return 'uncounted'
  return judgeFailure(job, pod)?.action === 'Ignore' ? 'uncounted' : 'failed'
}
