/** When a Job ends early, and what it says then. */
import { type ContainerStatus, type Job, type JobSpec, type Pod, parseIndexes } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod as pod } from '../testing/jobs.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { earlyEnding } from './ending.ts'

interface Counts {
  readonly succeeded?: string
  readonly failed?: number
  readonly failedIndexes?: string
}

/** How a Job ends whose pods have come to this; the indexes as their texts. */
function ending(of: Job, { succeeded = '', failed = 0, failedIndexes = '' }: Counts, pods: readonly Pod[] = []) {
  const completions = of.spec.completions ?? 0
  const succeededIndexes = parseIndexes(succeeded, completions)
  const progress = { succeeded: 0, failed, succeededIndexes, failedIndexes: parseIndexes(failedIndexes, completions) }
  return earlyEnding(of, pods, progress, startMs)
}

const indexed = (spec: Partial<JobSpec> = {}): Partial<JobSpec> => ({
  completionMode: 'Indexed',
  completions: 4,
  ...spec,
})

describe('a Job', () => {
  it.each<readonly [Partial<JobSpec>, Counts, string | undefined]>([
    [{ backoffLimit: 2 }, { failed: 2 }, undefined],
    [{ backoffLimit: 2 }, { failed: 3 }, 'BackoffLimitExceeded: Job has reached the specified backoff limit'],
    [{ backoffLimit: undefined }, { failed: 6 }, undefined],
    [{ backoffLimit: undefined }, { failed: 7 }, 'BackoffLimitExceeded: Job has reached the specified backoff limit'],
    [{ activeDeadlineSeconds: 61 }, {}, undefined],
    [{ activeDeadlineSeconds: 60 }, {}, 'DeadlineExceeded: Job was active longer than specified deadline'],
    [{ activeDeadlineSeconds: 60, suspend: true }, {}, undefined],
    [
      { activeDeadlineSeconds: 60, backoffLimit: 0 },
      { failed: 1 },
      'BackoffLimitExceeded: Job has reached the specified backoff limit',
    ],
    [indexed({ maxFailedIndexes: 1 }), { failedIndexes: '1' }, undefined],
    [
      indexed({ maxFailedIndexes: 1 }),
      { failedIndexes: '1,3' },
      'MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
    ],
    [indexed(), { failedIndexes: '1', succeeded: '2,3' }, undefined],
    [indexed(), { failedIndexes: '1', succeeded: '0,2,3' }, 'FailedIndexes: Job has failed indexes'],
    [indexed(), { succeeded: '0-3' }, undefined],
    [
      indexed({ successPolicy: { rules: [{ succeededIndexes: '2' }] } }),
      { succeeded: '2' },
      'SuccessPolicy: Matched rules at index 0',
    ],
  ])('that asks for %o ends with %o: %s', (spec, counts, wanted) => {
    const { reason, message } = ending(job(spec), counts) ?? {}
    expect(reason && `${reason}: ${message}`).toBe(wanted)
  })

  it('has no deadline before it has begun', () => {
    expect(ending(job({ activeDeadlineSeconds: 0 }, {}), {})).toBeUndefined()
    expect(ending({ ...job({ activeDeadlineSeconds: 0 }), status: undefined }, {})).toBeUndefined()
  })

  it('ends as it was decided before', () => {
    const conditions = [{ type: 'FailureTarget', status: 'True', reason: 'PodFailurePolicy', message: 'by a rule' }]
    const of = job({ backoffLimit: 0 }, { startTime: secondsAgo(60), conditions })
    expect(ending(of, { failed: 1 })).toEqual({ type: 'Failed', reason: 'PodFailurePolicy', message: 'by a rule' })
  })
})

/** What a container that starts again in its pod counts for; upstream: pastBackoffLimitOnFailure. */
describe('restarts of containers', () => {
  const restarting = (backoffLimit: number, restartPolicy: 'OnFailure' | 'Never' = 'OnFailure') => {
    const { template } = job().spec
    return job({ backoffLimit, template: { ...template, spec: { ...template.spec, restartPolicy } } })
  }
  const withInit = (restarts: number): Pod => {
    const made = pod('a', { phase: 'Pending' })
    const init = { name: 'init', restartCount: restarts } as ContainerStatus
    return { ...made, status: { ...made.status, initContainerStatuses: [init] } }
  }
  it.each<readonly [string, Job, readonly Pod[], boolean]>([
    ['are too many when they reach the limit', restarting(3), [pod('a', { restarts: 3 })], true],
    ['are not too many before', restarting(3), [pod('a', { restarts: 2 })], false],
    ['are added up', restarting(3), [pod('a', { restarts: 2 }), pod('b', { restarts: 1 })], true],
    ['count in init containers, too', restarting(3), [withInit(3)], true],
    ['count while the pod is pending', restarting(3), [pod('a', { restarts: 3, phase: 'Pending' })], true],
    ['do not count in a pod that has ended', restarting(3), [pod('a', { restarts: 3, phase: 'Failed' })], false],
    ['may be none where no failure is allowed: the first is', restarting(0), [pod('a', { restarts: 1 })], true],
    ['may be none where no failure is allowed: none is not', restarting(0), [pod('a')], false],
    ['do not count where pods are not to be restarted', restarting(3, 'Never'), [pod('a', { restarts: 3 })], false],
    ['are none in a pod of which nobody has said anything', restarting(1), [{ ...pod('a'), status: undefined }], false],
  ])('%s', (_, of, pods, isTooMany) => {
    expect(ending(of, {}, pods)?.reason).toBe(isTooMany ? 'BackoffLimitExceeded' : undefined)
  })
})
