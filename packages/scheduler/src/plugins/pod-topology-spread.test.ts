import type { Labels, Pod, TopologySpreadConstraint } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClusterEvent } from '../cluster-event.ts'
import { NodeInfo } from '../node-info.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import { makeCluster, makeNode, makePod, type NodeOptions } from '../testing/objects.ts'
import { podTopologySpread } from './pod-topology-spread.ts'

type Constraint = Partial<TopologySpreadConstraint>

const app = { app: 'web' }

const labelled = (labels: Readonly<Record<string, string>>, spec: Parameters<typeof makePod>[0] = {}): Pod => {
  const pod = makePod(spec)
  return { ...pod, metadata: { ...pod.metadata, labels } }
}

/** A pod of the app that is spread over zones by one, unless said otherwise. */
const spread = (constraint: Constraint = {}, spec: Parameters<typeof makePod>[0] = {}): Pod =>
  labelled(app, {
    ...spec,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: app },
        ...constraint,
      },
    ],
  })

/** A node in a zone with so many pods of the app. */
function nodeIn(zone: string | undefined, count = 0, more: NodeOptions = {}): NodeInfo {
  const info = new NodeInfo(makeNode({ ...more, labels: { ...(zone === undefined ? {} : { zone }), ...more.labels } }))
  for (let pods = 0; pods < count; pods++) info.add(labelled(app))
  return info
}

