import { formatTime, type Job, type JobSpec, type JobStatus, type Pod } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { job, jobPod as pod, type PodTraits as Traits } from '../testing/jobs.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { isAtWork } from './at-work.ts'
import { backOffAfter } from './back-off.ts'
import { type Dependencies, judgeDependencies } from './dependencies.ts'
import { failureCountAnnotation, indexAnnotation, trackingFinalizer } from './job-pods.ts'
import { planJob } from './plan.ts'

const met: Dependencies = { state: 'met' }

const plan = (of: Job, pods: readonly Pod[] = [], dependencies: Dependencies = met, isNamespaceGoing = false) =>
  planJob({ job: of, pods, dependencies, isNamespaceGoing }, startMs)

function summary(action: Action): string {
  switch (action.type) {
    case 'create':
      return `create ${action.object.metadata.generateName}`
    case 'delete':
      return `delete ${action.key.name}`
    case 'event':
      return `${action.eventType} ${action.reason}`
    default:
      return action.type
  }
}

const actions = (of: Job, pods: readonly Pod[] = [], dependencies: Dependencies = met) =>
  plan(of, pods, dependencies).actions.map(summary)
const creations = (count: number) => Array.from({ length: count }, () => 'create sum-')
const conditions = (of: Job, pods: readonly Pod[] = [], dependencies: Dependencies = met) =>
  (plan(of, pods, dependencies).status?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )
const released = (of: Job, pods: readonly Pod[]) => plan(of, pods).releases.map(({ key }) => key.name)

const succeeded = (name: string, traits: Traits = {}) => pod(name, { phase: 'Succeeded', ...traits })
const failed = (name: string, traits: Traits = {}) => pod(name, { phase: 'Failed', ...traits })
const indexed = (completions: number, spec: Partial<JobSpec> = {}): Partial<JobSpec> => ({
  completionMode: 'Indexed',
  completions,
  parallelism: completions,
  ...spec,
})

describe('pods of a job', () => {
  it.each<readonly [string, Partial<JobSpec>, readonly Pod[], readonly string[]]>([
    ['start', { completions: 8, parallelism: 2 }, [], creations(2)],
    ['are no more at a time than asked for', { completions: 8, parallelism: 2 }, [pod('a'), pod('b')], []],
    ['follow those that have succeeded', { completions: 8, parallelism: 2 }, [pod('a'), succeeded('b')], creations(1)],
    ['are no more than are left to do', { completions: 3, parallelism: 5 }, [succeeded('a')], creations(2)],
    ['work off a queue', { completions: undefined, parallelism: 3 }, [pod('a')], creations(2)],
    [
      'stop coming with the end of the queue',
      { completions: undefined, parallelism: 3 },
      [pod('a'), succeeded('b')],
      [],
    ],
    [
      'go when there are too many',
      { parallelism: 1, completions: 5 },
      [pod('a', { phase: 'Pending' }), pod('b')],
      ['patch', 'delete a'],
    ],
    ['take the place of one that is going', { completions: 1 }, [pod('a', { isGoing: true })], []],
    ['wait for the end of one that is going', { podReplacementPolicy: 'Failed' }, [pod('a', { isGoing: true })], []],
    ['come 500 at a time at most', { completions: 2000, parallelism: 2000 }, [], creations(500)],
    ['have indexes', indexed(3), [succeeded('a', { index: 1 })], ['create sum-0-', 'create sum-2-']],
    [
      'have each index once',
      indexed(2),
      [pod('a', { index: 0 }), pod('b', { index: 0, phase: 'Pending' })],
      ['patch', 'delete b'],
    ],
    [
      'have an index that the job has',
      indexed(1),
      [pod('a', { index: 0 }), pod('b', { index: 7 })],
      ['patch', 'delete b'],
    ],
    ['do not come while it is suspended', { suspend: true }, [pod('a')], ['patch', 'delete a', 'Normal Suspended']],
    ['are left to others where somebody else manages the job', { managedBy: 'example.com/queue' }, [], []],
    ['come where the job says that none else does', { managedBy: 'kubernetes.io/job-controller' }, [], creations(1)],
    [
      'are not taken away while some are missing',
      { completions: 8, parallelism: 4 },
      [pod('a'), pod('b'), pod('c')],
      creations(1),
    ],
    [
      'go when there are too many, those first whose index another has',
      indexed(3, { parallelism: 1 }),
      [pod('a', { index: 0 }), pod('twin', { index: 0, phase: 'Pending' }), pod('b', { index: 1, restarts: 2 })],
      ['patch', 'patch', 'delete twin', 'delete b'],
    ],
    [
      'have no index that one has which is going, where its end is waited for',
      indexed(3, { podReplacementPolicy: 'Failed' }),
      [pod('a', { index: 0 }), pod('b', { index: 1, isGoing: true })],
      ['create sum-2-'],
    ],
    [
      'go at once where they have lost their finalizer',
      { parallelism: 0, completions: 5 },
      [pod('a', { isCounted: true })],
      ['delete a'],
    ],
  ])('%s', (_, spec, pods, expected) => {
    // A pod that is going counts as failed: its successor waits for the back-off.
    expect(actions(job(spec), pods)).toEqual(expected)
  })

  it('go 500 at a time at most', () => {
    const pods = Array.from({ length: 501 }, (_, index) => pod(`p${index}`, { isCounted: true }))
    expect(actions(job({ parallelism: 0, completions: 2000 }), pods)).toHaveLength(500)
  })

  it.each<readonly [string, Partial<JobSpec>, readonly Pod[]]>([
    ['1 of 2 pods are active', { completions: 5, parallelism: 2 }, [pod('a')]],
    ['2 pods are active, 1 are wanted', { completions: 5, parallelism: 1 }, [pod('a'), pod('b')]],
    ['the Job is suspended', { suspend: true }, [pod('a')]],
    ['the Job is over: DeadlineExceeded', { activeDeadlineSeconds: 60 }, [pod('a')]],
  ])('come and go because %s', (because, spec, pods) => {
    const changes = plan(job(spec), pods).actions.filter(({ type }) => type !== 'event')
    expect(new Set(changes.map((action) => action.because))).toEqual(new Set([because]))
  })

  it('go by what they do, whatever deleting them costs', () => {
    const cheap = pod('cheap')
    const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-5' }
    const pods = [{ ...cheap, metadata: { ...cheap.metadata, annotations } }, pod('restarted', { restarts: 3 })]
    expect(actions(job({ parallelism: 1, completions: 5 }), pods)).toEqual(['patch', 'delete restarted'])
  })

  it('keep a finalizer, and are told their index', () => {
    const [action] = plan(job(indexed(1))).actions
    expect(action?.type === 'create' ? action.object : undefined).toMatchObject({
      metadata: {
        generateName: 'sum-0-',
        finalizers: [trackingFinalizer],
        annotations: { [indexAnnotation]: '0' },
        labels: { [indexAnnotation]: '0' },
      },
      spec: { hostname: 'sum-0', containers: [{ env: [{ name: 'JOB_COMPLETION_INDEX' }] }] },
    })
  })
})

