import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Change, View } from '../view.ts'
import { controllerOf } from '../view.ts'
import { triesForEver } from './convergence.ts'
import { invariantsOfRun } from './index.ts'

interface Traits {
  readonly owner?: KubernetesObject
  readonly owners?: readonly KubernetesObject[]
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
  readonly namespace?: string | undefined
}

/** An object whose name is its uid. */
function made(kind: string, name: string, traits: Traits = {}): KubernetesObject {
  const { owner, owners = owner === undefined ? [] : [owner], metadata, spec = {}, status = {} } = traits
  const ownerReferences = owners.map((each) => ({
    apiVersion: 'v1',
    kind: each.kind,
    name: each.metadata.name,
    uid: each.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }))
  const namespace = 'namespace' in traits ? traits.namespace : 'default'
  return {
    kind,
    metadata: { name, uid: name, namespace, generation: 1, ownerReferences, ...metadata },
    spec,
    status,
  } as unknown as KubernetesObject
}

const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
const pod = (name: string, owner?: KubernetesObject, traits: Traits = {}) =>
  made('Pod', name, { status: ready, ...(owner === undefined ? {} : { owner }), ...traits })
/** A pod that was to be gone by this time, a second after it was asked to go. */
const leavingAt = (deletionTimestamp: string) =>
  pod('a', undefined, { metadata: { deletionTimestamp, deletionGracePeriodSeconds: 1 } })
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
/** The object as another version of it. */
const later = (object: KubernetesObject, traits: Traits): KubernetesObject => ({
  ...object,
  ...(traits.spec === undefined ? {} : { spec: traits.spec }),
  ...(traits.status === undefined ? {} : { status: traits.status }),
  metadata: { ...object.metadata, ...traits.metadata },
})

interface Seen {
  /** What there is after the change. */
  readonly all?: readonly KubernetesObject[]
  /** Versions that were seen lately, beside what there is. */
  readonly past?: readonly KubernetesObject[]
  readonly deleter?: string
  readonly isForced?: boolean
  readonly isCalm?: boolean
  readonly unanswered?: number
  /** Names of objects whose creation was not answered. */
  readonly unansweredCreations?: readonly string[]
}

