import type { Pod, PodSpec, Taint } from '@coracle/api'
import { seededRandom } from '@coracle/environment'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explain, explainNoHelp } from './fit-error.ts'
import { Framework } from './framework.ts'
import { NodeInfo } from './node-info.ts'
import { defaultPlugins } from './plugins/index.ts'
import type { ClusterPlugin } from './plugins/plugin.ts'
import { nonZeroRequestOf, podRequestOf } from './pod-request.ts'
import { planPreemption } from './preemption/preempt.ts'
import * as decisions from './schedule.ts'
import { makeCluster, makeNode, makePod, type NodeOptions } from './testing/objects.ts'

const { feasibleWanted } = decisions

const random = seededRandom(1)
const infos = (nodes: readonly NodeOptions[]) => nodes.map((node) => new NodeInfo(makeNode(node)))

const framework = new Framework(defaultPlugins)

/** What is decided about a pod among these nodes, and what is said of it where it fits nowhere. */
function schedule(pod: Pod, nodes: readonly NodeInfo[], options: decisions.ScheduleOptions = {}) {
  const cluster = makeCluster(nodes)
  const decision = decisions.schedule(pod, cluster, framework, options)
  if (decision.type === 'fits') return decision
  const { prepared, diagnosis } = decision
  const preemption = planPreemption({ prepared, diagnosis, cluster, budgets: [], random })
  if (preemption.type === 'preempts') throw new Error('there is nobody to leave')
  return { ...decision, message: `${explain(diagnosis)} ${explainNoHelp(diagnosis, preemption)}`.trim() }
}