/** For each node whether the pod may go there: `+`, `-`, or `?` where it is in no place. */
function verdicts(pod: Pod, nodes: readonly NodeInfo[]): string {
  const filter = podTopologySpread.filter?.(pod, makeCluster(nodes))
  return nodes
    .map((node) => {
      const refusal = filter?.refuse(node)
      if (refusal === undefined) return '+'
      expect(refusal.reasons[0]).toMatch(/^node\(s\) didn't match pod topology spread constraints/)
      expect(refusal.isHelpedByEviction).toBe(!refusal.reasons[0]?.endsWith('(missing required label)'))
      return refusal.isHelpedByEviction ? '-' : '?'
    })
    .join('')
}

const scoresOf = (
  pod: Pod,
  nodes: readonly NodeInfo[],
  serviceSelectors: readonly Labels[] = [],
): readonly number[] | undefined => {
  const scorer = podTopologySpread.scorer?.(pod, makeCluster(nodes, {}, serviceSelectors), nodes)
  if (scorer === undefined) return undefined
  const scores = Float64Array.from(nodes, (node) => scorer.score(node))
  scorer.normalize?.(scores, nodes)
  return [...scores]
}

describe('a pod that must be spread', () => {
  it.each<[string, Pod, readonly NodeInfo[], string]>([
    ['goes anywhere where it says nothing', makePod(), [nodeIn('a', 5), nodeIn(undefined)], '++'],
    ['goes where fewest are', spread(), [nodeIn('a', 2), nodeIn('b', 1), nodeIn('c', 1)], '-++'],
    ['goes anywhere while all is even', spread(), [nodeIn('a', 1), nodeIn('b', 1)], '++'],
    ['counts a place by all of its nodes', spread(), [nodeIn('a', 1), nodeIn('a', 1), nodeIn('b', 1)], '--+'],
    [
      'may be less even where it says so',
      spread({ maxSkew: 2 }),
      [nodeIn('a', 2), nodeIn('b', 0), nodeIn('c', 1)],
      '-++',
    ],
    ['goes to no node without the label', spread(), [nodeIn(undefined), nodeIn('a', 3)], '?+'],
    [
      'takes nothing for a label that every object inherits',
      spread({ topologyKey: 'constructor' }),
      [nodeIn('a'), nodeIn('b', 0, { labels: { constructor: 'x' } })],
      '?+',
    ],
    [
      'counts no pods of nodes without the label',
      spread(),
      [nodeIn(undefined, 9), nodeIn('a', 1), nodeIn('b', 0)],
      '?-+',
    ],
    [
      'counts itself only if it matches',
      { ...spread(), metadata: { name: 'other', namespace: 'default' } },
      [nodeIn('a', 1), nodeIn('b', 0)],
      '++',
    ],
    [
      'only prefers where it says so',
      spread({ whenUnsatisfiable: 'ScheduleAnyway' }),
      [nodeIn('a', 9), nodeIn('b')],
      '++',
    ],
    ['counts nothing by an empty selector', spread({ labelSelector: {} }), [nodeIn('a', 9), nodeIn('b')], '++'],
    ['takes too few places for an empty one', spread({ minDomains: 3 }), [nodeIn('a', 1), nodeIn('b', 1)], '--'],
    [
      'takes enough places for what they are',
      spread({ minDomains: 3 }),
      [nodeIn('a', 1), nodeIn('b', 1), nodeIn('c', 1)],
      '+++',
    ],
    [
      'leaves out nodes that its node selector rules out',
      spread({}, { nodeSelector: { disk: 'ssd' } }),
      [nodeIn('a', 1, { labels: { disk: 'ssd' } }), nodeIn('b', 0)],
      '++',
    ],
    [
      'counts those nodes where it says so',
      spread({ nodeAffinityPolicy: 'Ignore' }, { nodeSelector: { disk: 'ssd' } }),
      [nodeIn('a', 1, { labels: { disk: 'ssd' } }), nodeIn('b', 0)],
      '-+',
    ],
    [
      'counts nodes with taints',
      spread(),
      [nodeIn('a', 1), nodeIn('b', 0, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })],
      '-+',
    ],
    [
      'leaves them out where it says so',
      spread({ nodeTaintsPolicy: 'Honor' }),
      [nodeIn('a', 1), nodeIn('b', 0, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })],
      '++',
    ],
    [
      'counts tainted nodes that it tolerates',
      spread({ nodeTaintsPolicy: 'Honor' }, { tolerations: [{ key: 'gpu', operator: 'Exists' }] }),
      [nodeIn('a', 1), nodeIn('b', 0, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })],
      '-+',
    ],
  ])('%s', (_, pod, nodes, expected) => {
    expect(verdicts(pod, nodes)).toBe(expected)
  })

  it('must meet all of its constraints, and counts only nodes that are in a place for each', () => {
    const over = (topologyKey: string): TopologySpreadConstraint => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: app },
    })
    const pod = labelled(app, { topologySpreadConstraints: [over('zone'), over('rack')] })
    const nodes = [
      nodeIn('a', 1, { labels: { rack: '1' } }),
      nodeIn('a', 0, { labels: { rack: '2' } }),
      nodeIn('b', 0, { labels: { rack: '1' } }),
      nodeIn('b', 1, { labels: { rack: '3' } }),
      nodeIn('c', 0),
    ]
    expect(verdicts(pod, nodes)).toBe('-+--?')
  })

  it('counts no pods that are ending, nor those of other namespaces', () => {
    const ending = labelled(app)
    const other = labelled(app)
    const node = nodeIn('a')
    node.add({ ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    node.add({ ...other, metadata: { ...other.metadata, namespace: 'elsewhere' } })
    expect(verdicts(spread(), [node, nodeIn('b')])).toBe('++')
  })

  it('is answered as if other pods were gone or there, and as before when that is taken back', () => {
    const nodes = [nodeIn('a', 1), nodeIn('b')] as const
    const filter = podTopologySpread.filter?.(spread(), makeCluster(nodes))
    const [there] = [...nodes[0].pods.values()] as [Pod]
    const isRefused = () => filter?.refuse(nodes[0]) !== undefined
    expect(isRefused()).toBe(true)
    filter?.remove(there, nodes[0])
    expect(isRefused()).toBe(false)
    filter?.add(there, nodes[0])
    expect(isRefused()).toBe(true)
    filter?.add(labelled(app), nodes[1])
    filter?.add(labelled({ app: 'other' }), nodes[0])
    filter?.add(labelled(app), nodeIn(undefined))
    expect(isRefused()).toBe(false)
  })

  it('is never more uneven than it may be, whatever was placed before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 3, maxLength: 9 }),
        fc.integer({ min: 1, max: 30 }),
        (maxSkew, zones, count) => {
          const cache = new SchedulerCache()
          for (const [index, zone] of zones.entries()) cache.setNode(makeNode({ name: `n${index}`, labels: { zone } }))
          for (let pods = 0; pods < count; pods++) {
            const pod = spread({ maxSkew })
            const filter = podTopologySpread.filter?.(pod, cache)
            const node = cache.nodes.find((each) => filter?.refuse(each) === undefined)
            expect(node).toBeDefined()
            cache.place(pod, node?.name ?? '')
            const counts = Map.groupBy(cache.nodes, ({ node: { metadata } }) => metadata.labels?.zone)
            const sums = [...counts.values()].map((nodes) => nodes.reduce((sum, { podCount }) => sum + podCount, 0))
            expect(Math.max(...sums) - Math.min(...sums)).toBeLessThanOrEqual(maxSkew)
          }
        },
      ),
    )
  })
})

