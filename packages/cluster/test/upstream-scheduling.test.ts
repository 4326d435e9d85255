/**
 * What upstream's tests ask of the scheduler (test/e2e/scheduling), each named after the one it stands for. What stands elsewhere is
 * listed in `docs/upstream-scenarios.md`.
 */
import {
  events,
  type KubernetesObject,
  limitRanges,
  nodes,
  type Pod,
  type PodSpec,
  pods,
  priorityClasses,
  type Resource,
  replicaSets,
  replicationControllers,
  runtimeClasses,
  services,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const hostname = 'kubernetes.io/hostname'
const zone = 'topology.kubernetes.io/zone'
const fake = 'example.com/fakecpu'

let environment: VirtualEnvironment
let cluster: Cluster
let nodeNames: readonly string[]

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 9 })
  cluster = await startCluster({ environment, nodes: 4 })
  nodeNames = (await cluster.client.list(nodes)).items.map(({ metadata }) => metadata.name ?? '').sort()
})

afterEach(() => cluster.stop())

const nodeAt = (index: number): string => nodeNames[index] ?? ''
const create = (resource: Resource, object: object) => {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  return cluster.client.create(resource, { apiVersion, kind: resource.kind, ...object } as KubernetesObject)
}
const specOf = (spec: object, requests: object = {}): object => ({
  containers: [{ name: 'main', image: 'example/pause', resources: { requests, limits: requests } }],
  ...spec,
})
const createPod = async (name: string, spec: object = {}, requests: object = {}, labels: object = {}) => {
  await create(pods, { metadata: { name, namespace, labels }, spec: specOf(spec, requests) })
  await environment.clock.advance('3s')
}
const find = (name: string): Promise<Pod> => cluster.client.get(pods, { namespace, name })
const nodeOf = async (name: string) => (await find(name)).spec.nodeName
const unschedulable = async (name: string) => {
  const { spec, status } = await find(name)
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return spec.nodeName === undefined ? condition?.message : `on ${spec.nodeName}`
}
const patchNode = (index: number, body: object, subresource?: string) =>
  cluster.client.patch(
    nodes,
    { name: nodeAt(index) },
    { type: 'strategic', body },
    subresource === undefined ? {} : { subresource },
  )
const label = (index: number, labels: object) => patchNode(index, { metadata: { labels } })
/** Gives nodes so much of a resource that nothing else asks for. */
const giveResource = async (amount: string, indexes: readonly number[]) => {
  const resources = { [fake]: amount }
  for (const index of indexes)
    await patchNode(index, { status: { capacity: resources, allocatable: resources } }, 'status')
  await environment.clock.settle()
}
const createPriority = (name: string, value: number) =>
  create(priorityClasses, { metadata: { name }, value, preemptionPolicy: 'PreemptLowerPriority' })
const isLeaving = async (name: string) => {
  const { items } = await cluster.client.list(pods, { namespace, fieldSelector: `metadata.name=${name}` })
  return items.every(({ metadata }) => metadata.deletionTimestamp !== undefined)
}

