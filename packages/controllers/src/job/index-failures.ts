/** Indexes that fail by themselves: https://kep.k8s.io/3850. */
import { addIndexes, hasIndex, type IndexInterval, type Job, type Pod, parseIndexes } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { isActive } from '../pods/pod-state.ts'
import { backOffAfter } from './back-off.ts'
import {
  countIn,
  endedAt,
  failureCountAnnotation,
  ignoredFailureCountAnnotation,
  indexOf,
  isFailed,
  isTracked,
} from './job-pods.ts'
import { judgeFailure } from './pod-failure-policy.ts'

export interface IndexFailures {
  readonly failedIndexes: readonly IndexInterval[]
  /** The last failed pod of each index that is to be tried again. */
  readonly last: ReadonlyMap<number, Pod>
}

/**
 * Which indexes have failed for good, and which pod's failures a new pod of an index goes on counting: those of pods that are still to
 * be counted. What a Job took away itself, and all before it, is forgotten.
 */
export function indexFailures(job: Job, pods: readonly Pod[], succeeded: readonly IndexInterval[]): IndexFailures {
  const { completions = 0, backoffLimitPerIndex = 0 } = job.spec
  const before = parseIndexes(job.status?.failedIndexes, completions)
  const failed = new Set<number>()
  const last = new Map<number, Pod>()
  for (const pod of pods) {
    const index = indexOf(pod, completions)
    if (index === undefined || !isTracked(pod) || !isFailed(pod, job) || hasIndex(before, index)) continue
    const isForGood =
      judgeFailure(job, pod)?.action === 'FailIndex' ||
      (!isIgnored(job, pod) && countIn(pod, failureCountAnnotation) >= backoffLimitPerIndex)
    if (isForGood) failed.add(index)
    if (hasIndex(succeeded, index)) continue
    const other = last.get(index)
    if (other === undefined || isLater(pod, other)) last.set(index, pod)
  }
  for (const index of failed) last.delete(index)
  return {
    failedIndexes: addIndexes(before, [...failed]),
    last,
  }
}

/** Failed pods whose count the next pod of their index takes over: they stay until that pod is there. */
export function heldPods(job: Job, pods: readonly Pod[], { last }: IndexFailures): ReadonlySet<Pod> {
  const completions = job.spec.completions ?? 0
  const running = new Set(pods.filter(isActive).map((pod) => indexOf(pod, completions)))
  return new Set([...last].filter(([index]) => !running.has(index)).map(([, pod]) => pod))
}

/** When an index may be tried again after a pod that failed. */
export function retryAt(job: Job, pod: Pod): Time {
  const { failures, ignored } = nextCounts(job, pod)
  return endedAt(pod) + backOffAfter(failures + ignored)
}

/** The counts that the pod has which takes the place of a failed one. */
export function nextCounts(job: Job, pod: Pod | undefined): { readonly failures: number; readonly ignored: number } {
  if (pod === undefined) return { failures: 0, ignored: 0 }
  const failures = countIn(pod, failureCountAnnotation)
  const ignored = countIn(pod, ignoredFailureCountAnnotation)
  return isIgnored(job, pod) ? { failures, ignored: ignored + 1 } : { failures: failures + 1, ignored }
}

const isIgnored = (job: Job, pod: Pod): boolean => judgeFailure(job, pod)?.action === 'Ignore'

/** Whether a pod failed after another of its index. */
const isLater = (pod: Pod, other: Pod): boolean => attempts(other) <= attempts(pod) && endedAt(other) <= endedAt(pod)

const attempts = (pod: Pod): number =>
  countIn(pod, failureCountAnnotation) + countIn(pod, ignoredFailureCountAnnotation)
