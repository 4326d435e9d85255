import type { Labels, Pod, PodAffinityTerm } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClusterEvent } from '../cluster-event.ts'
import { NodeInfo } from '../node-info.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeCluster, makeNode, makePod } from '../testing/objects.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'

const term = (app: string, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: 'zone',
  labelSelector: { matchLabels: { app } },
  ...more,
})

interface Wishes {
  readonly app?: string
  readonly namespace?: string
  /** Required terms. */
  readonly near?: readonly PodAffinityTerm[]
  readonly apart?: readonly PodAffinityTerm[]
  /** Preferences and their weights. */
  readonly likes?: readonly (readonly [PodAffinityTerm, number])[]
  readonly dislikes?: readonly (readonly [PodAffinityTerm, number])[]
}

/** A pod of the app `web` with these wishes, unless said otherwise. */
function wishing({ app = 'web', namespace = 'default', near, apart, likes, dislikes }: Wishes = {}): Pod {
  const terms = (required: Wishes['near'], preferred: Wishes['likes']) => ({
    ...(required && { requiredDuringSchedulingIgnoredDuringExecution: required }),
    ...(preferred && {
      preferredDuringSchedulingIgnoredDuringExecution: preferred.map(([podAffinityTerm, weight]) => ({
        podAffinityTerm,
        weight,
      })),
    }),
  })
  const pod = makePod({
    affinity: {
      ...((near || likes) && { podAffinity: terms(near, likes) }),
      ...((apart || dislikes) && { podAntiAffinity: terms(apart, dislikes) }),
    },
  })
  return { ...pod, metadata: { ...pod.metadata, namespace, labels: { app } } }
}

const plain = (app: string, namespace = 'default') => wishing({ app, namespace })

function nodeIn(zone: string | undefined, ...pods: readonly Pod[]): NodeInfo {
  const info = new NodeInfo(makeNode({ labels: zone === undefined ? {} : { zone } }))
  for (const pod of pods) info.add(pod)
  return info
}

const reasons = {
  f: "node(s) didn't match pod affinity rules",
  a: "node(s) didn't match pod anti-affinity rules",
  e: "node(s) didn't satisfy existing pods anti-affinity rules",
} as const

/** For each node whether the pod may go there: `+`, or for want of affinity `f`, for anti-affinity of its own `a`, of others `e`. */
function verdicts(pod: Pod, nodes: readonly NodeInfo[], namespaces: Readonly<Record<string, Labels>> = {}): string {
  const filter = interPodAffinity.filter?.(pod, makeCluster(nodes, namespaces))
  return nodes
    .map((node) => {
      const refusal = filter?.refuse(node)
      const found = Object.entries(reasons).find(([, reason]) => refusal?.reasons[0] === reason)
      // No eviction brings pods that are wanted; one may take away those that are not.
      if (refusal !== undefined) expect(refusal.isHelpedByEviction).toBe(found?.[0] !== 'f')
      return refusal === undefined ? '+' : (found?.[0] ?? '?')
    })
    .join('')
}

