import { type Node, nodes, type Pod, pods, type Taint } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { type ObservedNode, planNode } from './plan.ts'

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>

const ready = (status: string, seconds = 100): Conditions[number] => ({
  type: 'Ready',
  status,
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status',
  lastTransitionTime: secondsAgo(seconds),
})

function node(conditions: Conditions, taints?: readonly Taint[]): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'n1', resourceVersion: '7', creationTimestamp: secondsAgo(1000) },
    spec: { taints },
    status: { conditions },
  } as Node
}

const plan = (observed: Partial<ObservedNode> & Pick<ObservedNode, 'node'>, nowMs = startMs) =>
  planNode(
    {
      pods: [],
      isSilent: false,
      eviction: 'remove',
      isNew: false,
      awaited: new Map<string, number>(),
      departuresMax: 110,
      ...observed,
    },
    nowMs,
  )

const noExecute = (seconds = 0): Taint => ({
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: secondsAgo(seconds),
})
const noSchedule: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule', timeAdded: secondsAgo(0) }
const tolerating = (name: string, seconds?: number): Pod => {
  const base = pod(name, { node: 'n1', readyFor: 60, age: 600 })
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: seconds }
  return {
    ...base,
    metadata: { ...base.metadata, generation: 2 },
    spec: { ...base.spec, tolerations: [toleration] },
  } as Pod
}

const key = (name: string) => ({ namespace: 'default', name })
/** Nothing but the condition is said, of whichever version of the pod. */
const statusPatch = (name: string, condition: object, because: string) => ({
  type: 'patch',
  resource: pods,
  key: key(name),
  subresource: 'status',
  patch: { type: 'strategic', body: { metadata: { uid: name }, status: { conditions: [condition] } } },
  because,
})
const event = (reason: string, message: string, because: string, about?: Pod, eventType = 'Normal') => ({
  type: 'event',
  ...(about === undefined ? {} : { about }),
  eventType,
  reason,
  message,
  ...(reason === 'TaintManagerEviction' ? { component: 'taint-eviction-controller' } : {}),
  because,
})
const lost = 'nobody hears from the node any more'
const evicting = 'the pod does not tolerate a taint of its node any longer'
const retainted = (taints: readonly Taint[] | null) => ({
  type: 'patch',
  resource: nodes,
  key: { name: 'n1' },
  patch: { type: 'merge', body: { metadata: { uid: 'n1', resourceVersion: '7' }, spec: { taints } } },
  because: 'the conditions of the node have changed',
})