describe('a pod that should be spread', () => {
  const anyway = (constraint: Constraint = {}) => spread({ whenUnsatisfiable: 'ScheduleAnyway', ...constraint })

  it.each<[string, Pod, readonly NodeInfo[], readonly number[] | undefined]>([
    ['is not asked about where it must be', spread(), [nodeIn('a')], undefined],
    ['suits any node where there are none', anyway(), [nodeIn('a'), nodeIn('b')], [100, 100]],
    [
      'suits places the better the fewer are there',
      anyway(),
      [nodeIn('a', 2), nodeIn('b', 1), nodeIn('c', 0)],
      [0, 33, 100],
    ],
    ['suits places by all of their nodes', anyway(), [nodeIn('a', 1), nodeIn('a', 1), nodeIn('b', 1)], [33, 33, 100]],
    ['does not suit nodes in no place', anyway(), [nodeIn(undefined), nodeIn('a', 4), nodeIn('b', 4)], [0, 100, 100]],
    ['is watered down by the skew it may have', anyway({ maxSkew: 5 }), [nodeIn('a', 1), nodeIn('b', 0)], [80, 100]],
  ])('%s', (_, pod, nodes, expected) => {
    expect(scoresOf(pod, nodes)).toEqual(expected)
  })
})

describe('a pod that says nothing', () => {
  const owned = (kind: string, uid = 'owner-1'): Pod => {
    const pod = makePod()
    const owner = { apiVersion: 'v1', kind, name: 'owner', uid, controller: true }
    return { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } }
  }
  const host = (name: string, pods: readonly Pod[], zone?: string) => {
    const labels = { 'kubernetes.io/hostname': name, ...(zone && { 'topology.kubernetes.io/zone': zone }) }
    const info = new NodeInfo(makeNode({ name, labels }))
    for (const pod of pods) info.add(pod)
    return info
  }
  const replica = () => owned('ReplicaSet')

  it('is spread over nodes among those of its owner', () => {
    const nodes = [
      host('a', [replica(), replica()]),
      host('b', [owned('ReplicaSet', 'owner-2')]),
      host('c', [replica()]),
    ]
    expect(scoresOf(replica(), nodes)).toEqual([40, 100, 60])
  })

  it('counts no pods that are ending or gone, and each of its owner once', () => {
    const [ending, gone, twice] = [replica(), replica(), replica()]
    const [owner] = twice.metadata.ownerReferences ?? []
    const ownedTwice = { ...twice, metadata: { ...twice.metadata, ownerReferences: [owner, owner] } } as Pod
    const crowded = host('a', [ending, gone, ownedTwice])
    crowded.refresh({ ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })
    crowded.remove(gone)
    expect(scoresOf(replica(), [crowded, host('b', [replica()])])).toEqual([100, 100])
  })

  it.each([10, 10_000])('is compared by the nodes, without a look at the %i pods there', (count) => {
    const crowded = host('a', Array.from({ length: count }, replica))
    const all = crowded.pods
    Object.defineProperty(crowded, 'pods', { get: () => expect.fail('asks for all pods') })
    expect(scoresOf(replica(), [crowded, host('b', [])])).toEqual([expect.any(Number), 100])
    expect(all.size).toBe(count)
  })

  it('is spread over zones, too', () => {
    const nodes = [host('a', [replica(), replica()], 'x'), host('b', [], 'x'), host('c', [], 'y')]
    const [there, beside, elsewhere] = scoresOf(replica(), nodes) ?? []
    expect(there).toBeLessThan(beside ?? 0)
    expect(beside).toBeLessThan(elsewhere ?? 0)
  })

  it('takes nodes without a zone for one more zone when it weighs them', () => {
    const four = [replica(), replica(), replica(), replica()]
    const nodes = [host('a', four, 'x'), host('b', [replica(), replica()], 'y'), host('c', [])]
    expect(scoresOf(replica(), nodes)).toEqual([10, 47, 100])
  })

  it('is spread among those that are behind the same services, where nobody owns it who keeps pods', () => {
    const labelledBy = (labels: Labels): Pod => {
      const pod = owned('Job')
      return { ...pod, metadata: { ...pod.metadata, labels } }
    }
    const web = () => labelledBy({ app: 'web', tier: 'front' })
    const going = { ...web(), metadata: { ...web().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const elsewhere = { ...web(), metadata: { ...web().metadata, namespace: 'other' } }
    const nodes = [
      host('a', [web(), web()]),
      host('b', [labelledBy({ app: 'web' }), going, elsewhere]),
      host('c', [web()]),
    ]
    const selectors = [{ app: 'web' }, { tier: 'front' }, { app: 'api' }]
    expect(scoresOf(web(), nodes, selectors)).toEqual([40, 100, 60])
    expect(scoresOf(web(), nodes, [{ app: 'web' }])).toEqual([80, 100, 100])
    expect(scoresOf(labelledBy({ app: 'other' }), nodes, selectors)).toBeUndefined()
  })

  it.each(['ReplicaSet', 'ReplicationController', 'StatefulSet'])('is, where it belongs to a %s', (kind) => {
    expect(scoresOf(owned(kind), [host('a', [owned(kind)]), host('b', [])])).toEqual([expect.any(Number), 100])
  })

  it('is spread anew where its services, its node selector or its owner is another', () => {
    const cache = new SchedulerCache()
    for (const name of ['a', 'b', 'c']) {
      cache.setNode(makeNode({ name, labels: { 'kubernetes.io/hostname': name, on: name === 'c' ? 'no' : 'yes' } }))
    }
    const scores = (pod: Pod) => {
      const scorer = podTopologySpread.scorer?.(pod, cache, cache.nodes)
      const totals = Float64Array.from(cache.nodes, (node) => scorer?.score(node) ?? 0)
      scorer?.normalize?.(totals, cache.nodes)
      return Object.fromEntries(cache.nodes.map(({ name }, index) => [name, totals[index]]))
    }
    const where = { nodeSelector: { on: 'yes' } }
    cache.place(replica(), 'a')
    cache.place(owned('ReplicaSet', 'owner-2'), 'b')
    cache.place(replica(), 'c')
    expect(scores(replica())).toMatchObject({ b: 100 })
    expect(scores(owned('ReplicaSet', 'owner-2'))).toMatchObject({ a: 100, c: 100 })
    const selective = replica()
    // The pod of the node that it cannot come to does not count.
    expect(scores({ ...selective, spec: { ...selective.spec, ...where } })).toEqual({ a: 0, b: 50, c: 100 })
  })

  it.each(['DaemonSet', 'Job'])('is not, where it belongs to a %s', (kind) => {
    expect(scoresOf(owned(kind), [host('a', [])])).toBeUndefined()
    expect(scoresOf(makePod(), [host('a', [])])).toBeUndefined()
  })
})

describe('a pod that was refused for its spread', () => {
  const node = makeNode({ labels: { zone: 'a' } })
  const tainted = makeNode({ labels: { zone: 'a' }, taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
  const spreadOver = (...keys: readonly string[]): Pod => {
    const pod = spread()
    const [constraint] = pod.spec.topologySpreadConstraints ?? []
    const topologySpreadConstraints = keys.map((topologyKey) => ({ ...constraint, topologyKey }))
    return { ...pod, spec: { ...pod.spec, topologySpreadConstraints } as Pod['spec'] }
  }
  const host = (zone: string, name: string) => makeNode({ labels: { zone, 'kubernetes.io/hostname': name } })
  const moved = makeNode({ labels: { zone: 'b' } })
  const plain = makeNode()
  const counted = labelled(app)
  const other = labelled({ app: 'other' })
  const ending = { ...counted, metadata: { ...counted.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }

  it.each<[string, ClusterEvent, boolean]>([
    ['a node that comes to a place', { type: 'node-changed', node }, true],
    ['a node that comes to no place', { type: 'node-changed', node: plain }, false],
    ['a node that moves', { type: 'node-changed', node: moved, old: node }, true],
    ['a node that comes to be in a place', { type: 'node-changed', node, old: plain }, true],
    ['a node that stays where it is', { type: 'node-changed', node, old: node }, false],
    ['a node that goes', { type: 'node-removed', node }, true],
    ['a node that goes from no place', { type: 'node-removed', node: plain }, false],
    ['a pod that counts and comes', { type: 'pod-placed', pod: counted, nodeName: 'n' }, true],
    ['a pod that does not count and comes', { type: 'pod-placed', pod: other, nodeName: 'n' }, false],
    ['a pod that comes to count', { type: 'pod-placed', pod: counted, old: other, nodeName: 'n' }, true],
    ['a pod that is ending', { type: 'pod-placed', pod: ending, old: counted, nodeName: 'n' }, true],
    [
      'a pod that changes and counts as before',
      { type: 'pod-placed', pod: counted, old: counted, nodeName: 'n' },
      false,
    ],
    ['a pod that counted and is gone', { type: 'pod-removed', pod: ending, nodeName: 'n' }, true],
    ['a pod that did not count and is gone', { type: 'pod-removed', pod: other, nodeName: 'n' }, false],
    ['a namespace', { type: 'namespace-changed', namespace: 'default' }, false],
  ])('is helped by %s: %o', (_, event, expected) => {
    expect(podTopologySpread.isHelpedBy?.(spread(), event, makeCluster([]))).toBe(expected)
  })

  it.each<[string, Pod, ClusterEvent, boolean]>([
    ['leaves its place', spread(), { type: 'node-changed', node: plain, old: node }, true],
    ['was in no place and is in none', spread(), { type: 'node-changed', node: plain, old: makeNode() }, false],
    [
      'says nothing of where it was',
      spread(),
      { type: 'node-changed', node, old: { ...plain, metadata: { name: 'n' } } },
      true,
    ],
    [
      'says nothing of where it was, nor now',
      spread(),
      { type: 'node-changed', node: plain, old: { ...plain, metadata: { name: 'n' } } },
      false,
    ],
    [
      'counts now, where its taint kept it from that',
      spread({ nodeTaintsPolicy: 'Honor' }),
      { type: 'node-changed', node, old: tainted },
      true,
    ],
    [
      'is tainted still',
      spread({ nodeTaintsPolicy: 'Honor' }),
      { type: 'node-changed', node: { ...tainted }, old: tainted },
      false,
    ],
    [
      'is tainted now, which does not count',
      spread({ nodeTaintsPolicy: 'Ignore' }),
      { type: 'node-changed', node: tainted, old: node },
      false,
    ],
    [
      'moves by one of two labels',
      spreadOver('zone', 'kubernetes.io/hostname'),
      { type: 'node-changed', node: host('a', 'two'), old: host('a', 'one') },
      true,
    ],
  ])('is helped by a node that %s: %o', (_, pod, event, expected) => {
    expect(podTopologySpread.isHelpedBy?.(pod, event, makeCluster([]))).toBe(expected)
  })

  it('rests together with those alike only', () => {
    const signature = (pod: Pod) => JSON.stringify(podTopologySpread.signature(pod))
    expect(signature(spread())).toBe(signature(spread()))
    expect(signature(spread({ maxSkew: 2 }))).not.toBe(signature(spread()))
    expect(podTopologySpread.signature(makePod())).toBeUndefined()
  })
})
