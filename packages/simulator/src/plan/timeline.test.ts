import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { RecordedChange, RecordedNote } from './recording.ts'
import { type TimelineEvent, timelineOf } from './timeline.ts'

type Loose = Readonly<Record<string, unknown>>

const made = (kind: string, name: string, parts: Loose = {}, metadata: Loose = {}) =>
  ({
    kind,
    metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, ...metadata },
    ...parts,
  }) as unknown as KubernetesObject
const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `${kind}-${name}`, controller: true }],
})

const deployment = (replicas: number, status: Loose = {}, template: Loose = {}) =>
  made('Deployment', 'web', { spec: { replicas, template }, status }, { generation: 1 })
const done = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 }
const replicaSet = made('ReplicaSet', 'web-1', { spec: { replicas: 3 } }, ownedBy('Deployment', 'web'))
const before = [deployment(3), replicaSet]

interface PodParts {
  readonly nodeName?: string
  readonly phase?: string
  readonly reason?: string
  readonly message?: string
  readonly conditions?: readonly Loose[]
  readonly containerStatuses?: readonly Loose[]
  readonly initContainerStatuses?: readonly Loose[]
  readonly going?: boolean
}

const pod = ({ nodeName, going, ...status }: PodParts = {}) =>
  made(
    'Pod',
    'a',
    { spec: nodeName === undefined ? {} : { nodeName }, status },
    {
      ...ownedBy('ReplicaSet', 'web-1'),
      ...(going === true ? { deletionTimestamp: '2026-01-01T00:00:30Z' } : {}),
    },
  )
const ready = { type: 'Ready', status: 'True' }
const notReady = { type: 'Ready', status: 'False' }
const running: PodParts = { nodeName: 'node-0', phase: 'Running', conditions: [ready] }
const unready: PodParts = { ...running, conditions: [notReady] }
const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }
const evicted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'drained' }
const restarted = (restartCount: number) => ({ ...running, containerStatuses: [{ restartCount }, { restartCount: 1 }] })
const waiting = (reason: string) => ({ restartCount: 0, state: { waiting: { reason, message: 'cannot' } } })

const change = (old?: KubernetesObject, object?: KubernetesObject, atMs = 5): RecordedChange => ({ atMs, old, object })

/** What is told of changes, without whom it is about. */
const told = (...changes: readonly RecordedChange[]) =>
  timelineOf(before, changes).map(({ atMs: _atMs, object: _object, controller: _c, workload: _w, ...event }) => event)