describe('a pod with required terms', () => {
  it.each<[string, Pod, readonly NodeInfo[], string]>([
    ['goes anywhere without any', wishing(), [nodeIn('a'), nodeIn(undefined)], '++'],
    ['goes where the pods are', wishing({ near: [term('db')] }), [nodeIn('a', plain('db')), nodeIn('b')], '+f'],
    ['goes beside their node, too', wishing({ near: [term('db')] }), [nodeIn('a', plain('db')), nodeIn('a')], '++'],
    [
      'goes to no node in no place',
      wishing({ near: [term('db')] }),
      [nodeIn('a', plain('db')), nodeIn(undefined)],
      '+f',
    ],
    [
      'takes nothing for a label that every object inherits',
      wishing({ near: [term('db', { topologyKey: 'constructor' })] }),
      [nodeIn('a', plain('db')), nodeIn('b')],
      'ff',
    ],
    [
      'is apart in no place that every object inherits',
      wishing({ apart: [term('db', { topologyKey: 'valueOf' })] }),
      [nodeIn('a', plain('db')), nodeIn('b')],
      '++',
    ],
    ['goes nowhere while they are not there', wishing({ near: [term('db')] }), [nodeIn('a'), nodeIn('b')], 'ff'],
    [
      'goes anywhere as the first of its kind',
      wishing({ near: [term('web')] }),
      [nodeIn('a'), nodeIn(undefined)],
      '+f',
    ],
    [
      'goes anywhere as the first of its kind that is in a place',
      wishing({ near: [term('web')] }),
      [nodeIn('a'), nodeIn(undefined, plain('web'))],
      '+f',
    ],
    ['goes to others of its kind', wishing({ near: [term('web')] }), [nodeIn('a', plain('web')), nodeIn('b')], '+f'],
    [
      'goes where pods are that all terms mean',
      wishing({
        near: [term('db'), term('db', { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } })],
      }),
      [nodeIn('a', plain('web')), nodeIn('b', plain('db'))],
      'f+',
    ],
    ['stays away', wishing({ apart: [term('web')] }), [nodeIn('a', plain('web')), nodeIn('b')], 'a+'],
    [
      'stays away by each term alone',
      wishing({ apart: [term('web'), term('db')] }),
      [nodeIn('a', plain('web')), nodeIn('b', plain('db')), nodeIn('c')],
      'aa+',
    ],
    [
      'stays away from nothing where there is no place',
      wishing({ apart: [term('web')] }),
      [nodeIn(undefined, plain('web')), nodeIn('a')],
      '++',
    ],
    [
      'is kept away by those there',
      plain('web'),
      [nodeIn('a', wishing({ app: 'db', apart: [term('web')] })), nodeIn('b')],
      'e+',
    ],
    [
      'is not kept away by those that mean others',
      plain('cache'),
      [nodeIn('a', wishing({ app: 'db', apart: [term('web')] })), nodeIn('b')],
      '++',
    ],
    ['means no pods by no selector', wishing({ apart: [{ topologyKey: 'zone' }] }), [nodeIn('a', plain('web'))], '+'],
    [
      'means pods of its own namespace',
      wishing({ apart: [term('web')] }),
      [nodeIn('a', plain('web', 'other')), nodeIn('b', plain('web'))],
      '+a',
    ],
    [
      'means pods of the namespaces it names, and then not its own',
      wishing({ apart: [term('web', { namespaces: ['other'] })] }),
      [nodeIn('a', plain('web', 'other')), nodeIn('b', plain('web'))],
      'a+',
    ],
    [
      'means pods of the namespaces it selects, too',
      wishing({ apart: [term('web', { namespaces: ['other'], namespaceSelector: { matchLabels: { team: 'x' } } })] }),
      [nodeIn('a', plain('web', 'other')), nodeIn('b', plain('web')), nodeIn('c', plain('web', 'team-x'))],
      'a+a',
    ],
    [
      'means pods of all namespaces by an empty selector',
      wishing({ apart: [term('web', { namespaceSelector: {} })] }),
      [nodeIn('a', plain('web', 'other')), nodeIn('b', plain('web'))],
      'aa',
    ],
  ])('%s', (_, pod, nodes, expected) => {
    expect(verdicts(pod, nodes, { 'team-x': { team: 'x' } })).toBe(expected)
  })

  it('is answered as if other pods were gone or there, and as before when that is taken back', () => {
    const [there, wanted] = [plain('web'), plain('db')]
    const nodes = [nodeIn('a', there), nodeIn('b')] as const
    const pod = wishing({ near: [term('db')], apart: [term('web')] })
    const filter = interPodAffinity.filter?.(pod, makeCluster(nodes))
    const verdict = () => nodes.map((node) => filter?.refuse(node)?.reasons[0])
    expect(verdict()).toEqual([reasons.f, reasons.f])
    filter?.add(wanted, nodes[0])
    expect(verdict()).toEqual([reasons.a, reasons.f])
    filter?.remove(there, nodes[0])
    expect(verdict()).toEqual([undefined, reasons.f])
    filter?.add(wishing({ app: 'db', apart: [term('web')] }), nodes[0])
    expect(verdict()).toEqual([reasons.e, reasons.f])
    filter?.add(there, nodes[0])
    expect(verdict()).toEqual([reasons.a, reasons.f])
  })

  it('never comes where it must not, whatever was placed before', () => {
    const arbitraryApp = fc.constantFrom('web', 'db')
    const arbitraryPod = fc.record({ app: arbitraryApp, apart: fc.array(arbitraryApp, { maxLength: 1 }) })
    fc.assert(
      fc.property(fc.array(arbitraryPod, { maxLength: 12 }), (wanted) => {
        const cache = new SchedulerCache()
        for (const zone of ['a', 'a', 'b', 'c']) cache.setNode(makeNode({ labels: { zone } }))
        for (const { app, apart } of wanted) {
          const pod = wishing({ app, apart: apart.map((each) => term(each)) })
          const filter = interPodAffinity.filter?.(pod, cache)
          const node = cache.nodes.find((each) => filter?.refuse(each) === undefined)
          if (node !== undefined) cache.place(pod, node.name)
        }
        for (const nodes of Map.groupBy(cache.nodes, ({ node }) => node.metadata.labels?.zone).values()) {
          const pods = nodes.flatMap((node) => [...node.pods.values()])
          for (const pod of pods) {
            const apart = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
            const unwanted = apart.map(({ labelSelector }) => labelSelector?.matchLabels?.app)
            const others = pods.filter((other) => other !== pod)
            expect(others.filter(({ metadata }) => unwanted.includes(metadata.labels?.app))).toEqual([])
          }
        }
      }),
    )
  })
})