describe('schedule', () => {
  it('says so when there is no node at all', () => {
    expect(schedule(makePod(), [])).toMatchObject({
      type: 'unschedulable',
      message: 'no nodes available to schedule pods',
    })
  })

  const gpuTaint: Taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' }
  const affinity = (...terms: object[]): Partial<PodSpec> => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    },
  })

  const cases: readonly {
    readonly name: string
    readonly pod: Parameters<typeof makePod>[0]
    readonly refused: NodeOptions
    readonly accepted: NodeOptions
    readonly message: string
  }[] = [
    {
      name: 'a cordoned node',
      pod: {},
      refused: { unschedulable: true },
      accepted: {},
      message:
        '1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
    {
      name: 'an untolerated taint',
      pod: {},
      refused: { taints: [gpuTaint] },
      accepted: { taints: [{ ...gpuTaint, effect: 'PreferNoSchedule' }] },
      message:
        '1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
    {
      name: 'a taint that is tolerated with another value',
      pod: { tolerations: [{ key: 'gpu', operator: 'Equal', value: 'no', effect: 'NoSchedule' }] },
      refused: { taints: [gpuTaint] },
      accepted: { taints: [{ ...gpuTaint, value: 'no' }] },
      message:
        '1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
    {
      name: 'a missing label of the node selector',
      pod: { nodeSelector: { disk: 'ssd' } },
      refused: { labels: { disk: 'hdd' } },
      accepted: { labels: { disk: 'ssd' } },
      message:
        "1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    },
    {
      name: 'required affinity by expression',
      pod: affinity({ matchExpressions: [{ key: 'cores', operator: 'Gt', values: ['8'] }] }),
      refused: { labels: { cores: '8' } },
      accepted: { labels: { cores: '10' } },
      message:
        "1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    },
    {
      name: 'required affinity by field beside another term',
      pod: affinity(
        { matchExpressions: [{ key: 'absent', operator: 'Exists' }] },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['chosen'] }] },
      ),
      refused: { name: 'other' },
      accepted: { name: 'chosen' },
      message:
        "1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    },
    {
      name: 'more CPU and memory than the node has',
      pod: { requests: { cpu: '5', memory: '9Gi' } },
      refused: {},
      accepted: { allocatable: { cpu: '8', memory: '16Gi' } },
      message:
        '1 Insufficient cpu, 1 Insufficient memory. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
    {
      name: 'an extended resource that the node does not have',
      pod: { requests: { 'example.com/gpu': '1' } },
      refused: {},
      accepted: { allocatable: { 'example.com/gpu': '2' } },
      message:
        '1 Insufficient example.com/gpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
    },
  ]

  it.each(cases)('refuses $name', ({ pod, refused, accepted, message }) => {
    expect(schedule(makePod(pod), infos([refused]))).toMatchObject({
      type: 'unschedulable',
      message: `0/1 nodes are available: ${message}`,
    })
    const nodes = infos([refused, accepted])
    expect(schedule(makePod(pod), nodes)).toMatchObject({ type: 'fits', node: nodes[1] })
  })

  it('refuses a node that has yet to say what it has, even a pod that asks for nothing', () => {
    const { status: _, ...silent } = makeNode()
    expect(schedule(makePod(), [new NodeInfo(silent)])).toMatchObject({
      message:
        '0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    })
  })

  const byName = (...names: readonly (readonly string[])[]) =>
    affinity(...names.map((values) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] })))

  it('looks only at nodes that a pod names, and says so of the others', () => {
    const nodes = infos([{ name: 'a', unschedulable: true }, { name: 'b' }, { name: 'c' }])
    expect(schedule(makePod(byName(['c'])), nodes)).toMatchObject({ node: nodes[2], examined: 1 })
    expect(schedule(makePod(byName(['a'])), nodes)).toMatchObject({
      message:
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    })
  })

  it('says that nothing is meant where a pod names two nodes at once', () => {
    const matchFields = ['a', 'b'].map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] }))
    expect(schedule(makePod(affinity({ matchFields })), infos([{ name: 'a' }, { name: 'b' }]))).toMatchObject({
      message: '0/2 nodes are available: pod affinity terms conflict. not found',
    })
  })

  it('says of a pod that never preempts only that', () => {
    const pod = makePod({ preemptionPolicy: 'Never', requests: { cpu: '5' } })
    expect(schedule(pod, infos([{}]))).toMatchObject({
      message:
        '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    })
  })

  it('refuses a node whose room is taken by other pods, and counts evicting them as a way out that finds no victims', () => {
    const [node] = infos([{ allocatable: { pods: '1' } }]) as [NodeInfo]
    const there = makePod()
    node.add(there)
    expect(schedule(makePod(), [node])).toMatchObject({
      message:
        '0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    })
    node.remove(there)
    expect(schedule(makePod(), [node]).type).toBe('fits')
  })

  it.each([
    ['127.0.0.1', '127.0.0.1', 'unschedulable'],
    ['127.0.0.2', '127.0.0.1', 'fits'],
  ])('gives a host port of %s and %s: %s', (held, wanted, expected) => {
    const withPort = (hostIP: string) =>
      makePod({ containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80, hostIP, protocol: 'TCP' }] }] })
    const [node] = infos([{}]) as [NodeInfo]
    node.add(withPort(held))
    expect(schedule(withPort(wanted), [node]).type).toBe(expected)
  })

  it('prefers the emptier node, and the one whose preferences and taints suit', () => {
    const [full, empty] = infos([{}, {}]) as [NodeInfo, NodeInfo]
    full.add(makePod({ requests: { cpu: '2', memory: '4Gi' } }))
    expect(schedule(makePod(), [full, empty])).toMatchObject({ node: empty })

    const [tainted, clean] = infos([{ taints: [{ key: 'old', effect: 'PreferNoSchedule' }] }, {}]) as [
      NodeInfo,
      NodeInfo,
    ]
    expect(schedule(makePod(), [tainted, clean])).toMatchObject({ node: clean })

    const [plain, liked] = infos([{}, { labels: { zone: 'a' } }]) as [NodeInfo, NodeInfo]
    const preferred = makePod({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] } },
          ],
        },
      },
    })
    expect(schedule(preferred, [plain, liked])).toMatchObject({ node: liked })
  })

  it('spreads pods over equal nodes', () => {
    const nodes = infos(Array.from({ length: 4 }, (_, index) => ({ name: `node-${index}` })))
    const counts = new Map<NodeInfo, number>()
    for (let index = 0; index < 400; index++) {
      const decision = schedule(makePod({}, `web-${index}`), nodes)
      if (decision.type === 'fits') counts.set(decision.node, (counts.get(decision.node) ?? 0) + 1)
    }
    for (const node of nodes) {
      expect(counts.get(node)).toBeGreaterThan(70)
      expect(counts.get(node)).toBeLessThan(130)
    }
  })

  it('gives a pod of a name the same of equal nodes, in whatever order it comes upon them', () => {
    const nodes = infos(Array.from({ length: 5 }, (_, index) => ({ name: `node-${index}` })))
    for (const name of ['db-0', 'db-1', 'db-2', 'db-3']) {
      const chosen = [nodes, nodes.toReversed()].map((each) => schedule(makePod({}, name), each))
      expect(new Set(chosen.map((decision) => decision.type === 'fits' && decision.node.name)).size).toBe(1)
    }
  })

  it('gives pods whose names end in random letters the same nodes, one after the other, whatever the letters', () => {
    const placesOf = (letters: string) => {
      const nodes = infos(Array.from({ length: 5 }, (_, index) => ({ name: `node-${index}` })))
      return Array.from({ length: 12 }, (_, index) => {
        const one = makePod({}, `web-${letters}${index}`)
        const pod = { ...one, metadata: { ...one.metadata, generateName: 'web-' } }
        const decision = schedule(pod, nodes)
        if (decision.type !== 'fits') return 'nowhere'
        decision.node.add(pod)
        return decision.node.name
      })
    }
    expect(placesOf('xk2')).toEqual(placesOf('m7q'))
    expect(new Set(placesOf('xk2')).size).toBe(5)
  })

  it.each([
    ['of a replica set draw the same, whatever letters they end in', 'ReplicaSet', true, false],
    ['of a stateful set draw by their names', 'StatefulSet', true, true],
    ['of a stateful set that does not control them draw the same', 'StatefulSet', false, false],
  ])('pods %s', (_, kind, controller, isByName) => {
    const nodes = infos(Array.from({ length: 8 }, (_each, index) => ({ name: `n${index}` })))
    const places = Array.from({ length: 12 }, (_each, index) => {
      const pod = makePod({}, `web-${index}`)
      const ownerReferences = [{ apiVersion: 'apps/v1', kind, name: 'web', uid: 'uid-web', controller }]
      const metadata = { ...pod.metadata, generateName: 'web-', ownerReferences }
      const decision = schedule({ ...pod, metadata }, nodes)
      return decision.type === 'fits' ? decision.node.name : 'nowhere'
    })
    expect(new Set(places).size > 1).toBe(isByName)
  })

  it('places pods that ask for nothing where fewer of them are', () => {
    const nodes = infos([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    for (let round = 0; round < 12; round++) {
      const pod = makePod()
      const decision = schedule(pod, nodes)
      if (decision.type === 'fits') decision.node.add(pod)
    }
    expect(nodes.map(({ podCount }) => podCount)).toEqual([4, 4, 4])
  })

  it('never over-commits a node, whatever comes', () => {
    const pod = fc.record({ cpu: fc.integer({ min: 0, max: 3000 }), memory: fc.integer({ min: 0, max: 4096 }) })
    fc.assert(
      fc.property(fc.array(pod, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (wanted, nodeCount) => {
        const nodes = infos(Array.from({ length: nodeCount }, () => ({ allocatable: { pods: '8' } })))
        for (const { cpu, memory } of wanted) {
          const candidate = makePod({ requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } })
          const decision = schedule(candidate, nodes)
          if (decision.type === 'fits') decision.node.add(candidate)
          else {
            const { milliCpu, memory: bytes } = podRequestOf(candidate)
            const room = nodes.some(
              (node) => node.podCount < 8 && node.milliCpu + milliCpu <= 4000 && node.memory + bytes <= 8 * 2 ** 30,
            )
            expect(room).toBe(false)
          }
        }
        for (const node of nodes) {
          expect(node.milliCpu).toBeLessThanOrEqual(4000)
          expect(node.memory).toBeLessThanOrEqual(8 * 2 ** 30)
          expect(node.podCount).toBeLessThanOrEqual(8)
        }
      }),
    )
  })

  it('examines only a share of a large cluster, beginning where it is told', () => {
    const nodes = infos(Array.from({ length: 1000 }, (_, index) => ({ name: `n${index}` })))
    const decision = schedule(makePod(), nodes, { start: 990 })
    expect(decision.examined).toBe(feasibleWanted(1000))
    expect(decision.examined).toBe(420)
    expect(feasibleWanted(99)).toBe(99)
    expect(feasibleWanted(5000)).toBe(500)
    expect(feasibleWanted(20_000)).toBe(1000)
  })

  it.each([
    [50, 10, 50],
    [1000, 1, 100],
    [1000, 30, 300],
    [1000, 100, 1000],
    [1000, 200, 1000],
  ])('examines of %i nodes, where %i percent are wanted, %i', (nodeCount, percentageOfNodesToScore, examined) => {
    const nodes = infos(Array.from({ length: nodeCount }, () => ({})))
    expect(feasibleWanted(nodeCount, percentageOfNodesToScore)).toBe(examined)
    expect(schedule(makePod(), nodes, { percentageOfNodesToScore }).examined).toBe(examined)
  })

  it('looks at no node where it is settled that none takes the pod', () => {
    const rejection = { reasons: ['no claim', 'no class'], isHelpedByEviction: false }
    const rejecting: ClusterPlugin = {
      name: 'Rejecting',
      scope: 'cluster',
      signature: () => undefined,
      filter: () => ({ rejection, refuse: () => undefined, add: () => {}, remove: () => {} }),
    }
    const cluster = makeCluster(infos([{}, {}]))
    const decision = decisions.schedule(makePod(), cluster, new Framework([...defaultPlugins, rejecting]))
    expect(decision).toMatchObject({
      type: 'unschedulable',
      diagnosis: {
        nodeCount: 2,
        rejection: { ...rejection, plugin: 'Rejecting' },
        refusals: [],
        namedBy: [],
        isContradictory: false,
      },
      examined: 0,
    })
  })

  it.each([0, 1])('prefers the better node, also when it is number %i', (position) => {
    const better = makeNode({ name: 'better' })
    const worse = makeNode({ name: 'worse', taints: [{ key: 'old', effect: 'PreferNoSchedule' }] })
    const nodes = (position === 0 ? [better, worse] : [worse, better]).map((node) => new NodeInfo(node))
    for (let round = 0; round < 8; round++) {
      expect(schedule(makePod(), nodes)).toMatchObject({ node: nodes[position] })
    }
  })
})

