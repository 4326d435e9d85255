import type { Node, Pod, PodSpec, Taint } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import { firstRefusal, PodClass } from '../pod-class.ts'
import { makeNode, makePod, type NodeOptions } from '../testing/objects.ts'
import { defaultPlugins } from './index.ts'
import { requiredNodeNames } from './node-affinity.ts'
import { normalizeToMax } from './plugin.ts'

const info = (node: NodeOptions = {}, ...pods: readonly Pod[]): NodeInfo => {
  const made = new NodeInfo(makeNode(node))
  for (const pod of pods) made.add(pod)
  return made
}

const nodePlugins = defaultPlugins.filter((plugin) => plugin.scope === 'node')

/** What the scorers of a name say of a node for a pod, before it is brought to 0–100; undefined where they say nothing. */
const scoreOf = (name: string, pod: Pod, node: NodeInfo): number | undefined =>
  nodePlugins
    .find((plugin) => plugin.name === name)
    ?.scorer?.(pod)
    ?.score(node)

/** Why a node is refused, by the first filter that does. */
const refusalOf = (pod: Pod, node: NodeInfo): readonly string[] =>
  firstRefusal(new PodClass(pod, nodePlugins).filters, node)?.reasons ?? []

const asking = (requests: Readonly<Record<string, string>>) => makePod({ requests })

describe('room on a node', () => {
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, readonly string[]]>([
    ['the last of it', { cpu: '3' }, { cpu: '1', memory: '8Gi' }, []],
    ['more CPU than is left', { cpu: '3' }, { cpu: '1001m' }, ['Insufficient cpu']],
    ['more memory than is left', { memory: '7Gi' }, { memory: '1025Mi' }, ['Insufficient memory']],
    [
      'more disk than is left',
      { 'ephemeral-storage': '9Gi' },
      { 'ephemeral-storage': '2Gi' },
      ['Insufficient ephemeral-storage'],
    ],
    [
      'more of something else than is left',
      { 'example.com/gpu': '1' },
      { 'example.com/gpu': '2' },
      ['Insufficient example.com/gpu'],
    ],
    [
      'several things that are short',
      { cpu: '4', memory: '8Gi' },
      { cpu: '1', memory: '1' },
      ['Insufficient cpu', 'Insufficient memory'],
    ],
    [
      'something that is short beside what there is',
      { cpu: '4' },
      { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', 'example.com/gpu': '1' },
      ['Insufficient cpu'],
    ],
    ['nothing of what others have used up beyond what there is', { cpu: '5' }, { memory: '1Gi' }, []],
    [
      'none of a device that others have used up beyond what there is',
      { 'example.com/gpu': '3' },
      { 'example.com/gpu': '0' },
      [],
    ],
  ])('for a pod that asks for %s', (_, used, wanted, refusal) => {
    const allocatable = { 'ephemeral-storage': '10Gi', 'example.com/gpu': '2' }
    expect(refusalOf(asking(wanted), info({ allocatable }, asking(used)))).toEqual(refusal)
  })

  it('comes back whole when pods leave', () => {
    const port = { containerPort: 80, hostPort: 80, protocol: 'TCP' } as const
    const requests = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '10Gi', 'example.com/gpu': '2' }
    const pod = makePod({ containers: [{ name: 'main', ports: [port], resources: { requests } }] })
    const allocatable = { 'ephemeral-storage': '10Gi', 'example.com/gpu': '2', pods: '1' }
    const node = info({ allocatable }, pod)
    expect(refusalOf(pod, node)).not.toEqual([])
    node.remove(pod)
    expect(refusalOf(pod, node)).toEqual([])
    expect(node).toMatchObject({
      milliCpuNonZero: 0,
      memoryNonZero: 0,
      podCount: 0,
      hostPorts: { addresses: new Map() },
    })
  })

  it('keeps the port of one pod when another leaves', () => {
    const onPort = (hostPort: number, protocol: 'TCP' | 'UDP' = 'TCP', hostIP?: string) =>
      makePod({
        containers: [
          {
            name: 'main',
            ports: [{ containerPort: 1, hostPort, protocol, ...(hostIP === undefined ? {} : { hostIP }) }],
          },
        ],
      })
    const others = [onPort(81), onPort(80, 'UDP'), onPort(80, 'TCP', '10.0.0.1')]
    const leaving = onPort(80, 'TCP', '10.0.0.2')
    const node = info({}, ...others, leaving)
    node.remove(leaving)
    expect([...node.hostPorts.addresses.values()].flatMap((counts) => [...counts.keys()])).toHaveLength(3)
    expect(refusalOf(onPort(80, 'TCP', '10.0.0.2'), node)).toEqual([])
    const taken = ["node(s) didn't have free ports for the requested pod ports"]
    expect(others.map((pod) => refusalOf(pod, node))).toEqual([taken, taken, taken])
  })

  it('is what the node says, or has where it does not say', () => {
    const { status: _, ...rest } = makeNode()
    const node = new NodeInfo({ ...rest, status: { capacity: { cpu: '2', pods: '3' } } } as Node)
    expect(node).toMatchObject({ allocatable: { milliCpu: 2000 }, podsMax: 3 })
    node.setNode({
      ...rest,
      status: { allocatable: { cpu: '1', pods: '2' }, capacity: { cpu: '2', pods: '3' } },
    } as Node)
    expect(node).toMatchObject({ allocatable: { milliCpu: 1000 }, podsMax: 2 })
    node.setNode({ ...rest, status: {} } as Node)
    expect(node).toMatchObject({ allocatable: { milliCpu: 0 }, podsMax: 0 })
  })
})