describe('names of pods of an index', () => {
  it.each([
    ['a name with room for it', 'n'.repeat(55), 1, `${'n'.repeat(55)}-1-`],
    ['a name that is cut off for it', 'n'.repeat(56), 1, `${'n'.repeat(55)}-1-`],
    ['an index of more digits', 'n'.repeat(60), 12_345, `${'n'.repeat(51)}-12345-`],
  ])('tell it: %s', (_, name, index, generateName) => {
    const of = job(indexed(index + 1, { parallelism: 1 }), {
      startTime: secondsAgo(60),
      completedIndexes: `0-${index - 1}`,
    })
    const [action] = plan({ ...of, metadata: { ...of.metadata, name } }).actions
    expect(action?.type === 'create' ? action.object.metadata.generateName : '').toBe(generateName)
  })
})

describe('the back-off of a job', () => {
  it('doubles from 10 seconds to 10 minutes', () => {
    expect([0, 1, 2, 3, 6, 7, 8].map(backOffAfter)).toEqual([0, 10_000, 20_000, 40_000, 320_000, 600_000, 600_000])
  })

  it.each<readonly [string, readonly Pod[], number | undefined]>([
    ['a failure 4 s ago', [failed('a', { endedSecondsAgo: 4 })], 6_000],
    ['two failures', [failed('a', { endedSecondsAgo: 30 }), failed('b', { endedSecondsAgo: 5 })], 15_000],
    ['a failure just long enough ago', [failed('a', { endedSecondsAgo: 10 })], undefined],
    [
      'failures before a success',
      [failed('a', { endedSecondsAgo: 4 }), succeeded('b', { endedSecondsAgo: 2 })],
      undefined,
    ],
    [
      'failures before a success, and two after it',
      [9, 8, 5, 1]
        .map((ago) => failed(`f${ago}`, { endedSecondsAgo: ago }))
        .concat(succeeded('s', { endedSecondsAgo: 6 })),
      19_000,
    ],
    [
      'a failure and a success at the same time',
      [failed('a', { endedSecondsAgo: 4 }), succeeded('b', { endedSecondsAgo: 4 })],
      undefined,
    ],
    ['one that it has taken away itself', [pod('a', { isGoing: true, isCounted: true })], undefined],
    ['one that somebody else has taken away', [pod('a', { isGoing: true })], 10_000],
  ])('after %s', (_, pods, waitMs) => {
    const made = plan(job({ completions: 5 }), pods)
    expect(made.requeueAfterMs).toBe(waitMs)
    expect(made.actions.map(summary)).toEqual(waitMs === undefined ? creations(1) : [])
  })

  it('counts no pod that runs', () => {
    const pods = [pod('a'), failed('b', { endedSecondsAgo: 4 })]
    expect(plan(job({ completions: 5, parallelism: 2 }), pods).requeueAfterMs).toBe(6_000)
  })

  it.each([false, true])('is kept after a failure that is ignored, its finalizer being off: %s', (isCounted) => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }]
    const pods = [failed('a', { endedSecondsAgo: 4, condition: 'DisruptionTarget', isCounted })]
    expect(plan(job({ podFailurePolicy: { rules } }), pods).requeueAfterMs).toBe(6_000)
  })

  it('goes on after pods on their way out that are counted', () => {
    const of = job({ completions: 5 }, { startTime: secondsAgo(60), failed: 1 })
    expect(plan(of, [pod('a', { isGoing: true, isCounted: true })]).requeueAfterMs).toBe(10_000)
  })

  it('counts failures whose pods are gone', () => {
    const of = job({}, { startTime: secondsAgo(60), failed: 2 })
    expect(plan(of, [failed('c', { endedSecondsAgo: 0 })]).requeueAfterMs).toBe(40_000)
  })
})

