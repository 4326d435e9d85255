/** One look at a Job and its pods: what is made and deleted, and what the status says, by upstream's cases (job_controller_test.go). */
import type { JobSpec, JobStatus, Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { job, type PodTraits, jobPod as pod } from '../testing/jobs.ts'
import { secondsAgo, startMs } from '../testing/objects.ts'
import { indexAnnotation } from './job-pods.ts'
import { isSettled, planJob } from './plan.ts'

/** Pods by how many of which kind: the first letters are those of their phases, `t` is one on its way out. */
function pods(kinds: string, traits: PodTraits = {}): readonly Pod[] {
  return [...kinds].map((kind, index) => podOfKind(`${kind}${index}`, kind, traits))
}

/** Pods of indexes: `0:s 1:f 2:f1` has succeeded, failed, and failed after another failure; an index of `?` is none. */
function podsOfIndexes(text: string): readonly Pod[] {
  return text.split(' ').map((each, number) => {
    const [index = '', [kind = '', failuresBefore = '0'] = ''] = each.split(':')
    const traits = index === '?' ? {} : { index: Number(index), failuresBefore: Number(failuresBefore) }
    return podOfKind(`${each}#${number}`, kind, traits)
  })
}

function podOfKind(name: string, kind: string, traits: PodTraits): Pod {
  if (kind === 't') return pod(name, { ...traits, isGoing: true })
  return pod(name, { ...traits, phase: { s: 'Succeeded', f: 'Failed', p: 'Pending' }[kind] ?? 'Running' })
}

/** What is done and said, as short as can be. */
interface Outcome {
  readonly creates?: number
  /** The indexes of the pods that are made. */
  readonly createsIndexes?: readonly number[]
  readonly deletes?: number
  readonly active?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly terminating?: number
  readonly completedIndexes?: string
  readonly failedIndexes?: string
  /** Pods that lose their finalizer. */
  readonly releases?: number
  readonly conditions?: readonly string[]
}

function outcomeOf(spec: Partial<JobSpec>, status: JobStatus, of: readonly Pod[], isGoing = false): Outcome {
  const { metadata, ...rest } = job({ backoffLimit: 6, ...spec }, status)
  const observed = { ...rest, metadata: { ...metadata, ...(isGoing ? { deletionTimestamp: secondsAgo(0) } : {}) } }
  const others = { pods: of, dependencies: { state: 'met' }, isNamespaceGoing: false } as const
  const plan = planJob({ job: observed, ...others }, startMs)
  if (isSettled(observed, plan, of)) {
    // What is called settled comes to nothing when it is looked at again.
    const written = { ...observed, ...(plan.status === undefined ? {} : { status: plan.status }) }
    const { actions, releases, status = plan.status, requeueAfterMs } = planJob({ job: written, ...others }, startMs)
    expect({ actions, releases, status, requeueAfterMs }).toEqual({
      actions: [],
      releases: [],
      status: plan.status,
      requeueAfterMs: plan.requeueAfterMs,
    })
  }
  const made = plan.actions.flatMap((action) => (action.type === 'create' ? [action.object.metadata] : []))
  const indexes = made.flatMap(({ annotations }) => annotations?.[indexAnnotation] ?? []).map(Number)
  const { uncountedTerminatedPods: named, ...shown } = plan.status ?? {}
  return withoutNothing({
    creates: made.length,
    createsIndexes: indexes,
    deletes: plan.actions.filter(({ type }) => type === 'delete').length,
    active: shown.active ?? 0,
    // Those that are named count from the next look on.
    succeeded: (shown.succeeded ?? 0) + (named?.succeeded ?? []).length,
    failed: (shown.failed ?? 0) + (named?.failed ?? []).length,
    terminating: shown.terminating ?? 0,
    completedIndexes: shown.completedIndexes ?? '',
    failedIndexes: shown.failedIndexes ?? '',
    releases: plan.releases.length,
    conditions: (shown.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  })
}

const withoutNothing = (outcome: Outcome): Outcome =>
  Object.fromEntries(
    Object.entries(outcome).filter(
      ([, value]) => value !== 0 && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  )

const started: JobStatus = { startTime: secondsAgo(60) }
const indexed = (completions: number, spec: Partial<JobSpec> = {}): Partial<JobSpec> => ({
  completionMode: 'Indexed',
  completions,
  parallelism: 2,
  ...spec,
})
const of5: Partial<JobSpec> = { completions: 5, parallelism: 2 }
const queue: Partial<JobSpec> = { completions: undefined, parallelism: 2 }
const policy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] }

describe('a look at a Job', () => {
  it.each<readonly [string, Partial<JobSpec>, readonly Pod[], Outcome]>([
    ['without pods', of5, [], { creates: 2, active: 2 }],
    ['with pods that wait for a node', of5, pods('pp'), { active: 2 }],
    ['with as many as it may have', of5, pods('rr'), { active: 2 }],
    ['with too few', of5, pods('rs'), { creates: 1, active: 2, succeeded: 1, releases: 1 }],
    ['with too many', of5, pods('rrrrrrrrrr'), { deletes: 8, active: 2, terminating: 8 }],
    [
      'with more than are left to do',
      { completions: 4, parallelism: 3 },
      pods('rrrss'),
      { deletes: 1, active: 2, succeeded: 2, terminating: 1, releases: 2 },
    ],
    ['with one that has failed long ago', of5, pods('rf'), { creates: 1, active: 2, failed: 1, releases: 1 }],
    [
      'that is done',
      of5,
      pods('sssss'),
      { succeeded: 5, releases: 5, conditions: ['SuccessCriteriaMet=True CompletionsReached'] },
    ],
    ['that works off a queue', queue, [], { creates: 2, active: 2 }],
    ['whose queue is empty, while others finish', queue, pods('rs'), { active: 1, succeeded: 1, releases: 1 }],
    [
      'whose queue is empty, and all have finished',
      queue,
      pods('ss'),
      { succeeded: 2, releases: 2, conditions: ['SuccessCriteriaMet=True CompletionsReached'] },
    ],
    [
      'whose queue is empty, in spite of a failure',
      queue,
      pods('sf'),
      { succeeded: 1, failed: 1, releases: 2, conditions: ['SuccessCriteriaMet=True CompletionsReached'] },
    ],
    [
      'that has failed too often',
      { ...of5, backoffLimit: 0 },
      pods('f'),
      { failed: 1, releases: 1, conditions: ['FailureTarget=True BackoffLimitExceeded'] },
    ],
    [
      'that has failed too often, while others run: these have failed with it',
      { ...of5, backoffLimit: 0 },
      pods('rrf'),
      {
        deletes: 2,
        failed: 3,
        terminating: 2,
        releases: 3,
        conditions: ['FailureTarget=True BackoffLimitExceeded'],
      },
    ],
    [
      'that has failed, while one is on its way out whose end would be waited for',
      { ...of5, backoffLimit: 0, podReplacementPolicy: 'Failed' },
      pods('tf'),
      { failed: 2, terminating: 1, releases: 2, conditions: ['FailureTarget=True BackoffLimitExceeded'] },
    ],
    [
      'that has failed, while one runs whose failure is to be ignored',
      { ...of5, backoffLimit: 0, podFailurePolicy: policy },
      [...pods('f'), pod('a', { condition: 'DisruptionTarget' })],
      {
        deletes: 1,
        failed: 1,
        terminating: 1,
        releases: 2,
        conditions: ['FailureTarget=True BackoffLimitExceeded'],
      },
    ],
    [
      'that is done by its policy, while others run: these have not failed',
      indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }),
      podsOfIndexes('0:s 1:f 2:p'),
      {
        deletes: 1,
        succeeded: 1,
        failed: 1,
        terminating: 1,
        completedIndexes: '0',
        releases: 3,
        conditions: ['SuccessCriteriaMet=True SuccessPolicy'],
      },
    ],
    ['with indexes', indexed(5), [], { creates: 2, createsIndexes: [0, 1], active: 2 }],
    [
      'with indexes that ran twice',
      indexed(3),
      podsOfIndexes('0:s 1:s 1:s'),
      { creates: 1, createsIndexes: [2], active: 1, succeeded: 2, completedIndexes: '0,1', releases: 3 },
    ],
    [
      'with indexes that are done or run here and there',
      indexed(20, { parallelism: 8 }),
      podsOfIndexes('0:r 2:s 3:p 4:s 5:s 7:s 8:s 9:s'),
      {
        creates: 6,
        createsIndexes: [1, 6, 10, 11, 12, 13],
        active: 8,
        succeeded: 6,
        completedIndexes: '2,4,5,7-9',
        releases: 6,
      },
    ],
    [
      'with indexes that have failed',
      indexed(4, { parallelism: 3 }),
      podsOfIndexes('0:f 1:p 2:f'),
      { creates: 2, createsIndexes: [0, 2], active: 3, failed: 2, releases: 2 },
    ],
    [
      'that is done after a failure of an index',
      indexed(3),
      podsOfIndexes('0:s 1:f 1:s 2:s'),
      {
        succeeded: 3,
        failed: 1,
        completedIndexes: '0-2',
        releases: 4,
        conditions: ['SuccessCriteriaMet=True CompletionsReached'],
      },
    ],
    [
      'with pods without an index, of which none counts',
      indexed(5),
      [...pods('rsf'), ...podsOfIndexes('?:r ?:s ?:f ?:p 0:s 1:r 2:r')],
      { deletes: 3, active: 2, succeeded: 1, terminating: 3, completedIndexes: '0', releases: 5 },
    ],
    [
      'with two pods of one index',
      indexed(5, { parallelism: 5 }),
      podsOfIndexes('?:s ?:f ?:r 0:s 1:r 2:r 2:p'),
      { deletes: 2, active: 2, succeeded: 1, terminating: 2, completedIndexes: '0', releases: 3 },
    ],
    [
      'with pods of indexes that it does not have',
      indexed(5),
      podsOfIndexes('0:s 5:r 6:s 7:p 8:f'),
      { deletes: 2, succeeded: 1, terminating: 2, completedIndexes: '0', releases: 3 },
    ],
    [
      'with a pod on its way out, which is replaced at once',
      indexed(5, { podReplacementPolicy: 'TerminatingOrFailed' }),
      podsOfIndexes('?:t'),
      { creates: 2, createsIndexes: [0, 1], active: 2, terminating: 1, releases: 1 },
    ],
    [
      'with a pod on its way out, which is replaced when it has ended',
      indexed(5, { podReplacementPolicy: 'Failed' }),
      podsOfIndexes('?:t'),
      { creates: 1, createsIndexes: [0], active: 1, terminating: 1 },
    ],
    [
      'that is suspended',
      { ...of5, suspend: true },
      pods('rr'),
      { deletes: 2, terminating: 2, conditions: ['Suspended=True JobSuspended'] },
    ],
  ])('%s', (_, spec, of, wanted) => {
    expect(outcomeOf(spec, started, of)).toEqual(wanted)
  })

  it('makes pods at once when it is resumed', () => {
    const conditions = [{ type: 'Suspended', status: 'True', reason: 'JobSuspended' }]
    expect(outcomeOf(of5, { conditions } as JobStatus, [])).toEqual({
      creates: 2,
      active: 2,
      conditions: ['Suspended=False JobResumed'],
    })
  })

  it('is not misled by conditions of others that say that it has not come to its end', () => {
    for (const type of ['FailureTarget', 'SuccessCriteriaMet']) {
      const conditions = [{ type, status: 'False', reason: 'ConditionAddedManually' }]
      expect(outcomeOf({}, { ...started, conditions } as JobStatus, pods('r'))).toEqual({
        active: 1,
        conditions: [`${type}=False ConditionAddedManually`],
      })
    }
  })

  it.each<readonly [string, string, string, Outcome]>([
    ['nothing new', '3', '0:r 1:r', { active: 2 }],
    ['one more', '3', '0:r 1:s', { active: 1, succeeded: 1, completedIndexes: '1', releases: 1 }],
    ['all', '0-2', '0:r', { deletes: 1, succeeded: 2, terminating: 1, completedIndexes: '0,1', releases: 1 }],
  ])('forgets indexes that it does not have any more: %s', (_, completedIndexes, text, wanted) => {
    const { conditions: _told, ...outcome } = outcomeOf(
      indexed(2),
      { ...started, completedIndexes, succeeded: 3 },
      podsOfIndexes(text),
    )
    expect(outcome).toEqual(wanted)
  })
})