describe('SchedulerPredicates', () => {
  it.each([
    ['validates resource limits of pods that are allowed to run', 'cpu', 'Insufficient cpu'],
    [
      'validates local ephemeral storage resource limits of pods that are allowed to run',
      'ephemeral-storage',
      'Insufficient ephemeral-storage',
    ],
  ])('%s', async (_, resource, message) => {
    for (const [index, { status }] of (await cluster.client.list(nodes)).items.entries()) {
      const all = status?.allocatable?.[resource] ?? ''
      expect(all).not.toBe('')
      await createPod(`filler-${index}`, {}, { [resource]: all })
    }
    await createPod('additional', {}, { [resource]: '1' })
    expect(await unschedulable('additional')).toContain(`0/4 nodes are available: 4 ${message}.`)
  })

  it('validates pod overhead is considered along with resource limits of pods that are allowed to run', async () => {
    await giveResource('1000', [0])
    await create(runtimeClasses, {
      metadata: { name: 'with-overhead' },
      handler: 'test-handler',
      overhead: { podFixed: { [fake]: '250' } },
    })
    await createPod('filler', { runtimeClassName: 'with-overhead' }, { [fake]: '700' })
    expect((await find('filler')).spec.overhead).toEqual({ [fake]: '250' })
    await createPod('additional', {}, { [fake]: '100' })
    expect(await unschedulable('additional')).toContain(`Insufficient ${fake}`)
    await createPod('small', {}, { [fake]: '50' })
    expect(await nodeOf('small')).toBe(nodeAt(0))
  })

  it('validates that NodeSelector is respected if not matching', async () => {
    await createPod('restricted', { nodeSelector: { label: 'nonempty' } })
    expect(await unschedulable('restricted')).toContain("4 node(s) didn't match Pod's node affinity/selector")
  })

  it('validates that NodeSelector is respected if matching', async () => {
    await label(2, { 'example.com/e2e': '42' })
    await createPod('with-labels', { nodeSelector: { 'example.com/e2e': '42' } })
    expect(await nodeOf('with-labels')).toBe(nodeAt(2))
  })

  const requires = (...terms: readonly object[]) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((each) => ({ matchExpressions: [each] })),
      },
    },
  })

  it('validates that NodeAffinity is respected if not matching', async () => {
    const affinity = requires(
      { key: 'foo', operator: 'In', values: ['bar', 'value2'] },
      { key: 'diffkey', operator: 'In', values: ['wrong', 'value2'] },
    )
    await createPod('restricted', { affinity })
    expect(await unschedulable('restricted')).toContain("4 node(s) didn't match Pod's node affinity/selector")
  })

  it('validates that required NodeAffinity setting is respected if matching', async () => {
    await label(1, { 'example.com/e2e': '42' })
    await createPod('with-labels', { affinity: requires({ key: 'example.com/e2e', operator: 'In', values: ['42'] }) })
    expect(await nodeOf('with-labels')).toBe(nodeAt(1))
  })

  const taint = { key: 'example.com/taint', value: 'testing', effect: 'NoSchedule' }
  const tainted = async (index: number) => {
    await patchNode(index, { metadata: { labels: { 'example.com/e2e': 'tainted' } }, spec: { taints: [taint] } })
    await environment.clock.settle()
  }

  it('validates that taints-tolerations is respected if matching', async () => {
    await tainted(3)
    const tolerations = [{ key: taint.key, value: taint.value, effect: taint.effect }]
    await createPod('with-tolerations', { tolerations, nodeSelector: { 'example.com/e2e': 'tainted' } })
    expect(await nodeOf('with-tolerations')).toBe(nodeAt(3))
  })

  it('validates that taints-tolerations is respected if not matching', async () => {
    await tainted(3)
    await createPod('without-tolerations', { nodeSelector: { 'example.com/e2e': 'tainted' } })
    expect(await unschedulable('without-tolerations')).toContain('untolerated taint')
    await patchNode(3, { spec: { taints: null } })
    await environment.clock.advance('15s')
    expect(await nodeOf('without-tolerations')).toBe(nodeAt(3))
  })

  const onNode = (index: number, port: object) => ({
    nodeSelector: { [hostname]: nodeAt(index) },
    containers: [{ name: 'main', image: 'example/pause', ports: [{ containerPort: 8080, hostPort: 54321, ...port }] }],
  })

  it('validates that there is no conflict between pods with same hostPort but different hostIP and protocol', async () => {
    await createPod('pod1', onNode(0, { hostIP: '127.0.0.1' }))
    await createPod('pod2', onNode(0, { hostIP: '10.0.0.2' }))
    await createPod('pod3', onNode(0, { hostIP: '10.0.0.2', protocol: 'UDP' }))
    expect([await nodeOf('pod1'), await nodeOf('pod2'), await nodeOf('pod3')]).toEqual(Array(3).fill(nodeAt(0)))
  })

  it('validates that there exists conflict between pods with same hostPort and protocol but one using 0.0.0.0 hostIP', async () => {
    await createPod('pod4', onNode(0, {}))
    await createPod('pod5', onNode(0, { hostIP: '127.0.0.1' }))
    expect(await nodeOf('pod4')).toBe(nodeAt(0))
    expect(await unschedulable('pod5')).toContain("1 node(s) didn't have free ports for the requested pod ports")
  })

  it('validates 4 pods with MaxSkew=1 are evenly distributed into 2 nodes', async () => {
    const topologyKey = 'example.com/topology'
    for (const index of [0, 1]) await label(index, { [topologyKey]: nodeAt(index) })
    const labels = { app: 'spread' }
    const template = {
      metadata: { labels },
      spec: specOf({
        nodeSelector: { kubernetes: 'any' },
        affinity: requires({ key: topologyKey, operator: 'Exists' }),
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
        ],
      }),
    }
    for (const index of [0, 1]) await label(index, { kubernetes: 'any' })
    await create(replicaSets, {
      metadata: { name: 'spread', namespace },
      spec: { replicas: 4, selector: { matchLabels: labels }, template },
    })
    await environment.clock.advance('10s')
    const on = (await cluster.client.list(pods, { namespace })).items.map(({ spec }) => spec.nodeName).sort()
    expect(on).toEqual([nodeAt(0), nodeAt(0), nodeAt(1), nodeAt(1)])
  })

  it('validates Pods with non-empty schedulingGates are blocked on scheduling', async () => {
    const labels = { app: 'gated' }
    const template = {
      metadata: { labels },
      spec: specOf({ schedulingGates: [{ name: 'foo' }, { name: 'bar' }] }),
    }
    await create(replicaSets, {
      metadata: { name: 'gated', namespace },
      spec: { replicas: 3, selector: { matchLabels: labels }, template },
    })
    await environment.clock.advance('10s')
    const all = async () => (await cluster.client.list(pods, { namespace })).items
    const reasons = async () => (await all()).map(({ status }) => status?.conditions?.map(({ reason }) => reason))
    expect(await reasons()).toEqual(Array(3).fill(['SchedulingGated']))
    const remove = async (name: string) => {
      for (const { metadata } of await all()) {
        const body = { spec: { schedulingGates: [{ name, $patch: 'delete' }] } }
        await cluster.client.patch(pods, { namespace, name: metadata.name ?? '' }, { type: 'strategic', body })
      }
      await environment.clock.advance('10s')
    }
    await remove('foo')
    expect(await reasons()).toEqual(Array(3).fill(['SchedulingGated']))
    await remove('bar')
    expect((await all()).map(({ status }) => status?.phase)).toEqual(['Running', 'Running', 'Running'])
  })
})