describe('counting', () => {
  const started = { startTime: secondsAgo(60) }

  it('names a pod that has ended before it takes its finalizer', () => {
    const of = job({ completions: 3 }, started)
    const made = plan(of, [succeeded('a'), failed('b')])
    expect(made.status).toMatchObject({ uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } })
    expect(made.status?.succeeded).toBeUndefined()
    expect(made.releases.map(({ key }) => key.name)).toEqual(['a', 'b'])
    expect(made.releases[0]?.patch).toEqual({
      type: 'strategic',
      body: { metadata: { uid: 'a', '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } },
    })
  })

  it('leaves out a pod that the Job takes away itself: it loses its finalizer before it goes', () => {
    const [release, deletion] = plan(job({ suspend: true }, started), [pod('a')]).actions
    expect(release).toMatchObject({
      type: 'patch',
      key: { name: 'a' },
      patch: { body: { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } } },
    })
    expect(deletion).toMatchObject({ type: 'delete', key: { name: 'a' } })
  })

  it('counts it once the finalizer is off', () => {
    const of = job({ completions: 3 }, { ...started, succeeded: 1, uncountedTerminatedPods: { succeeded: ['a'] } })
    const made = plan(of, [succeeded('a', { isCounted: true })])
    expect(made.status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} })
    expect(made.releases).toEqual([])
  })

  it('counts a pod that is gone since it was named', () => {
    const of = job({ completions: 3 }, { ...started, uncountedTerminatedPods: { failed: ['a'] } })
    expect(plan(of).status).toMatchObject({ failed: 1 })
  })

  it('tries again to take a finalizer that is still there', () => {
    const of = job({ completions: 3 }, { ...started, uncountedTerminatedPods: { succeeded: ['a'] } })
    expect(plan(of, [succeeded('a')]).status).toMatchObject({ uncountedTerminatedPods: { succeeded: ['a'] } })
    expect(released(of, [succeeded('a')])).toEqual(['a'])
  })

  it('counts indexes by their text', () => {
    const of = job(indexed(5), { ...started, completedIndexes: '0' })
    const made = plan(of, [succeeded('a', { index: 1 }), succeeded('b', { index: 3 }), succeeded('c', { index: 9 })])
    expect(made.status).toMatchObject({ completedIndexes: '0,1,3', succeeded: 3, uncountedTerminatedPods: {} })
    expect(made.releases).toHaveLength(3)
  })

  it('counts a pod on its way out as failed, unless its end is waited for', () => {
    const going = pod('a', { isGoing: true })
    expect(plan(job(), [going]).status?.uncountedTerminatedPods).toEqual({ failed: ['a'] })
    expect(plan(job({ podReplacementPolicy: 'Failed' }), [going]).status?.uncountedTerminatedPods).toEqual({})
  })

  it('leaves nobody behind of a job that is being deleted, or over', () => {
    const deleted = { ...job(), metadata: { ...job().metadata, deletionTimestamp: secondsAgo(0) } }
    expect(released(deleted, [pod('a'), succeeded('b', { isCounted: true })])).toEqual(['a'])
    const over = job({}, { conditions: [{ type: 'Failed', status: 'True' }] })
    expect([actions(over, [pod('a')]), released(over, [pod('a')])]).toEqual([[], ['a']])
    expect(released(over, [pod('a'), pod('b', { isCounted: true })])).toEqual(['a'])
    expect(plan(over, [pod('a')]).releases[0]?.because).toBe('the pod is counted')
  })

  it('says how many pods are active, ready and going', () => {
    const made = plan(job({ completions: 5, parallelism: 2, podReplacementPolicy: 'Failed' }), [
      pod('a'),
      pod('b', { isGoing: true }),
    ])
    expect(made.status).toMatchObject({ active: 1, ready: 0, terminating: 1 })
  })

  it('leaves out what is none, and says all the same that none is ready or going', () => {
    expect(plan(job(indexed(1), started), [failed('a', { index: 0, endedSecondsAgo: 4 })]).status).toEqual({
      ...started,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: { failed: ['a'] },
    })
  })

  it('says that those are ready which stay, whatever goes beside them', () => {
    const pods = [pod('a', { condition: 'Ready' }), pod('b')]
    expect(plan(job({ completions: 5, parallelism: 1 }), pods).status).toMatchObject({ active: 1, ready: 1 })
  })

  it('counts pods that it deletes among those that are going, and no more among the active', () => {
    const of = job({ completions: 5, parallelism: 1 })
    const { status } = plan(of, [pod('a'), pod('b'), pod('c', { isGoing: true })])
    expect(status).toMatchObject({ active: 1, terminating: 2 })
  })

  it.each<readonly [string, Partial<JobSpec>, number]>([
    ['too many are', { completions: 5, parallelism: 1 }, 1],
    ['it is suspended', { completions: 5, suspend: true }, 0],
    ['it has failed', { completions: 5, activeDeadlineSeconds: 60 }, 0],
  ])('says of no pod that it is ready which it deletes as %s: no more may be ready than active', (_, spec, left) => {
    const of = job(spec, { startTime: secondsAgo(60) })
    const { active = 0, ready } =
      plan(of, [pod('a', { condition: 'Ready' }), pod('b', { condition: 'Ready' })]).status ?? {}
    expect([active, ready]).toEqual([left, left])
  })
})

