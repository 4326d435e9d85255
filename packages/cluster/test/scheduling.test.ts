import { events, nodes, type Pod, type PodSpec, podDisruptionBudgets, pods, priorityClasses } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

const namespace = 'default'
const zone = 'topology.kubernetes.io/zone'

describe('the scheduler in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 7 })
    cluster = await startCluster({ environment, nodes: 4 })
    const { items } = await cluster.client.list(nodes)
    for (const [index, { metadata }] of items.entries()) {
      const body = { metadata: { labels: { [zone]: index < 2 ? 'a' : 'b' } } }
      await cluster.client.patch(nodes, { name: metadata.name ?? '' }, { type: 'merge', body })
    }
    await environment.clock.settle()
  })

  afterEach(() => cluster.stop())

  const create = async (name: string, spec: Partial<PodSpec> = {}, cpu = '100m') => {
    await cluster.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { app: name.split('-')[0] } },
      spec: { containers: [{ name: 'main', image: 'example/main', resources: { requests: { cpu } } }], ...spec },
    } as unknown as Pod)
    await environment.clock.advance('5s')
  }
  const get = (name: string) => cluster.client.get(pods, { namespace, name })
  const zoneOf = async (name: string) => {
    const { nodeName = '' } = (await get(name)).spec
    return nodeName === '' ? undefined : (await cluster.client.get(nodes, { name: nodeName })).metadata.labels?.[zone]
  }
  const cpuOfNode = async () => (await cluster.client.list(nodes)).items[0]?.status?.allocatable?.cpu ?? ''

  it('spreads pods over zones, and has one wait that cannot be', async () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: zone,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      minDomains: 2,
    } as const
    for (let index = 0; index < 6; index++) {
      await create(`web-${index}`, { topologySpreadConstraints: [constraint] })
    }
    const zones = await Promise.all(Array.from({ length: 6 }, (_, index) => zoneOf(`web-${index}`)))
    expect(zones.filter((each) => each === 'a')).toHaveLength(3)
    expect(zones.filter((each) => each === 'b')).toHaveLength(3)
    await create('web-late', { topologySpreadConstraints: [{ ...constraint, minDomains: 3 }] })
    const [condition] = (await get('web-late')).status?.conditions ?? []
    expect(condition?.message).toBe(
      "0/4 nodes are available: 4 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.",
    )
  })

  it('keeps pods of an app apart, and starts the one too many when another goes', async () => {
    const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: zone }
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
    for (const name of ['db-0', 'db-1', 'db-2']) await create(name, { affinity })
    expect([await zoneOf('db-0'), await zoneOf('db-1')].toSorted()).toEqual(['a', 'b'])
    expect(await zoneOf('db-2')).toBeUndefined()
    const free = await zoneOf('db-0')
    await cluster.client.delete(pods, { namespace, name: 'db-0' }, { gracePeriodSeconds: 0 })
    await environment.clock.advance('15s')
    expect(await zoneOf('db-2')).toBe(free)
  })

  it('puts pods together, as soon as there is something to be near to', async () => {
    const term = { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: zone }
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
    for (const name of ['web-0', 'web-1']) await create(name, { affinity })
    expect(await zoneOf('web-0')).toBeUndefined()
    await create('cache-0')
    await environment.clock.advance('15s')
    const there = await zoneOf('cache-0')
    expect([await zoneOf('web-0'), await zoneOf('web-1')]).toEqual([there, there])
  })

  it('has less important pods leave, and spares those that a budget guards', async () => {
    const cpu = await cpuOfNode()
    await cluster.client.create(priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'urgent' },
      value: 1000,
    })
    await cluster.client.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'db', namespace },
      spec: { minAvailable: 3, selector: { matchLabels: { app: 'db' } } },
    })
    for (const name of ['db-0', 'db-1', 'db-2', 'batch-0']) await create(name, {}, cpu)
    const place = (await get('batch-0')).spec.nodeName
    await create('urgent', { priorityClassName: 'urgent' }, cpu)
    const { spec, status, metadata } = await get('urgent')
    expect([spec.nodeName, status?.phase, status?.nominatedNodeName]).toEqual([place, 'Running', undefined])
    const said = (await cluster.client.list(events, { namespace })).items.filter(({ reason }) => reason === 'Preempted')
    expect(said.map(({ involvedObject, message }) => [involvedObject.name, message])).toEqual([
      ['batch-0', `Preempted by pod ${metadata.uid} on node ${place}`],
    ])
    for (const name of ['db-0', 'db-1', 'db-2']) expect((await get(name)).status?.phase).toBe('Running')
    await expect(get('batch-0')).rejects.toThrow('not found')
  })
})