describe('a Job that counts the failures of each index', () => {
  const twice = (spec: Partial<JobSpec> = {}) => indexed(2, { backoffLimit: 1000, backoffLimitPerIndex: 1, ...spec })
  const onExit = (action: string) => ({
    podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values: [3] } }] },
  })
  const exited = [pod('a', { phase: 'Failed', index: 0, exitCode: 3 })]

  it.each<readonly [string, Partial<JobSpec>, readonly Pod[], Outcome]>([
    [
      'tries an index again, whose pod stays until the next is there',
      twice(),
      podsOfIndexes('0:f 1:r'),
      { creates: 1, createsIndexes: [0], active: 2 },
    ],
    [
      'lets a failure go and forgets it that was of no index it has',
      twice(),
      podsOfIndexes('2:f 0:r 1:r'),
      { active: 2, releases: 1 },
    ],
    [
      'counts a failure of an index that is done all the same',
      twice({ parallelism: 1 }),
      podsOfIndexes('0:f 0:s 1:r'),
      { active: 1, succeeded: 1, failed: 1, completedIndexes: '0', releases: 2 },
    ],
    [
      'keeps only the last of the failures of an index',
      twice({ backoffLimitPerIndex: 9 }),
      podsOfIndexes('0:f 0:f2 0:f1 1:r'),
      { creates: 1, createsIndexes: [0], active: 2, failed: 2, releases: 2 },
    ],
    [
      'counts the failure when the next is there',
      twice(),
      podsOfIndexes('0:f 0:r1 1:r'),
      { active: 2, failed: 1, releases: 1 },
    ],
    [
      'goes on without an index that has failed too often',
      twice(),
      podsOfIndexes('0:f1'),
      { creates: 1, createsIndexes: [1], active: 1, failed: 1, failedIndexes: '0', releases: 1 },
    ],
    [
      'goes on without an index that is to fail by an exit code',
      twice(onExit('FailIndex')),
      exited,
      { creates: 1, createsIndexes: [1], active: 1, failed: 1, failedIndexes: '0', releases: 1 },
    ],
    [
      'fails as a whole by an exit code, and no index with it',
      twice(onExit('FailJob')),
      exited,
      { failed: 1, releases: 1, conditions: ['FailureTarget=True PodFailurePolicy'] },
    ],
    [
      'tries an index again whose failure is ignored',
      twice(onExit('Ignore')),
      exited,
      { creates: 2, createsIndexes: [0, 1], active: 2 },
    ],
    [
      'fails by its own limit before an index does',
      twice({ backoffLimit: 1 }),
      podsOfIndexes('0:f 1:f'),
      { failed: 2, releases: 2, conditions: ['FailureTarget=True BackoffLimitExceeded'] },
    ],
    [
      'fails by an index when all others are done',
      twice(),
      podsOfIndexes('0:f1 1:s'),
      {
        succeeded: 1,
        failed: 1,
        completedIndexes: '1',
        failedIndexes: '0',
        releases: 2,
        conditions: ['FailureTarget=True FailedIndexes'],
      },
    ],
    [
      'fails by too many indexes, whatever still runs',
      twice({ completions: 4, parallelism: 4, maxFailedIndexes: 1 }),
      podsOfIndexes('0:f1 1:s 2:f1 3:r'),
      {
        deletes: 1,
        succeeded: 1,
        failed: 3,
        terminating: 1,
        completedIndexes: '1',
        failedIndexes: '0,2',
        releases: 4,
        conditions: ['FailureTarget=True MaxFailedIndexesExceeded'],
      },
    ],
  ])('%s', (_, spec, of, wanted) => {
    expect(outcomeOf(spec, started, of)).toEqual(wanted)
  })
})