describe('SchedulerPreemption', () => {
  /** Fills the nodes with the extended resource: two pods on each, the first of low priority and the others of middling one. */
  const fill = async () => {
    await giveResource('5', [0, 1, 2, 3])
    for (const [name, value] of [
      ['low', 1],
      ['medium', 100],
      ['high', 1000],
    ] as const) {
      await createPriority(name, value)
    }
    for (let index = 0; index < 8; index++) {
      const spec = {
        priorityClassName: index === 0 ? 'low' : 'medium',
        nodeSelector: { [hostname]: nodeAt(index >> 1) },
      }
      await createPod(`victim-${index}`, spec, { [fake]: '2' })
      expect(await nodeOf(`victim-${index}`)).toBe(nodeAt(index >> 1))
    }
  }
  const survivors = async () => {
    const { items } = await cluster.client.list(pods, { namespace })
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.name?.startsWith('victim'))
      .map(({ metadata }) => metadata.name)
  }

  it('validates basic preemption works', async () => {
    await fill()
    await createPod('preemptor', { priorityClassName: 'high' }, { [fake]: '2' })
    await environment.clock.advance('1m')
    expect(await nodeOf('preemptor')).toBe(nodeAt(0))
    expect(await survivors()).toEqual([1, 2, 3, 4, 5, 6, 7].map((index) => `victim-${index}`))
  })

  it('validates lower priority pod preemption by critical pod', async () => {
    await fill()
    await create(pods, {
      metadata: { name: 'critical', namespace: 'kube-system' },
      spec: specOf({ priorityClassName: 'system-cluster-critical' }, { [fake]: '2' }),
    })
    await environment.clock.advance('1m')
    const critical = await cluster.client.get(pods, { namespace: 'kube-system', name: 'critical' })
    expect(critical.spec).toMatchObject({ nodeName: nodeAt(0), priority: 2_000_000_000 })
    expect(await survivors()).not.toContain('victim-0')
  })

  it('validates pod disruption condition is added to the preempted pod', async () => {
    await giveResource('1', [0])
    await createPriority('low', 1)
    await createPriority('high', 1000)
    await createPod('victim', { priorityClassName: 'low' }, { [fake]: '1' })
    // Its node may not let it go before somebody has looked.
    const body = { metadata: { finalizers: ['example.com/test-finalizer'] } }
    await cluster.client.patch(pods, { namespace, name: 'victim' }, { type: 'merge', body })
    await createPod('preemptor', { priorityClassName: 'high' }, { [fake]: '1' })
    const { metadata, status } = await find('victim')
    expect(metadata.deletionTimestamp).toBeDefined()
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }),
    )
  })

  it('validates proper pods are preempted', async () => {
    // One pod of high priority on the first node, three of low priority on the second: a third of high priority fits only where
    // one of low priority leaves, and may not be where it would make places uneven.
    const topologyKey = 'example.com/preemption'
    for (const index of [0, 1]) await label(index, { [topologyKey]: nodeAt(index) })
    await giveResource('10', [0, 1])
    await createPriority('low', 1)
    await createPriority('high', 1000)
    const on = (index: number, priorityClassName: string) => ({
      priorityClassName,
      nodeSelector: { [topologyKey]: nodeAt(index) },
    })
    const labels = { foo: 'spread' }
    await createPod('high', on(0, 'high'), { [fake]: '9' }, labels)
    for (const name of ['low-1', 'low-2', 'low-3']) await createPod(name, on(1, 'low'), { [fake]: '3' }, labels)
    await createPod(
      'medium',
      {
        ...specOf({ priorityClassName: 'high' }, { [fake]: '3' }),
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: topologyKey, operator: 'Exists' }] }],
            },
          },
        },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
        ],
      },
      {},
      labels,
    )
    await environment.clock.advance('1m')
    expect(await nodeOf('medium')).toBe(nodeAt(1))
    expect(await isLeaving('high')).toBe(false)
    const left = (await cluster.client.list(pods, { namespace })).items.filter(({ metadata }) =>
      metadata.name?.startsWith('low'),
    )
    expect(left.length).toBeLessThan(3)
  })

  it('runs ReplicaSets to verify preemption running path', async () => {
    await giveResource('1000', [0])
    for (const value of [1, 2, 3, 4]) await createPriority(`p${value}`, value)
    const run = async (name: string, replicas: number, amount: string) => {
      const labels = { name }
      const template = {
        metadata: { labels },
        spec: specOf({ priorityClassName: name, nodeSelector: { [hostname]: nodeAt(0) } }, { [fake]: amount }),
      }
      await create(replicaSets, {
        metadata: { name, namespace },
        spec: { replicas, selector: { matchLabels: labels }, template },
      })
      await environment.clock.advance('30s')
    }
    const running = async (name: string) => {
      const { items } = await cluster.client.list(pods, { namespace, labelSelector: `name=${name}` })
      return items.filter(
        ({ metadata, spec }) => spec.nodeName !== undefined && metadata.deletionTimestamp === undefined,
      ).length
    }
    await run('p1', 5, '40')
    await run('p2', 4, '50')
    await run('p3', 4, '95')
    expect([await running('p1'), await running('p2'), await running('p3')]).toEqual([5, 4, 4])
    // 220 are free. The most important are spared first, and for the least important there is no room left.
    await run('p4', 1, '400')
    await environment.clock.advance('2m')
    expect([await running('p1'), await running('p2'), await running('p3'), await running('p4')]).toEqual([0, 4, 4, 1])
  })

  it('verify PriorityClass endpoints can be operated with different HTTP methods', async () => {
    await createPriority('p1', 1)
    const key = { name: 'p1' }
    const change = cluster.client.patch(priorityClasses, key, { type: 'merge', body: { value: 2 } })
    await expect(change).rejects.toThrow('may not be changed in an update')
    const described = await cluster.client.patch(priorityClasses, key, { type: 'merge', body: { description: 'new' } })
    expect(described.description).toBe('new')
    await cluster.client.update(priorityClasses, { ...described, description: 'newer' })
    expect((await cluster.client.list(priorityClasses)).items.map(({ metadata }) => metadata.name)).toContain('p1')
    await cluster.client.deleteCollection(priorityClasses, { fieldSelector: 'metadata.name=p1' })
    expect((await cluster.client.list(priorityClasses)).items.map(({ metadata }) => metadata.name)).not.toContain('p1')
  })
})