describe('a pod', () => {
  it.each<[what: string, old: PodParts, is: PodParts, expected: readonly Partial<TimelineEvent>[]]>([
    ['gets a node', {}, { nodeName: 'node-0' }, [{ type: 'scheduled', node: 'node-0' }]],
    [
      'finds no node',
      {},
      { conditions: [unschedulable] },
      [{ type: 'unschedulable', reason: 'Unschedulable', message: 'no room' }],
    ],
    ['still finds no node', { conditions: [unschedulable] }, { conditions: [unschedulable], phase: 'Pending' }, []],
    ['becomes ready', unready, running, [{ type: 'ready', node: 'node-0' }]],
    ['is ready no more', running, unready, [{ type: 'unready', node: 'node-0' }]],
    ['becomes ready while it is stopped', { ...unready, going: true }, { ...running, going: true }, []],
    ['is ready no more while it is stopped', { ...running, going: true }, { ...unready, going: true }, []],
    ['is told to go', running, { ...running, going: true }, [{ type: 'stopping', node: 'node-0' }]],
    ['is told to go, and has no node', {}, { going: true }, [{ type: 'stopping' }]],
    [
      'is evicted',
      running,
      { ...running, going: true, conditions: [ready, evicted] },
      [{ type: 'evicted', node: 'node-0', reason: 'EvictionByEvictionAPI', message: 'drained' }],
    ],
    [
      'is told to go, and was spared before',
      running,
      { ...running, going: true, conditions: [ready, { ...evicted, status: 'False' }] },
      [{ type: 'stopping', node: 'node-0' }],
    ],
    ['completes', running, { ...running, phase: 'Succeeded' }, [{ type: 'completed' }]],
    [
      'has completed',
      { phase: 'Succeeded' },
      { phase: 'Succeeded', nodeName: 'n' },
      [{ type: 'scheduled', node: 'n' }],
    ],
    [
      'fails',
      running,
      { ...unready, phase: 'Failed', reason: 'Evicted', message: 'low on memory' },
      [{ type: 'failed', reason: 'Evicted', message: 'low on memory' }],
    ],
    ['ends because it is stopped', { ...unready, going: true }, { ...unready, going: true, phase: 'Failed' }, []],
    ['stops well', { ...unready, going: true }, { ...unready, going: true, phase: 'Succeeded' }, []],
    ['has a container that starts again', restarted(1), restarted(3), [{ type: 'restarted', to: 4 }]],
    ['has containers that started again before', restarted(3), restarted(3), []],
    [
      'cannot be started',
      {},
      { containerStatuses: [waiting('CreateContainerConfigError')] },
      [{ type: 'warning', reason: 'CreateContainerConfigError', message: 'cannot' }],
    ],
    [
      'has an init container that cannot be started',
      {},
      { initContainerStatuses: [waiting('RunContainerError')] },
      [{ type: 'warning', reason: 'RunContainerError', message: 'cannot' }],
    ],
    [
      'still cannot be started',
      { containerStatuses: [waiting('RunContainerError')] },
      { containerStatuses: [waiting('RunContainerError')] },
      [],
    ],
    ['is being started', {}, { containerStatuses: [waiting('ContainerCreating')] }, []],
  ])('%s', (_what, old, is, expected) => {
    expect(told(change(pod(old), pod(is)))).toEqual(expected)
  })

  it('is told of with what controls it, at once and at the top', () => {
    expect(timelineOf(before, [change(undefined, pod())])).toEqual([
      {
        atMs: 5,
        type: 'created',
        object: { kind: 'Pod', namespace: 'shop', name: 'a' },
        controller: { kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' },
        workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
      },
    ])
  })

  it('that takes the place of another of its name is the end of one and the beginning of the other', () => {
    const other = made('Pod', 'a', {}, { uid: 'another' })
    expect(told(change(pod(), other))).toEqual([{ type: 'removed' }, { type: 'created' }])
  })
})

describe('a workload', () => {
  const template = (image: string) => ({ spec: { containers: [{ image }] } })

  it.each<[what: string, old: KubernetesObject, is: KubernetesObject, expected: readonly Partial<TimelineEvent>[]]>([
    ['is scaled', deployment(3), deployment(5), [{ type: 'scaled', from: 3, to: 5 }]],
    [
      'gets another template',
      deployment(3, {}, template('a')),
      deployment(3, {}, template('b')),
      [{ type: 'updated' }],
    ],
    ['is complete', deployment(3), deployment(3, done), [{ type: 'complete', to: 3 }]],
    ['is what it was', deployment(3, done), deployment(3, { ...done, readyReplicas: 3 }), []],
    [
      'does not get on',
      deployment(3),
      deployment(3, {
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too long' }],
      }),
      [{ type: 'stuck', reason: 'ProgressDeadlineExceeded', message: 'too long' }],
    ],
    [
      'gets on',
      deployment(3),
      deployment(3, { conditions: [{ type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' }] }),
      [],
    ],
  ])('%s', (_what, old, is, expected) => {
    expect(told(change(old, is))).toEqual(expected)
  })

  it('is told of as stuck once', () => {
    const stuck = (message: string) =>
      deployment(3, { conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded', message }] })
    expect(told(change(stuck('a'), stuck('b')))).toEqual([])
  })

  it('is created with a number of replicas, and removed', () => {
    const other = made('StatefulSet', 'db', { spec: { replicas: 2 } })
    expect(told(change(undefined, other), change(other))).toEqual([{ type: 'created', to: 2 }, { type: 'removed' }])
  })

  it('is told to go', () => {
    const going = { ...deployment(3), metadata: { ...deployment(3).metadata, deletionTimestamp: 'now' } }
    expect(told(change(deployment(3), going))).toEqual([{ type: 'stopping' }])
  })
})

it.each<[string, Loose, Loose, readonly Partial<TimelineEvent>[]]>([
  ['is cordoned', {}, { unschedulable: true }, [{ type: 'cordoned' }]],
  ['is uncordoned', { unschedulable: true }, {}, [{ type: 'uncordoned' }]],
  [
    'is tainted',
    { taints: [{ key: 'old', effect: 'NoSchedule' }] },
    {
      taints: [
        { key: 'z', effect: 'NoExecute' },
        { key: 'old', effect: 'NoSchedule' },
        { key: 'b', effect: 'NoSchedule' },
      ],
    },
    [{ type: 'tainted', message: 'b:NoSchedule, z:NoExecute' }],
  ],
  [
    'has the taint of its cordon',
    {},
    { taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
    [],
  ],
])('a node %s', (_what, old, spec, expected) => {
  expect(told(change(made('Node', 'n', { spec: old }), made('Node', 'n', { spec })))).toEqual(expected)
})

describe('a job', () => {
  const job = (...conditions: readonly Loose[]) => made('Job', 'j', { status: { conditions } })
  const complete = { type: 'Complete', status: 'True', reason: 'CompletionsReached', message: 'all' }
  const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'too often' }

  it.each([
    [complete, { type: 'completed', reason: 'CompletionsReached', message: 'all' }],
    [failed, { type: 'failed', reason: 'BackoffLimitExceeded', message: 'too often' }],
  ])('ends, and is told of once: %j', (condition, expected) => {
    expect(told(change(job(), job(condition)))).toEqual([expected])
    expect(told(change(job(condition), job(condition, { type: 'Other', status: 'True' })))).toEqual([])
  })

  it('has not ended where a condition does not hold', () => {
    expect(told(change(job(), job({ ...failed, status: 'False' })))).toEqual([])
    expect(told(change(job({ ...failed, status: 'False' }), job(failed)))).toHaveLength(1)
  })
})

describe('anything else', () => {
  const config = (parts: Loose, metadata: Loose = {}) => made('ConfigMap', 'c', parts, metadata)

  it.each([
    ['its content', config({ data: { a: '1' } }), config({ data: { a: '2' } })],
    ['its labels', config({}), config({}, { labels: { a: 'b' } })],
    ['its annotations', config({}), config({}, { annotations: { a: 'b' } })],
    ['its finalizers', config({}), config({}, { finalizers: ['a/b'] })],
  ])('is told of where %s changes', (_what, old, is) => {
    expect(told(change(old, is))).toEqual([{ type: 'changed' }])
  })

  it('is not told of where nobody but the server has changed it', () => {
    const is = config({ status: { phase: 'Bound' } }, { resourceVersion: '2' })
    expect(told(change(config({}), is))).toEqual([])
  })

  it.each(['Endpoints', 'EndpointSlice', 'ControllerRevision', 'IPAddress', 'Lease'])(
    'is not told of where it only follows others: %s',
    (kind) => {
      expect(told(change(undefined, made(kind, 'x')), change(made(kind, 'x')))).toEqual([])
    },
  )
})

describe('what controllers say', () => {
  const event = (reason: string, parts: Loose = {}) =>
    made('Event', reason, {
      type: 'Warning',
      reason,
      message: 'quota',
      involvedObject: { kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' },
      ...parts,
    })

  it('is told as a warning about what it is about', () => {
    expect(timelineOf(before, [change(undefined, event('FailedCreate'))])).toEqual([
      {
        atMs: 5,
        type: 'warning',
        object: { kind: 'ReplicaSet', namespace: 'shop', name: 'web-1' },
        controller: { kind: 'Deployment', namespace: 'shop', name: 'web' },
        workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
        reason: 'FailedCreate',
        message: 'quota',
      },
    ])
  })

  it('is told by name where what it is about is not there', () => {
    const about = (involvedObject: Loose) =>
      timelineOf([], [change(undefined, event('Failed', { involvedObject }))]).map(({ object }) => object)
    expect(about({ kind: 'Pod', namespace: 'shop', name: 'x' })).toEqual([
      { kind: 'Pod', namespace: 'shop', name: 'x' },
    ])
    expect(about({ kind: 'Node', name: 'n' })).toEqual([{ kind: 'Node', name: 'n' }])
  })

  it('is told once for each reason', () => {
    const again = change(event('FailedCreate'), event('FailedCreate', { count: 2 }))
    expect(told(change(undefined, event('FailedCreate')), again, change(undefined, event('Other')))).toHaveLength(2)
  })

  it.each(['FailedScheduling', 'BackOff', 'Unhealthy'])('is left to what the pod itself says: %s', (reason) => {
    expect(told(change(undefined, event(reason)))).toEqual([])
  })

  it('is not told where all is well, nor when it is forgotten', () => {
    expect(told(change(undefined, event('SuccessfulCreate', { type: 'Normal' })))).toEqual([])
    expect(told(change(event('FailedCreate')))).toEqual([])
  })
})

it('tells of evictions that a budget refuses, once for each pod, and all in the order of time', () => {
  const note = (atMs: number): RecordedNote => ({ atMs, type: 'eviction-refused', object: pod(), message: 'needs 2' })
  const found = timelineOf(before, [change(undefined, made('ConfigMap', 'c'), 9)], [note(7), note(12)])
  expect(found).toMatchObject([
    { atMs: 7, type: 'eviction-refused', message: 'needs 2', workload: { name: 'web' } },
    { atMs: 9, type: 'created' },
  ])
})

it('tells once that a pod finds no node, however often a scheduler says so', () => {
  const waitingPod = pod({ conditions: [unschedulable] })
  expect(told(change(pod(), waitingPod), change(waitingPod, pod()), change(pod(), waitingPod))).toHaveLength(1)
})

it('tells each time that a pod becomes ready', () => {
  const becomes = change(pod(unready), pod(running))
  expect(told(becomes, change(pod(running), pod(unready)), becomes)).toHaveLength(3)
})