describe('a Job that may succeed early', () => {
  const early = (spec: Partial<JobSpec> = {}) =>
    indexed(2, {
      backoffLimit: 1000,
      successPolicy: { rules: [{ succeededIndexes: '0,1', succeededCount: 1 }] },
      ...spec,
    })
  const failing = {
    rules: [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
  }
  const disrupted = pod('a', { phase: 'Failed', index: 0, condition: 'DisruptionTarget' })
  const cases: readonly (readonly [string, Partial<JobSpec>, readonly Pod[]])[] = [
    ['PodFailurePolicy', { podFailurePolicy: failing }, [disrupted, ...podsOfIndexes('1:s')]],
    ['FailedIndexes', { backoffLimitPerIndex: 1 }, podsOfIndexes('0:f1 1:s')],
    ['BackoffLimitExceeded', { backoffLimit: 1 }, podsOfIndexes('0:f 0:f 1:s')],
  ]

  it.each(cases)('fails where it comes to both at once: %s', (reason, spec, of) => {
    expect(outcomeOf(early(spec), started, of).conditions).toEqual([`FailureTarget=True ${reason}`])
  })

  it.each(cases)('has succeeded once it says so, whatever fails then: not %s', (_, spec, of) => {
    const conditions = [{ type: 'SuccessCriteriaMet', status: 'True', reason: 'SuccessPolicy', message: 'met' }]
    const told = { ...started, conditions } as JobStatus
    expect(outcomeOf(early(spec), told, of).conditions).toEqual(['SuccessCriteriaMet=True SuccessPolicy'])
    const counted = { ...told, failed: 1, succeeded: 1, completedIndexes: '1' } as JobStatus
    expect(outcomeOf(early(spec), counted, []).conditions).toEqual([
      'SuccessCriteriaMet=True SuccessPolicy',
      'Complete=True SuccessPolicy',
    ])
  })

  it('has not failed by pods that it makes go', () => {
    const limited = early({ completions: 3, parallelism: 3, backoffLimitPerIndex: 3 })
    expect(outcomeOf(limited, started, podsOfIndexes('0:f 1:r 1:s 2:r'))).toEqual({
      deletes: 2,
      succeeded: 1,
      failed: 1,
      terminating: 2,
      completedIndexes: '1',
      releases: 4,
      conditions: ['SuccessCriteriaMet=True SuccessPolicy'],
    })
  })
})

describe('a Job whose pods could not be made or deleted', () => {
  const reported = (spec: Partial<JobSpec>, of: readonly Pod[]) => {
    const { otherwise } = planJob(
      { job: job(spec, started), pods: of, dependencies: { state: 'met' }, isNamespaceGoing: false },
      startMs,
    )
    const { status, releases } = otherwise?.() ?? {}
    const { active, conditions, uncountedTerminatedPods } = status ?? {}
    return [active, conditions, uncountedTerminatedPods, releases?.map(({ key }) => key.name)]
  }

  it('does not count those that are to come', () => {
    expect(reported(of5, pods('r'))).toEqual([1, undefined, {}, []])
  })

  it('does not say yet that it has failed, nor that those have that still run', () => {
    const failing = { ...of5, backoffLimit: 0 }
    expect(reported(failing, pods('rf'))).toEqual([1, undefined, { failed: ['f1'] }, ['f1']])
  })
})

describe('a Job on its way out', () => {
  it('counts what has ended, holds back nothing, and makes and deletes no pod', () => {
    expect(outcomeOf(of5, started, pods('prs'), true)).toEqual({ active: 2, succeeded: 1, releases: 3 })
    expect(outcomeOf({ ...of5, suspend: true }, started, pods('rr'), true)).toEqual({ active: 2, releases: 2 })
  })

  it('comes to its end like another', () => {
    expect(outcomeOf({ completions: 1 }, { ...started, succeeded: 1 }, [], true)).toEqual({
      succeeded: 1,
      conditions: ['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'],
    })
    expect(outcomeOf({ ...of5, backoffLimit: 0 }, started, pods('rf'), true)).toEqual({
      deletes: 1,
      failed: 2,
      terminating: 1,
      releases: 2,
      conditions: ['FailureTarget=True BackoffLimitExceeded'],
    })
  })

  it('takes no pods away that are too many, and keeps none for another that comes after it', () => {
    expect(outcomeOf({ ...of5, parallelism: 1 }, started, pods('rr'), true)).toEqual({ active: 2, releases: 2 })
    const limited = indexed(2, { backoffLimit: 99, backoffLimitPerIndex: 1 })
    expect(outcomeOf(limited, started, podsOfIndexes('0:f'), true)).toEqual({ failed: 1, releases: 1 })
  })

  it('says nothing of pods where it never started', () => {
    expect(outcomeOf(of5, {}, [], true)).toEqual({})
  })
})