describe('the emptier node', () => {
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, number]>([
    ['an empty one', {}, { cpu: '1', memory: '2Gi' }, 75],
    ['one half full', { cpu: '2', memory: '4Gi' }, { cpu: '1', memory: '2Gi' }, 25],
    ['one whose CPU is used up', { cpu: '4', memory: '0' }, { cpu: '1', memory: '2Gi' }, 37],
    ['one exactly full', { cpu: '3', memory: '6Gi' }, { cpu: '1', memory: '2Gi' }, 0],
    ['one for a pod that asks for nothing, which counts as some', { cpu: '0', memory: '0' }, {}, 97],
  ])('scores by the mean of what is left: %s', (_, used, wanted, score) => {
    const node = info({}, ...(Object.keys(used).length === 0 ? [] : [asking(used)]))
    expect(scoreOf('NodeResourcesFit', asking(wanted), node)).toBe(score)
  })

  it('scores by what the node has', () => {
    const node = info({ allocatable: { cpu: '4', memory: '0' } })
    expect(scoreOf('NodeResourcesFit', asking({ cpu: '1' }), node)).toBe(75)
  })

  it('scores nothing where the node has nothing', () => {
    expect(scoreOf('NodeResourcesFit', makePod(), info({ allocatable: { cpu: '0', memory: '0' } }))).toBe(0)
  })
})

describe('the node that is used more evenly with the pod', () => {
  it.each<[Readonly<Record<string, string>>, Readonly<Record<string, string>>, number]>([
    [{}, { cpu: '1', memory: '2Gi' }, 75],
    [{ cpu: '2' }, { cpu: '1', memory: '2Gi' }, 75],
    [{}, { cpu: '2', memory: '0' }, 62],
    [{ memory: '4Gi' }, { cpu: '2' }, 87],
    [{ memory: '8Gi' }, { cpu: '4' }, 100],
    [{ memory: '2Gi' }, { cpu: '2' }, 75],
    [{}, { cpu: '8' }, 50],
  ])('scores by how much nearer CPU and memory come: %j and then %j', (used, wanted, score) => {
    expect(scoreOf('NodeResourcesBalancedAllocation', asking(wanted), info({}, asking(used)))).toBe(score)
  })

  it('is as even as any where it has but one of them', () => {
    const node = info({ allocatable: { cpu: '4', memory: '0' } }, asking({ cpu: '3' }))
    expect(scoreOf('NodeResourcesBalancedAllocation', asking({ cpu: '1' }), node)).toBe(75)
  })

  it('is not asked for a pod that asks for neither', () => {
    expect(scoreOf('NodeResourcesBalancedAllocation', makePod(), info())).toBeUndefined()
    const disk = asking({ 'ephemeral-storage': '1Gi' })
    expect(scoreOf('NodeResourcesBalancedAllocation', disk, info())).toBeUndefined()
    expect(scoreOf('NodeResourcesBalancedAllocation', asking({ memory: '1Gi' }), info())).toBeDefined()
  })
})

