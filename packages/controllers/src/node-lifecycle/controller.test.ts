import { events, type Lease, leases, type Node, nodes, type Pod, pods, type Toleration } from '@coracle/api'
import { createInformer } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import {
  createMetricsRegistry,
  type MetricsRegistry,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countReads } from '../testing/count-reads.ts'
import { pod } from '../testing/objects.ts'
import { reconcileCount } from '../testing/reconcile-count.ts'
import { createNodeLifecycleController } from './controller.ts'
import { nodeLeaseNamespace } from './signs-of-life.ts'

describe('the node lifecycle controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let metrics: MetricsRegistry
  let manager: Manager
  /** Nodes whose agents are alive: they renew their leases. */
  let alive: Set<string>

  beforeEach(async () => {
    environment = virtualEnvironment()
    client = createFakeClient(environment)
    metrics = createMetricsRegistry()
    manager = createManager({ client, environment, metrics })
    manager.add(createNodeLifecycleController({ environment }))
    await manager.start()
    alive = new Set()
  })

  afterEach(() => manager.stop())

  async function createNode(name: string, ready: 'True' | 'False' | 'never' = 'True'): Promise<void> {
    const conditions = ready === 'never' ? [] : [{ type: 'Ready', status: ready }]
    await client.create<Node>(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { conditions },
    } as Node)
    const metadata = { namespace: nodeLeaseNamespace, name }
    await client.create<Lease>(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} })
    alive.add(name)
  }

  async function createPod(name: string, node: string, tolerations?: readonly Toleration[]): Promise<void> {
    const { metadata, ...rest } = pod(name, { node, readyFor: 10 })
    await client.create<Pod>(pods, {
      ...rest,
      spec: { ...rest.spec, tolerations },
      metadata: { namespace: 'default', name },
    })
  }

  async function renew(name: string): Promise<void> {
    const body = { spec: { renewTime: String(environment.clock.now()) } }
    await client.patch(leases, { namespace: nodeLeaseNamespace, name }, { type: 'merge', body })
  }

  /** Lets seconds pass, while the agents that are alive renew their leases. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 10) {
      for (const name of alive) await renew(name)
      await environment.clock.advance(Math.min(10, seconds - second) * 1000)
    }
  }

  const node = (name: string) => client.get(nodes, { name })
  const conditionOf = async (name: string, type: string) =>
    (await node(name)).status?.conditions?.find((condition) => condition.type === type)
  const taintsOf = async (name: string) => (await node(name)).spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)
  const podNames = () => client.stored(pods).map(({ metadata }) => metadata.name)

  const said = () =>
    client
      .stored(events)
      .map(
        ({ involvedObject, type, reason, message }) =>
          `${involvedObject.kind}/${involvedObject.name} ${type} ${reason}: ${message}`,
      )

  it('leaves a node alone as long as its lease is renewed', async () => {
    await createNode('a')
    const writes = () =>
      client.calls.filter(({ verb, plural }) => plural === 'nodes' && ['update', 'patch'].includes(verb))
    await pass(600)
    expect(writes()).toEqual([])
  })

  it('looks at a node that is well when its silence would be due, and not at each renewal of its lease', async () => {
    await createNode('a')
    await pass(10)
    const before = reconcileCount(metrics)
    await pass(600)
    // 60 renewals; a look 40 or 50 seconds after the last.
    expect(reconcileCount(metrics) - before).toBeLessThanOrEqual(15)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('True')
  })

  it.each([0, 7, 23, 38, 46])('counts 50 seconds from the last sign, %i seconds after a look', async (seconds) => {
    await createNode('a')
    await environment.clock.advance(seconds * 1000)
    await renew('a')
    await environment.clock.advance(49_999)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('True')
    await environment.clock.advance(1)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('Unknown')
  })

  it('gives a node its grace again that was well when the controller was last at work', async () => {
    const controller = createNodeLifecycleController({ environment })
    const atWork = async () => {
      const own = createManager({ client, environment })
      own.add(controller)
      await own.start()
      return own
    }
    await manager.stop()
    manager = await atWork()
    await createNode('a')
    await pass(10)
    await manager.stop()
    await environment.clock.advance('2m')
    manager = await atWork()
    await environment.clock.advance(49_999)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('True')
    await environment.clock.advance(1)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('Unknown')
  })

  it('gives a node its grace again that it looks at later than it was to', async () => {
    await createNode('a')
    const beat = (): void => {
      const renewed = () => void renew('a').then(beat)
      environment.clock.setTimer(10_000, renewed, { housekeeping: true })
    }
    beat()
    await environment.clock.advance('20s')
    // From 80 s on the clock leaves out what is housekeeping. The look that was due at 90 s comes at 132 s, and the renewals after it.
    await environment.clock.advance('112s')
    const writes = client.calls.filter(({ verb, plural }) => plural === 'nodes' && ['update', 'patch'].includes(verb))
    expect(writes).toEqual([])
  })

  it('takes no node for silent that reports of itself, though its lease is gone', async () => {
    await createNode('a')
    alive.delete('a')
    await client.delete(leases, { namespace: nodeLeaseNamespace, name: 'a' })
    for (let second = 0; second < 200; second += 40) {
      await environment.clock.advance('40s')
      const lastHeartbeatTime = String(environment.clock.now())
      const status = { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] }
      await client.update<Node>(nodes, { ...(await node('a')), status } as Node, { subresource: 'status' })
    }
    await environment.clock.settle()
    expect((await conditionOf('a', 'Ready'))?.status).toBe('True')
  })

  it('looks at the next sign of life again where a look has failed, and does not wait for the back-off', async () => {
    await createNode('a')
    await pass(10)
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    const mend = client.intercept(({ verb, plural }) => {
      if (plural === 'nodes' && ['update', 'patch'].includes(verb)) throw new Error('out of order')
    })
    await pass(300)
    mend()
    await renew('a')
    await environment.clock.settle()
    expect(await taintsOf('a')).toEqual(['node.kubernetes.io/unschedulable:NoSchedule'])
  })

  it.each([10, 1000])('looks at few objects when one of %i nodes is ready no more', async (count) => {
    for (let index = 0; index < count; index++) {
      await createNode(`n${index}`)
      for (const name of ['a', 'b', 'c']) await createPod(`${name}${index}`, `n${index}`)
    }
    await environment.clock.settle()
    const reads = countReads(manager.informer(nodes), manager.informer(pods), manager.informer(leases))
    const object = await node('n0')
    const conditions = [{ type: 'Ready', status: 'False' }]
    await client.update<Node>(nodes, { ...object, status: { conditions } } as Node, { subresource: 'status' })
    await environment.clock.settle()
    expect(await taintsOf('n0')).toEqual(['node.kubernetes.io/not-ready:NoSchedule'])
    expect(reads.taken()).toBeLessThan(10)
  })

  it('takes a node that has been silent for 50 seconds for lost', async () => {
    await createNode('a')
    await createNode('b')
    await createPod('p', 'a')
    await pass(60)
    alive.delete('a')
    await pass(30)
    expect((await conditionOf('a', 'Ready'))?.status).toBe('True')
    await pass(20)
    expect(await conditionOf('a', 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
    })
    expect(await conditionOf('a', 'DiskPressure')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
    })
    expect(await taintsOf('a')).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ])
    expect(said()).toEqual([
      'Node/a Normal RegisteredNode: Node a event: Registered Node a in Controller',
      'Node/b Normal RegisteredNode: Node b event: Registered Node b in Controller',
      'Node/a Normal NodeNotReady: Node a status is now: NodeNotReady',
      'Pod/p Warning NodeNotReady: Node is not ready',
      'Pod/p Normal TaintManagerEviction: Marking for deletion Pod default/p',
    ])
  })

  it('takes pods of a lost node for not ready, and evicts them when they tolerate it no longer', async () => {
    await createNode('a')
    await createNode('b')
    await createPod('patient', 'a', [{ operator: 'Exists' }])
    await createPod('usual', 'a', [
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', tolerationSeconds: 300 },
    ])
    await createPod('elsewhere', 'b')
    alive.delete('a')
    await pass(60)
    const readiness = client
      .stored(pods)
      .map(({ metadata, status }) => [metadata.name, status?.conditions?.[0]?.status])
    expect(readiness).toEqual([
      ['patient', 'False'],
      ['usual', 'False'],
      ['elsewhere', 'True'],
    ])
    await pass(280)
    expect(podNames()).toContain('usual')
    await pass(20)
    expect(podNames()).toEqual(['patient', 'elsewhere'])
  })

  it('evicts nothing while no node is ready', async () => {
    await createNode('a')
    await createPod('p', 'a')
    alive.delete('a')
    await pass(600)
    expect(await taintsOf('a')).toEqual(['node.kubernetes.io/unreachable:NoSchedule'])
    expect(podNames()).toEqual(['p'])
  })

  it('evicts where all nodes are lost, and none of them says anything about how its zone is', async () => {
    await createNode('a')
    const labels = { 'node.kubernetes.io/exclude-disruption': '' }
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { metadata: { labels } } })
    await createPod('p', 'a')
    alive.delete('a')
    await pass(600)
    expect(podNames()).toEqual([])
  })

  it('takes the evicting taints off once the last node is lost', async () => {
    for (const name of ['a', 'b', 'c']) await createNode(name)
    alive.delete('a')
    await pass(70)
    expect(await taintsOf('a')).toContain('node.kubernetes.io/unreachable:NoExecute')
    alive.clear()
    await pass(70)
    for (const name of ['a', 'b', 'c']) {
      expect(await taintsOf(name)).toEqual(['node.kubernetes.io/unreachable:NoSchedule'])
    }
  })

  it('empties nodes that are lost together one in ten seconds', async () => {
    for (let index = 0; index < 10; index++) await createNode(`n${index}`)
    for (const lost of ['n0', 'n1', 'n2']) alive.delete(lost)
    const emptied = async () => {
      const taints = await Promise.all(['n0', 'n1', 'n2'].map(taintsOf))
      return taints.filter((each) => each?.includes('node.kubernetes.io/unreachable:NoExecute')).length
    }
    await pass(50)
    const counts: number[] = []
    for (let round = 0; round < 4; round++) {
      await pass(10)
      counts.push(await emptied())
    }
    expect(counts).toEqual([1, 2, 3, 3])
  })

  it('empties no node of a small zone of which most is lost, and those of another as ever', async () => {
    const zoned = async (name: string, zone: string) => {
      await createNode(name)
      const labels = { 'topology.kubernetes.io/zone': zone }
      await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { labels } } })
    }
    for (const name of ['a0', 'a1', 'a2', 'a3']) await zoned(name, 'a')
    for (const name of ['b0', 'b1']) await zoned(name, 'b')
    for (const lost of ['a0', 'a1', 'a2', 'b0']) alive.delete(lost)
    await pass(300)
    const evicting = async (name: string) => (await taintsOf(name))?.some((taint) => taint.endsWith(':NoExecute'))
    expect(await Promise.all(['a0', 'a1', 'a2', 'b0'].map(evicting))).toEqual([false, false, false, true])
  })

  it('turns an evicting taint at once into the one that suits what the node says', async () => {
    await createNode('a')
    await createNode('b')
    alive.delete('a')
    await pass(70)
    const status = { conditions: [{ type: 'Ready', status: 'False', lastHeartbeatTime: '2026-01-01T00:01:10Z' }] }
    await client.update<Node>(nodes, { ...(await node('a')), status } as Node, { subresource: 'status' })
    await environment.clock.settle()
    expect(await taintsOf('a')).toEqual([
      'node.kubernetes.io/not-ready:NoSchedule',
      'node.kubernetes.io/not-ready:NoExecute',
    ])
  })

  it('says that a pod need not leave after all', async () => {
    await createNode('a')
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    await createPod('p', 'a', [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 60 }])
    await pass(30)
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints: null } } })
    await pass(60)
    expect(podNames()).toEqual(['p'])
    expect(said()).toContain('Pod/p Normal TaintManagerEviction: Cancelling deletion of Pod default/p')
    const reporters = new Set(client.stored(events).map(({ source }) => source?.component))
    expect(reporters).toEqual(new Set(['node-controller', 'taint-eviction-controller']))
  })

  it('tells of nodes that go, and of others that come under their name', async () => {
    await createNode('a')
    await environment.clock.settle()
    await client.delete(nodes, { name: 'a' })
    await environment.clock.settle()
    expect(said()).toEqual([
      'Node/a Normal RegisteredNode: Node a event: Registered Node a in Controller',
      'Node/a Normal RemovingNode: Node a event: Removing Node a from Controller',
    ])
    await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } } as Node)
    await environment.clock.settle()
    expect(client.stored(events).filter(({ reason }) => reason === 'RegisteredNode')).toHaveLength(2)
  })

  it('takes its taints away, and no others, when the node is back', async () => {
    await createNode('a', 'False')
    await pass(10)
    expect(await taintsOf('a')).toEqual(['node.kubernetes.io/not-ready:NoSchedule'])
    const { spec, ...rest } = await node('a')
    const taints = [...(spec?.taints ?? []), { key: 'own', effect: 'NoSchedule' }]
    await client.update<Node>(nodes, { ...rest, spec: { ...spec, taints } })
    const conditions = [{ type: 'Ready', status: 'True' }]
    await client.update<Node>(nodes, { ...(await node('a')), status: { conditions } }, { subresource: 'status' })
    await pass(10)
    expect(await taintsOf('a')).toEqual(['own:NoSchedule'])
  })

  it('leaves a node its taint from creation until it has reported that it is ready', async () => {
    await createNode('a', 'never')
    const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    await pass(30)
    expect(await taintsOf('a')).toEqual(['node.kubernetes.io/not-ready:NoSchedule'])
    const conditions = [{ type: 'Ready', status: 'True' }]
    await client.update<Node>(nodes, { ...(await node('a')), status: { conditions } }, { subresource: 'status' })
    await environment.clock.settle()
    expect(await taintsOf('a')).toBeUndefined()
  })

  it('taints a node that is cordoned', async () => {
    await createNode('a')
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await pass(10)
    expect(await taintsOf('a')).toEqual(['node.kubernetes.io/unschedulable:NoSchedule'])
  })

  it('evicts pods by a taint that somebody else has put on a node, and those that come there later', async () => {
    await createNode('a')
    await createPod('p', 'a')
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    await pass(10)
    expect(podNames()).toEqual([])
    await createPod('late', 'a')
    await environment.clock.settle()
    expect(podNames()).toEqual([])
    expect(client.stored(events).map(({ reason }) => reason)).toContain('TaintManagerEviction')
  })

  it('evicts a pod when its toleration of a taint has run out that does not say when it was added', async () => {
    await createNode('a')
    await createPod('p', 'a', [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 60 }])
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    await pass(50)
    expect(podNames()).toEqual(['p'])
    await pass(20)
    expect(podNames()).toEqual([])
  })

  it('leaves a pod that comes to a node tainted long ago its time', async () => {
    await createNode('a')
    const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded: '2020-01-01T00:00:00Z' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    await createPod('p', 'a', [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 60 }])
    await pass(50)
    expect(podNames()).toEqual(['p'])
    await pass(20)
    expect(podNames()).toEqual([])
  })

  it('goes no faster than ten pods a second, after as many as fit a node, where others put pods on it as fast as they go', async () => {
    await createNode('a')
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await client.patch(nodes, { name: 'a' }, { type: 'merge', body: { spec: { taints } } })
    let departures = 0
    const others = createInformer(client, pods, {}, environment)
    const createNext = () => void createPod(`p${departures}`, 'a')
    others.addHandler({
      delete: () => {
        departures += 1
        createNext()
      },
    })
    others.start()
    createNext()
    await environment.clock.settle()
    expect(departures).toBe(110)
    await environment.clock.advance('2s')
    expect(departures).toBe(130)
    await others.stop()
  })

  it('gives a node that has never reported a minute', async () => {
    await createNode('a', 'never')
    alive.delete('a')
    await pass(50)
    expect(await conditionOf('a', 'Ready')).toBeUndefined()
    await pass(10)
    expect(await conditionOf('a', 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NodeStatusNeverUpdated' })
  })
})