describe('a node whose agent reports', () => {
  it('is left alone', () => {
    expect(plan({ node: node([ready('True')]), pods: [pod('p', { node: 'n1', readyFor: 5 })] })).toEqual({
      actions: [],
      awaited: new Map(),
      departures: 0,
    })
  })

  it.each<[string, Record<string, string>, Record<string, string> | undefined]>([
    ['no labels', {}, undefined],
    ['other labels', { 'topology.kubernetes.io/region': 'r' }, undefined],
    [
      'neither under its former name',
      { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      { 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': 'amd64' },
    ],
    [
      'another value under a former name',
      { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'windows' },
      { 'beta.kubernetes.io/os': 'linux' },
    ],
    ['both names', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' }, undefined],
    ['a former name alone', { 'beta.kubernetes.io/os': 'linux' }, undefined],
  ])('gets its labels under their former names: with %s', (_what, labels, added) => {
    const given = node([ready('True')])
    const { actions } = plan({ node: { ...given, metadata: { ...given.metadata, labels } } })
    const metadata = { uid: 'n1', resourceVersion: '7', labels: added }
    expect(actions).toEqual(
      added === undefined
        ? []
        : [
            {
              type: 'patch',
              resource: nodes,
              key: { name: 'n1' },
              patch: { type: 'merge', body: { metadata } },
              because: 'the node lacks labels under their former names',
            },
          ],
    )
  })

  it('is welcomed when it is seen first', () => {
    const message = 'Node n1 event: Registered Node n1 in Controller'
    expect(plan({ node: node([ready('True')]), isNew: true }).actions).toEqual([
      event('RegisteredNode', message, 'the node is new here'),
    ])
  })

  it('loses taints that no condition stands for, and its own stay', () => {
    const own: Taint = { key: 'example.com/own', effect: 'NoSchedule' }
    expect(plan({ node: node([ready('True')], [noSchedule, own]) }).actions).toEqual([retainted([own])])
    expect(plan({ node: node([ready('True')], [noSchedule]) }).actions).toEqual([retainted(null)])
  })
})

describe('a node that is silent', () => {
  const silenced = (type: string, said = true) => ({
    type,
    status: 'Unknown',
    reason: said ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated',
    message: said ? 'Kubelet stopped posting node status.' : 'Kubelet never posted node status.',
    ...(said ? {} : { lastHeartbeatTime: secondsAgo(1000) }),
    lastTransitionTime: secondsAgo(0),
  })

  it('is said to be in an unknown state, in all that its agent reports, and tainted', () => {
    const network = { type: 'NetworkUnavailable', status: 'False' }
    const disk = { type: 'DiskPressure', status: 'False', lastTransitionTime: secondsAgo(100) }
    const { actions, status } = plan({ node: node([network, ready('True'), disk]), isSilent: true, eviction: 'add' })
    expect(status).toEqual({
      conditions: [
        network,
        silenced('Ready'),
        silenced('DiskPressure'),
        silenced('MemoryPressure', false),
        silenced('PIDPressure', false),
      ],
    })
    expect(actions).toEqual([
      event('NodeNotReady', 'Node n1 status is now: NodeNotReady', 'the node has stopped reporting'),
      retainted([noSchedule, noExecute()]),
    ])
  })

  it('is not reported again', () => {
    const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      ...silenced(type),
      lastTransitionTime: secondsAgo(60),
    }))
    const { actions, status } = plan({ node: node(conditions, [noSchedule]), isSilent: true, eviction: 'keep' })
    expect(actions).toEqual([])
    expect(status).toBeUndefined()
  })

  it('that never reported was never ready', () => {
    const { actions } = plan({ node: node([]), isSilent: true, eviction: 'keep' })
    expect(actions).toEqual([retainted([noSchedule])])
  })

  it('has pods that are not ready any more, and those that ended or were not ready stay as they are', () => {
    const [first] = [tolerating('first')]
    const others = [pod('ended', { node: 'n1', phase: 'Succeeded', readyFor: 5 }), pod('unready', { node: 'n1' })]
    const conditions = [ready('Unknown')]
    const { actions } = plan({
      node: node(conditions, [noSchedule]),
      pods: [first as Pod, ...others],
      eviction: 'keep',
    })
    const notReady = {
      type: 'Ready',
      status: 'False',
      lastTransitionTime: secondsAgo(0),
      observedGeneration: 2,
    }
    expect(actions).toEqual([
      statusPatch('first', notReady, lost),
      event('NodeNotReady', 'Node is not ready', lost, first, 'Warning'),
    ])
  })
})