describe('podRequestOf', () => {
  it('is what the pod asks for, in whole units of each resource', () => {
    const requests = { cpu: '1500m', memory: '1Ki', 'ephemeral-storage': '2Ki', 'example.com/gpu': '3' }
    expect(podRequestOf(makePod({ containers: [{ name: 'a', resources: { requests } }] }))).toEqual({
      milliCpu: 1500,
      memory: 1024,
      ephemeralStorage: 2048,
      extended: new Map([['example.com/gpu', 3]]),
    })
  })
})

describe('nonZeroRequestOf', () => {
  const mebibytes = 2 ** 20

  it.each<[string, Partial<PodSpec>, { readonly milliCpu: number; readonly memory: number }]>([
    [
      'some for each container that says nothing',
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { milliCpu: 200, memory: 400 * mebibytes },
    ],
    [
      'what is asked for where it is, even if that is nothing',
      { containers: [{ name: 'a', resources: { requests: { cpu: '1', memory: '0' } } }, { name: 'b' }] },
      { milliCpu: 1100, memory: 200 * mebibytes },
    ],
    [
      'what the pod as a whole asks for',
      { containers: [{ name: 'a' }, { name: 'b' }], resources: { requests: { cpu: '1' } } },
      { milliCpu: 1000, memory: 400 * mebibytes },
    ],
    [
      'what the pod as a whole asks for of memory',
      { containers: [{ name: 'a' }, { name: 'b' }], resources: { requests: { memory: '1Mi' } } },
      { milliCpu: 200, memory: mebibytes },
    ],
    [
      'what containers ask for, and no more, where the pod as a whole asks for other things',
      {
        containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }, { name: 'b' }],
        resources: { requests: { memory: '1Mi' } },
      },
      { milliCpu: 1000, memory: mebibytes },
    ],
    [
      'some where the pod as a whole asks for other things',
      { containers: [{ name: 'a' }], resources: { requests: { 'hugepages-2Mi': '2Mi' } } },
      { milliCpu: 100, memory: 200 * mebibytes },
    ],
  ])('is %s', (_, spec, expected) => {
    expect(nonZeroRequestOf(makePod(spec))).toMatchObject(expected)
  })
})
