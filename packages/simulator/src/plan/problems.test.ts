import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Availability } from './availability.ts'
import { problemsOf } from './problems.ts'
import type { Rehearsed } from './rehearsal.ts'
import type { TimelineEvent } from './timeline.ts'

const [startMs, endMs] = [1000, 900_000]

const named = (kind: string, name: string, more: object = {}) => ({
  kind,
  metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, ...more },
})
const nameOf = (kind: string, name: string) => ({ kind, namespace: 'shop', name })
const web = nameOf('Deployment', 'web')
const controlled = { ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'Deployment-web', controller: true }] }

/** A deployment of three of which so many are available. */
const deployment = (available: number, more: object = {}) =>
  ({
    ...named('Deployment', 'web', { generation: 1, ...more }),
    spec: { replicas: 3 },
    status: { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: available },
  }) as unknown as KubernetesObject
const waitingPod = (name: string, nodeName?: string) =>
  ({
    ...named('Pod', name, controlled),
    spec: { nodeName },
    status: { phase: 'Pending' },
  }) as unknown as KubernetesObject

const event = (type: TimelineEvent['type'], object: TimelineEvent['object'], more: Partial<TimelineEvent> = {}) => ({
  atMs: 2000,
  type,
  object,
  ...more,
})
const unschedulable = (pod: string) =>
  event('unschedulable', nameOf('Pod', pod), { workload: web, message: '0/3 nodes are available' })
const refusedEviction = (pod: string) =>
  event('eviction-refused', nameOf('Pod', pod), { workload: web, message: 'the budget needs 2' })

interface Played extends Partial<Rehearsed> {
  readonly timeline?: readonly TimelineEvent[]
  readonly availability?: readonly Availability[]
  readonly refusal?: string
}

/** What is wrong with a change: `error unfinished Deployment web at 900: …`. */
function problems({ timeline = [], availability = [], refusal, ...rehearsed }: Played): readonly string[] {
  const whole: Rehearsed = {
    startMs,
    endMs,
    before: [],
    underWay: [],
    changes: [],
    notes: [],
    after: [],
    isDone: true,
    isCutShort: false,
    ...rehearsed,
  }
  const found = problemsOf(whole, timeline, availability, refusal === undefined ? {} : { refusal })
  return found.map(({ severity, type, object, atMs, message }) => {
    const about = object === undefined ? '' : ` ${object.kind} ${object.name}`
    return `${severity} ${type}${about} at ${atMs / 1000}: ${message}`
  })
}

const availability = (broken: Availability['broken']): Availability => ({
  object: web,
  samples: [],
  lowest: 1,
  lowestAtMs: 3000,
  promised: 2,
  by: 'maxUnavailable 1',
  ...(broken === undefined ? {} : { broken }),
})

describe('a change that goes well', () => {
  it('has no problems', () => {
    expect(problems({ after: [deployment(3)], availability: [availability(undefined)] })).toEqual([])
  })

  it('is not blamed for what was on its way before', () => {
    expect(problems({ before: [deployment(1)], after: [deployment(1)] })).toEqual([])
  })

  it('may be told of warnings, about pods as well, which are no errors', () => {
    const timeline = [event('warning', nameOf('Pod', 'a'), { reason: 'FailedMount', message: 'no such volume' })]
    expect(problems({ timeline })).toEqual(['warning warning Pod a at 2: FailedMount: no such volume'])
  })
})

describe('what is wrong with a change', () => {
  it('is that the server refuses it', () => {
    expect(problems({ refusal: 'quota exceeded' })).toEqual(['error refused at 1: quota exceeded'])
  })

  it.each([
    [1, '0 ready where 1 is promised (maxUnavailable 1)'],
    [2, '0 ready where 2 are promised (maxUnavailable 1)'],
  ])('is that fewer are ready than the %i that are promised', (promised, message) => {
    expect(problems({ availability: [availability({ atMs: 4000, ready: 0, promised })] })).toEqual([
      `error unavailable Deployment web at 4: ${message}`,
    ])
  })

  it.each([
    [['a'], '1 pod finds no node: 0/3 nodes are available'],
    [['a', 'b'], '2 pods find no node: 0/3 nodes are available'],
  ])('is that pods of a workload find no node to the end: %j', (names, message) => {
    const after = [...names.map((name) => waitingPod(name)), waitingPod('c', 'node-0'), deployment(3)]
    expect(problems({ after, timeline: [...names, 'c'].map(unschedulable) })).toEqual([
      `error unschedulable Deployment web at 2: ${message}`,
    ])
  })

  it('tells of each workload by itself whose pods find no node, or are not let go', () => {
    const other = nameOf('Deployment', 'other')
    const ofOther = (each: TimelineEvent): TimelineEvent => ({ ...each, workload: other })
    const after = ['a', 'b'].map((name) => waitingPod(name))
    expect(problems({ after, timeline: [unschedulable('a'), ofOther(unschedulable('b'))] })).toEqual([
      'error unschedulable Deployment web at 2: 1 pod finds no node: 0/3 nodes are available',
      'error unschedulable Deployment other at 2: 1 pod finds no node: 0/3 nodes are available',
    ])
    expect(problems({ timeline: [refusedEviction('a'), ofOther(refusedEviction('b'))] })).toEqual([
      'warning blocked Deployment web at 2: 1 pod is not let go at once: the budget needs 2',
      'warning blocked Deployment other at 2: 1 pod is not let go at once: the budget needs 2',
    ])
  })

  it('counts a pod once, whatever else is told of it', () => {
    const created = event('created', nameOf('Pod', 'a'), { workload: web })
    expect(problems({ after: [waitingPod('a')], timeline: [created, unschedulable('a')] })).toEqual([
      'error unschedulable Deployment web at 2: 1 pod finds no node: 0/3 nodes are available',
    ])
  })

  it('is not that a pod found no node for a while', () => {
    expect(problems({ after: [], timeline: [unschedulable('a')] })).toEqual([])
  })

  it('says which pod finds no node, where nothing controls it', () => {
    const alone = { ...waitingPod('a'), metadata: { name: 'a', namespace: 'shop', uid: 'Pod-a' } }
    const timeline = [event('unschedulable', nameOf('Pod', 'a'))]
    expect(problems({ after: [alone], timeline })).toContain('error unschedulable Pod a at 2: 1 pod finds no node: ')
  })

  it.each([
    [true, ['a'], 'warning blocked Deployment web at 2: 1 pod is not let go at once: the budget needs 2'],
    [true, ['a', 'b'], 'warning blocked Deployment web at 2: 2 pods are not let go at once: the budget needs 2'],
    [false, ['a'], 'error blocked Deployment web at 2: 1 pod is not let go: the budget needs 2'],
  ])(
    'is that a budget does not let pods go, an error unless it does in the end (%j, %j)',
    (isDone, names, expected) => {
      expect(problems({ isDone, timeline: names.map(refusedEviction) })).toContain(expected)
    },
  )

  it('is that a command or a recording does not come to its end', () => {
    expect(problems({ isDone: false })).toEqual([
      'error unfinished at 900: the command is still at it when the time is over',
    ])
    expect(problems({ isCutShort: true })).toEqual(['error unfinished at 900: more happens than is recorded'])
  })
})

