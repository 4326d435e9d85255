/** What pods say of the failures of their index, and what the next pod of it is told. */
import type { Job, JobSpec, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, jobPod, type PodTraits } from '../testing/jobs.ts'
import { startMs } from '../testing/objects.ts'
import { indexFailures, nextCounts, retryAt } from './index-failures.ts'

const ignoring = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } }] }

const limited = (backoffLimitPerIndex: number, spec: Partial<JobSpec> = {}): Job =>
  job({ completionMode: 'Indexed', completions: 12, backoffLimitPerIndex, ...spec })

/** A pod of index 1 that has failed; by `exitCode` 3 it is ignored where that is the policy. */
const failed = (name: string, traits: PodTraits = {}): Pod => jobPod(name, { phase: 'Failed', index: 1, ...traits })

/** The indexes that have failed for good, and the pods after which others are tried again. */
function failuresOf(of: Job, ...pods: readonly Pod[]) {
  const { failedIndexes, last } = indexFailures(of, pods, [])
  return { failedIndexes, last: [...last].map(([index, { metadata }]) => `${index} after ${metadata.name}`) }
}

describe('an index', () => {
  it.each<readonly [string, Job, readonly Pod[], ReturnType<typeof failuresOf>]>([
    ['is tried again', limited(2), [failed('a', { failuresBefore: 1 })], { failedIndexes: [], last: ['1 after a'] }],
    ['fails by its limit', limited(2), [failed('a', { failuresBefore: 2 })], { failedIndexes: [[1, 1]], last: [] }],
    [
      'does not fail by failures that are ignored',
      limited(0, { podFailurePolicy: ignoring }),
      [failed('a', { exitCode: 3, failuresBefore: 0, ignoredBefore: 7 })],
      { failedIndexes: [], last: ['1 after a'] },
    ],
    [
      'does not fail by a pod that has succeeded on its way out',
      limited(0),
      [jobPod('a', { phase: 'Succeeded', index: 1, isGoing: true })],
      { failedIndexes: [], last: [] },
    ],
    [
      'is told in the order of the numbers',
      limited(0),
      [failed('a', { index: 10 }), failed('b', { index: 9 }), failed('c', { index: 2 })],
      {
        failedIndexes: [
          [2, 2],
          [9, 10],
        ],
        last: [],
      },
    ],
    [
      'goes on from the pod of most attempts',
      limited(9),
      [
        failed('first', { failuresBefore: 0 }),
        failed('third', { failuresBefore: 1, ignoredBefore: 1 }),
        failed('second', { failuresBefore: 1 }),
      ],
      { failedIndexes: [], last: ['1 after third'] },
    ],
    [
      'goes on from the pod that has ended last',
      limited(9),
      [failed('late', { endedSecondsAgo: 10 }), failed('early', { endedSecondsAgo: 20 })],
      { failedIndexes: [], last: ['1 after late'] },
    ],
  ])('%s', (_, of, pods, wanted) => {
    expect(failuresOf(of, ...pods)).toEqual(wanted)
  })

  it('has failed in the eyes of a Job that has said nothing yet', () => {
    const fresh = { ...limited(0), status: undefined }
    expect(failuresOf(fresh, failed('a'))).toEqual({ failedIndexes: [[1, 1]], last: [] })
  })
})

describe('the next pod of an index', () => {
  const before = { failuresBefore: 2, ignoredBefore: 1, endedSecondsAgo: 0 }
  const policy = limited(9, { podFailurePolicy: ignoring })

  it.each<readonly [string, Pod | undefined, ReturnType<typeof nextCounts>]>([
    ['no failure at first', undefined, { failures: 0, ignored: 0 }],
    ['one failure more', failed('a', before), { failures: 3, ignored: 1 }],
    ['one more that is ignored', failed('a', { ...before, exitCode: 3 }), { failures: 2, ignored: 2 }],
  ])('is told of %s', (_, pod, wanted) => {
    expect(nextCounts(policy, pod)).toEqual(wanted)
  })

  it('waits longer after each failure, also after those that are ignored', () => {
    const waits = [0, 1, 2].map((ignoredBefore) => failed('a', { ...before, failuresBefore: 1, ignoredBefore }))
    expect(waits.map((pod) => retryAt(policy, pod) - startMs)).toEqual([20_000, 40_000, 80_000])
  })
})