describe('preferences', () => {
  const prefer = (weight: number, key: string) => ({
    weight,
    preference: { matchExpressions: [{ key, operator: 'Exists' as const }] },
  })

  it('add up by their weights', () => {
    const preferredDuringSchedulingIgnoredDuringExecution = [prefer(10, 'a'), prefer(5, 'b'), prefer(1, 'c')]
    const pod = makePod({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } } })
    expect(scoreOf('NodeAffinity', pod, info({ labels: { a: '', c: '' } }))).toBe(11)
    expect(scoreOf('NodeAffinity', pod, info())).toBe(0)
    expect(scoreOf('NodeAffinity', makePod(), info())).toBeUndefined()
  })

  it('count the taints that speak against a node and are not tolerated', () => {
    const taint = (key: string, effect: Taint['effect']): Taint => ({ key, effect })
    const node = info({
      taints: [taint('a', 'PreferNoSchedule'), taint('b', 'PreferNoSchedule'), taint('c', 'NoSchedule')],
    })
    const tolerating = (spec: Partial<PodSpec>) => scoreOf('TaintToleration', makePod(spec), node)
    expect(tolerating({})).toBe(2)
    expect(tolerating({ tolerations: [{ key: 'a', operator: 'Exists' }] })).toBe(1)
    expect(tolerating({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'PreferNoSchedule' }] })).toBe(1)
    expect(tolerating({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }] })).toBe(2)
    expect(scoreOf('TaintToleration', makePod(), info())).toBe(0)
  })

  it.each<[readonly number[], boolean, readonly number[]]>([
    [[1, 2, 4], false, [25, 50, 100]],
    [[1, 3], false, [33, 100]],
    [[0, 0], false, [0, 0]],
    [[0, 1, 2], true, [100, 50, 0]],
    [[0, 0], true, [100, 100]],
    [[], true, []],
  ])('are brought to 0–100: %j (reversed: %s)', (scores, reverse, expected) => {
    const array = Float64Array.from(scores)
    normalizeToMax(array, reverse)
    expect([...array]).toEqual(expected)
  })
})