describe('the end of a job', () => {
  const started = { startTime: secondsAgo(60) }
  const done = { ...started, succeeded: 1 }

  it('comes with its completions, once all are counted', () => {
    expect(conditions(job({}, started), [succeeded('a')])).toEqual(['SuccessCriteriaMet=True CompletionsReached'])
    expect(conditions(job({}, done))).toEqual([
      'SuccessCriteriaMet=True CompletionsReached',
      'Complete=True CompletionsReached',
    ])
    expect(plan(job({}, done)).status).toMatchObject({ completionTime: formatTime(startMs) })
    expect(actions(job({}, done))).toEqual(['Normal Completed'])
    const message = 'Reached expected number of succeeded pods'
    expect(plan(job({}, done)).status?.conditions).toMatchObject([{ message }, { message }])
  })

  it('does not come where nothing is wanted of a queue', () => {
    expect(conditions(job({ completions: undefined, parallelism: 0 }, started))).toEqual([])
  })

  it('has no completion where the job fails', () => {
    const interim = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'late' }
    const over = plan(job({ completions: 1 }, { ...started, succeeded: 2, conditions: [interim] }))
    expect(over.status).not.toHaveProperty('completionTime')
    expect(over.actions.map(summary)).toEqual(['Warning DeadlineExceeded'])
  })

  it('comes with its rule once all are counted', () => {
    const successPolicy = { rules: [{ succeededIndexes: '0' }] }
    const of = job(indexed(3, { successPolicy }), { ...started, succeeded: 1, completedIndexes: '0' })
    expect(conditions(of)).toEqual(['SuccessCriteriaMet=True SuccessPolicy', 'Complete=True SuccessPolicy'])
    expect(plan(of).status).toMatchObject({ completionTime: formatTime(startMs) })
    expect(actions(of)).toEqual(['Normal Completed'])
  })

  it.each<readonly [JobStatus, string]>([
    [{ succeeded: 1 }, 'Completed: Job completed'],
    [{ succeeded: 2 }, 'TooManySucceededPods: Too many succeeded pods running after completion count reached'],
    [{ failed: 1 }, 'BackoffLimitExceeded: Job has reached the specified backoff limit'],
  ])('of one with %o is told: %s', (counts, wanted) => {
    const [event] = plan(job({ backoffLimit: 0 }, { ...started, ...counts })).actions
    expect(event?.type === 'event' ? `${event.reason}: ${event.message}` : undefined).toBe(wanted)
  })

  it.each<readonly [number, Partial<JobSpec>, readonly string[]]>([
    [1, { completions: 1 }, ['Normal Completed']],
    [2, { completions: 1 }, ['Warning TooManySucceededPods', 'Normal Completed']],
    [2, { completions: undefined }, ['Normal Completed']],
  ])('is told as one of too many where %i have succeeded of %o', (succeeded, spec, events) => {
    expect(actions(job(spec, { ...started, succeeded }))).toEqual(events)
  })

  it('waits for what is still running of a queue', () => {
    expect(conditions(job({ completions: undefined, parallelism: 2 }, done), [pod('b')])).toEqual([])
  })

  it.each<readonly [string, Partial<JobSpec>, readonly Pod[], string]>([
    ['too many failures', { backoffLimit: 0 }, [failed('a')], 'FailureTarget=True BackoffLimitExceeded'],
    [
      'too many restarts',
      { backoffLimit: 2, template: { spec: { restartPolicy: 'OnFailure', containers: [] } } },
      [pod('a', { restarts: 2 })],
      'FailureTarget=True BackoffLimitExceeded',
    ],
    ['its deadline', { activeDeadlineSeconds: 60 }, [pod('a')], 'FailureTarget=True DeadlineExceeded'],
    [
      'an exit code',
      { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] } },
      [failed('a', { exitCode: 42 }), pod('b')],
      'FailureTarget=True PodFailurePolicy',
    ],
    [
      'too many failed indexes',
      indexed(3, { backoffLimitPerIndex: 0, maxFailedIndexes: 0, backoffLimit: 99 }),
      [failed('a', { index: 1 }), pod('b', { index: 0 })],
      'FailureTarget=True MaxFailedIndexesExceeded',
    ],
    [
      'indexes that have failed, when the others are done',
      indexed(2, { backoffLimitPerIndex: 0, backoffLimit: 99 }),
      [failed('a', { index: 1 }), succeeded('b', { index: 0 })],
      'FailureTarget=True FailedIndexes',
    ],
    [
      'an early success',
      indexed(3, { successPolicy: { rules: [{ succeededIndexes: '0' }] } }),
      [succeeded('a', { index: 0 }), pod('b', { index: 1 })],
      'SuccessCriteriaMet=True SuccessPolicy',
    ],
    [
      'an early success of some',
      indexed(3, { successPolicy: { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }] } }),
      [succeeded('a', { index: 0 }), succeeded('b', { index: 2 }), pod('c', { index: 1 })],
      'SuccessCriteriaMet=True SuccessPolicy',
    ],
  ])('comes with %s, and stops what runs', (_, spec, pods, condition) => {
    expect(conditions(job(spec, started), pods)).toEqual([condition])
    const running = pods
      .filter(({ status }) => status?.phase === 'Running')
      .map(({ metadata }) => `delete ${metadata.name}`)
    expect(actions(job(spec, started), pods)).toEqual(running)
  })

  it('says which pod and which rule failed it', () => {
    const rules = [
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      { action: 'FailJob', onExitCodes: { containerName: 'main', operator: 'NotIn', values: [1] } },
    ]
    const of = job({ podFailurePolicy: { rules } }, started)
    expect(plan(of, [failed('a', { exitCode: 3 })]).status?.conditions?.[0]?.message).toBe(
      'Container main for pod default/a failed with exit code 3 matching FailJob rule at index 1',
    )
  })

  it('stays as it was decided, whatever comes after', () => {
    const interim = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'late' }
    const decided = job({ completions: 1 }, { ...done, conditions: [interim] })
    expect(conditions(decided)).toEqual(['FailureTarget=True DeadlineExceeded', 'Failed=True DeadlineExceeded'])
    expect(actions(decided)).toEqual(['Warning DeadlineExceeded'])
  })

  it('is not told while pods are on their way out', () => {
    const interim = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'late' }
    const decided = job({ podReplacementPolicy: 'Failed' }, { ...started, conditions: [interim] })
    expect(conditions(decided, [pod('a', { isGoing: true })])).toEqual(['FailureTarget=True DeadlineExceeded'])
  })

  it('waits for pods that run or are on their way out, though they have lost their finalizer', () => {
    const interim = { type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'late' }
    const decided = job({}, { ...started, conditions: [interim] })
    for (const left of [pod('a', { isCounted: true }), pod('a', { isCounted: true, isGoing: true })])
      expect(conditions(decided, [left])).toEqual(['FailureTarget=True DeadlineExceeded'])
  })

  it('looks again at the deadline, unless it has come to its end', () => {
    const of = job({ activeDeadlineSeconds: 100 }, started)
    expect(plan(of, [pod('a')]).requeueAfterMs).toBe(40_000)
    expect(plan(of, [succeeded('a')]).requeueAfterMs).toBeUndefined()
  })
})