describe('a workload that is not what it was asked to be when the time is over', () => {
  const prefix = 'error unfinished Deployment web at 900: is not what it was asked to be when the time is over'

  it('is told of, its pods are not', () => {
    expect(problems({ after: [deployment(2), waitingPod('a', 'node-0')] })).toEqual([prefix])
    expect(problems({ before: [deployment(3)], after: [deployment(2)] })).toEqual([prefix])
  })

  it('is told of where it has owners, none of which controls it', () => {
    const owners = (controller?: boolean) => [{ kind: 'Gadget', name: 'g', uid: 'g', controller }]
    expect(problems({ after: [deployment(2, { ownerReferences: owners() })] })).toEqual([prefix])
    expect(problems({ after: [deployment(2, { ownerReferences: owners(true) })] })).toEqual([])
  })

  it('says nothing of finalizers: they hold only what is to go', () => {
    expect(problems({ after: [deployment(2, { finalizers: ['a/b'] })] })).toEqual([prefix])
  })

  it('says why: what a controller complained of last, of it or of its pods', () => {
    const timeline = [
      event('stuck', web, { message: 'has not progressed' }),
      event('warning', web, { reason: 'FailedCreate', message: 'first' }),
      event('warning', nameOf('ReplicaSet', 'web-1'), { workload: web, reason: 'FailedCreate', message: 'quota' }),
      event('warning', nameOf('Deployment', 'other'), { reason: 'Other', message: 'elsewhere' }),
    ]
    expect(problems({ after: [deployment(2)], timeline })).toEqual([
      `${prefix}: quota`,
      'warning warning Deployment other at 2: Other: elsewhere',
    ])
  })

  it('says why: that a pod of it finds no node', () => {
    const timeline = [unschedulable('a'), event('stuck', web, { message: 'has not progressed' })]
    expect(problems({ after: [deployment(2)], timeline })).toEqual([`${prefix}: 0/3 nodes are available`])
  })

  it('says that it does not get on, where nobody says more', () => {
    const timeline = [event('stuck', web, { message: 'has not progressed' }), event('scaled', web, { message: 'to 4' })]
    expect(problems({ after: [deployment(2)], timeline })).toEqual([`${prefix}: has not progressed`])
  })

  it('is told to be still there where it is to go, and what holds it', () => {
    const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    const still = 'error unfinished Deployment web at 900: is not gone when the time is over'
    expect(problems({ after: [deployment(3, going)] })).toEqual([still])
    expect(problems({ after: [deployment(3, { ...going, finalizers: [] })] })).toEqual([still])
    expect(problems({ after: [deployment(3, { ...going, finalizers: ['a/b', 'c/d'] })] })).toEqual([
      `${still}: it is held by a/b, c/d`,
    ])
  })
})

it('tells errors before warnings, and of each the earlier first', () => {
  const pod = nameOf('Pod', 'a')
  const timeline = [
    event('warning', pod, { atMs: 5000, reason: 'Late', message: '' }),
    event('warning', pod, { atMs: 1500, reason: 'Early', message: '' }),
  ]
  const broken = [availability({ atMs: 4000, ready: 0, promised: 1 })]
  const order = problems({ timeline, availability: broken, isDone: false, refusal: 'no' })
  expect(order.map((each) => each.split(': ').slice(0, 2).join(': '))).toEqual([
    'error refused at 1: no',
    'error unavailable Deployment web at 4: 0 ready where 1 is promised (maxUnavailable 1)',
    'error unfinished at 900: the command is still at it when the time is over',
    'warning warning Pod a at 1.5: Early',
    'warning warning Pod a at 5: Late',
  ])
})