describe('nodes a pod names', () => {
  const field = (values: readonly string[], operator = 'In', key = 'metadata.name') => ({ key, operator, values })
  const required = (...terms: readonly object[]) =>
    makePod({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms as never } },
      },
    })

  it.each<[string, Pod, readonly string[] | undefined]>([
    ['none', makePod(), undefined],
    ['no terms', required(), undefined],
    ['none, where it only prefers some', makePod({ affinity: { nodeAffinity: {} } }), undefined],
    ['those of all terms', required({ matchFields: [field(['a'])] }, { matchFields: [field(['b'])] }), ['a', 'b']],
    ['any, where a term names none', required({ matchFields: [field(['a'])] }, { matchExpressions: [] }), undefined],
    ['any, where it names others only', required({ matchFields: [field(['a'], 'NotIn')] }), undefined],
    ['any, by another field', required({ matchFields: [field(['a'], 'In', 'metadata.uid')] }), undefined],
    ['those in every list of a term', required({ matchFields: [field(['a', 'b']), field(['b', 'c'])] }), ['b']],
    ['none, where lists contradict each other', required({ matchFields: [field(['a']), field(['b'])] }), []],
  ])('are known: %s', (_, pod, expected) => {
    const names = requiredNodeNames(pod)
    expect(names === undefined ? undefined : [...names]).toEqual(expected)
  })

  it('by spec.nodeName are the only ones', () => {
    const pod = makePod({ nodeName: 'a' })
    expect(refusalOf(pod, info({ name: 'a' }))).toEqual([])
    expect(refusalOf(pod, info({ name: 'b' }))).toEqual(["node(s) didn't match the requested node name"])
  })

  it('have to declare that they can restart all containers of a pod, where one asks for it', () => {
    const pod = makePod()
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }] as const
    const asking = (list: 'containers' | 'initContainers'): Pod => {
      const container = { name: 'c', restartPolicy: 'Never', restartPolicyRules } as const
      return { ...pod, spec: { ...pod.spec, [list]: [container] } }
    }
    const node = makeNode({})
    const declaredFeatures = ['Other', 'RestartAllContainersOnContainerExits']
    const declaring = new NodeInfo({ ...node, status: { ...node.status, declaredFeatures } })
    for (const list of ['containers', 'initContainers'] as const) {
      expect(refusalOf(asking(list), info())).toEqual(["node(s) didn't match Pod's required features"])
      expect(refusalOf(asking(list), declaring)).toEqual([])
    }
    expect(refusalOf(pod, info())).toEqual([])
  })

  it('may be cordoned for pods that tolerate it', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }] as const
    expect(refusalOf(makePod(), info({ unschedulable: true }))).toEqual(['node(s) were unschedulable'])
    expect(refusalOf(makePod({ tolerations }), info({ unschedulable: true }))).toEqual([])
  })
})