describe('failures that are ignored, and indexes that fail by themselves', () => {
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }]

  it('do not count for the limit', () => {
    const of = job({ backoffLimit: 0, podFailurePolicy: { rules } })
    const made = plan(of, [failed('a', { condition: 'DisruptionTarget' })])
    expect(made.actions.map(summary)).toEqual(creations(1))
    expect(made.status?.uncountedTerminatedPods).toEqual({})
    expect(made.releases).toHaveLength(1)
  })

  const perIndex = indexed(2, { backoffLimitPerIndex: 1, backoffLimit: 99 })

  it('are tried again with one failure more', () => {
    const made = plan(job(perIndex), [pod('a', { index: 0 }), failed('b', { index: 1, failuresBefore: 0 })])
    expect(made.actions.map(summary)).toEqual(['create sum-1-'])
    const [action] = made.actions
    expect(action?.type === 'create' ? action.object.metadata.annotations : {}).toMatchObject({
      [failureCountAnnotation]: '1',
    })
    // It keeps its finalizer until the next pod of the index is there: the count is in it.
    expect(made.releases).toEqual([])
    expect(made.status?.failedIndexes).toBe('')
  })

  it('hold no pod back in a namespace that is on its way out, where no other pod comes', () => {
    const suspended = job({ ...perIndex, suspend: true })
    const left = [failed('b', { index: 1, failuresBefore: 0 })]
    expect(plan(suspended, left).releases).toEqual([])
    expect(plan(suspended, left, met, true).releases).toHaveLength(1)
  })

  it('wait for a back-off of their own', () => {
    const made = plan(job(perIndex), [
      pod('a', { index: 0 }),
      failed('b', { index: 1, failuresBefore: 0, endedSecondsAgo: 3 }),
    ])
    expect([made.actions, made.requeueAfterMs]).toEqual([[], 7_000])
  })

  it('are tried again one by one, as their times come', () => {
    const of = job(indexed(4, { backoffLimitPerIndex: 1, backoffLimit: 99 }))
    const made = plan(
      of,
      [3, 6, 10].map((endedSecondsAgo, index) => failed(`f${index}`, { index, failuresBefore: 0, endedSecondsAgo })),
    )
    expect(made.actions.map(summary)).toEqual(['create sum-2-', 'create sum-3-'])
    expect(made.requeueAfterMs).toBe(4_000)
  })

  it('wait since the last of several failures of one index', () => {
    const of = (...ago: readonly number[]) =>
      ago.map((endedSecondsAgo, at) => failed(`f${at}`, { index: 1, failuresBefore: 0, endedSecondsAgo }))
    const made = (...ago: readonly number[]) => plan(job(perIndex), [pod('a', { index: 0 }), ...of(...ago)])
    expect([made(3, 6).requeueAfterMs, made(6, 3).requeueAfterMs]).toEqual([7_000, 7_000])
  })

  it('begin again at no failure where the one before was taken away by the job itself', () => {
    const before = failed('b', { index: 1, failuresBefore: 0, isCounted: true, endedSecondsAgo: 1 })
    const [action] = plan(job(perIndex), [pod('a', { index: 0 }), before]).actions
    expect(action?.type === 'create' ? action.object.metadata.annotations : {}).toMatchObject({
      [failureCountAnnotation]: '0',
    })
  })

  it('are over when they have failed too often', () => {
    const made = plan(job(perIndex), [pod('a', { index: 0 }), failed('b', { index: 1, failuresBefore: 1 })])
    expect(made.actions).toEqual([])
    expect(made.status).toMatchObject({ failedIndexes: '1', uncountedTerminatedPods: { failed: ['b'] } })
  })

  it('are over at once where a rule says so', () => {
    const policy = { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [3] } }] }
    const of = job({ ...perIndex, podFailurePolicy: policy })
    const made = plan(of, [pod('a', { index: 0 }), failed('b', { index: 1, exitCode: 3, failuresBefore: 0 })])
    expect(made.status?.failedIndexes).toBe('1')
  })
})