describe('SchedulerPriorities', () => {
  it("Pod should be scheduled to node that don't match the PodAntiAffinity terms", async () => {
    await createPod('first', { nodeSelector: { [hostname]: nodeAt(1) } }, { cpu: '100m' }, { security: 'S1' })
    const term = {
      labelSelector: { matchExpressions: [{ key: 'security', operator: 'In', values: ['S1', 'value2'] }] },
      topologyKey: hostname,
    }
    const affinity = {
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term }] },
    }
    await createPod('apart', { affinity }, { cpu: '100m' })
    expect(await nodeOf('apart')).toBeDefined()
    expect(await nodeOf('apart')).not.toBe(nodeAt(1))
  })

  it('Pod should be preferably scheduled to nodes pod can tolerate', async () => {
    const taint = (index: number, number: number) => ({
      key: `example.com/key-${index}-${number}`,
      value: `value-${number}`,
      effect: 'PreferNoSchedule',
    })
    for (const index of [0, 1, 2, 3]) {
      await patchNode(index, { spec: { taints: [0, 1, 2].map((number) => taint(index, number)) } })
    }
    await environment.clock.settle()
    await createPod('tolerant', { tolerations: [0, 1, 2].map((number) => taint(2, number)) }, { cpu: '100m' })
    expect(await nodeOf('tolerant')).toBe(nodeAt(2))
  })

  it('validates pod should be preferably scheduled to node which makes the matching pods more evenly distributed', async () => {
    const topologyKey = 'example.com/topology'
    for (const index of [0, 1]) await label(index, { [topologyKey]: nodeAt(index) })
    const labels = { app: 'spread' }
    for (const name of ['a', 'b', 'c', 'd']) {
      await createPod(name, { nodeSelector: { [topologyKey]: nodeAt(0) } }, { cpu: '100m' }, labels)
    }
    await createPod(
      'even',
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: topologyKey, operator: 'Exists' }] }],
            },
          },
        },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: labels } },
        ],
      },
      { cpu: '100m' },
      labels,
    )
    expect(await nodeOf('even')).toBe(nodeAt(1))
  })
})

