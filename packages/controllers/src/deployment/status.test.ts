import type { DeploymentStatus } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { deployment, replicaSet, rolling } from '../testing/deployments.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { type Conditions, progressDeadline, progressReasons, withCondition, withPausing } from './conditions.ts'
import { draftOf } from './draft.ts'
import { isComplete, rolloutStatus, statusOf } from './status.ts'

const progress = (reason: string, secondsSince = 0, status = 'True'): Conditions => [
  {
    type: 'Progressing',
    status,
    reason,
    message: 'as before',
    lastUpdateTime: secondsAgo(secondsSince),
    lastTransitionTime: secondsAgo(secondsSince),
  },
]

const before: DeploymentStatus = { replicas: 10, updatedReplicas: 2, readyReplicas: 8, availableReplicas: 8 }

/** The conditions of a deployment of 10 whose status was `old` and whose ReplicaSets are as given. */
function conditionsAfter(newSet: ReturnType<typeof replicaSet>, old: DeploymentStatus, said: Conditions) {
  const object = deployment(10, { ...rolling(2, 2), status: old })
  const rollout = {
    newSet: draftOf(newSet),
    oldSets: [draftOf(replicaSet('old', { replicas: 8 }))],
  }
  return rolloutStatus(object, rollout, said, startMs).conditions?.find(({ type }) => type === 'Progressing')
}

describe('the counts of a deployment', () => {
  it('are those of its ReplicaSets, and of the new one among them', () => {
    const rollout = {
      newSet: draftOf(replicaSet('new', { replicas: 4, pods: 3, available: 1, status: { terminatingReplicas: 1 } })),
      oldSets: [
        draftOf(replicaSet('old', { replicas: 8, pods: 9, available: 7, status: { terminatingReplicas: 2 } })),
        draftOf(replicaSet('older', { status: { observedGeneration: 0 } })),
      ],
    }
    const object = deployment(10, { ...rolling(2, 2), status: { collisionCount: 1 } })
    expect(statusOf(object, rollout, [], startMs)).toEqual({
      observedGeneration: 1,
      replicas: 12,
      updatedReplicas: 3,
      readyReplicas: 8,
      availableReplicas: 8,
      unavailableReplicas: 4,
      terminatingReplicas: 3,
      collisionCount: 1,
      conditions: [
        {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
          lastUpdateTime: secondsAgo(0),
          lastTransitionTime: secondsAgo(0),
        },
      ],
    })
  })

  it.each<readonly [string, readonly NonNullable<Parameters<typeof replicaSet>[1]>['status'][], number | undefined]>([
    ['are none where there is no ReplicaSet', [], 0],
    ['are none where nobody has looked at one yet', [{ observedGeneration: 0 }], 0],
    ['are those of all', [{ terminatingReplicas: 1 }, { terminatingReplicas: 2 }, { observedGeneration: 0 }], 3],
    ['are not known where one does not say them', [{ terminatingReplicas: 1 }, {}], undefined],
  ])('%s: pods on their way out', (_, statuses, wanted) => {
    const oldSets = statuses.map((status, index) =>
      draftOf(replicaSet(`old-${index}`, status === undefined ? {} : { status })),
    )
    expect(statusOf(deployment(3), { newSet: undefined, oldSets }, [], startMs).terminatingReplicas).toBe(wanted)
  })

  it('say when too few pods are available', () => {
    const rollout = { newSet: draftOf(replicaSet('new', { replicas: 10, available: 7 })), oldSets: [] }
    expect(statusOf(deployment(10, rolling(2, 2)), rollout, [], startMs).conditions).toMatchObject([
      {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      },
    ])
  })

  it('leave out what is zero, but for those on their way out', () => {
    const status = statusOf(deployment(0), { newSet: undefined, oldSets: [] }, [], startMs)
    expect(Object.entries(status).filter(([, value]) => value !== undefined)).toEqual([
      ['observedGeneration', 1],
      ['terminatingReplicas', 0],
      ['conditions', expect.anything()],
    ])
  })

  it('never call fewer than no pods unavailable', () => {
    const rollout = { newSet: draftOf(replicaSet('new', { replicas: 3, available: 5 })), oldSets: [] }
    expect(statusOf(deployment(3), rollout, [], startMs).unavailableReplicas).toBeUndefined()
  })
})

