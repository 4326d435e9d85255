import { countIndexes, hasJobCondition, type IndexInterval, type Job, type Pod } from '@coracle/api'
import { getCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { timeOf } from '../pods/pod-state.ts'
import { isFailed } from './job-pods.ts'
import { judgeFailure } from './pod-failure-policy.ts'
import { metSuccessRule } from './success-policy.ts'

/** How a Job ends, once its pods are counted. */
export interface Ending {
  readonly type: 'Complete' | 'Failed'
  readonly reason: string
  readonly message: string
}

export interface Progress {
  readonly succeeded: number
  readonly failed: number
  readonly succeededIndexes: readonly IndexInterval[]
  readonly failedIndexes: readonly IndexInterval[]
}

const failed = (reason: string, message: string): Ending => ({ type: 'Failed', reason, message })

/** The condition that says how a Job is going to end while its pods are still being stopped. */
export const interimCondition = ({ type }: Pick<Ending, 'type'>): string =>
  type === 'Failed' ? 'FailureTarget' : 'SuccessCriteriaMet'

/**
 * How a Job ends that does not simply reach its completions; undefined while it does not. What has been decided once
 * stays. The deadline wins over failures only where it is reached first.
 */
export function earlyEnding(job: Job, pods: readonly Pod[], progress: Progress, nowMs: Time): Ending | undefined {
  return decided(job) ?? failureOf(job, pods, nowMs, progress) ?? endingOfIndexes(job, progress)
}

function decided({ status }: Job): Ending | undefined {
  for (const type of ['Complete', 'Failed'] as const) {
    const interim = interimCondition({ type })
    if (!hasJobCondition(status, interim)) continue
    const { reason = '', message = '' } = getCondition(status?.conditions, interim) ?? {}
    return { type, reason, message }
  }
  return undefined
}

function failureOf(job: Job, pods: readonly Pod[], nowMs: Time, progress: Progress): Ending | undefined {
  const { backoffLimit = 6, podFailurePolicy } = job.spec
  if (podFailurePolicy !== undefined) {
    for (const pod of pods) {
      const verdict = isFailed(pod, job) ? judgeFailure(job, pod) : undefined
      if (verdict?.action === 'FailJob') return failed('PodFailurePolicy', verdict.message)
    }
  }
  const deadlineAt = deadlineOf(job)
  if (progress.failed > backoffLimit || hasRestartedTooOften(job, pods)) {
    return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  }
  if (deadlineAt !== undefined && nowMs >= deadlineAt) {
    return failed('DeadlineExceeded', 'Job was active longer than specified deadline')
  }
  return undefined
}

function endingOfIndexes({ spec }: Job, { succeededIndexes, failedIndexes }: Progress): Ending | undefined {
  if (spec.completionMode !== 'Indexed') return undefined
  const [done, lost] = [countIndexes(succeededIndexes), countIndexes(failedIndexes)]
  if (spec.maxFailedIndexes !== undefined && lost > spec.maxFailedIndexes) {
    return failed('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  }
  if (lost > 0 && lost + done >= (spec.completions ?? 0)) return failed('FailedIndexes', 'Job has failed indexes')
  const message = metSuccessRule(spec, succeededIndexes)
  return message === undefined ? undefined : { type: 'Complete', reason: 'SuccessPolicy', message }
}

/** When a Job fails, whatever runs. The time does not pass while it is suspended. */
export function deadlineOf({ spec, status }: Job): Time | undefined {
  const startMs = timeOf(status?.startTime)
  if (spec.activeDeadlineSeconds === undefined || startMs === undefined || spec.suspend === true) return undefined
  return startMs + Number(spec.activeDeadlineSeconds) * 1000
}

/** Containers that are started again in their pods fail there: the pods themselves never do. */
function hasRestartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  const { backoffLimit = 6, template } = spec
  if (template.spec.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const pod of pods) {
    if (pod.status?.phase !== 'Running' && pod.status?.phase !== 'Pending') continue
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    for (const { restartCount } of [...containerStatuses, ...initContainerStatuses]) restarts += restartCount
  }
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
}