function view({
  all = [],
  past = [],
  deleter,
  isForced = false,
  isCalm = true,
  unanswered = 0,
  unansweredCreations = [],
}: Seen): View {
  const byUid = (uid: string) => all.find(({ metadata }) => metadata.uid === uid)
  const listed = (kind: string) => all.filter((object) => object.kind === kind)
  return {
    nowMs: 0,
    staleMs: 0,
    isCalm,
    unansweredPodsOf: () => unanswered,
    list: listed as unknown as View['list'],
    all: () => all,
    byUid,
    find: (kind, namespace, name) =>
      listed(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
    podsOf: ((uid: string) =>
      listed('Pod').filter((each) => controllerOf(each)?.uid === uid)) as unknown as View['podsOf'],
    recent: ((uid: string) => [...past, ...all].filter(({ metadata }) => metadata.uid === uid)) as View['recent'],
    isCreationUnanswered: ({ metadata }) => unansweredCreations.includes(metadata.name ?? ''),
    deleterOf: () => deleter,
    isForced: () => isForced,
    deletionsOf: ({ metadata }) => Number(metadata.annotations?.deletions ?? 0),
  }
}

/** The rules that the last of these changes breaks. */
function brokenBy(changes: readonly Partial<Change>[], seen: Seen = {}): readonly string[] {
  const rules = invariantsOfRun()
  const last = changes.length - 1
  return changes.flatMap((change, index) =>
    rules
      .filter(
        ({ check }) => check?.({ revision: 1, old: undefined, object: undefined, ...change }, view(seen)) !== undefined,
      )
      .map(({ name }) => name)
      .filter(() => index === last),
  )
}

const finallyBroken = (seen: Seen) =>
  invariantsOfRun()
    .filter(({ finally: check }) => (check?.(view(seen)) ?? []).length > 0)
    .map(({ name }) => name)

/** An object comes: it is the last of what there is. */
const comes = (...all: readonly KubernetesObject[]): readonly [Partial<Change>[], Seen] => [
  [{ object: all.at(-1) }],
  { all },
]

type Case = readonly [what: string, changes: readonly Partial<Change>[], seen: Seen, broken: readonly string[]]

const set = made('ReplicaSet', 'web', { spec: { replicas: 1 } })
const stateful = made('StatefulSet', 'db', { spec: { replicas: 2 } })
const daemon = made('DaemonSet', 'agent', { spec: {} })
const onNode = (name: string) => ({ spec: { nodeName: name } })

describe('of pods', () => {
  const tooMany = 'no more pods are made than were asked for'
  const node = made('Node', 'n', { namespace: undefined })
  const cordoned = made('Node', 'n', { namespace: undefined, spec: { unschedulable: true } })
  const running = { phase: 'Running', containerStatuses: [{ state: { running: {} } }] }
  const ended = pod('a', undefined, { status: { phase: 'Succeeded' } })
  it.each<Case>([
    ['a pod of its own', ...comes(pod('a')), []],
    [
      'two controllers',
      ...comes(set, daemon, pod('a', undefined, { owners: [set, daemon] })),
      ['a pod has at most one controller'],
    ],
    ['as many as asked for', ...comes(set, pod('a', set)), []],
    ['more than asked for', ...comes(set, pod('a', set), pod('b', set)), [tooMany]],
    [
      'as many as were asked for until now',
      [{ object: pod('b', set) }],
      { all: [set, pod('a', set), pod('b', set)], past: [later(set, { spec: { replicas: 2 } })] },
      [],
    ],
    [
      'one more, where an answer was lost',
      [{ object: pod('b', set) }],
      { all: [set, pod('a', set), pod('b', set)], unanswered: 1 },
      [],
    ],
    ['one for another that goes', ...comes(set, pod('a', set, { metadata: going }), pod('b', set)), []],
    ['one for nobody any more', ...comes(pod('a', set)), [tooMany]],
    [
      'a number too high',
      ...comes(stateful, pod('db-0', stateful), pod('db-1', stateful), pod('db-2', stateful)),
      [tooMany],
    ],
    ['bound', [{ old: pod('a'), object: pod('a', undefined, onNode('n')) }], { all: [node] }, []],
    [
      'bound again',
      [{ old: pod('a', undefined, onNode('m')), object: pod('a', undefined, onNode('n')) }],
      { all: [node] },
      ['a pod is bound once'],
    ],
    [
      'bound to a cordoned node',
      [{ old: pod('a'), object: pod('a', undefined, onNode('n')) }],
      { all: [cordoned] },
      ['nothing is bound to a node that takes nothing'],
    ],
    [
      'bound to a node cordoned just now',
      [{ old: pod('a'), object: pod('a', undefined, onNode('n')) }],
      { all: [cordoned], past: [node] },
      [],
    ],
    ['running after its end', [{ old: ended, object: pod('a') }], {}, ['a pod that has ended stays so']],
    [
      'gone while it runs',
      [{ old: pod('a', undefined, { ...onNode('n'), status: running }) }],
      { all: [node], deleter: 'job-controller' },
      ['a pod leaves its node before it leaves the API'],
    ],
    [
      'forced to go while it runs',
      [{ old: pod('a', undefined, { ...onNode('n'), status: running }) }],
      { all: [node], deleter: 'player', isForced: true },
      [],
    ],
    [
      'made to go in order while it runs',
      [{ old: pod('a', undefined, { ...onNode('n'), status: running }) }],
      { all: [node], deleter: 'player' },
      ['a pod leaves its node before it leaves the API'],
    ],
    [
      'taken for lost by who may not know of its node yet',
      [{ old: pod('a', undefined, { ...onNode('n'), status: running }) }],
      { all: [node], deleter: 'pod-garbage-collector', isForced: true, isCalm: false },
      [],
    ],
    [
      'taken for lost by who knows of its node',
      [{ old: pod('a', undefined, { ...onNode('n'), status: running }) }],
      { all: [node], deleter: 'pod-garbage-collector', isForced: true },
      ['a pod leaves its node before it leaves the API'],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of rollouts, daemons and numbered pods', () => {
  const rolling = (maxSurge: number, maxUnavailable: number) =>
    made('Deployment', 'web', { spec: { replicas: 3, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } } })
  const recreate = made('Deployment', 'web', { spec: { replicas: 1, strategy: { type: 'Recreate' } } })
  const sized = (name: string, owner: KubernetesObject, replicas: number, availableReplicas = replicas) =>
    made('ReplicaSet', name, {
      owner,
      spec: { replicas },
      status: { replicas, readyReplicas: availableReplicas, availableReplicas },
    })
  const grows = (owner: KubernetesObject, to: number): readonly [Partial<Change>[], Seen] => {
    const next = later(sized('new', owner, 0), { spec: { replicas: to }, metadata: { generation: 2 } })
    return [[{ old: sized('new', owner, 0), object: next }], { all: [owner, sized('old', owner, 3), next] }]
  }
  /** A new ReplicaSet, beside an old one and one in between, and those made without an answer. */
  const growsBeside = (
    generation: number,
    unansweredCreations: readonly string[],
  ): readonly [Partial<Change>[], Seen] => {
    const owner = rolling(2, 0)
    const between = later(sized('between', owner, 2, 0), { metadata: { generation } })
    const next = sized('new', owner, 2, 0)
    return [[{ object: next }], { all: [owner, sized('old', owner, 3), between, next], unansweredCreations }]
  }
  const shrinks = (
    owner: KubernetesObject,
    from: number,
    to: number,
    fresh: KubernetesObject,
  ): readonly [Partial<Change>[], Seen] => {
    const next = later(sized('old', owner, from), { spec: { replicas: to }, metadata: { generation: 2 } })
    return [[{ old: sized('old', owner, from), object: next }], { all: [owner, next, fresh] }]
  }
  const ordered = made('StatefulSet', 'db', { spec: { replicas: 3 } })
  const last = pod('db-1', ordered)
  it.each<Case>([
    ['a surge as large as allowed', ...grows(rolling(1, 0), 1), []],
    ['a surge too large', ...grows(rolling(1, 0), 2), ['a rollout keeps within its surge']],
    ['beside a ReplicaSet that the controller may not know of', ...growsBeside(1, ['between']), []],
    ['beside one of which it was told', ...growsBeside(1, ['other']), ['a rollout keeps within its surge']],
    ['beside one that it has resized since', ...growsBeside(2, ['between']), ['a rollout keeps within its surge']],
    ['as few available as allowed', ...shrinks(rolling(1, 1), 3, 2, sized('new', rolling(1, 1), 1, 0)), []],
    [
      'too few available',
      ...shrinks(rolling(1, 0), 3, 2, sized('new', rolling(1, 0), 1, 0)),
      ['a rollout keeps enough pods available'],
    ],
    [
      'old ones fewer that were available a while ago, and are not when they go',
      ...(() => {
        const owner = rolling(1, 1)
        const before = sized('old', owner, 2, 0)
        const next = later(before, { spec: { replicas: 0 }, metadata: { generation: 2 } })
        const fresh = sized('new', owner, 2, 0)
        const changes: Partial<Change>[] = [{ old: before, object: next }]
        const seen: Seen = { all: [owner, next, fresh], past: [sized('old', owner, 3), before] }
        return [changes, seen] as const
      })(),
      [],
    ],
    [
      'fewer old ones, where new ones are available',
      ...shrinks(rolling(1, 0), 3, 2, sized('new', rolling(1, 0), 1)),
      [],
    ],
    [
      'a version beside another that is to be recreated',
      [{ object: sized('new', recreate, 1, 0) }],
      { all: [recreate, sized('old', recreate, 0), pod('a', sized('old', recreate, 0)), sized('new', recreate, 1, 0)] },
      ['Recreate never runs two versions'],
    ],
    [
      'two daemons on a node',
      ...comes(daemon, pod('a', daemon, onNode('n')), pod('b', daemon, onNode('n'))),
      ['a node gets one pod of a daemon set at a time'],
    ],
    [
      'two daemons on a node, where there may be',
      ...comes(
        made('DaemonSet', 'agent', { spec: { updateStrategy: { rollingUpdate: { maxSurge: 1 } } } }),
        pod('a', daemon, onNode('n')),
        pod('b', daemon, onNode('n')),
      ),
      [],
    ],
    [
      'a number before the one below',
      ...comes(stateful, pod('db-1', stateful)),
      ['a pod in order comes after those before it'],
    ],
    [
      'a number before the one below, in no order',
      ...comes(
        made('StatefulSet', 'db', { spec: { replicas: 2, podManagementPolicy: 'Parallel' } }),
        pod('db-1', stateful),
      ),
      [],
    ],
    [
      'a second that is taken down',
      [{ old: last, object: later(last, { metadata: going }) }],
      {
        all: [ordered, pod('db-2', ordered, { metadata: going }), later(last, { metadata: going })],
        deleter: 'statefulset-controller',
      },
      ['a set in order takes one pod down at a time'],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen).filter((name) => !name.includes('bound'))).toEqual(broken)
  })
})

describe('of Jobs', () => {
  const holds = (type: string) => ({ conditions: [{ type, status: 'True' }] })
  const job = made('Job', 'sum', { spec: { parallelism: 1 } })
  const over = made('Job', 'sum', { spec: { parallelism: 1 }, status: holds('Complete') })
  const indexed = (name: string, index: number, traits: Traits = {}) =>
    pod(name, job, {
      ...traits,
      metadata: { ...traits.metadata, annotations: { 'batch.kubernetes.io/job-completion-index': String(index) } },
    })
  const two = made('Job', 'sum', { spec: { parallelism: 2 }, status: { completedIndexes: '0,2-4' } })
  const first = made('Job', 'first')
  const waiting = made('Job', 'sum', {
    spec: { parallelism: 1 },
    metadata: { annotations: { 'coracle.dev/depends-on': 'first' } },
  })
  const cron = made('CronJob', 'tick', { spec: { concurrencyPolicy: 'Forbid' } })
  const [beside, both] = comes(cron, made('Job', 'one', { owner: cron }), made('Job', 'two', { owner: cron }))
  const succeeded = pod('a', job, { status: { phase: 'Succeeded' } })
  it.each<Case>([
    ['a pod', ...comes(job, pod('a', job)), []],
    ['a pod after the end', ...comes(over, pod('a', job)), ['a Job that is over stays so']],
    ['over no more', [{ old: over, object: job }], {}, ['a Job that is over stays so']],
    [
      'over, with another status than it ended with',
      [{ old: over, object: later(over, { status: { ...holds('Complete'), succeeded: 1 } }) }],
      {},
      ['a Job that is over stays so', 'a Job counts each pod once'],
    ],
    [
      'over, with another spec',
      [{ old: over, object: later(over, { spec: { parallelism: 2 }, metadata: { generation: 2 } }) }],
      {},
      [],
    ],
    [
      'more at a time than may be',
      ...comes(job, pod('a', job), pod('b', job)),
      ['a Job runs no more pods at a time than it may'],
    ],
    [
      'while it is suspended',
      ...comes(made('Job', 'sum', { spec: { suspend: true } }), pod('a', job)),
      ['a Job runs no more pods at a time than it may'],
    ],
    ['an index twice', ...comes(two, indexed('a', 1), indexed('b', 1)), ['an index runs once at a time']],
    [
      'an index again that has failed',
      ...comes(two, indexed('a', 1, { status: { phase: 'Failed' } }), indexed('b', 1)),
      [],
    ],
    ['an index again that is complete', ...comes(two, indexed('a', 3)), ['an index that is complete is not run again']],
    [
      'a success that was seen',
      [{ object: succeeded }, { object: later(job, { status: { succeeded: 1 } }) }],
      { all: [job] },
      [],
    ],
    [
      'a success that was not',
      [{ object: later(job, { status: { succeeded: 1 } }) }],
      { all: [job] },
      ['a Job counts each pod once'],
    ],
    [
      'a success counted twice',
      [{ object: succeeded }, { object: later(job, { status: { succeeded: 2 } }) }],
      { all: [job] },
      ['a Job counts each pod once'],
    ],
    [
      'a success that was made to go as the Job failed, as a failure',
      [{ object: later(succeeded, { metadata: going }) }, { object: later(job, { status: { failed: 1 } }) }],
      { all: [job] },
      [],
    ],
    [
      'a success that was made to go, as both',
      [
        { object: later(succeeded, { metadata: going }) },
        { object: later(job, { status: { succeeded: 1, failed: 1 } }) },
      ],
      { all: [job] },
      ['a Job counts each pod once'],
    ],
    [
      'before another is complete',
      ...comes(first, waiting, pod('a', waiting)),
      ['a Job waits for those it depends on'],
    ],
    [
      'as one that had started is resumed',
      ...comes(made('Job', 'first'), later(waiting, { status: holds('Suspended') }), pod('a', waiting)),
      [],
    ],
    [
      'after another is complete',
      ...comes(made('Job', 'first', { status: holds('Complete') }), waiting, pod('a', waiting)),
      [],
    ],
    ['one of a CronJob beside another', beside, both, ['a CronJob that forbids it runs one Job at a time']],
    [
      'one of a CronJob beside another of which nobody was told that it was made',
      beside,
      { ...both, unansweredCreations: ['one'] },
      [],
    ],
    [
      'one of a CronJob after another',
      ...comes(cron, made('Job', 'one', { owner: cron, status: holds('Failed') }), made('Job', 'two', { owner: cron })),
      [],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of how Jobs end', () => {
  const backOff = { spec: { backoffLimit: 1, parallelism: 1, template: { spec: { restartPolicy: 'Never' } } } }
  const job = made('Job', 'sum', backOff)
  const ends = (reason: string, status: object = {}, type = 'FailureTarget') => ({
    ...status,
    conditions: [{ type, status: 'True', reason }],
  })
  const ending = (status: object, spec: object = backOff.spec): readonly Partial<Change>[] => {
    const before = made('Job', 'sum', { spec })
    return [{ old: before, object: later(before, { status }) }]
  }
  const tracked = { finalizers: ['batch.kubernetes.io/job-tracking'] }
  const exited = (name: string, exitCode: number) =>
    pod(name, job, {
      metadata: tracked,
      status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode } } }] },
    })
  const policy = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [3] } }] }
  const indexes = { completions: 3, parallelism: 1, template: { spec: { restartPolicy: 'Never' } } }
  const groundless = 'a Job ends for a reason that holds'
  const failures = (count: number) => made('Job', 'sum', { ...backOff, status: { failed: count } })
  const ofIndex = (name: string, index: number, failed: number) =>
    pod(name, job, {
      metadata: {
        annotations: {
          'batch.kubernetes.io/job-completion-index': String(index),
          'batch.kubernetes.io/job-index-failure-count': String(failed),
        },
      },
    })
  const perIndex = made('Job', 'sum', {
    spec: { ...indexes, backoffLimitPerIndex: 1 },
    status: { failedIndexes: '0,2' },
  })
  const tooOften = [{ object: exited('first', 1) }, ...ending(ends('BackoffLimitExceeded', { failed: 1 }))]
  const counting = later(job, { status: { failed: 0, uncountedTerminatedPods: { failed: ['a'] } } })
  it.each<Case>([
    ['by as many failures as may be', tooOften, { all: [job] }, [groundless]],
    ['by a failure that is about to be counted', tooOften, { all: [job, exited('a', 1)] }, []],
    [
      'by indexes, of which one may still come',
      ending(ends('FailedIndexes', { failedIndexes: '0', completedIndexes: '1' }), indexes),
      {},
      [groundless],
    ],
    [
      'by indexes, of which none may come',
      ending(ends('FailedIndexes', { failedIndexes: '0', completedIndexes: '1-2' }), indexes),
      {},
      [],
    ],
    [
      'by as many failed indexes as may be',
      ending(ends('MaxFailedIndexesExceeded', { failedIndexes: '0' }), { ...indexes, maxFailedIndexes: 1 }),
      {},
      [groundless],
    ],
    [
      'by more failed indexes than may be',
      ending(ends('MaxFailedIndexesExceeded', { failedIndexes: '0,2' }), { ...indexes, maxFailedIndexes: 1 }),
      {},
      [],
    ],
    ['by a rule about a pod that is not there', ending(ends('PodFailurePolicy')), {}, [groundless]],
    [
      'by a deadline that is to come',
      ending(ends('DeadlineExceeded', { startTime: '1970-01-01T00:00:01Z' }), {
        ...backOff.spec,
        activeDeadlineSeconds: 60,
      }),
      {},
      [groundless],
    ],
    [
      'by a rule for success that is not met',
      ending(ends('SuccessPolicy', { completedIndexes: '0' }, 'SuccessCriteriaMet'), {
        ...indexes,
        successPolicy: { rules: [{ succeededIndexes: '0-1' }] },
      }),
      {},
      [groundless],
    ],
    [
      'by a rule for success that is met',
      ending(ends('SuccessPolicy', { completedIndexes: '0' }, 'SuccessCriteriaMet'), {
        ...indexes,
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] },
      }),
      {},
      [],
    ],
    [
      'complete with too few',
      ending(ends('CompletionsReached', {}, 'Complete'), { ...indexes, completions: 1 }),
      {},
      [groundless],
    ],
    [
      'and a pod comes after more failures than may be',
      ...comes(failures(2), pod('a', job)),
      ['a Job that has failed too often makes no more pods'],
    ],
    ['and a pod comes after as many failures as may be', ...comes(failures(1), pod('a', job)), []],
    ['with an index again', ...comes(perIndex, ofIndex('a', 2, 1)), ['an index that has failed is not run again']],
    [
      'by an index that still runs',
      [{ object: perIndex }],
      { all: [perIndex, ofIndex('a', 2, 1)] },
      ['an index that has failed is not run again'],
    ],
    [
      'after an index has failed too often',
      ...comes(perIndex, ofIndex('a', 1, 2)),
      ['an index fails when it has failed too often'],
    ],
    ['after an index has failed as often as it may', ...comes(perIndex, ofIndex('a', 1, 1)), []],
    [
      'counting what is to be ignored',
      [{ object: { ...counting, spec: { ...backOff.spec, podFailurePolicy: policy } } as KubernetesObject }],
      { all: [exited('a', 3)] },
      ['a failure that a Job is to ignore is not counted'],
    ],
    [
      'counting what is not',
      [{ object: { ...counting, spec: { ...backOff.spec, podFailurePolicy: policy } } as KubernetesObject }],
      { all: [exited('a', 4)] },
      [],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of CronJobs', () => {
  const cron = made('CronJob', 'tick', { spec: { concurrencyPolicy: 'Replace', successfulJobsHistoryLimit: 1 } })
  const at = (name: string, time: string) =>
    made('Job', name, {
      owner: cron,
      metadata: { annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': time } },
    })
  const twice: readonly Partial<Change>[] = [{ object: at('one', '00:01') }, { object: at('two', '00:01') }]
  it.each<Case>([
    [
      'a Job beside the one whose place it takes',
      ...comes(cron, made('Job', 'one', { owner: cron }), made('Job', 'two', { owner: cron })),
      ['a CronJob that forbids it runs one Job at a time'],
    ],
    [
      'a Job after the one whose place it takes',
      ...comes(cron, made('Job', 'one', { owner: cron, metadata: going }), made('Job', 'two', { owner: cron })),
      [],
    ],
    ['a time twice', twice, { all: [cron] }, ['a CronJob runs each time once']],
    ['a time twice, where nobody may have been told of the first', twice, { all: [cron], isCalm: false }, []],
    ['two times', [{ object: at('one', '00:01') }, { object: at('two', '00:02') }], { all: [cron] }, []],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })

  it('keeps as many Jobs in the end as it is to', () => {
    const done = (name: string) =>
      made('Job', name, { owner: cron, status: { conditions: [{ type: 'Complete', status: 'True' }] } })
    const namespace = made('Namespace', 'default', { namespace: undefined })
    expect(finallyBroken({ all: [namespace, cron, done('a')] })).toEqual([])
    expect(finallyBroken({ all: [namespace, cron, done('a'), done('b')] })).toEqual([
      'in the end a CronJob keeps as many Jobs as it is to',
    ])
  })
})