describe('a job that is suspended', () => {
  it('does not begin, and begins anew when it is resumed', () => {
    const asleep = plan(job({ suspend: true }, {}))
    expect(asleep.status?.startTime).toBeUndefined()
    expect(conditions(job({ suspend: true }, {}))).toEqual(['Suspended=True JobSuspended'])
    const status = { startTime: secondsAgo(500), conditions: [{ type: 'Suspended', status: 'True' }] }
    const awake = plan(job({ suspend: false }, status))
    expect(awake.status?.startTime).toBe(formatTime(startMs))
    expect(awake.actions.map(summary)).toEqual([...creations(1), 'Normal Resumed'])
    const messages = [asleep, awake].map((made) => made.status?.conditions?.[0]?.message)
    expect(messages).toEqual(['Job suspended', 'Job resumed'])
  })

  it('does not begin while it says that it is suspended', () => {
    expect(plan(job({ suspend: true }, suspended)).status).not.toHaveProperty('startTime')
  })

  it('does not say that it is suspended where it has come to its end', () => {
    expect(conditions(job({ suspend: true }), [succeeded('a')])).toEqual(['SuccessCriteriaMet=True CompletionsReached'])
  })

  it('has no deadline', () => {
    const of = job({ suspend: true, activeDeadlineSeconds: 1 }, { startTime: secondsAgo(500) })
    expect(conditions(of)).toEqual(['Suspended=True JobSuspended'])
  })

  it('has no start, also where it had started before', () => {
    const was = { startTime: secondsAgo(500) }
    expect(plan(job({ suspend: true }, was), [pod('a')]).status).not.toHaveProperty('startTime')
    // What somebody else has written there since is theirs.
    const status = { ...was, conditions: [{ type: 'Suspended', status: 'True' }] }
    expect(plan(job({ suspend: true }, status)).status?.startTime).toBe(was.startTime)
  })

  const suspended = { conditions: [{ type: 'Suspended', status: 'True', reason: 'JobSuspended' }] }

  it('does not wait again for Jobs it depends on', () => {
    const waiting: Dependencies = { state: 'waiting', message: 'Waiting for Jobs to complete: a (does not exist)' }
    const awake = plan(job({ suspend: false }, suspended), [], waiting)
    expect(awake.actions.map(summary)).toEqual([...creations(1), 'Normal Resumed'])
    const failed: Dependencies = { state: 'failed', message: 'Job a failed' }
    expect(plan(job({ suspend: true }, suspended), [], failed).actions).toEqual([])
  })

  it('says when it started where its last pod succeeds all the same', () => {
    const made = plan(job({ suspend: true }, { ...suspended, succeeded: 1 }))
    expect(made.status).toMatchObject({ startTime: formatTime(startMs), completionTime: formatTime(startMs) })
  })

  it('counts its pods where it is deleted', () => {
    const going = job({ suspend: true }, suspended)
    const made = plan({ ...going, metadata: { ...going.metadata, deletionTimestamp: secondsAgo(1) } }, [pod('a')])
    expect(made.status).toMatchObject({ active: 1 })
  })
})