describe('the plugins', () => {
  it('are those of upstream, in its order and with its weights', () => {
    expect(defaultPlugins.map(({ name, scope, weight = 0 }) => `${name} ${scope} ${weight}`)).toEqual([
      'NodeUnschedulable node 0',
      'NodeName node 0',
      'TaintToleration node 3',
      'NodeAffinity node 2',
      'NodePorts node 0',
      'NodeResourcesFit node 1',
      'NodeResourcesBalancedAllocation node 1',
      'PodTopologySpread cluster 2',
      'InterPodAffinity cluster 2',
      'ImageLocality cluster 1',
      'NodeDeclaredFeatures node 0',
    ])
  })

  const port = { containerPort: 80, hostPort: 80, protocol: 'TCP' } as const
  const onPort: Partial<PodSpec> = { containers: [{ name: 'main', ports: [port] }] }
  const onPorts: Partial<PodSpec> = {
    containers: [{ name: 'main', ports: [{ ...port, containerPort: 81, hostPort: 81 }, port] }],
  }
  const gpu = (count: string) => ({ requests: { 'example.com/gpu': count } })
  const twoGpus = gpu('2').requests
  const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }] as const
  const restarting: Partial<PodSpec> = { containers: [{ name: 'c', restartPolicy: 'Never', restartPolicyRules }] }
  const tolerations = [{ operator: 'Exists' }] as const
  const terms = [{ matchExpressions: [{ key: 'a', operator: 'Exists' as const }] }]

  it.each<[string, string, Parameters<typeof makePod>[0], NodeInfo, boolean]>([
    ['NodeUnschedulable', 'cordoned', {}, info({ unschedulable: true }), false],
    ['NodeName', 'another one', { nodeName: 'other' }, info(), false],
    ['TaintToleration', 'tainted', {}, info({ taints: [{ key: 'a', effect: 'NoExecute' }] }), false],
    ['NodeAffinity', 'without the label', { nodeSelector: { a: 'b' } }, info(), false],
    ['NodePorts', 'whose port is taken', onPort, info({}, makePod(onPort)), true],
    ['NodePorts', 'of whose ports one is taken', onPorts, info({}, makePod(onPort)), true],
    ['NodeResourcesFit', 'that is full', { requests: { cpu: '3' } }, info({}, asking({ cpu: '2' })), true],
    [
      'NodeResourcesFit',
      'whose devices are taken',
      gpu('2'),
      info({ allocatable: twoGpus }, asking(gpu('1').requests)),
      true,
    ],
    ['NodeResourcesFit', 'with too few devices', gpu('3'), info({ allocatable: twoGpus }), false],
    ['NodeResourcesFit', 'that is full of pods', {}, info({ allocatable: { pods: '1' } }, makePod()), true],
    ['NodeResourcesFit', 'with too little CPU', { requests: { cpu: '5' } }, info({}), false],
    ['NodeResourcesFit', 'with too little memory', { requests: { memory: '9Gi' } }, info({}), false],
    ['NodeResourcesFit', 'with too little disk', { requests: { 'ephemeral-storage': '1' } }, info({}), false],
    ['NodeResourcesFit', 'without the device', { requests: { 'example.com/gpu': '1' } }, info({}), false],
    ['NodeDeclaredFeatures', 'without the feature', restarting, info(), false],
  ])('%s refuses a node %s; that others leave it helps: %s', (plugin, _, spec, node, isHelpedByEviction) => {
    const found = firstRefusal(new PodClass(makePod(spec), nodePlugins).filters, node)
    expect(found).toMatchObject({ plugin, isHelpedByEviction })
  })

  it.each<[string, Parameters<typeof makePod>[0]]>([
    ['NodeUnschedulable', { tolerations }],
    ['NodeName', { nodeName: 'n' }],
    ['TaintToleration', { tolerations }],
    ['NodeAffinity', { nodeSelector: { a: 'b' } }],
    [
      'NodeAffinity',
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } } },
    ],
    ['NodePorts', onPort],
    ['NodeResourcesFit', { requests: { cpu: '1' } }],
    ['NodeResourcesFit', { requests: { memory: '1' } }],
    ['NodeResourcesFit', { requests: { 'ephemeral-storage': '1' } }],
    ['NodeResourcesFit', { requests: { 'example.com/gpu': '1' } }],
    ['NodeResourcesBalancedAllocation', { requests: { cpu: '1' } }],
    ['NodeResourcesBalancedAllocation', { requests: { memory: '1' } }],
    ['NodeDeclaredFeatures', restarting],
  ])('%s takes pods for different that differ by %j', (name, spec) => {
    const plugin = nodePlugins.find((each) => each.name === name)
    const [plain, other] = [makePod(), makePod(spec)].map((pod) => JSON.stringify([plugin?.signature(pod.spec)]))
    expect(other).not.toBe(plain)
  })

  it('have nothing to say of a pod that asks for nothing', () => {
    const silent = nodePlugins
      .filter((plugin) => plugin.signature(makePod().spec) === undefined)
      .map(({ name }) => name)
    expect(silent).toEqual(['NodeName', 'TaintToleration', 'NodeAffinity', 'NodePorts', 'NodeDeclaredFeatures'])
    const filtering = nodePlugins.filter((plugin) => plugin.filter?.(makePod()) !== undefined).map(({ name }) => name)
    expect(filtering).toEqual(['NodeUnschedulable', 'TaintToleration', 'NodeResourcesFit'])
  })

  it.each([
    ['NodeAffinity', [25, 100]],
    ['TaintToleration', [75, 0]],
  ])('%s brings its scores to 0–100', (name, expected) => {
    const prefer = { weight: 1, preference: terms[0] as object }
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefer] } }
    const scores = Float64Array.of(1, 4)
    nodePlugins
      .find((plugin) => plugin.name === name)
      ?.scorer?.(makePod({ affinity }))
      ?.normalize?.(scores, [])
    expect([...scores]).toEqual(expected)
  })

  it('take a node that says nothing of itself as it is', () => {
    const { status: _, spec: __, ...silent } = makeNode()
    const node = new NodeInfo(silent)
    expect(firstRefusal(new PodClass(makePod(restarting), nodePlugins).filters, node)?.reasons).toEqual([
      'Too many pods',
    ])
    const others = nodePlugins.filter(({ name }) => name !== 'NodeResourcesFit')
    expect(firstRefusal(new PodClass(makePod(restarting), others).filters, node)?.plugin).toBe('NodeDeclaredFeatures')
    expect(scoreOf('TaintToleration', makePod(), node)).toBe(0)
  })
})