describe('of the scheduler', () => {
  const node = made('Node', 'n', { namespace: undefined, status: { allocatable: { cpu: '4' } } })
  const asking = (name: string, cpu: string, traits: { readonly priority?: number; readonly nodeName?: string } = {}) =>
    pod(name, undefined, { spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], ...traits } })
  const bound = (name: string, cpu: string) => asking(name, cpu, { nodeName: 'n' })
  const apart = (name: string) => {
    const term = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' }
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
    return pod(name, undefined, {
      metadata: { labels: { app: 'web' } },
      spec: { nodeName: 'n', containers: [], affinity },
    })
  }
  const forAnother = (priority: number) =>
    later(asking('a', '1', { nodeName: 'n', priority }), {
      status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }] },
    })
  const room = 'a node has room for its pods'
  const gives = 'nobody gives way to who is less important'
  const preempted = [{ old: asking('a', '1', { nodeName: 'n', priority: 5 }), object: forAnother(5) }]
  const waiting = (priority: number) => asking('b', '1', { priority })
  it.each<Case>([
    ['as much as there is', [{ object: bound('b', '3') }], { all: [node, bound('a', '1'), bound('b', '3')] }, []],
    ['more than there is', [{ object: bound('b', '3') }], { all: [node, bound('a', '2'), bound('b', '3')] }, [room]],
    [
      'more than there is, by who may not know of all',
      [{ object: bound('b', '3') }],
      { all: [node, bound('a', '2'), bound('b', '3')], isCalm: false },
      [],
    ],
    [
      'beside one that it keeps apart from',
      [{ object: apart('b') }],
      { all: [node, apart('a'), apart('b')] },
      ['pods that keep apart run apart'],
    ],
    ['for one that is more important', preempted, { all: [waiting(6)] }, []],
    ['for one that is as important', preempted, { all: [waiting(5)] }, [gives]],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of updates', () => {
  const early = 'a set replaces no pod that it is to leave'
  const partitioned = (strategy: object) =>
    made('StatefulSet', 'db', { spec: { replicas: 3, podManagementPolicy: 'Parallel', updateStrategy: strategy } })
  const rolling = partitioned({ type: 'RollingUpdate', rollingUpdate: { partition: 1 } })
  const byHand = partitioned({ type: 'OnDelete' })
  const replaced = (name: string, set: KubernetesObject): readonly Partial<Change>[] => [
    { old: pod(name, set), object: pod(name, set, { metadata: going }) },
  ]
  const deleter = 'statefulset-controller'
  const agents = made('DaemonSet', 'agent', { status: { desiredNumberScheduled: 3 } })
  const node = made('Node', 'n', { namespace: undefined })
  const running = pod('a', agents, onNode('n'))
  const leaving = later(running, { metadata: going })
  const down = (...all: readonly KubernetesObject[]): readonly [readonly Partial<Change>[], Seen] => [
    [{ old: running, object: leaving }],
    { all: [node, agents, leaving, ...all], deleter: 'daemon-set-controller' },
  ]
  it.each<Case>([
    ['from the partition on', replaced('db-1', rolling), { all: [rolling], deleter }, []],
    ['below the partition', replaced('db-0', rolling), { all: [rolling], deleter }, [early]],
    ['below the partition, by somebody else', replaced('db-0', rolling), { all: [rolling], deleter: 'player' }, []],
    ['too many', replaced('db-3', rolling), { all: [rolling], deleter }, []],
    ['where somebody else is to replace them', replaced('db-2', byHand), { all: [byHand], deleter }, [early]],
    ['one daemon', ...down(pod('b', agents), pod('c', agents)), []],
    ['two daemons', ...down(pod('b', agents)), ['a daemon set takes no more pods down than it may']],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of every object', () => {
  const counted = 'a generation counts the changes of the spec'
  const old = made('Deployment', 'web', { spec: { replicas: 1 }, status: { observedGeneration: 1 } })
  const next = (traits: Traits) => [{ old, object: later(old, traits) }]
  it.each<Case>([
    ['a change of the spec that counts', next({ spec: { replicas: 2 }, metadata: { generation: 2 } }), {}, []],
    ['a change of the spec that does not', next({ spec: { replicas: 2 } }), {}, [counted]],
    ['a status that counts', next({ status: { observedGeneration: 1 }, metadata: { generation: 2 } }), {}, [counted]],
    [
      'observed too early',
      next({ status: { observedGeneration: 2 } }),
      {},
      ['what was observed was there, and stays so'],
    ],
    [
      'observed again what was before',
      next({ status: { observedGeneration: 0 } }),
      {},
      ['what was observed was there, and stays so'],
    ],
    ['back from going', [{ old: later(old, { metadata: going }), object: old }], {}, ['who goes does not come back']],
    [
      'written over another',
      [{ old, object: later(old, { metadata: { uid: 'other' } }) }],
      {},
      ['an object is replaced only when it is gone'],
    ],
    [
      'more ready than there are',
      next({ status: { observedGeneration: 1, replicas: 1, readyReplicas: 2 } }),
      {},
      ['counts in a status agree with each other'],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of budgets and quotas', () => {
  const guarded = (name: string, traits: Traits = {}) =>
    pod(name, undefined, { ...traits, metadata: { labels: { app: 'web' }, ...traits.metadata } })
  const budget = (disruptionsAllowed: number, names: readonly string[] = []) =>
    made('PodDisruptionBudget', 'b', {
      spec: { selector: { matchLabels: { app: 'web' } } },
      status: {
        disruptionsAllowed,
        desiredHealthy: 1,
        disruptedPods: Object.fromEntries(names.map((name) => [name, ''])),
      },
    })
  const evicted = guarded('a', {
    metadata: going,
    status: {
      ...ready,
      conditions: [...ready.conditions, { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }],
    },
  })
  const quota = made('ResourceQuota', 'q', { status: { hard: { pods: '1' }, used: { pods: '1' } } })
  it.each<Case>([
    ['an eviction that is charged', [{ old: budget(1), object: budget(0, ['a']) }], {}, []],
    [
      'an eviction that is not',
      [{ old: budget(1), object: budget(1, ['a']) }],
      {},
      ['an eviction is charged to its budget'],
    ],
    ['two for one', [{ old: budget(1), object: budget(0, ['a', 'b']) }], {}, ['an eviction is charged to its budget']],
    [
      'an eviction that leaves enough',
      [{ old: guarded('a'), object: evicted }],
      { all: [budget(0), evicted, guarded('b')] },
      [],
    ],
    [
      'an eviction that leaves too few',
      [{ old: guarded('a'), object: evicted }],
      { all: [budget(0), evicted] },
      ['an eviction leaves enough healthy pods'],
    ],
    ['as many as a quota allows', ...comes(quota, pod('a')), []],
    ['more than a quota allows', ...comes(quota, pod('a'), pod('b')), ['a quota is not exceeded']],
    [
      'as many as a quota allows beside one that is stuck in its deletion by a clock that is ahead',
      ...comes(quota, leavingAt('1970-01-01T00:00:28Z'), pod('b')),
      [],
    ],
    [
      'more than a quota allows with one that is stuck by no clock',
      ...comes(quota, leavingAt('1970-01-01T00:00:29Z'), pod('b')),
      ['a quota is not exceeded'],
    ],
    [
      'more of another kind than a quota allows',
      ...comes(
        made('ResourceQuota', 'q', { status: { hard: { 'count/jobs.batch': '1' } } }),
        made('Job', 'a'),
        made('Job', 'b'),
      ),
      ['a quota is not exceeded'],
    ],
    [
      'as many as a quota allows beside one that has ended',
      ...comes(quota, pod('a', undefined, { status: { phase: 'Failed' } }), pod('b')),
      [],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

describe('of deletion', () => {
  const foreground = later(set, { metadata: { ...going, finalizers: ['foregroundDeletion'] } })
  const orphaning = later(set, { metadata: { ...going, finalizers: ['orphan'] } })
  const collecting = later(set, { metadata: { ...going, finalizers: ['foregroundDeletion'] } })
  const team = made('Namespace', 'team', { namespace: undefined })
  const here = made('Namespace', 'default', { namespace: undefined })
  it.each<Case>([
    [
      'in the foreground before what it owns',
      [{ old: foreground }],
      { all: [pod('a', set)] },
      ['in the foreground an owner goes last'],
    ],
    [
      'in the foreground before what it owns, as seen from its start',
      [{ object: foreground }, { old: foreground }],
      { all: [pod('a', set)] },
      ['in the foreground an owner goes last'],
    ],
    [
      'in the foreground, until somebody wants it to go in the background after all',
      [{ object: foreground }, { old: later(foreground, { metadata: { annotations: { deletions: '1' } } }) }],
      { all: [pod('a', set)] },
      [],
    ],
    ['in the foreground after what it owned', [{ old: foreground }], { all: [pod('a')] }, []],
    [
      'one that has another owner',
      [{ old: made('ConfigMap', 'c', { owners: [set, daemon] }) }],
      { all: [daemon, here] },
      ['what has another owner stays'],
    ],
    ['one with the last of its owners', [{ old: made('ConfigMap', 'c', { owners: [set] }) }], { all: [here] }, []],
    [
      'orphans that are collected',
      [{ object: orphaning }, { old: pod('a', set) }],
      { deleter: 'generic-garbage-collector', all: [pod('a', set)] },
      ['what is orphaned stays'],
    ],
    [
      'a pod that is collected, and was made after its owner was deleted',
      [{ object: orphaning }, { old: pod('b', set) }],
      { deleter: 'generic-garbage-collector', all: [pod('a', set)] },
      [],
    ],
    [
      'pods that are collected, as somebody wants them to go after all',
      [{ object: orphaning }, { object: collecting }, { old: pod('a', set) }],
      { deleter: 'generic-garbage-collector', all: [pod('a', set)] },
      [],
    ],
    [
      'pods that are collected, as somebody wants them to go in the background after all',
      [
        { object: orphaning },
        { old: later(orphaning, { metadata: { annotations: { deletions: '1' } } }) },
        { old: pod('a', set) },
      ],
      { deleter: 'generic-garbage-collector', all: [pod('a', set)] },
      [],
    ],
    [
      'orphans that a user deletes',
      [{ object: orphaning }, { old: pod('a', set) }],
      { deleter: 'player', all: [pod('a', set)] },
      [],
    ],
    [
      'a namespace with something in it',
      [{ old: team }],
      { all: [pod('a', undefined, { namespace: 'team' })] },
      ['a namespace goes when it is empty'],
    ],
    ['a namespace that is empty', [{ old: team }], { all: [pod('a')] }, []],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })
})

const crashing = { name: 'main', restartCount: 0, state: { waiting: { reason: 'CrashLoopBackOff' } } }
const leftBehind = (container: object, owner?: KubernetesObject, phase = 'Running') =>
  pod('a', owner, { spec: { restartPolicy: 'OnFailure' }, status: { phase, containerStatuses: [container] } })

describe('never at rest', () => {
  const again = { name: 'main', restartCount: 3, state: { running: {} } }
  it.each<readonly [string, KubernetesObject, boolean]>([
    ['a failing task that its Job has left behind, while it waits', leftBehind(crashing), true],
    ['one that is tried again', leftBehind(again), true],
    ['not one that has ended', leftBehind(again, undefined, 'Failed'), false],
    ['not a task of a Job', leftBehind(crashing, made('Job', 'batch')), false],
    ['not one that has yet to fail', leftBehind({ ...again, restartCount: 0 }), false],
  ])('is %s', (_, task, expected) => {
    expect(triesForEver(view({ all: [task] }))).toBe(expected)
  })

  it('is a set whose pod of that name is another’s', () => {
    expect(triesForEver(view({ all: [stateful, pod('db-0')] }))).toBe(true)
    expect(triesForEver(view({ all: [stateful, pod('db-0', stateful)] }))).toBe(false)
  })
})

describe('in the end', () => {
  const asAsked = 'in the end every workload is as it was asked to be'
  const template = (image: string) => ({ template: { spec: { containers: [{ image }] } } })
  const counts = { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 }
  const web = (spec: object = {}, status: object = counts) =>
    made('ReplicaSet', 'web', { spec: { replicas: 1, ...template('v1'), ...spec }, status })
  const deployment = made('Deployment', 'web', { spec: { replicas: 1, ...template('v2') }, status: counts })
  const runs = (image: string) => ({ spec: { nodeName: 'n', containers: [{ image }] } })
  const service = made('Service', 's', { spec: { selector: { app: 'web' } } })
  const slice = (address: string) => ({
    ...made('EndpointSlice', 's-1', { metadata: { labels: { 'kubernetes.io/service-name': 's' } } }),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  })
  const served = pod('a', undefined, {
    ...runs('v1'),
    metadata: { labels: { app: 'web' } },
    status: { ...ready, podIP: '10.0.0.1' },
  })
  const node = made('Node', 'n', { namespace: undefined, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  const team = made('Namespace', 'default', { namespace: undefined })
  const suspended = made('Job', 'sum', { spec: { suspend: true, backoffLimitPerIndex: 1 } })
  it.each<readonly [string, readonly KubernetesObject[], readonly string[]]>([
    ['all is well', [node, web(), pod('a', web(), runs('v1')), served, service, slice('10.0.0.1')], []],
    ['a pod is missing', [web()], [asAsked]],
    ['a status is out of date', [web({ replicas: 0 }, { observedGeneration: 0 })], [asAsked]],
    ['a rollout is not over', [later(deployment, { status: { ...counts, updatedReplicas: 0 } })], [asAsked]],
    [
      'a node lacks its daemon',
      [node, made('DaemonSet', 'agent', { spec: template('v1'), status: { observedGeneration: 1 } })],
      [asAsked],
    ],
    [
      'a pod is of an old version',
      [
        deployment,
        made('ReplicaSet', 'old', { owner: deployment, spec: { replicas: 1, ...template('v1') }, status: counts }),
        pod('a', made('ReplicaSet', 'old'), runs('v1')),
      ],
      ['in the end every pod is of the version that was asked for'],
    ],
    [
      'a Job is forgotten',
      [made('Job', 'sum', { spec: { completions: 1 } })],
      ['in the end every Job is over or runs'],
    ],
    [
      'a Job is over too early',
      [
        made('Job', 'sum', {
          spec: { completions: 2 },
          status: { succeeded: 1, conditions: [{ type: 'Complete', status: 'True' }] },
        }),
      ],
      ['in the end every Job is over or runs'],
    ],
    [
      'a Job waits for one that is suspended',
      [
        made('Job', 'sum', { metadata: { annotations: { 'coracle.dev/depends-on': 'first' } } }),
        made('Job', 'first', { spec: { suspend: true } }),
      ],
      [],
    ],
    [
      'a pod is on no node',
      [pod('a', undefined, { status: { phase: 'Pending' } })],
      ['in the end every pod runs on a node or has ended'],
    ],
    ['a failing task that its Job has left behind is tried again and again', [leftBehind(crashing)], []],
    ['a node is not ready', [made('Node', 'n', { namespace: undefined })], ['in the end every node is well']],
    ['a service leaves out a pod', [served, service], ['in the end a service has the pods that are ready']],
    [
      'a service has a pod that is gone',
      [service, slice('10.0.0.1')],
      ['in the end a service has the pods that are ready'],
    ],
    ['a pod outlives its owner', [pod('a', set, runs('v1'))], ['what an owner owned goes with it']],
    ['a pod is still going', [pod('a', undefined, { metadata: going })], ['in the end nothing is on its way out']],
    [
      'a suspended Job keeps the last pod of an index for its successor',
      [
        suspended,
        pod('a', suspended, {
          metadata: { ...going, finalizers: ['batch.kubernetes.io/job-tracking'] },
          status: { phase: 'Failed' },
        }),
      ],
      [],
    ],
    [
      'a quota says less than is used',
      [pod('a'), made('ResourceQuota', 'q', { status: { used: { pods: '0' } } })],
      ['in the end a quota says what is used'],
    ],
    [
      'a budget says less than is healthy',
      [pod('a'), made('PodDisruptionBudget', 'b', { spec: { selector: {} }, status: { currentHealthy: 0 } })],
      ['in the end a budget says what is healthy'],
    ],
  ])('%s', (_, all, broken) => {
    expect(finallyBroken({ all: [team, ...all] })).toEqual(broken)
  })
})

describe('of devices and the claims to them', () => {
  const holder = pod('web', undefined, { spec: { nodeName: 'n' } })
  const held = [{ resource: 'pods', name: 'web', uid: 'web' }]
  const claim = (name: string, devices: readonly object[], reservedFor: readonly object[] = held) => {
    const results = devices.map((device) => ({ request: 'r', driver: 'd', pool: 'p', ...device }))
    return made('ResourceClaim', name, { status: { allocation: { devices: { results } }, reservedFor } })
  }
  const one = { device: 'one' }
  const twice = 'no device is allocated twice'
  it.each<Case>([
    ['two claims to two devices', ...comes(claim('b', [{ device: 'two' }]), claim('a', [one])), []],
    ['two claims to one device', ...comes(claim('b', [one]), claim('a', [one])), [twice]],
    ['a claim that has a device twice', ...comes(claim('a', [one, one])), [twice]],
    ['a look at a device', ...comes(claim('b', [one]), claim('a', [{ ...one, adminAccess: true }])), []],
    ['parts of a device', ...comes(claim('b', [{ ...one, shareID: 'x' }]), claim('a', [{ ...one, shareID: 'y' }])), []],
    [
      'another device for a claim that is used',
      [{ old: claim('a', [one]), object: claim('a', [{ device: 'two' }]) }],
      {},
      ['a claim keeps its devices while it is used'],
    ],
    ['no device for one that is not', [{ old: claim('a', [one], []), object: claim('a', [], []) }], {}, []],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })

  const spec = { nodeName: 'n', resourceClaims: [{ name: 'gpu', resourceClaimName: 'a' }] }
  const rule = 'in the end claims are used by the pods that have them'
  it.each<readonly [string, readonly KubernetesObject[], boolean]>([
    ['a claim that is held', [pod('web', undefined, { spec }), claim('a', [one])], false],
    ['a claim that is not', [pod('web', undefined, { spec }), claim('a', [one], [])], true],
    ['a claim that is not there', [pod('web', undefined, { spec })], true],
    ['a claim of a pod that is gone', [claim('a', [one])], true],
    ['a claim of a pod that is there', [holder, claim('a', [one])], false],
  ])('in the end: %s', (_, all, isBroken) => {
    expect(finallyBroken({ all }).includes(rule)).toBe(isBroken)
  })
})

describe('of volumes and claims', () => {
  const bound = { phase: 'Bound' }
  const claim = (name: string, volumeName = 'v', traits: Traits = {}) =>
    made('PersistentVolumeClaim', name, {
      metadata: { finalizers: ['kubernetes.io/pvc-protection'], generation: undefined },
      spec: { volumeName },
      status: bound,
      ...traits,
    })
  const volume = (name: string, uid = 'a', traits: Traits = {}) =>
    made('PersistentVolume', name, {
      namespace: undefined,
      metadata: { finalizers: ['kubernetes.io/pv-protection'] },
      spec: { claimRef: { uid } },
      status: bound,
      ...traits,
    })
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'a' } }]
  const user = pod('web', undefined, { spec: { nodeName: 'n', volumes } })
  const waiting = made('Gadget', 'g', { metadata: { ...going, finalizers: ['foregroundDeletion'] } })
  it.each<Case>([
    ['a claim and its volume', ...comes(volume('v'), claim('a')), []],
    ['two claims to one volume', ...comes(volume('v'), claim('b'), claim('a')), ['a volume is bound to one claim']],
    ['two volumes of one claim', ...comes(claim('a'), volume('w'), volume('v')), ['a claim is bound to one volume']],
    [
      'a claim that gets another volume',
      [{ old: claim('a', 'v'), object: claim('a', 'w') }],
      { all: [claim('a', 'w')] },
      ['a claim stays bound to its volume'],
    ],
    [
      'a claim that goes while a pod uses it',
      [{ old: claim('a') }],
      { all: [user] },
      ['a claim that a pod uses stays'],
    ],
    ['a claim that goes after its pod', [{ old: claim('a') }], { all: [] }, []],
    [
      'a claim that goes just as a pod comes to a node',
      [{ old: claim('a') }],
      { all: [user], past: [later(user, { spec: { volumes: user.metadata.name } })] },
      [],
    ],
    [
      'a volume that goes before its claim',
      [{ old: volume('v') }],
      { all: [claim('a')] },
      ['a volume that a claim has stays'],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })

  const dbSpec = {
    replicas: 1,
    template: { spec: { containers: [] } },
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
  }
  const db = made('StatefulSet', 'db', {
    spec: dbSpec,
    status: { observedGeneration: 1, replicas: 1, readyReplicas: 1, availableReplicas: 1 },
  })
  it.each<readonly [string, readonly KubernetesObject[], readonly string[]]>([
    ['a claim and its volume', [claim('a'), volume('v')], []],
    [
      'a claim to a volume of another',
      [claim('a'), volume('v', 'b')],
      ['in the end claims and volumes name each other'],
    ],
    [
      'a claim that nothing protects',
      [claim('a', 'v', { metadata: {} }), volume('v')],
      ['in the end claims and volumes are protected'],
    ],
    [
      'a pod without its claim',
      [db, pod('db-0', db, { spec: { containers: [] } })],
      ['in the end every pod of a stateful set has its claims'],
    ],
    [
      'an owner that waits for the claim of a pod taken aside',
      [
        waiting,
        user,
        claim('a', 'v', { owner: waiting, metadata: { ...going, finalizers: ['kubernetes.io/pvc-protection'] } }),
        volume('v'),
      ],
      [],
    ],
    [
      'a claim that outlives its set, as a pod taken aside uses it',
      [
        user,
        claim('a', 'v', { owner: db, metadata: { ...going, finalizers: ['kubernetes.io/pvc-protection'] } }),
        volume('v'),
      ],
      [],
    ],
    [
      'a claim that outlives its set for nothing',
      [claim('a', 'v', { owner: db }), volume('v')],
      ['what an owner owned goes with it'],
    ],
    [
      'a pod taken aside whose claim has gone with its set',
      [pod('db-0', undefined, { spec: { volumes }, status: { phase: 'Pending' } })],
      [],
    ],
    ['a volume that goes with its claim', [claim('a'), volume('v', 'a', { metadata: { ...going } })], []],
  ])('in the end: %s', (_, all, broken) => {
    expect(finallyBroken({ all: [made('Namespace', 'default', { namespace: undefined }), ...all] })).toEqual(broken)
  })

  const claimMissing = [
    'in the end every pod of a stateful set has its claims',
    'in the end every pod runs on a node or has ended',
  ]
  it.each<readonly [string, object, string, readonly string[]]>([
    ['is not made again after a pod that a set in order cannot make', {}, 'db-1', []],
    ['is made again before such a pod', {}, 'db-3', claimMissing],
    ['is made again where pods come in no order', { podManagementPolicy: 'Parallel' }, 'db-1', claimMissing],
    [
      'is not made again where it is one too many, and one that is wanted cannot be made',
      { podManagementPolicy: 'Parallel', replicas: 2 },
      'db-1',
      [],
    ],
    ['is made again where none of that name is wanted', { ordinals: { start: 2 } }, 'db-1', claimMissing],
    ['is made again where fewer pods are wanted', { replicas: 1 }, 'db-1', claimMissing],
  ])('the claim of a pod that waits for it %s', (_, spec, aside, broken) => {
    const set = made('StatefulSet', 'db', {
      spec: { ...dbSpec, replicas: 4, ...spec },
      status: { observedGeneration: 1 },
    })
    const claimed = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-2' } }]
    const waits = pod('db-2', set, { spec: { volumes: claimed, containers: [] }, status: { phase: 'Pending' } })
    const all = [made('Namespace', 'default', { namespace: undefined }), set, waits, pod(aside)]
    expect(finallyBroken({ all })).toEqual(broken)
  })
})

describe('of autoscalers', () => {
  const scaled = (replicas: number) => made('Gadget', 'web', { spec: { replicas } })
  const autoscaler = (desiredReplicas: number, traits: Traits = {}) =>
    made('HorizontalPodAutoscaler', 'web', {
      spec: { minReplicas: 2, maxReplicas: 4, scaleTargetRef: { kind: 'Gadget', name: 'web' } },
      status: { desiredReplicas, conditions: [{ type: 'ScalingActive', status: 'True' }] },
      ...traits,
    })
  const rule = 'an autoscaler wants no more and no fewer than it may'
  it.each<Case>([
    ['one that wants what it may', ...comes(autoscaler(4)), []],
    ['one that wants more', ...comes(autoscaler(5)), [rule]],
    ['one that wants fewer', ...comes(autoscaler(1)), [rule]],
    [
      'one that has yet to see its bounds',
      [
        {
          old: autoscaler(5, {
            spec: { minReplicas: 2, maxReplicas: 9, scaleTargetRef: { kind: 'Gadget', name: 'web' } },
          }),
          object: autoscaler(5, { metadata: { generation: 2 } }),
        },
      ],
      { all: [autoscaler(5)] },
      [],
    ],
    ['one that says it again', [{ old: autoscaler(4), object: autoscaler(5) }], { all: [autoscaler(5)] }, [rule]],
    [
      'one that could not scale',
      ...comes(
        autoscaler(5, {
          status: {
            desiredReplicas: 5,
            conditions: [
              { type: 'ScalingActive', status: 'True' },
              { type: 'AbleToScale', status: 'False' },
            ],
          },
        }),
      ),
      [],
    ],
    ['one that cannot count', ...comes(autoscaler(5, { status: { desiredReplicas: 5 } })), []],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })

  it.each([
    [2, []],
    [5, ['in the end what an autoscaler scales is within its bounds']],
    [0, []],
  ])('in the end: %i replicas', (replicas, broken) => {
    const namespace = made('Namespace', 'default', { namespace: undefined })
    expect(finallyBroken({ all: [namespace, scaled(replicas), autoscaler(2)] })).toEqual(broken)
  })
})

describe('of load balancers', () => {
  const namespace = made('Namespace', 'default', { namespace: undefined })
  const node = (name: string, address: string, { labels = {}, isReady = true } = {}) =>
    made('Node', name, {
      namespace: undefined,
      metadata: { labels },
      status: {
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
        addresses: [{ type: 'InternalIP', address }],
      },
    })
  const balancer = (name: string, addresses: readonly string[], spec: object = {}) =>
    made('Service', name, {
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.1',
        selector: { app: name },
        ports: [{ port: 80, protocol: 'TCP' }],
        ...spec,
      },
      status: { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } },
    })
  const leads = 'a load balancer leads to nodes that are there'
  const excluded = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' }
  const [one, two] = [node('n1', '10.0.0.1'), node('n2', '10.0.0.2')]

  it.each<Case>([
    ['the address of a node', ...comes(one, balancer('a', ['10.0.0.1'])), []],
    ['of none', ...comes(one, balancer('a', ['10.0.0.2'])), [leads]],
    [
      'of one that is left out',
      ...comes(node('n1', '10.0.0.1', { labels: excluded }), balancer('a', ['10.0.0.1'])),
      [leads],
    ],
    [
      'of one that is not well',
      ...comes(node('n1', '10.0.0.1', { isReady: false }), balancer('a', ['10.0.0.1'])),
      [leads],
    ],
    [
      'of one that was well just now',
      [{ object: balancer('a', ['10.0.0.1']) }],
      { all: [node('n1', '10.0.0.1', { isReady: false })], past: [one] },
      [],
    ],
    [
      'of one that it had',
      [{ old: balancer('a', ['10.0.0.1']), object: balancer('a', ['10.0.0.1'], { selector: {} }) }],
      { all: [] },
      ['a generation counts the changes of the spec'],
    ],
  ])('%s', (_, changes, seen, broken) => {
    expect(brokenBy(changes, seen)).toEqual(broken)
  })

  const all = 'in the end a load balancer has the addresses of nodes that take its load'
  it.each<readonly [string, readonly KubernetesObject[], readonly string[]]>([
    ['those of all nodes', [one, two, balancer('a', ['10.0.0.1', '10.0.0.2'])], []],
    ['not all', [one, two, balancer('a', ['10.0.0.1'])], [all]],
    ['none, and it is no load balancer', [one, balancer('a', [], { type: 'ClusterIP' })], []],
    ['some, and it is no load balancer any more', [one, balancer('a', ['10.0.0.1'], { type: 'ClusterIP' })], [all]],
    ['one that two nodes have', [one, node('n2', '10.0.0.1'), balancer('a', ['10.0.0.1'])], []],
    ['the older has the port', [one, balancer('a', ['10.0.0.1']), balancer('b', [])], []],
    ['the younger has the port', [one, balancer('a', []), balancer('b', ['10.0.0.1'])], [all]],
    ['none, without a pod there', [one, balancer('a', [], { externalTrafficPolicy: 'Local' })], []],
    ['one, without a pod there', [one, balancer('a', ['10.0.0.1'], { externalTrafficPolicy: 'Local' })], [all]],
  ])('in the end: %s', (_, objects, broken) => {
    expect(finallyBroken({ all: [namespace, ...objects] })).toEqual(broken)
  })
})

describe('of what leads to services', () => {
  const rule = 'in the end a proxy leads to the nearest pods that are ready'
  const inZone = (name: string, zone: string) =>
    made('Node', name, {
      namespace: undefined,
      metadata: { labels: { 'topology.kubernetes.io/zone': zone } },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })
  const at = (name: string, podIP: string) =>
    pod(name, undefined, { metadata: { labels: { app: 'web' } }, status: { ...ready, podIP } })
  const endpoint = (address: string, nodeName: string, zone: string, hint: string | undefined) => ({
    addresses: [address],
    conditions: { ready: true },
    nodeName,
    zone,
    ...(hint === undefined ? {} : { hints: { forZones: [{ name: hint }] } }),
  })
  const there = (hintOfB: string | undefined, spec: object = { trafficDistribution: 'PreferSameZone' }) => [
    made('Namespace', 'default', { namespace: undefined }),
    inZone('n1', 'a'),
    inZone('n2', 'b'),
    at('p1', '10.0.0.1'),
    at('p2', '10.0.0.2'),
    made('Service', 'web', {
      spec: { clusterIP: '10.96.0.1', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP' }], ...spec },
    }),
    {
      ...made('EndpointSlice', 'web-1', { metadata: { labels: { 'kubernetes.io/service-name': 'web' } } }),
      addressType: 'IPv4',
      ports: [{ name: '', port: 80, protocol: 'TCP' }],
      endpoints: [endpoint('10.0.0.1', 'n1', 'a', 'a'), endpoint('10.0.0.2', 'n2', 'b', hintOfB)],
    } as KubernetesObject,
  ]
  it.each<readonly [string, readonly KubernetesObject[], readonly string[]]>([
    ['to those of the zone', there('b'), []],
    ['to all, where one is for no zone', there(undefined), [rule]],
    ['to those of the zone, where all are asked for', there('b', {}), [rule]],
    ['to all, where all are asked for', there(undefined, {}), []],
  ])('%s', (_, objects, broken) => {
    expect(finallyBroken({ all: objects })).toEqual(broken)
  })
})

describe('of pods that nodes are given in files', () => {
  const [runs, goes] = ['in the end every pod of a file runs, and is shown', 'in the end a pod goes with its file']
  const shown = (image: string, ranImage = image) =>
    pod('one-n1', undefined, {
      metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } },
      spec: { nodeName: 'n1', containers: [{ name: 'main', image }] },
      status: { ...ready, containerStatuses: [{ image: ranImage }] },
    })
  it.each<readonly [string, string | undefined, readonly KubernetesObject[], readonly string[]]>([
    ['one that runs', 'web:1', [shown('web:1')], []],
    ['one that is not shown', 'web:1', [], [runs]],
    ['one of another version', 'web:2', [shown('web:1')], [runs]],
    ['one that is shown as it does not run', 'web:2', [shown('web:2', 'web:1')], [runs]],
    ['one whose file is gone', undefined, [shown('web:1')], [goes]],
  ])('%s', (_, image, objects, broken) => {
    const given = new Map([['n1', new Map(image === undefined ? [] : [['one', image]])]])
    const all = [made('Namespace', 'default', { namespace: undefined }), ...objects]
    const found = invariantsOfRun(() => given)
      .filter(({ finally: check }) => (check?.(view({ all })) ?? []).length > 0)
      .map(({ name }) => name)
    expect(found).toEqual(broken)
  })
})
