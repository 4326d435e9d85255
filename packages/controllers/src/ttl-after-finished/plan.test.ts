import type { Job } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { planFinishedJob } from './plan.ts'

function job(ttlSecondsAfterFinished: number | undefined, endedSecondsAgo?: number, isGoing = false): Job {
  const lastTransitionTime = endedSecondsAgo === undefined ? undefined : secondsAgo(endedSecondsAgo)
  return {
    metadata: { name: 'a', namespace: 'default', uid: 'u', ...(isGoing ? { deletionTimestamp: secondsAgo(0) } : {}) },
    spec: { ttlSecondsAfterFinished },
    status:
      lastTransitionTime === undefined ? {} : { conditions: [{ type: 'Failed', status: 'True', lastTransitionTime }] },
  } as unknown as Job
}

describe('a job that is over', () => {
  it.each<readonly [string, Job, number | undefined]>([
    ['does not say how long it stays', job(undefined, 100), undefined],
    ['is to stay a little longer', job(100, 40), 60_000],
    ['is not over at all', job(0), undefined],
    ['is on its way already', job(0, 5, true), undefined],
  ])('is left alone where it %s', (_, of, requeueAfterMs) => {
    expect(planFinishedJob(of, startMs)).toEqual(
      requeueAfterMs === undefined ? { actions: [] } : { actions: [], requeueAfterMs },
    )
  })

  it('goes with its pods when its time is up', () => {
    expect(planFinishedJob(job(30, 30), startMs).actions).toMatchObject([
      { type: 'delete', key: { namespace: 'default', name: 'a' }, uid: 'u', propagationPolicy: 'Foreground' },
    ])
  })
})