describe('the progress of a rollout', () => {
  const created = progress(progressReasons.created, 30)

  it.each<[string, DeploymentStatus, Parameters<typeof replicaSet>[1]]>([
    ['more new pods', { ...before, updatedReplicas: 1 }, { replicas: 2, available: 0 }],
    ['fewer old pods', { ...before, replicas: 11, updatedReplicas: 2 }, { replicas: 2, available: 0 }],
    ['more ready pods', { ...before, readyReplicas: 7 }, { replicas: 2, available: 0 }],
    ['more available pods', { ...before, availableReplicas: 7 }, { replicas: 2, available: 0 }],
  ])('is %s', (_what, old, newSet) => {
    expect(conditionsAfter(replicaSet('new', newSet), old, created)).toEqual({
      type: 'Progressing',
      status: 'True',
      reason: 'ReplicaSetUpdated',
      message: 'ReplicaSet "web-new" is progressing.',
      lastUpdateTime: secondsAgo(0),
      lastTransitionTime: secondsAgo(30),
    })
  })

  it('is none where a new pod goes', () => {
    const fewer = replicaSet('new', { replicas: 2, pods: 1, available: 0 })
    expect(conditionsAfter(fewer, before, created)).toEqual(created[0])
  })

  const standing = replicaSet('new', { replicas: 2, available: 0 })

  it('has time until the deadline, counted from the last time there was some', () => {
    expect(conditionsAfter(standing, before, progress(progressReasons.updated, 600))).toMatchObject({
      reason: 'ReplicaSetUpdated',
    })
    expect(conditionsAfter(standing, before, progress(progressReasons.updated, 601))).toEqual({
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: 'ReplicaSet "web-new" has timed out progressing.',
      lastUpdateTime: secondsAgo(0),
      lastTransitionTime: secondsAgo(0),
    })
  })

  it('begins again after the deadline', () => {
    const late = progress(progressReasons.timedOut, 5, 'False')
    expect(conditionsAfter(standing, before, late)).toEqual(late[0])
    expect(conditionsAfter(standing, { ...before, readyReplicas: 7 }, late)).toMatchObject({
      status: 'True',
      reason: 'ReplicaSetUpdated',
      lastTransitionTime: secondsAgo(0),
    })
  })

  it('is over when all pods are new and available', () => {
    const object = deployment(2, { status: { replicas: 2, updatedReplicas: 2 } })
    const rollout = { newSet: draftOf(replicaSet('new', { replicas: 2 })), oldSets: [] }
    expect(rolloutStatus(object, rollout, created, startMs).conditions).toContainEqual({
      type: 'Progressing',
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: 'ReplicaSet "web-new" has successfully progressed.',
      lastUpdateTime: secondsAgo(0),
      lastTransitionTime: secondsAgo(30),
    })
  })

  it('is not judged by once the rollout is over, though pods fail later', () => {
    const done = progress(progressReasons.available, 3600)
    const object = deployment(2, { status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2 } })
    const rollout = { newSet: draftOf(replicaSet('new', { replicas: 2, available: 0 })), oldSets: [] }
    expect(rolloutStatus(object, rollout, done, startMs).conditions).toContainEqual(done[0])
    const again = { newSet: draftOf(replicaSet('new', { replicas: 2, available: 1 })), oldSets: [] }
    const fallen = deployment(2, { status: { replicas: 2, updatedReplicas: 2 } })
    expect(rolloutStatus(fallen, again, done, startMs).conditions).toContainEqual(done[0])
  })

  it('begins with another template after a rollout that is over', () => {
    const done = progress(progressReasons.available, 3600)
    expect(conditionsAfter(standing, { ...before, updatedReplicas: 0 }, done)).toMatchObject({
      reason: 'ReplicaSetUpdated',
    })
  })

  it.each<readonly [string, number, number | undefined]>([
    [progressReasons.updated, 600, 500_000],
    [progressReasons.created, 600, 500_000],
    [progressReasons.resumed, 60, -40_000],
    [progressReasons.available, 600, undefined],
    [progressReasons.timedOut, 600, undefined],
    [progressReasons.updated, 2_147_483_647, undefined],
  ])('that was %s 100 s ago has %i s: its deadline', (reason, progressDeadlineSeconds, inMs) => {
    const deadline = progressDeadline(deployment(1, { progressDeadlineSeconds }), progress(reason, 100))
    expect(deadline === undefined ? undefined : deadline - startMs).toBe(inMs)
  })

  it('names the deployment while there is no ReplicaSet', () => {
    const object = deployment(0, { status: { replicas: 1 } })
    const { conditions } = rolloutStatus(object, { newSet: undefined, oldSets: [] }, [], startMs)
    expect(conditions).toContainEqual(
      expect.objectContaining({ message: 'Deployment "web" has successfully progressed.' }),
    )
  })

  it('is not spoken of without a deadline', () => {
    const object = deployment(2, { progressDeadlineSeconds: 2_147_483_647 })
    const { conditions } = rolloutStatus(object, { newSet: undefined, oldSets: [] }, created, startMs)
    expect(conditions?.map(({ type }) => type)).toEqual(['Available'])
  })
})