describe('a node with a taint that evicts', () => {
  const tainted = (seconds = 0) => node([ready('Unknown')], [noSchedule, noExecute(seconds)])
  const observe = (seconds: number, on: readonly Pod[], awaited: readonly string[] = []) =>
    plan({ node: tainted(seconds), pods: on, eviction: 'keep', awaited: new Map(awaited.map((uid) => [uid, startMs])) })
  const inSeconds = (awaited: ReadonlyMap<string, number>) =>
    Object.fromEntries([...awaited].map(([uid, at]) => [uid, (at - startMs) / 1000]))
  const names = (actions: readonly Action[]) =>
    actions.map((action) => {
      if (action.type === 'event') return `${action.reason} ${action.about?.metadata.name ?? ''}: ${action.message}`
      return `${action.type} ${'key' in action ? action.key.name : ''}`
    })

  it('evicts a pod that does not tolerate it: marked, told and deleted', () => {
    const victim = { ...pod('p', { node: 'n1' }), metadata: { ...pod('p').metadata, generation: 4 } }
    const target = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByTaintManager',
      message: 'Taint manager: deleting due to NoExecute taint',
      observedGeneration: 4,
      lastTransitionTime: secondsAgo(0),
    }
    expect(observe(0, [victim]).actions).toEqual([
      statusPatch('p', target, evicting),
      event('TaintManagerEviction', 'Marking for deletion Pod default/p', evicting, victim),
      { type: 'delete', resource: pods, key: key('p'), uid: 'p', because: evicting },
    ])
  })

  it('goes by the names of the pods, in whichever order they were heard of', () => {
    const leaving = observe(
      0,
      ['b', 'c', 'a'].map((name) => pod(name, { node: 'n1' })),
    ).actions
    const targets = leaving.flatMap((action) => (action.type === 'delete' ? [action.key.name] : []))
    expect(targets).toEqual(['a', 'b', 'c'])
  })

  it('makes no more leave at once than it may, the oldest first, and looks again for the others', () => {
    const aged = (name: string, age: number): Pod => {
      const { metadata, ...rest } = pod(name, { node: 'n1' })
      return { ...rest, metadata: { ...metadata, creationTimestamp: secondsAgo(age) } }
    }
    const pods = [aged('a', 1), aged('b', 2), aged('c', 3)]
    const { actions, departures, awaited, requeueAfterMs } = plan({
      node: tainted(),
      pods,
      eviction: 'keep',
      departuresMax: 2,
    })
    expect(actions.flatMap((action) => (action.type === 'delete' ? [action.key.name] : []))).toEqual(['c', 'b'])
    expect(departures).toBe(2)
    expect(inSeconds(awaited)).toEqual({ a: 0 })
    expect(requeueAfterMs).toBe(100)
  })

  it('waits as long as the pod tolerates it, from when the taint was added', () => {
    const patient = { ...tolerating('p', 300), status: { phase: 'Running' } } as Pod
    const waiting = observe(100, [patient])
    expect(waiting.actions).toEqual([])
    expect(waiting.requeueAfterMs).toBe(200_000)
    expect(inSeconds(waiting.awaited)).toEqual({ p: 200 })
    const due = observe(300, [patient], ['p'])
    expect(names(due.actions)).toEqual([
      'patch p',
      'TaintManagerEviction p: Marking for deletion Pod default/p',
      'delete p',
    ])
    expect(inSeconds(due.awaited)).toEqual({})
    expect(due.requeueAfterMs).toBeUndefined()
  })

  it('keeps to the time it found, though the taint does not say when it was added', () => {
    const unsaid: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }
    const observed = { node: node([ready('Unknown')], [noSchedule, unsaid]), pods: [tolerating('p', 300)] }
    const { awaited } = plan({ ...observed, eviction: 'keep' })
    expect(inSeconds(awaited)).toEqual({ p: 300 })
    const due = plan({ ...observed, eviction: 'keep', awaited }, startMs + 300_000)
    expect(names(due.actions)).toContain('delete p')
  })

  it('is not tolerated for longer by a pod that says so when its time has begun', () => {
    const { awaited } = observe(0, [tolerating('p', 60)])
    const longer = plan({ node: tainted(), pods: [tolerating('p', 600)], eviction: 'keep', awaited })
    expect(inSeconds(longer.awaited)).toEqual({ p: 60 })
    const shorter = plan({ node: tainted(), pods: [tolerating('p', 10)], eviction: 'keep', awaited })
    expect(inSeconds(shorter.awaited)).toEqual({ p: 10 })
  })

  it('looks again when the first of several has to leave', () => {
    const { requeueAfterMs, awaited } = observe(0, [tolerating('a', 300), tolerating('b', 60), tolerating('c')])
    expect(requeueAfterMs).toBe(60_000)
    expect(inSeconds(awaited)).toEqual({ a: 300, b: 60 })
  })

  it('does not mark a pod as not ready that it evicts', () => {
    const victim = pod('p', { node: 'n1', readyFor: 60 })
    expect(names(observe(0, [victim]).actions)).toEqual([
      'NodeNotReady p: Node is not ready',
      'patch p',
      'TaintManagerEviction p: Marking for deletion Pod default/p',
      'delete p',
    ])
  })

  it('leaves a pod alone that is going', () => {
    expect(observe(0, [pod('p', { node: 'n1', isGoing: true })]).actions).toEqual([])
  })

  it('says that a pod need not leave later where it has to leave now', () => {
    const { awaited } = observe(0, [tolerating('p', 60)])
    const impatient = { ...pod('p', { node: 'n1' }), status: { phase: 'Running' } } as Pod
    const { actions } = plan({ node: tainted(), pods: [impatient], eviction: 'keep', awaited })
    expect(names(actions)).toEqual([
      'TaintManagerEviction p: Cancelling deletion of Pod default/p',
      'patch p',
      'TaintManagerEviction p: Marking for deletion Pod default/p',
      'delete p',
    ])
  })

  it('says that a pod need not leave after all, once', () => {
    const spared = tolerating('p')
    const quiet = { ...spared, status: { phase: 'Running' } } as Pod
    const because = 'the pod need not leave its node any longer'
    expect(observe(0, [quiet], ['p']).actions).toEqual([
      event('TaintManagerEviction', 'Cancelling deletion of Pod default/p', because, quiet),
    ])
    expect(observe(0, [quiet]).actions).toEqual([])
  })
})
