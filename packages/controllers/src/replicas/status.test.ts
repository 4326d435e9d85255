import { describe, expect, it } from 'vitest'
import { replicationController, secondsAgo, startMs } from '../testing/objects.ts'
import type { ReplicasStatus } from './desired.ts'
import { isOnlyLater, statusOf, withFailure } from './status.ts'
import type { ReplicaCounts } from './tally.ts'

const counts: ReplicaCounts = {
  replicas: 3,
  fullyLabeled: 0,
  ready: 2,
  available: 1,
  terminating: 4,
  nextAvailableAt: undefined,
}
const failure = {
  type: 'ReplicaFailure',
  status: 'True',
  reason: 'FailedDelete',
  message: 'no right',
  lastTransitionTime: secondsAgo(90),
}
const foreign = { type: 'example.com/Watched', status: 'True' }

describe('the status that shows counts', () => {
  it('takes back a failure, and leaves what others say', () => {
    const status = statusOf(replicationController(3), counts, { replicas: 1, conditions: [failure, foreign] })
    expect(status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: undefined,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 1,
      conditions: [foreign],
    })
  })

  it('has no conditions where nothing is to be said', () => {
    expect(statusOf(replicationController(3), counts, undefined)).not.toHaveProperty('conditions')
  })
})

describe('a status', () => {
  const told: ReplicasStatus & { readonly terminatingReplicas?: number } = {
    replicas: 3,
    terminatingReplicas: 0,
    observedGeneration: 2,
  }

  it.each<readonly [string, ReplicasStatus | undefined, boolean]>([
    ['nothing new but its generation', { ...told, observedGeneration: 1 }, true],
    ['nothing new beside one that does not speak of pods on their way out', { replicas: 3 }, true],
    ['something new where a count is another', { ...told, replicas: 2 }, false],
    ['something new where a failure is taken back', { ...told, conditions: [failure] }, false],
    ['something new where none was there', undefined, false],
  ])('says %s', (_, old, wanted) => {
    expect(isOnlyLater(told, old)).toBe(wanted)
  })
})

describe('a failure to make pods', () => {
  const status = { replicas: 3 }
  const failed = (old: ReplicasStatus | undefined, error: unknown) =>
    withFailure(status, old, 'FailedCreate', error, startMs)
  const said = (message: string) => ({
    replicas: 3,
    conditions: [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message, lastTransitionTime: secondsAgo(0) },
    ],
  })

  it('is told with its reason, the first of several', () => {
    expect(failed(undefined, new Error('no room'))).toEqual(said('no room'))
    expect(failed({ replicas: 1 }, new AggregateError([new Error('no room'), new Error('no luck')]))).toEqual(
      said('no room'),
    )
    expect(failed({ replicas: 1 }, 'no room')).toEqual(said('no room'))
  })

  it('is told beside what others say', () => {
    const { conditions } = withFailure({ ...status, conditions: [foreign] }, undefined, 'FailedCreate', 'x', startMs)
    expect(conditions?.map(({ type }) => type)).toEqual(['example.com/Watched', 'ReplicaFailure'])
  })

  it('stays told as it was, whatever has failed since', () => {
    expect(failed({ replicas: 1, conditions: [failure] }, new Error('no room'))).toEqual({
      replicas: 3,
      conditions: [failure],
    })
  })
})
