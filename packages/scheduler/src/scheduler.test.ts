import {
  ApiError,
  eventsV1,
  type KubernetesObject,
  type Node,
  namespaces,
  nodes,
  notFound,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  type Resource,
} from '@coracle/api'
import type { ObjectKey, Patch, WriteOptions } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import {
  createMetricsRegistry,
  type MetricsRegistry,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultPlugins } from './plugins/index.ts'
import type { ClusterPlugin } from './plugins/plugin.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { makeNode, makePod } from './testing/objects.ts'
import { makeClaim, makeVolume, podUsing } from './testing/storage.ts'

describe('the scheduler', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let scheduler: Scheduler
  /** Pods that were bound, and what the server says instead. */
  let bindings: string[]
  /** What was posted to bind them. */
  let posted: unknown[]
  /** The pods' statuses as they were patched. */
  let patches: unknown[]
  let refusal: ApiError | undefined
  let metrics: MetricsRegistry

  beforeEach(async () => {
    environment = virtualEnvironment()
    metrics = createMetricsRegistry()
    client = createFakeClient(environment)
    bindings = []
    posted = []
    patches = []
    refusal = undefined
    client.createSubresource = async <U>(_: unknown, key: ObjectKey, name: string, body: object): Promise<U> => {
      if (refusal !== undefined) throw refusal
      bindings.push(`${key.namespace}/${key.name}`)
      posted.push([name, body])
      return {} as U
    }
    const patch = client.patch.bind(client)
    client.patch = async <T extends KubernetesObject>(
      resource: Resource<T>,
      key: ObjectKey,
      { type, body }: Patch,
      options?: WriteOptions,
    ): Promise<T> => {
      if (resource.plural === pods.plural) patches.push([type, options?.subresource, body])
      return patch(resource, key, { type: 'merge', body } as Patch, options)
    }
    scheduler = createScheduler({ client, environment, metrics })
    await scheduler.start()
  })

  afterEach(() => scheduler.stop())

  /** The series of the scheduler's metrics whose names begin so, but for buckets. */
  const measured = (prefix: string): readonly string[] =>
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith(prefix) && !line.includes('_bucket'))

  const addNode = async (name: string, cpu = '4') => {
    const { status, ...node } = makeNode({ name, allocatable: { cpu } })
    await client.create<Node>(nodes, { ...node, status } as Node)
    await environment.clock.settle()
  }
  const addPod = async (name: string, spec: Parameters<typeof makePod>[0] = {}) => {
    const { metadata, ...rest } = makePod(spec, name)
    await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name } })
    await environment.clock.settle()
  }
  const attempts = (name: string) =>
    client
      .stored(eventsV1)
      .filter(({ reason, regarding }) => reason === 'FailedScheduling' && regarding?.name === name)
      .reduce((sum, { series }) => sum + (series?.count ?? 1), 0)
  it('tries a pod again only when a node changes so that it fits there', async () => {
    await addNode('small', '1')
    await addPod('big', { requests: { cpu: '3' } })
    await addPod('there', { nodeName: 'small' })
    expect(attempts('big')).toBe(1)
    await environment.clock.advance('20s')
    await client.delete(pods, { namespace: 'default', name: 'there' })
    await addNode('other', '2')
    await environment.clock.advance('20s')
    expect(attempts('big')).toBe(1)
    expect(bindings).toEqual([])
    await addNode('large', '4')
    expect(bindings).toEqual(['default/big'])
  })

  it('tries no more of many pods that are alike than there is room for', async () => {
    await addNode('a', '1')
    await addPod('there', { nodeName: 'a', requests: { cpu: '1' } })
    for (let index = 0; index < 50; index++) await addPod(`late-${index}`, { requests: { cpu: '300m' } })
    await environment.clock.advance('20s')
    const tried = () => client.stored(eventsV1).filter(({ reason }) => reason === 'FailedScheduling')
    const before = tried().reduce((sum, { series }) => sum + (series?.count ?? 1), 0)
    await client.delete(pods, { namespace: 'default', name: 'there' })
    await environment.clock.settle()
    expect(bindings).toHaveLength(3)
    expect(tried().reduce((sum, { series }) => sum + (series?.count ?? 1), 0) - before).toBe(1)
  })

  it('tries the others that were like a pod which is kept away by now for what it is', async () => {
    await addNode('a', '2')
    await addPod('there', { nodeName: 'a', requests: { cpu: '2' } })
    const late = async (name: string, labels: Readonly<Record<string, string>>) => {
      const { metadata: _, ...rest } = makePod({ requests: { cpu: '1' } })
      await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name, labels } })
      await environment.clock.settle()
    }
    await late('first', { app: 'web' })
    await late('second', {})
    const avoided = { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' }
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [avoided] }
    const node = await client.get(nodes, { name: 'a' })
    await client.update<Node>(nodes, {
      ...node,
      metadata: { ...node.metadata, labels: { 'kubernetes.io/hostname': 'a' } },
    } as Node)
    await addPod('shy', { nodeName: 'a', affinity: { podAntiAffinity } })
    await environment.clock.advance('20s')
    await client.delete(pods, { namespace: 'default', name: 'there' })
    await environment.clock.settle()
    expect(bindings).toEqual(['default/second'])
  })

  it('goes on with other pods where one cannot be judged', async () => {
    await addNode('a')
    await addPod('odd', { containers: undefined as never })
    await addPod('plain')
    expect(bindings).toEqual(['default/plain'])
  })

  it('counts a pod as placed as soon as it is decided, before the API shows it', async () => {
    await addNode('a', '1')
    await addPod('first', { requests: { cpu: '1' } })
    await addPod('second', { requests: { cpu: '1' } })
    expect(bindings).toEqual(['default/first'])
    expect(attempts('second')).toBe(1)
  })

  it('counts pods that others have placed', async () => {
    await addNode('a', '1')
    await addPod('there', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('late', { requests: { cpu: '1' } })
    expect(bindings).toEqual([])
  })

  it('gives the room of a pod that has ended to another', async () => {
    await addNode('a', '1')
    await addPod('there', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('late', { requests: { cpu: '1' } })
    const ended = await client.get(pods, { namespace: 'default', name: 'there' })
    await client.update<Pod>(pods, { ...ended, status: { phase: 'Succeeded' } }, { subresource: 'status' })
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['default/late'])
  })

  it('takes back what it has counted when the binding fails', async () => {
    await addNode('a', '1')
    refusal = new ApiError(409, 'Conflict', 'somebody else was faster')
    await addPod('first', { requests: { cpu: '1' } })
    await client.delete(pods, { namespace: 'default', name: 'first' })
    refusal = undefined
    await addPod('second', { requests: { cpu: '1' } })
    expect(bindings).toEqual(['default/second'])
    expect(client.stored(eventsV1).filter(({ reason }) => reason === 'FailedScheduling')).toEqual([])
  })

  it('leaves pods alone that are not its own, are gated or are going', async () => {
    await addPod('other', { schedulerName: 'another' })
    await addPod('gated', { schedulingGates: [{ name: 'wait' }] })
    await addNode('a')
    expect(bindings).toEqual([])
    const gated = await client.get(pods, { namespace: 'default', name: 'gated' })
    await client.update<Pod>(pods, { ...gated, spec: { ...gated.spec, schedulingGates: [] } })
    await environment.clock.settle()
    expect(bindings).toEqual(['default/gated'])
  })

  it('binds no pod that is going, or is for another, once it waited', async () => {
    for (const name of ['going', 'passed-on', 'staying']) await addPod(name)
    const waiting = (name: string) => client.get(pods, { namespace: 'default', name })
    const going = await waiting('going')
    const metadata = { ...going.metadata, finalizers: ['test/held'], deletionTimestamp: '2026-01-01T00:00:00Z' }
    await client.update<Pod>(pods, { ...going, metadata } as Pod)
    const passedOn = await waiting('passed-on')
    await client.update<Pod>(pods, { ...passedOn, spec: { ...passedOn.spec, schedulerName: 'another' } })
    await environment.clock.settle()
    await addNode('a')
    await environment.clock.advance('10m')
    expect(bindings).toEqual(['default/staying'])
  })

  it('does not look at a node again for its heartbeats', async () => {
    await addNode('a', '1')
    await addPod('big', { requests: { cpu: '2' } })
    const node = await client.get(nodes, { name: 'a' })
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:01:00Z' }] as const
    await client.update<Node>(nodes, { ...node, status: { ...node.status, conditions } }, { subresource: 'status' })
    await environment.clock.advance('60s')
    expect(attempts('big')).toBe(1)
  })

  it('tries a pod again when a node declares the feature that it needs', async () => {
    await addNode('a')
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }] as const
    await addPod('p', { containers: [{ name: 'c', restartPolicy: 'Never', restartPolicyRules }] })
    expect(bindings).toEqual([])
    const node = await client.get(nodes, { name: 'a' })
    const status = { ...node.status, declaredFeatures: ['RestartAllContainersOnContainerExits'] }
    await client.update<Node>(nodes, { ...node, status }, { subresource: 'status' })
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['default/p'])
  })

  it('tries a pod again when its claim has got a volume', async () => {
    await addNode('a')
    await client.create(persistentVolumes, makeVolume('v', { storageClassName: '' }))
    const waiting = makeClaim('data', { storageClassName: '' })
    const { volumeName: _, ...spec } = waiting.spec ?? {}
    await client.create<PersistentVolumeClaim>(persistentVolumeClaims, { ...waiting, spec } as PersistentVolumeClaim)
    await addPod('p', podUsing(['data']).spec)
    expect(bindings).toEqual([])
    await environment.clock.advance('20s')
    const claim = await client.get(persistentVolumeClaims, { namespace: 'default', name: 'data' })
    const bound = makeClaim('data', { storageClassName: '', volumeName: 'v' })
    await client.update<PersistentVolumeClaim>(persistentVolumeClaims, {
      ...claim,
      metadata: { ...claim.metadata, annotations: bound.metadata.annotations ?? {} },
      spec: bound.spec,
    } as PersistentVolumeClaim)
    await environment.clock.settle()
    expect(bindings).toEqual(['default/p'])
  })

  it('tries a pod again when another has been given less, as it was asked for', async () => {
    await addNode('a', '1')
    const { metadata, ...shrinking } = makePod({ nodeName: 'a', requests: { cpu: '500m' } }, 'shrinking')
    const statusOf = (observedGeneration: number, cpu: string) => {
      const requests = { cpu }
      const container = { name: 'main', image: '', imageID: '', ready: true, restartCount: 0 }
      return {
        observedGeneration,
        containerStatuses: [{ ...container, allocatedResources: requests, resources: { requests } }],
      }
    }
    await client.create<Pod>(pods, {
      ...shrinking,
      metadata,
      status: statusOf(0, '1'),
    } as Pod)
    await addPod('late', { requests: { cpu: '500m' } })
    expect(bindings).toEqual([])
    const pod = await client.get(pods, { namespace: 'default', name: 'shrinking' })
    const status = statusOf(pod.metadata.generation ?? 1, '500m')
    await client.update<Pod>(pods, { ...pod, status } as Pod, { subresource: 'status' })
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['default/late'])
  })

  it('tells of a binding that the server refuses, and tries again', async () => {
    refusal = new ApiError(403, 'Forbidden', 'no bindings today')
    await addNode('a')
    await addPod('p')
    expect(client.stored(eventsV1)).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedScheduling',
        note: 'running Bind plugin "DefaultBinder": no bindings today',
      },
    ])
    expect(client.calls).toContainEqual({ verb: 'patch', plural: 'pods', key: 'default/p', subresource: 'status' })
    refusal = undefined
    await environment.clock.advance('1s')
    expect(bindings).toEqual(['default/p'])
  })

  const conditionsOf = async (name: string) =>
    (await client.get(pods, { namespace: 'default', name })).status?.conditions ?? []
  const eventsOf = (name: string) =>
    client
      .stored(eventsV1)
      .filter(({ regarding }) => regarding?.name === name)
      .map(({ type, reason, note, reportingController }) => [reportingController, type, reason, note])

  it('binds a pod, by its uid, to the node, and says so', async () => {
    await addNode('a')
    await addPod('p')
    const { uid } = (await client.get(pods, { namespace: 'default', name: 'p' })).metadata
    const target = { kind: 'Node', name: 'a' }
    const metadata = { name: 'p', namespace: 'default', uid }
    expect(posted).toEqual([['binding', { apiVersion: 'v1', kind: 'Binding', metadata, target }]])
    expect(eventsOf('p')).toEqual([
      ['default-scheduler', 'Normal', 'Scheduled', 'Successfully assigned default/p to a'],
    ])
    expect(patches).toEqual([])
  })

  it('records in the status why a pod has no node, and since when', async () => {
    await addPod('p', { requests: { cpu: '2' } })
    const { uid } = (await client.get(pods, { namespace: 'default', name: 'p' })).metadata
    const [condition] = await conditionsOf('p')
    expect(condition).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no nodes available to schedule pods',
      lastTransitionTime: expect.any(String),
    })
    expect(patches).toEqual([['strategic', 'status', { metadata: { uid }, status: { conditions: [condition] } }]])
    await environment.clock.advance('10s')
    await addNode('small', '1')
    await environment.clock.advance('10m')
    const [changed] = await conditionsOf('p')
    expect(changed?.message).toContain('Insufficient cpu')
    expect(changed?.lastTransitionTime).toBe(condition?.lastTransitionTime)
  })

  it('does not write the same reason again', async () => {
    await addNode('small', '1')
    await addPod('p', { requests: { cpu: '3' } })
    await environment.clock.advance('20m')
    expect(attempts('p')).toBeGreaterThan(1)
    expect(patches).toHaveLength(1)
  })

  it('says SchedulerError where the server refuses a binding, and nothing where the pod is gone', async () => {
    await addNode('a')
    refusal = new ApiError(403, 'Forbidden', 'no bindings today')
    await addPod('refused')
    expect(await conditionsOf('refused')).toMatchObject([{ type: 'PodScheduled', reason: 'SchedulerError' }])
    refusal = notFound(pods, 'gone')
    await addPod('gone')
    expect(await conditionsOf('gone')).toEqual([])
    expect(eventsOf('gone')).toEqual([])
  })

  it('tries a pod again as it has become while it was bound in vain', async () => {
    await addNode('a')
    const answer = Promise.withResolvers<never>()
    const bind = client.createSubresource
    client.createSubresource = () => answer.promise
    await addPod('web')
    const pod = await client.get(pods, { namespace: 'default', name: 'web' })
    const labels = { app: 'web' }
    await client.update<Pod>(pods, { ...pod, metadata: { ...pod.metadata, labels } } as Pod)
    await addNode('b')
    await client.update<Node>(nodes, {
      ...(await client.get(nodes, { name: 'b' })),
      metadata: { name: 'b', labels: { 'kubernetes.io/hostname': 'b' } },
    } as Node)
    const wanted = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' }
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [wanted] }
    await addPod('shy', { nodeName: 'b', affinity: { podAntiAffinity } })
    const node = await client.get(nodes, { name: 'a' })
    await client.update<Node>(nodes, { ...node, spec: { unschedulable: true } } as Node)
    client.createSubresource = bind
    // The pod is gone or bound: nothing is told, and so nothing is heard of the pod again.
    answer.reject(new ApiError(409, 'Conflict', 'not today'))
    await environment.clock.advance('5s')
    expect([bindings, attempts('web')]).toEqual([[], 1])
  })

  it('counts attempts by how they ended, and the pods that wait', async () => {
    await addNode('a', '1')
    await addPod('fits', { requests: { cpu: '1' } })
    await addPod('late', { requests: { cpu: '1' } })
    expect(measured('scheduler_pending_pods')).toEqual([
      'scheduler_pending_pods{queue="active"} 0',
      'scheduler_pending_pods{queue="backoff"} 0',
      'scheduler_pending_pods{queue="unschedulable"} 1',
    ])
    refusal = new ApiError(500, 'InternalError', 'the disk is full', {})
    await addNode('b', '1')
    expect(measured('scheduler_pending_pods')[1]).toBe('scheduler_pending_pods{queue="backoff"} 1')
    refusal = undefined
    await environment.clock.advance('30s')
    expect(measured('scheduler_schedule_attempts_total')).toEqual([
      'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 2',
      'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1',
      'scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 1',
    ])
    expect(measured('scheduler_pod_scheduling_attempts')).toEqual([
      // One at once, the other after one attempt that found no node and one that the server refused.
      'scheduler_pod_scheduling_attempts_sum 4',
      'scheduler_pod_scheduling_attempts_count 2',
    ])
    expect(measured('scheduler_scheduling_attempt_duration_seconds_count')).toHaveLength(3)
  })

  it('says what it counts', () => {
    const helps = metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('# HELP'))
    expect(helps).toEqual([
      '# HELP scheduler_pending_pods Pods that wait for a node, by queue.',
      '# HELP scheduler_pod_scheduling_attempts Attempts that it took until a pod was scheduled.',
      '# HELP scheduler_preemption_attempts_total How often pods had to leave for another.',
      '# HELP scheduler_preemption_victims Pods that had to leave for another at a time.',
      '# HELP scheduler_schedule_attempts_total Attempts to schedule pods, by how they ended.',
      '# HELP scheduler_scheduling_attempt_duration_seconds Seconds from the beginning of an attempt until the pod was bound, or found to fit nowhere.',
    ])
  })

  it('measures how long attempts take, until pods are bound', async () => {
    const bind = client.createSubresource.bind(client)
    client.createSubresource = async (...rest) => {
      await new Promise<void>((resolve) => environment.clock.setTimer(3000, resolve))
      return bind(...rest)
    }
    await addNode('a')
    await addPod('p')
    await environment.clock.advance('3s')
    const name = 'scheduler_scheduling_attempt_duration_seconds'
    expect(measured(`${name}_sum`)).toEqual([`${name}_sum{profile="default-scheduler",result="scheduled"} 3`])
    const below = (buckets: string): readonly (string | undefined)[] =>
      metrics
        .text()
        .split('\n')
        .filter((line) => line.startsWith(`${buckets}_bucket`))
        .map((line) => /[{,]le="([^"]+)"/.exec(line)?.[1])
    const seconds = ['0.001', '0.002', '0.004', '0.008', '0.016', '0.032', '0.064', '0.128', '0.256', '0.512', '1.024']
    expect(below(name)).toEqual([...seconds, '2.048', '4.096', '8.192', '16.384', '+Inf'])
    expect(below('scheduler_pod_scheduling_attempts')).toEqual(['1', '2', '4', '8', '16', '+Inf'])
  })

  it('binds nothing to a node that has gone', async () => {
    await addNode('a')
    await client.delete(nodes, { name: 'a' })
    await addPod('p')
    expect(bindings).toEqual([])
  })

  it('forgets a pod that is deleted before there is a node for it', async () => {
    await addPod('p')
    await client.delete(pods, { namespace: 'default', name: 'p' })
    await addNode('a')
    await environment.clock.advance('10m')
    expect(bindings).toEqual([])
  })

  it('gives the room of a pod that has failed, or was deleted, to another', async () => {
    await addNode('a', '2')
    await addPod('failed', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('deleted', { nodeName: 'a', requests: { cpu: '1' } })
    await addPod('first', { requests: { cpu: '1' } })
    await addPod('second', { requests: { cpu: '1' } })
    expect(bindings).toEqual([])
    const failed = await client.get(pods, { namespace: 'default', name: 'failed' })
    await client.update<Pod>(pods, { ...failed, status: { phase: 'Failed' } }, { subresource: 'status' })
    await environment.clock.advance('10s')
    expect(bindings).toHaveLength(1)
    await client.delete(pods, { namespace: 'default', name: 'deleted' })
    await environment.clock.advance('10s')
    expect(bindings.toSorted()).toEqual(['default/first', 'default/second'])
  })

  it.each<[string, (node: Node) => Node, string]>([
    ['its labels', (node) => ({ ...node, metadata: { ...node.metadata, labels: { disk: 'ssd' } } }), ''],
    ['its taints', (node) => ({ ...node, spec: { unschedulable: false } }), ''],
    ['its room', (node) => ({ ...node, status: { allocatable: { cpu: '8', memory: '8Gi', pods: '9' } } }), 'status'],
  ])('tries again when a node has changed in %s so that the pod fits', async (_, change, subresource) => {
    await client.create<Node>(nodes, {
      ...makeNode({ name: 'a', allocatable: { cpu: subresource === 'status' ? '1' : '4' } }),
      metadata: { name: 'a', labels: {} },
      spec: { unschedulable: _ === 'its taints' },
    })
    const nodeSelector = _ === 'its labels' ? { nodeSelector: { disk: 'ssd' } } : {}
    await addPod('p', { requests: { cpu: '2' }, ...nodeSelector })
    expect(bindings).toEqual([])
    await environment.clock.advance('20s')
    const node = await client.get(nodes, { name: 'a' })
    await client.update<Node>(nodes, change(node), subresource === '' ? {} : { subresource })
    await environment.clock.settle()
    expect(bindings).toEqual(['default/p'])
  })

  describe('where the API shows what was bound', () => {
    beforeEach(() => {
      client.createSubresource = async <U>(_: unknown, key: ObjectKey, __: string, body: object): Promise<U> => {
        const pod = await client.get(pods, key as { namespace: string; name: string })
        const nodeName = (body as { target: { name: string } }).target.name
        await client.update<Pod>(pods, { ...pod, spec: { ...pod.spec, nodeName } })
        bindings.push(`${key.namespace}/${key.name}`)
        return {} as U
      }
    })

    const addLabelled = async (name: string, spec: Parameters<typeof makePod>[0] = {}, labels = { app: name }) => {
      const { metadata: _, ...rest } = makePod(spec)
      await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name, labels } })
      await environment.clock.settle()
    }
    const addZone = async (name: string, zone: string) => {
      const { metadata, ...rest } = makeNode({ name, labels: { zone } })
      await client.create<Node>(nodes, { ...rest, metadata })
      await environment.clock.settle()
    }
    const term = (more: object = {}) => ({
      topologyKey: 'zone',
      labelSelector: { matchLabels: { app: 'db' } },
      ...more,
    })
    const near = (more?: object) => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } },
    })
    const apart = {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term()] } },
    }

    it('tries a pod again when one that it wants to be near has been bound', async () => {
      await addZone('a', 'a')
      await addZone('b', 'b')
      await addLabelled('near', near())
      await environment.clock.advance('20s')
      await addLabelled('db')
      expect(bindings).toEqual(['default/db', 'default/near'])
      const [db, other] = await Promise.all(
        ['db', 'near'].map((name) => client.get(pods, { namespace: 'default', name })),
      )
      expect(other?.spec.nodeName).toBe(db?.spec.nodeName)
    })

    it('tries a pod again when one that it wants to be apart from is told apart, or gone', async () => {
      await addZone('a', 'a')
      await addLabelled('first', {}, { app: 'db' })
      await addLabelled('second', {}, { app: 'db' })
      await addLabelled('apart', apart)
      await environment.clock.advance('20s')
      const first = await client.get(pods, { namespace: 'default', name: 'first' })
      await client.update<Pod>(pods, { ...first, metadata: { ...first.metadata, labels: { app: 'other' } } })
      await environment.clock.advance('20s')
      expect(bindings).not.toContain('default/apart')
      await client.delete(pods, { namespace: 'default', name: 'second' })
      await environment.clock.settle()
      expect(bindings).toContain('default/apart')
    })

    it('does not try a pod again for what other pods report of themselves', async () => {
      await addZone('a', 'a')
      await addZone('b', 'b')
      await addLabelled('db', { requests: { cpu: '4' } })
      await addLabelled('near', { ...near(), requests: { cpu: '4' } })
      await environment.clock.advance('20s')
      expect(attempts('near')).toBe(1)
      const db = await client.get(pods, { namespace: 'default', name: 'db' })
      await client.update<Pod>(pods, { ...db, status: { phase: 'Running' } }, { subresource: 'status' })
      await environment.clock.advance('20s')
      expect(attempts('near')).toBe(1)
    })

    it('tries a pod again when a namespace comes to be one of those it means', async () => {
      await addZone('a', 'a')
      const metadata = { name: 'default', labels: { team: 'x' } }
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } } as const
      await client.create(namespaces, namespace)
      await addLabelled('db')
      await addLabelled('near', near({ namespaceSelector: { matchLabels: { team: 'x' } } }))
      await environment.clock.advance('20s')
      expect(bindings).toEqual(['default/db'])
      const known = await client.get(namespaces, { name: 'default' })
      await client.update(namespaces, { ...known, metadata: { ...known.metadata, ...metadata } })
      await environment.clock.settle()
      expect(bindings).toEqual(['default/db', 'default/near'])
    })

    it('tries a pod again when a node goes that made places uneven', async () => {
      await addZone('a', 'a')
      await addZone('b', 'b')
      const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' } as const
      const labelSelector = { matchLabels: { app: 'web' } }
      const web = { topologySpreadConstraints: [{ ...constraint, labelSelector }] }
      const node = await client.get(nodes, { name: 'b' })
      await client.update<Node>(nodes, { ...node, spec: { unschedulable: true } })
      await addLabelled('web-1', web, { app: 'web' })
      await addLabelled('web-2', web, { app: 'web' })
      await environment.clock.advance('20s')
      expect(bindings).toEqual(['default/web-1'])
      await client.delete(nodes, { name: 'b' })
      await environment.clock.settle()
      expect(bindings).toEqual(['default/web-1', 'default/web-2'])
    })
  })

  it('binds a pod once, however long the API takes to show it', async () => {
    await addNode('a')
    await addPod('p')
    const pod = await client.get(pods, { namespace: 'default', name: 'p' })
    await client.update<Pod>(pods, { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } })
    await environment.clock.advance('10m')
    expect(bindings).toEqual(['default/p'])
  })

  it('binds no pod that somebody else has bound', async () => {
    await addPod('p')
    const pod = await client.get(pods, { namespace: 'default', name: 'p' })
    await client.update<Pod>(pods, { ...pod, spec: { ...pod.spec, nodeName: 'elsewhere' } })
    await addNode('a')
    await environment.clock.advance('10m')
    expect(bindings).toEqual([])
  })

  it('gives the room of a pod that cannot be bound to another', async () => {
    await addNode('a', '1')
    const bind = client.createSubresource
    let refuse = () => {}
    client.createSubresource = async (...args: Parameters<typeof bind>) => {
      if (args[1].name === 'first') {
        await new Promise<void>((resolve) => {
          refuse = resolve
        })
        throw new ApiError(403, 'Forbidden', 'not this one')
      }
      return bind(...args)
    }
    await addPod('first', { requests: { cpu: '1' } })
    await addPod('second', { requests: { cpu: '1' }, priority: 1, preemptionPolicy: 'Never' })
    expect(attempts('second')).toBe(1)
    refuse()
    await environment.clock.settle()
    await client.delete(pods, { namespace: 'default', name: 'first' })
    await environment.clock.advance('10s')
    expect(bindings).toEqual(['default/second'])
  })

  it('has so many bindings under way, and goes on when they are done', async () => {
    await client.create<Node>(
      nodes,
      makeNode({ name: 'a', allocatable: { cpu: '1000', memory: '800Gi', pods: '1000' } }),
    )
    const release: (() => void)[] = []
    const bind = client.createSubresource
    client.createSubresource = async (...args: Parameters<typeof bind>) => {
      await new Promise<void>((resolve) => release.push(resolve))
      return bind(...args)
    }
    for (let index = 0; index < 300; index++) {
      const { metadata: _, ...rest } = makePod()
      await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name: `p-${index}` } })
    }
    await environment.clock.settle()
    expect(release).toHaveLength(256)
    for (const each of release.splice(0)) each()
    await environment.clock.settle()
    expect(release).toHaveLength(44)
    for (const each of release.splice(0)) each()
    await environment.clock.settle()
    expect(bindings).toHaveLength(300)
  })

  it('binds all of very many pods', async () => {
    await addNode('a', '1000')
    const node = await client.get(nodes, { name: 'a' })
    const allocatable = { cpu: '1000', memory: '8Gi', pods: '1000' }
    await client.update<Node>(nodes, { ...node, status: { allocatable } }, { subresource: 'status' })
    const names = Array.from({ length: 400 }, (__, index) => `p-${index}`)
    for (const name of names) {
      const { metadata: _metadata, ...rest } = makePod({}, name)
      await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name } })
    }
    await environment.clock.settle()
    expect(bindings).toHaveLength(400)
    expect(new Set(bindings).size).toBe(400)
  })

  describe('where less important pods are in the way', () => {
    const statusOf = async (name: string) => (await client.get(pods, { namespace: 'default', name })).status
    const patchesOf = (uid: string | undefined) =>
      patches.flatMap((patch) => {
        const [, , body] = patch as [string, string, { metadata: { uid: string }; status: object }]
        return body.metadata.uid === uid ? [body.status] : []
      })
    const deletions = () => client.calls.filter(({ verb }) => verb === 'delete').map(({ key }) => key)

    /** A node with room for one CPU, which a pod has. */
    const fill = async (node: string, pod: string, priority = 0) => {
      await addNode(node, '1')
      await addPod(pod, { nodeName: node, priority, requests: { cpu: '1' } })
    }
    /** Deleting pods takes until they are told to go. */
    const deleteSlowly = () => {
      const held: (() => Promise<unknown>)[] = []
      const remove = client.delete.bind(client)
      client.delete = async (resource, key, options) => {
        if (resource.plural !== 'pods') return remove(resource, key, options)
        held.push(() => remove(resource, key, options))
        const pod = await client.get(pods, key as { namespace: string; name: string })
        const metadata = { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['test/held'] }
        await client.update<Pod>(pods, { ...pod, metadata } as Pod)
        return pod as never
      }
      return held
    }

    it('has them leave, and comes to their place', async () => {
      await fill('a', 'victim')
      const preconditions: unknown[] = []
      const remove = client.delete.bind(client)
      client.delete = (resource, key, options) => {
        preconditions.push(options?.preconditions)
        return remove(resource, key, options)
      }
      const { uid: victimUid } = (await client.get(pods, { namespace: 'default', name: 'victim' })).metadata
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      const { uid } = (await client.get(pods, { namespace: 'default', name: 'urgent' })).metadata
      expect(deletions()).toEqual(['default/victim'])
      expect(preconditions).toEqual([{ uid: victimUid }])
      expect(patchesOf(victimUid)).toMatchObject([
        {
          conditions: [
            {
              type: 'DisruptionTarget',
              status: 'True',
              reason: 'PreemptionByScheduler',
              message: 'default-scheduler: preempting to accommodate a higher priority pod',
              lastTransitionTime: expect.any(String),
            },
          ],
        },
      ])
      expect(eventsOf('victim')).toEqual([
        ['default-scheduler', 'Normal', 'Preempted', `Preempted by pod ${uid} on node a`],
      ])
      expect(eventsOf('urgent')).toEqual([
        ['default-scheduler', 'Warning', 'FailedScheduling', '0/1 nodes are available: 1 Insufficient cpu.'],
        ['default-scheduler', 'Normal', 'Scheduled', 'Successfully assigned default/urgent to a'],
      ])
      expect(client.stored(eventsV1)).toMatchObject([
        { reason: 'FailedScheduling', action: 'Scheduling' },
        { reason: 'Preempted', action: 'Preempting', related: { kind: 'Pod', name: 'urgent', uid } },
        { reason: 'Scheduled', action: 'Binding' },
      ])
      expect(await statusOf('urgent')).toMatchObject({
        nominatedNodeName: 'a',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      })
      expect(measured('scheduler_preemption')).toEqual([
        'scheduler_preemption_attempts_total 1',
        'scheduler_preemption_victims_sum 1',
        'scheduler_preemption_victims_count 1',
      ])
      expect(bindings).toEqual(['default/urgent'])
    })

    it('leaves one alone that is leaving already, and waits for its place', async () => {
      await fill('a', 'victim')
      const held = deleteSlowly()
      await client.delete(pods, { namespace: 'default', name: 'victim' })
      await environment.clock.settle()
      const { uid } = (await client.get(pods, { namespace: 'default', name: 'victim' })).metadata
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      await environment.clock.advance('1m')
      expect(held).toHaveLength(1)
      expect(patchesOf(uid)).toEqual([])
      expect(eventsOf('victim')).toEqual([])
      expect(await statusOf('urgent')).toMatchObject({ nominatedNodeName: 'a' })
    })

    it('has nobody leave for want of importance, and says so', async () => {
      await fill('a', 'there', 10)
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect(deletions()).toEqual([])
      expect((await statusOf('urgent'))?.nominatedNodeName).toBeUndefined()
      expect(eventsOf('urgent')[0]?.[3]).toBe(
        '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      )
    })

    it('spares pods that a disruption budget guards', async () => {
      await addNode('a', '2')
      for (const name of ['guarded', 'plain']) {
        const { metadata: _, ...rest } = makePod({ nodeName: 'a', requests: { cpu: '1' } })
        await client.create<Pod>(pods, { ...rest, metadata: { namespace: 'default', name, labels: { app: name } } })
      }
      await client.create<PodDisruptionBudget>(podDisruptionBudgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'guard', namespace: 'default' },
        spec: { selector: { matchLabels: { app: 'guarded' } } },
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      })
      await environment.clock.settle()
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect(deletions()).toEqual(['default/plain'])
    })

    it('waits until they are gone, and has nobody else leave meanwhile', async () => {
      const held = deleteSlowly()
      await fill('a', 'victim')
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      await addPod('other', { nodeName: 'b', requests: { cpu: '1' } })
      await addNode('b', '1')
      await environment.clock.advance('10m')
      expect(bindings).toEqual([])
      expect(held).toHaveLength(1)
      const message =
        'no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.'
      expect(eventsOf('urgent').at(-1)?.[3]).toContain(message)
      const victim = await client.get(pods, { namespace: 'default', name: 'victim' })
      await client.update<Pod>(pods, { ...victim, metadata: { ...victim.metadata, finalizers: [] } })
      await environment.clock.advance('10s')
      expect(bindings).toEqual(['default/urgent'])
    })

    it('has nobody else leave while it has yet to see them go', async () => {
      await fill('a', 'victim')
      client.delete = async () => ({ kind: 'Status', apiVersion: 'v1', status: 'Success' }) as never
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      await addNode('tiny', '500m')
      await environment.clock.advance('6m')
      expect(eventsOf('victim')).toHaveLength(1)
      expect(eventsOf('urgent').at(-1)?.[3]).toContain('waiting for the preemption for this pod to be finished.')
    })

    it('has nobody else leave while it has yet to see all of them go', async () => {
      await addNode('a', '2')
      for (const name of ['first', 'second']) await addPod(name, { nodeName: 'a', requests: { cpu: '1' } })
      const remove = client.delete.bind(client)
      client.delete = async (resource, key, options) => {
        if (key.name === 'first') return remove(resource, key, options)
        return { kind: 'Status', apiVersion: 'v1', status: 'Success' } as never
      }
      await addPod('urgent', { priority: 10, requests: { cpu: '2' } })
      await environment.clock.advance('6m')
      expect(eventsOf('second')).toHaveLength(1)
      expect(eventsOf('urgent').at(-1)?.[3]).toContain('waiting for the preemption for this pod to be finished.')
    })

    it('shares a node with others for which room is made there', async () => {
      deleteSlowly()
      await addNode('a', '2')
      for (const name of ['first', 'second']) await addPod(name, { nodeName: 'a', requests: { cpu: '1' } })
      for (const name of ['urgent', 'as-urgent']) {
        await addPod(name, { priority: 10, requests: { cpu: '1' } })
        await environment.clock.advance('1s')
      }
      expect((await statusOf('urgent'))?.nominatedNodeName).toBe('a')
      expect((await statusOf('as-urgent'))?.nominatedNodeName).toBe('a')
    })

    it('tries again where they could not be told to leave', async () => {
      await fill('a', 'victim')
      const unblock = client.intercept(({ verb }) => {
        if (verb === 'delete') throw new ApiError(500, 'InternalError', 'not today')
      })
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect(eventsOf('victim')).toEqual([])
      unblock()
      // Its back-off, and not the time after which a pod is tried again for which nothing has happened.
      await environment.clock.advance('1s')
      expect(bindings).toEqual(['default/urgent'])
    })

    it('takes a pod that is gone already for one that has left', async () => {
      await fill('a', 'victim')
      client.intercept(({ verb, plural }) => {
        if (verb === 'delete' && plural === 'pods') throw notFound(pods, 'victim')
      })
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect(eventsOf('victim')).toEqual([])
      expect((await statusOf('urgent'))?.nominatedNodeName).toBe('a')
    })

    it('comes before those that were to come to its node and are less important', async () => {
      deleteSlowly()
      await fill('a', 'victim')
      await addPod('middle', { priority: 5, requests: { cpu: '1' } })
      expect((await statusOf('middle'))?.nominatedNodeName).toBe('a')
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect((await statusOf('urgent'))?.nominatedNodeName).toBe('a')
      expect((await statusOf('middle'))?.nominatedNodeName).toBeUndefined()
    })

    it('gives back its place where no pod leaving would help any more', async () => {
      deleteSlowly()
      await fill('a', 'victim')
      await addPod('urgent', { priority: 10, requests: { cpu: '1' } })
      expect((await statusOf('urgent'))?.nominatedNodeName).toBe('a')
      const node = await client.get(nodes, { name: 'a' })
      await client.update<Node>(nodes, { ...node, spec: { unschedulable: true } })
      await environment.clock.advance('6m')
      expect((await statusOf('urgent'))?.nominatedNodeName).toBeUndefined()
      const { uid } = (await client.get(pods, { namespace: 'default', name: 'urgent' })).metadata
      expect(patchesOf(uid).at(-1)).toMatchObject({ nominatedNodeName: null })
    })

    it.each<[string, (nominated: Pod) => Promise<unknown>]>([
      ['it is deleted', () => client.delete(pods, { namespace: 'default', name: 'nominated' })],
      ['somebody takes it away', (pod) => client.update<Pod>(pods, { ...pod, status: {} }, { subresource: 'status' })],
    ])('keeps the place that the API says, until %s', async (_, change) => {
      await addNode('a', '2')
      const create = async (
        name: string,
        metadata: object,
        spec: Parameters<typeof makePod>[0],
        status: Pod['status'],
      ) => {
        const { metadata: _metadata, ...rest } = makePod(spec)
        await client.create<Pod>(pods, {
          ...rest,
          status,
          metadata: { namespace: 'default', name, ...metadata },
        } as Pod)
        await environment.clock.settle()
        return client.get(pods, { namespace: 'default', name })
      }
      const condition = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' } as const
      const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' }
      await create('leaving', leaving, { nodeName: 'a', requests: { cpu: '1' } }, { conditions: [condition] })
      const wanted = { priority: 10, requests: { cpu: '2' } }
      const nominated = await create('nominated', {}, wanted, { nominatedNodeName: 'a' })
      await addPod('late', { requests: { cpu: '1' } })
      await environment.clock.advance('20s')
      expect(bindings).toEqual([])
      await change(nominated)
      await environment.clock.advance('20s')
      expect(bindings).toEqual(['default/late'])
    })
  })

  describe('with a plugin of its own', () => {
    /** Gives each pod one of the licences there are, and tells what it was asked. */
    const licences = (count: number, log: string[]): ClusterPlugin => {
      const held = new Set<string>()
      return {
        name: 'Licences',
        scope: 'cluster',
        signature: () => undefined,
        isHelpedBy: (_, event) => event.type === 'namespace-changed',
        filter: () => ({
          refuse: () =>
            held.size < count ? undefined : { reasons: ['no licence was free'], isHelpedByEviction: false },
          add: () => {},
          remove: () => {},
        }),
        reserve(pod, node) {
          log.push(`reserve ${pod.metadata.name} ${node.name}`)
          if (pod.metadata.name === 'odd') return 'odd pods get none'
          held.add(pod.metadata.uid ?? '')
          return undefined
        },
        unreserve(pod) {
          log.push(`unreserve ${pod.metadata.name}`)
          held.delete(pod.metadata.uid ?? '')
        },
        async preBind(pod) {
          log.push(`preBind ${pod.metadata.name}`)
          if (pod.metadata.name === 'unprepared') throw new Error('not ready yet')
        },
      }
    }
    let log: string[]

    beforeEach(async () => {
      await scheduler.stop()
      log = []
      scheduler = createScheduler({ client, environment, plugins: [...defaultPlugins, licences(1, log)] })
      await scheduler.start()
      await addNode('a')
    })

    it('reserves, prepares and binds', async () => {
      await addPod('p')
      expect(log).toEqual(['reserve p a', 'preBind p'])
      expect(bindings).toEqual(['default/p'])
      await addPod('late')
      expect(eventsOf('late')[0]?.[3]).toContain('0/1 nodes are available: 1 no licence was free.')
    })

    it.each([
      ['odd', ['reserve odd a', 'unreserve odd'], 'running Reserve plugin "Licences": odd pods get none'],
      [
        'unprepared',
        ['reserve unprepared a', 'preBind unprepared', 'unreserve unprepared'],
        'running PreBind plugin "Licences": not ready yet',
      ],
    ])('takes back what was reserved for a pod that cannot be bound: %s', async (name, steps, message) => {
      await addPod(name)
      expect(log).toEqual(steps)
      expect(eventsOf(name)).toEqual([['default-scheduler', 'Warning', 'FailedScheduling', message]])
      await addPod('p')
      expect(bindings).toEqual(['default/p'])
    })

    it('takes back what was reserved where the server refuses the binding', async () => {
      refusal = new ApiError(403, 'Forbidden', 'no bindings today')
      await addPod('p')
      expect(log).toEqual(['reserve p a', 'preBind p', 'unreserve p'])
    })

    it('is asked which events help the pods that it keeps from all nodes', async () => {
      await scheduler.stop()
      let isClosed = true
      const rejection = { reasons: ['the office was closed'], isHelpedByEviction: false }
      const office: ClusterPlugin = {
        name: 'Office',
        scope: 'cluster',
        signature: () => undefined,
        isHelpedBy: (_, event) => event.type === 'namespace-changed',
        filter: () => (isClosed ? { rejection, refuse: () => undefined, add: () => {}, remove: () => {} } : undefined),
      }
      scheduler = createScheduler({ client, environment, plugins: [...defaultPlugins, office] })
      await scheduler.start()
      await addPod('p')
      expect(eventsOf('p')[0]?.[3]).toBe('0/1 nodes are available: the office was closed. not found')
      await environment.clock.advance('20s')
      isClosed = false
      const metadata = { name: 'labelled', labels: { team: 'a' } }
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
      await environment.clock.settle()
      expect(bindings).toEqual(['default/p'])
    })

    it('is asked which events help the pods it refused', async () => {
      await addPod('p')
      await addPod('late')
      await environment.clock.advance('20s')
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'plain' } })
      await environment.clock.settle()
      expect(attempts('late')).toBe(1)
      const metadata = { name: 'labelled', labels: { team: 'a' } }
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
      await environment.clock.settle()
      expect(attempts('late')).toBe(2)
    })
  })

  it('binds nothing after it was stopped', async () => {
    await scheduler.stop()
    await addNode('a')
    await addPod('p')
    await environment.clock.advance('10m')
    expect(bindings).toEqual([])
  })
})