describe('dependencies', () => {
  const waiting: Dependencies = { state: 'waiting', message: 'Waiting for Jobs to complete: a (running)' }

  it('are waited for, without pods and without a start', () => {
    const made = plan(job({}, {}), [], waiting)
    expect(made.actions.map(summary)).toEqual(['Normal Waiting'])
    expect(made.status?.startTime).toBeUndefined()
    expect(made.status?.conditions).toMatchObject([
      { type: 'coracle.dev/Waiting', status: 'True', reason: 'JobsNotComplete', message: waiting.message },
    ])
    expect(plan({ ...job({}, made.status) }, [], waiting).actions).toEqual([])
  })

  const waited = job({}, { conditions: [{ type: 'coracle.dev/Waiting', status: 'True' }] })

  it('are spoken of anew only where there is something new', () => {
    const first = plan(job({}, {}), [], waiting)
    const later = (of: Job, dependencies: Dependencies) =>
      planJob({ job: of, pods: [], dependencies, isNamespaceGoing: false }, startMs + 1000).status?.conditions
    expect(later(job({}, first.status), waiting)).toEqual(first.status?.conditions)
    const message = 'Waiting for Jobs to complete: a (suspended)'
    expect(later(job({}, first.status), { state: 'waiting', message })).toMatchObject([
      { message, lastProbeTime: secondsAgo(-1), lastTransitionTime: secondsAgo(0) },
    ])
  })

  it('are not asked about for a job that is deleted before it has begun', () => {
    const of = job({}, {})
    const made = plan({ ...of, metadata: { ...of.metadata, deletionTimestamp: secondsAgo(0) } }, [], waiting)
    expect([made.actions, made.status]).toEqual([[], undefined])
  })

  it('let the job start when they are met, and do not concern it afterwards', () => {
    expect(plan(waited).status).toMatchObject({
      startTime: formatTime(startMs),
      conditions: [{ type: 'coracle.dev/Waiting', message: 'All Jobs it depends on are complete' }],
    })
    expect(conditions(waited)).toEqual(['coracle.dev/Waiting=False JobsComplete'])
    expect(actions(waited)).toEqual(creations(1))
    expect(actions(job(), [pod('a')], waiting)).toEqual([])
  })

  it('fail the job with them', () => {
    const message = 'Job a failed: DeadlineExceeded: late'
    const made = plan(job({}, {}), [], { state: 'failed', message })
    expect(made.status?.startTime).toBeDefined()
    expect(made.status?.conditions).toMatchObject([
      { type: 'FailureTarget', status: 'True', reason: 'DependencyFailed', message },
      { type: 'Failed', status: 'True', reason: 'DependencyFailed', message },
    ])
    expect(made.actions.map(summary)).toEqual(['Warning DependencyFailed'])
    expect(conditions(waited, [], { state: 'failed', message })).toEqual([
      'coracle.dev/Waiting=False DependencyFailed',
      'FailureTarget=True DependencyFailed',
      'Failed=True DependencyFailed',
    ])
  })

  it.each<readonly [Dependencies, readonly string[]]>([
    [met, creations(1)],
    [waiting, ['Normal Waiting']],
    [{ state: 'failed', message: 'Job a failed' }, ['Warning DependencyFailed']],
  ])('that are %o concern a job also where nobody has looked at it yet', (dependencies, wanted) => {
    expect(actions({ ...job(), status: undefined }, [], dependencies)).toEqual(wanted)
  })

  const named = (name: string, status: JobStatus = {}): Job => ({
    ...job({}, status),
    metadata: { name, namespace: 'default' },
  })
  const depending = { ...job(), metadata: { ...job().metadata, annotations: { 'coracle.dev/depends-on': 'a, b' } } }
  const over = (type: string, message = 'm') => ({ conditions: [{ type, status: 'True', reason: 'R', message }] })
  const suspended = { ...named('a'), spec: { ...job().spec, suspend: true } }
  const going = { ...named('b'), metadata: { ...named('b').metadata, deletionTimestamp: secondsAgo(0) } }
  it.each<readonly [string, readonly Job[], Dependencies]>([
    ['of Jobs that are complete', [named('a', over('Complete')), named('b', over('Complete'))], met],
    [
      'of Jobs that are not there, or not done',
      [named('b', { startTime: secondsAgo(1) })],
      { state: 'waiting', message: 'Waiting for Jobs to complete: a (does not exist), b (running)' },
    ],
    [
      'of Jobs that are suspended, or going',
      [suspended, going],
      { state: 'waiting', message: 'Waiting for Jobs to complete: a (suspended), b (is being deleted)' },
    ],
    [
      'of Jobs that have not begun',
      [named('a'), { ...named('b'), status: undefined }],
      { state: 'waiting', message: 'Waiting for Jobs to complete: a (not started), b (not started)' },
    ],
    [
      'of a Job that failed',
      [named('a'), named('b', over('Failed'))],
      { state: 'failed', message: 'Job b failed: R: m' },
    ],
    [
      'of a Job that failed without a message',
      [named('a', over('Failed', ''))],
      { state: 'failed', message: 'Job a failed: R' },
    ],
  ])('%s are judged', (_, others, expected) => {
    expect(judgeDependencies(depending, (name) => others.find(({ metadata }) => metadata.name === name))).toEqual(
      expected,
    )
  })
})

describe('a job', () => {
  const deletionTimestamp = secondsAgo(0)
  it.each<readonly [string, Job, boolean]>([
    ['is at work from its beginning', job({}, {}), true],
    ['is at work while it is suspended', job({ suspend: true }), true],
    ['is not where somebody else manages it', job({ managedBy: 'example.com/queue' }), false],
    ['is not on its way out', { ...job(), metadata: { ...job().metadata, deletionTimestamp } }, false],
    ['is not once it is over', job({}, { conditions: [{ type: 'Complete', status: 'True' }] }), false],
    [
      'is while it is only going to be over',
      job({}, { conditions: [{ type: 'FailureTarget', status: 'True' }] }),
      true,
    ],
  ])('%s', (_, of, wanted) => {
    expect(isAtWork(of)).toBe(wanted)
  })
})