describe('a pod with preferences', () => {
  const scoresOf = (pod: Pod, nodes: readonly NodeInfo[]): readonly number[] | undefined => {
    const scorer = interPodAffinity.scorer?.(pod, makeCluster(nodes), nodes)
    if (scorer === undefined) return undefined
    const scores = Float64Array.from(nodes, (node) => scorer.score(node))
    scorer.normalize?.(scores, nodes)
    return [...scores]
  }

  it.each<[string, Pod, readonly NodeInfo[], readonly number[] | undefined]>([
    ['has none', plain('web'), [nodeIn('a', plain('web'))], undefined],
    ['that make no difference', wishing({ likes: [[term('db'), 5]] }), [nodeIn('a'), nodeIn('b')], undefined],
    [
      'likes places',
      wishing({ likes: [[term('db'), 5]] }),
      [nodeIn('a', plain('db')), nodeIn('a'), nodeIn('b')],
      [100, 100, 0],
    ],
    ['dislikes places', wishing({ dislikes: [[term('db'), 5]] }), [nodeIn('a', plain('db')), nodeIn('b')], [0, 100]],
    [
      'weighs what it likes, pod by pod',
      wishing({
        likes: [
          [term('db'), 5],
          [term('cache'), 20],
        ],
      }),
      [nodeIn('a', plain('db'), plain('db')), nodeIn('b', plain('cache')), nodeIn('c', plain('db'))],
      [33, 100, 0],
    ],
    [
      'is liked and disliked by those there',
      plain('web'),
      [
        nodeIn('a', wishing({ app: 'db', likes: [[term('web'), 10]] })),
        nodeIn('b', wishing({ app: 'db', dislikes: [[term('web'), 10]] })),
        nodeIn('c', wishing({ app: 'db', likes: [[term('other'), 10]] })),
      ],
      [100, 0, 50],
    ],
    [
      'is liked a little by those that require it',
      plain('web'),
      [nodeIn('a', wishing({ app: 'db', near: [term('web')] })), nodeIn('b')],
      [100, 0],
    ],
  ])('%s', (_, pod, nodes, expected) => {
    expect(scoresOf(pod, nodes)).toEqual(expected)
  })
})