describe('Multi-AZ Clusters', () => {
  const zonesOf = async (selector: string) => {
    const { items } = await cluster.client.list(pods, { namespace, labelSelector: selector })
    const byNode = new Map(
      (await cluster.client.list(nodes)).items.map(({ metadata }) => [metadata.name, metadata.labels?.[zone]]),
    )
    const counts: Record<string, number> = {}
    for (const { spec } of items) {
      const name = byNode.get(spec.nodeName ?? '') ?? 'none'
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  beforeEach(async () => {
    for (const index of [0, 1, 2, 3]) await label(index, { [zone]: index < 2 ? 'a' : 'b' })
    await environment.clock.settle()
  })

  it('should spread the pods of a service across zones', async () => {
    await create(services, {
      metadata: { name: 'spread', namespace },
      spec: { selector: { service: 'spread' }, ports: [{ port: 80 }] },
    })
    for (let index = 0; index < 7; index++) {
      await createPod(`pod-${index}`, {}, { cpu: '100m' }, { service: 'spread' })
    }
    const counts = Object.values(await zonesOf('service=spread')).sort()
    expect(counts).toEqual([3, 4])
  })

  it('should spread the pods of a replication controller across zones', async () => {
    const labels = { name: 'spread' }
    const template = { metadata: { labels }, spec: specOf({}, { cpu: '100m' }) }
    await create(replicationControllers, {
      metadata: { name: 'spread', namespace },
      spec: { replicas: 7, selector: labels, template },
    })
    await environment.clock.advance('30s')
    expect(Object.values(await zonesOf('name=spread')).sort()).toEqual([3, 4])
  })
})

describe('LimitRange', () => {
  const range = (name: string, defaults: object) => ({
    metadata: { name, namespace, labels: { kind: 'test' } },
    spec: {
      limits: [
        {
          type: 'Container',
          min: { cpu: '50m', memory: '100Mi' },
          max: { cpu: '500m', memory: '500Mi' },
          default: { cpu: '500m', memory: '500Mi' },
          defaultRequest: { cpu: '100m', memory: '200Mi' },
          ...defaults,
        },
      ],
    },
  })
  const resourcesOf = async (name: string, resources: object = {}) => {
    const spec = { containers: [{ name: 'main', image: 'example/pause', resources }] } as Partial<PodSpec>
    const pod = await create(pods, { metadata: { name, namespace }, spec })
    return (pod as Pod).spec.containers[0]?.resources
  }

  it('should create a LimitRange with defaults and ensure pod has those defaults applied.', async () => {
    await create(limitRanges, range('limits', {}))
    await environment.clock.settle()
    expect(await resourcesOf('none')).toEqual({
      requests: { cpu: '100m', memory: '200Mi' },
      limits: { cpu: '500m', memory: '500Mi' },
    })
    expect(await resourcesOf('some', { requests: { cpu: '300m' }, limits: { memory: '400Mi' } })).toEqual({
      requests: { cpu: '300m', memory: '400Mi' },
      limits: { cpu: '500m', memory: '400Mi' },
    })
    await expect(resourcesOf('less', { requests: { cpu: '10m', memory: '100Mi' } })).rejects.toThrow(
      'minimum cpu usage per Container is 50m',
    )
    await expect(resourcesOf('more', { limits: { cpu: '600m', memory: '400Mi' } })).rejects.toThrow(
      'maximum cpu usage per Container is 500m',
    )
    const body = range('limits', { min: { cpu: '9m', memory: '50Mi' } }).spec
    await cluster.client.patch(limitRanges, { namespace, name: 'limits' }, { type: 'merge', body: { spec: body } })
    await environment.clock.settle()
    expect(await resourcesOf('less', { requests: { cpu: '10m', memory: '100Mi' } })).toMatchObject({
      requests: { cpu: '10m' },
    })
    await cluster.client.delete(limitRanges, { namespace, name: 'limits' })
    await environment.clock.settle()
    expect(await resourcesOf('more', { limits: { cpu: '600m' } })).toMatchObject({ limits: { cpu: '600m' } })
  })

  it('should list, patch and delete a LimitRange by collection', async () => {
    await create(limitRanges, range('one', {}))
    await cluster.client.patch(
      limitRanges,
      { namespace, name: 'one' },
      { type: 'strategic', body: { metadata: { labels: { patched: 'yes' } } } },
    )
    expect((await cluster.client.list(limitRanges, { labelSelector: 'patched=yes' })).items).toHaveLength(1)
    await cluster.client.deleteCollection(limitRanges, { namespace, labelSelector: 'patched=yes' })
    expect((await cluster.client.list(limitRanges, { labelSelector: 'kind=test' })).items).toEqual([])
  })
})

it('a pod that is scheduled has an event that says where', async () => {
  await createPod('seen')
  const { items } = await cluster.client.list(events, { namespace, fieldSelector: 'involvedObject.name=seen' })
  expect(items.map(({ reason }) => reason)).toContain('Scheduled')
  expect(items.find(({ reason }) => reason === 'Scheduled')?.message).toBe(
    `Successfully assigned default/seen to ${await nodeOf('seen')}`,
  )
})