describe('a rollout whose ReplicaSet cannot make pods', () => {
  const failing = (name: string, reason: string) =>
    draftOf(
      replicaSet(name, {
        status: {
          conditions: [
            { type: 'ReplicaFailure', status: 'True', reason, message: 'no room', lastTransitionTime: secondsAgo(7) },
          ],
        },
      }),
    )

  it('says so, of the new one first', () => {
    const rollout = { newSet: failing('new', 'FailedCreate'), oldSets: [failing('old', 'FailedDelete')] }
    expect(rolloutStatus(deployment(2), rollout, [], startMs).conditions).toContainEqual({
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'no room',
      lastUpdateTime: secondsAgo(7),
      lastTransitionTime: secondsAgo(7),
    })
    const onlyOld = { newSet: draftOf(replicaSet('new')), oldSets: [failing('old', 'FailedDelete')] }
    expect(rolloutStatus(deployment(2), onlyOld, [], startMs).conditions).toContainEqual(
      expect.objectContaining({ reason: 'FailedDelete' }),
    )
  })

  it('has been so since it was first said, though for another reason', () => {
    const before = {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedDelete',
      lastUpdateTime: secondsAgo(90),
      lastTransitionTime: secondsAgo(90),
    }
    const rollout = { newSet: failing('new', 'FailedCreate'), oldSets: [] }
    const failureAfter = (said: object) =>
      rolloutStatus(deployment(2), rollout, [said as never], startMs).conditions?.find(
        ({ type }) => type === 'ReplicaFailure',
      )
    const [updated, since] = [secondsAgo(7), secondsAgo(90)]
    expect(failureAfter(before)).toMatchObject({ lastUpdateTime: updated, lastTransitionTime: since })
    expect(failureAfter({ ...before, status: 'False' })).toMatchObject({ lastTransitionTime: updated })
    expect(failureAfter({ ...before, reason: 'FailedCreate' })).toMatchObject({ lastUpdateTime: since })
  })

  it('takes it back when it can', () => {
    const said = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no room' }]
    const rollout = { newSet: draftOf(replicaSet('new')), oldSets: [] }
    const { conditions } = rolloutStatus(deployment(2), rollout, said, startMs)
    expect(conditions?.map(({ type }) => type)).not.toContain('ReplicaFailure')
  })
})

describe('isComplete', () => {
  const done = { updatedReplicas: 3, replicas: 3, availableReplicas: 3, observedGeneration: 1 }

  it.each<[string, DeploymentStatus, boolean]>([
    ['all pods are new and available', done, true],
    ['some are old', { ...done, updatedReplicas: 2 }, false],
    ['there are too many', { ...done, replicas: 4 }, false],
    ['some are not available', { ...done, availableReplicas: 2 }, false],
    ['it is the status of an earlier generation', { ...done, observedGeneration: 0 }, false],
  ])('where %s', (_what, status, wanted) => {
    expect(isComplete(deployment(3), status)).toBe(wanted)
  })
})

describe('conditions', () => {
  it('stay as they are while status and reason are the same', () => {
    const said = progress(progressReasons.created, 30)
    const again = { type: 'Progressing', status: 'True', reason: progressReasons.created, message: 'in other words' }
    expect(withCondition(said, again, startMs)).toBe(said)
  })

  it('say that a deployment is paused and that it goes on, which gives it all its time again', () => {
    const paused = withPausing(deployment(1, { paused: true }), progress(progressReasons.updated, 500), startMs)
    expect(paused).toMatchObject([
      { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused', lastUpdateTime: secondsAgo(0) },
    ])
    expect(withPausing(deployment(1, { paused: true }), paused, startMs + 1000)).toBe(paused)
    const resumed = withPausing(deployment(1), paused, startMs + 1000)
    expect(resumed).toMatchObject([
      {
        status: 'Unknown',
        reason: 'DeploymentResumed',
        message: 'Deployment is resumed',
        lastUpdateTime: secondsAgo(-1),
        lastTransitionTime: secondsAgo(0),
      },
    ])
    expect(withPausing(deployment(1), resumed, startMs + 2000)).toBe(resumed)
  })

  it('keep saying that a deployment has run out of time, paused or not', () => {
    const late = progress(progressReasons.timedOut, 5, 'False')
    expect(withPausing(deployment(1, { paused: true }), late, startMs)).toBe(late)
  })

  it('say nothing of a pause where there is no deadline', () => {
    const object = deployment(1, { paused: true, progressDeadlineSeconds: 2_147_483_647 })
    expect(withPausing(object, [], startMs)).toEqual([])
  })
})