describe('a pod that was refused', () => {
  const node = makeNode({ name: 'n', labels: { zone: 'a' } })
  const moved = makeNode({ name: 'n', labels: { zone: 'b' } })
  const labelled = makeNode({ name: 'n', labels: { zone: 'a', disk: 'fast' } })
  const placeless = makeNode({ name: 'n' })
  const [web, db] = [plain('web'), plain('db')]
  const nodeName = 'n'
  const near = wishing({ near: [term('db')] })
  const apart = wishing({ apart: [term('db')] })

  it.each<[string, Pod, ClusterEvent, boolean]>([
    ['a wanted pod that comes', near, { type: 'pod-placed', pod: db, nodeName }, true],
    ['another pod that comes', near, { type: 'pod-placed', pod: web, nodeName }, false],
    ['a pod that stays wanted', near, { type: 'pod-placed', pod: db, old: db, nodeName }, false],
    ['a pod that becomes wanted', near, { type: 'pod-placed', pod: db, old: web, nodeName }, true],
    ['a wanted pod that is so no more', near, { type: 'pod-placed', pod: web, old: db, nodeName }, false],
    [
      'the last of its kind that is so no more',
      wishing({ near: [term('web')] }),
      { type: 'pod-placed', pod: db, old: web, nodeName },
      true,
    ],
    ['an unwanted pod that comes', apart, { type: 'pod-placed', pod: db, nodeName }, false],
    ['a pod that becomes unwanted no more', apart, { type: 'pod-placed', pod: web, old: db, nodeName }, true],
    ['a pod that stays unwanted', apart, { type: 'pod-placed', pod: db, old: db, nodeName }, false],
    ['an unwanted pod that goes', apart, { type: 'pod-removed', pod: db, nodeName }, true],
    ['another pod that goes', apart, { type: 'pod-removed', pod: web, nodeName }, false],
    [
      'an unwilling pod that goes',
      web,
      { type: 'pod-removed', pod: wishing({ apart: [term('web')] }), nodeName },
      true,
    ],
    [
      'the last of its kind that goes',
      wishing({ near: [term('web')] }),
      { type: 'pod-removed', pod: web, nodeName },
      true,
    ],
    ['a wanted pod that goes', near, { type: 'pod-removed', pod: db, nodeName }, false],
    ['a node that comes', near, { type: 'node-changed', node }, true],
    ['a node that moves', near, { type: 'node-changed', node: moved, old: node }, true],
    ['a node that stays where it is', near, { type: 'node-changed', node, old: node }, false],
    ['a node that comes to be in a place', near, { type: 'node-changed', node, old: placeless }, true],
    ['a node that is in no place any more', near, { type: 'node-changed', node: placeless, old: node }, false],
    ['a node that comes in no place', near, { type: 'node-changed', node: placeless }, false],
    ['a node that gets a label of another kind', near, { type: 'node-changed', node: labelled, old: node }, false],
    ['a node that moves away from unwanted pods', apart, { type: 'node-changed', node: moved, old: node }, true],
    ['a node that leaves its place', apart, { type: 'node-changed', node: placeless, old: node }, true],
    ['a node that comes to a place', apart, { type: 'node-changed', node, old: placeless }, false],
    ['a node that gets another label', apart, { type: 'node-changed', node: labelled, old: node }, false],
    ['a node that moves with an unwilling pod', plain('cache'), { type: 'node-changed', node: moved, old: node }, true],
    [
      'a node that stays with an unwilling pod',
      plain('cache'),
      { type: 'node-changed', node: labelled, old: node },
      false,
    ],
    ['a node that moves with pods that do not mind', web, { type: 'node-changed', node: moved, old: node }, false],
    [
      'a claim that changes',
      wishing({ near: [term('db')], apart: [term('db')] }),
      { type: 'storage-capacity-changed' },
      false,
    ],
    ['a node that goes with its pods', apart, { type: 'node-removed', node }, true],
    ['a namespace with other labels', apart, { type: 'namespace-changed', namespace: 'x' }, true],
  ])('is helped by %s', (_, pod, event, expected) => {
    const there = new NodeInfo(moved)
    there.add(wishing({ apart: [term('cache')] }))
    there.add(near)
    expect(interPodAffinity.isHelpedBy?.(pod, event, makeCluster([there]))).toBe(expected)
  })
})

it('counts follow pods, nodes and namespaces as they change', () => {
  const cache = new SchedulerCache()
  const verdict = (pod: Pod) =>
    cache.nodes.map((node) => interPodAffinity.filter?.(pod, cache)?.refuse(node)?.reasons[0])
  cache.setNode(makeNode({ name: 'a', labels: { zone: 'a' } }))
  cache.setNode(makeNode({ name: 'b', labels: { zone: 'b' } }))
  const unwilling = wishing({ app: 'db', apart: [term('web', { namespaceSelector: { matchLabels: { team: 'x' } } })] })
  const web = plain('web')
  expect(verdict(web)).toEqual([undefined, undefined])
  cache.place(unwilling, 'a')
  expect(verdict(web)).toEqual([undefined, undefined])
  cache.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { team: 'x' } } })
  expect(verdict(web)).toEqual([reasons.e, undefined])
  cache.setNode(makeNode({ name: 'b', labels: { zone: 'a' } }))
  expect(verdict(web)).toEqual([reasons.e, reasons.e])
  cache.removeNode('a')
  expect(verdict(web)).toEqual([undefined])
  cache.setNode(makeNode({ name: 'a', labels: { zone: 'a' } }))
  expect(verdict(web)).toEqual([reasons.e, reasons.e])
  cache.remove(unwilling.metadata.uid ?? '')
  expect(verdict(web)).toEqual([undefined, undefined])
})
