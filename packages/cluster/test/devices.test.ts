import {
  type Deployment,
  type DeviceClass,
  deployments,
  deviceClasses,
  events,
  nodes,
  type Pod,
  pods,
  type ResourceClaim,
  type ResourceClaimTemplate,
  type ResourceSlice,
  resourceClaims,
  resourceClaimTemplates,
  resourceQuotas,
  resourceSlices,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const apiVersion = 'resource.k8s.io/v1'
const driver = 'gpu.example.com'

describe('devices in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster
  let names: readonly string[]

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 7 })
    cluster = await startCluster({ environment, nodes: 2 })
    names = (await cluster.client.list(nodes)).items.map(({ metadata }) => metadata.name ?? '')
    await cluster.client.create(deviceClasses, gpuClass)
    await cluster.client.create(resourceClaimTemplates, template)
    for (const name of names) await cluster.client.create(resourceSlices, slice(name, 2))
    await environment.clock.settle()
  })

  afterEach(() => cluster.stop())

  const gpuClass: DeviceClass = {
    apiVersion,
    kind: 'DeviceClass',
    metadata: { name: 'gpu' },
    spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
  }
  const oneGpu = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } }
  const template: ResourceClaimTemplate = {
    apiVersion,
    kind: 'ResourceClaimTemplate',
    metadata: { name: 'one-gpu', namespace },
    spec: { spec: oneGpu },
  }
  const slice = (nodeName: string, count: number, generation = 1): ResourceSlice => ({
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: `${nodeName}-gpus` },
    spec: {
      driver,
      nodeName,
      pool: { name: nodeName, generation, resourceSliceCount: 1 },
      devices: Array.from({ length: count }, (_, index) => ({ name: `gpu-${index}` })),
    },
  })
  const container = { name: 'main', image: 'example/main', resources: { claims: [{ name: 'gpu' }] } }
  const training = (replicas: number): Deployment =>
    ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'training', namespace },
      spec: {
        replicas,
        selector: { matchLabels: { app: 'training' } },
        template: {
          metadata: { labels: { app: 'training' } },
          spec: {
            containers: [container],
            resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
          },
        },
      },
    }) as unknown as Deployment
  const using = (name: string, claim: string): Pod =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { containers: [container], resourceClaims: [{ name: 'gpu', resourceClaimName: claim }] },
    }) as unknown as Pod
  const sharedClaim: ResourceClaim = {
    apiVersion,
    kind: 'ResourceClaim',
    metadata: { name: 'shared', namespace },
    spec: oneGpu,
  }

  const allPods = async () => (await cluster.client.list(pods, { namespace })).items
  const running = async () => (await allPods()).filter(({ status }) => status?.phase === 'Running')
  const waiting = async () => (await allPods()).filter(({ spec }) => !spec.nodeName)
  const claims = async () => (await cluster.client.list(resourceClaims, { namespace })).items
  const shared = () => cluster.client.get(resourceClaims, { namespace, name: 'shared' })
  const scheduledCondition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const reasonsOf = async (pod: string) =>
    (await cluster.client.list(events, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === pod)
      .map(({ reason, message }) => `${reason}: ${message}`)
  /** `node/device`, of all claims. */
  const devicesInUse = async () =>
    (await claims()).flatMap(({ status }) =>
      (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`),
    )

  it('go to no pod whose selector fails on one of the nodes, until it does not', async () => {
    const [first = '', second = ''] = names
    const told = { name: 'gpu', attributes: { healthy: { bool: true } } }
    const specOf = (name: string) => ({ ...slice(name, 0, 2).spec, devices: [told] })
    await cluster.client.patch(
      resourceSlices,
      { name: `${first}-gpus` },
      { type: 'merge', body: { spec: specOf(first) } },
    )
    const expression = `device.attributes["${driver}"].healthy`
    const exactly = { deviceClassName: 'gpu', selectors: [{ cel: { expression } }] }
    await cluster.client.create(resourceClaims, {
      ...sharedClaim,
      spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
    })
    await cluster.client.create(pods, using('picky', 'shared'))
    await environment.clock.advance('10s')
    const message = 'claim default/shared: selector #0: CEL runtime error: no such key: healthy'
    const picky = () => cluster.client.get(pods, { namespace, name: 'picky' })
    expect(scheduledCondition(await picky())).toMatchObject({ status: 'False', reason: 'SchedulerError', message })
    expect(await reasonsOf('picky')).toContain(`FailedScheduling: ${message}`)
    await cluster.client.patch(
      resourceSlices,
      { name: `${second}-gpus` },
      { type: 'merge', body: { spec: specOf(second) } },
    )
    await environment.clock.advance('60s')
    expect((await picky()).status?.phase).toBe('Running')
  })

  it('go to one pod each, and the pod too many comes when one goes', async () => {
    await cluster.client.create(deployments, training(5))
    await environment.clock.advance('10s')
    expect(await running()).toHaveLength(4)
    expect((await devicesInUse()).toSorted()).toEqual(
      names.flatMap((name) => [`${name}/gpu-0`, `${name}/gpu-1`]).toSorted(),
    )
    for (const pod of await running()) {
      const [name = ''] = (pod.status?.resourceClaimStatuses ?? []).map((each) => each.resourceClaimName)
      const claim = await cluster.client.get(resourceClaims, { namespace, name })
      expect(claim.metadata.finalizers).toEqual(['resource.kubernetes.io/delete-protection'])
      expect(claim.metadata.generateName).toBe(`${pod.metadata.name}-gpu-`)
      expect(claim.status?.reservedFor).toEqual([{ resource: 'pods', name: pod.metadata.name, uid: pod.metadata.uid }])
      expect(claim.status?.allocation?.devices?.results?.[0]?.pool).toBe(pod.spec.nodeName)
    }
    const [late] = await waiting()
    expect(late && scheduledCondition(late)).toMatchObject({
      reason: 'Unschedulable',
      message:
        '0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    })
    await cluster.client.patch(
      deployments,
      { namespace, name: 'training' },
      { type: 'merge', body: { spec: { replicas: 4 } } },
    )
    await environment.clock.advance('60s')
    expect([(await running()).length, (await waiting()).length]).toEqual([4, 0])
    const [first] = await running()
    await cluster.client.delete(pods, { namespace, name: first?.metadata.name ?? '' }, { gracePeriodSeconds: 0 })
    await environment.clock.advance('60s')
    expect(await running()).toHaveLength(4)
    expect(new Set(await devicesInUse()).size).toBe(4)
    expect(await claims()).toHaveLength(4)
    await cluster.client.delete(deployments, { namespace, name: 'training' }, { propagationPolicy: 'Background' })
    await environment.clock.advance('120s')
    expect(await claims()).toEqual([])
  })

  it('come with their driver: a pod that waits is placed when there are more', async () => {
    await cluster.client.create(deployments, training(5))
    await environment.clock.advance('10s')
    expect(await waiting()).toHaveLength(1)
    const [name = ''] = names
    const current = await cluster.client.get(resourceSlices, { name: `${name}-gpus` })
    await cluster.client.update(resourceSlices, { ...current, spec: slice(name, 3, 2).spec })
    await environment.clock.advance('30s')
    expect(await running()).toHaveLength(5)
  })

  it('are shared by pods that name one claim, which keeps them until the last is done', async () => {
    await cluster.client.create(pods, using('a', 'shared'))
    await environment.clock.advance('5s')
    const [early] = await waiting()
    expect(early && scheduledCondition(early)?.message).toContain('could not find ResourceClaim "default/shared"')
    await cluster.client.create(resourceClaims, sharedClaim)
    await cluster.client.create(pods, using('b', 'shared'))
    await environment.clock.advance('30s')
    const both = await running()
    expect(both.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    expect(new Set(both.map(({ spec }) => spec.nodeName)).size).toBe(1)
    await cluster.client.delete(pods, { namespace, name: 'a' }, { gracePeriodSeconds: 0 })
    await environment.clock.advance('5s')
    expect((await shared()).status).toMatchObject({ allocation: {}, reservedFor: [{ name: 'b' }] })
    // It is kept while somebody uses it.
    await cluster.client.delete(resourceClaims, { namespace, name: 'shared' })
    await environment.clock.advance('5s')
    expect((await shared()).metadata.deletionTimestamp).toBeDefined()
    await cluster.client.delete(pods, { namespace, name: 'b' }, { gracePeriodSeconds: 0 })
    await environment.clock.advance('5s')
    expect(await claims()).toEqual([])
  })

  it('are given back where nobody can use them on the node they are on', async () => {
    await cluster.client.create(resourceClaims, sharedClaim)
    const elsewhere = { metadata: sharedClaim.metadata, devices: { results: [] } }
    const nodeSelector = {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['gone'] }] }],
    }
    await cluster.client.patch(
      resourceClaims,
      { namespace, name: 'shared' },
      { type: 'merge', body: { status: { allocation: { devices: elsewhere.devices, nodeSelector } } } },
      { subresource: 'status' },
    )
    await cluster.client.create(pods, using('a', 'shared'))
    await environment.clock.advance('30s')
    expect(await running()).toHaveLength(1)
    expect((await shared()).status?.allocation?.devices?.results).toHaveLength(1)
  })

  it('that get ready on their own time have their pod wait for that', async () => {
    const [name = ''] = names
    for (const each of names) await cluster.client.delete(resourceSlices, { name: `${each}-gpus` })
    const conditions = { bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] }
    const attachable = slice(name, 1)
    await cluster.client.create(resourceSlices, {
      ...attachable,
      spec: { ...attachable.spec, devices: [{ name: 'gpu-0', ...conditions }] },
    })
    await cluster.client.create(resourceClaims, sharedClaim)
    await cluster.client.create(pods, using('a', 'shared'))
    await environment.clock.advance('30s')
    expect(await waiting()).toHaveLength(1)
    expect((await shared()).status?.allocation?.devices?.results?.[0]).toMatchObject(conditions)
    const condition = {
      type: 'Attached',
      status: 'True',
      reason: 'Attached',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const device = { driver, pool: name, device: 'gpu-0', conditions: [condition] }
    const body = { status: { devices: [device] } }
    const key = { namespace, name: 'shared' }
    await cluster.client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    await environment.clock.advance('5s')
    expect(await running()).toHaveLength(1)
  })

  it('that fail to get ready are given back, and the pod gets another', async () => {
    const [first = '', second = ''] = names
    for (const each of names) await cluster.client.delete(resourceSlices, { name: `${each}-gpus` })
    const conditions = { bindingConditions: ['Attached'], bindingFailureConditions: ['Broken'] }
    const attachable = slice(first, 1)
    const devices = [{ name: 'gpu-0', ...conditions }]
    await cluster.client.create(resourceSlices, { ...attachable, spec: { ...attachable.spec, devices } })
    await cluster.client.create(resourceClaims, sharedClaim)
    await cluster.client.create(pods, using('a', 'shared'))
    await environment.clock.advance('5s')
    expect(await devicesInUse()).toEqual([`${first}/gpu-0`])
    await cluster.client.delete(resourceSlices, { name: `${first}-gpus` })
    await cluster.client.create(resourceSlices, slice(second, 1))
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const broken = { type: 'Broken', status: 'True', reason: 'NoLink', message: 'no link', lastTransitionTime }
    const body = { status: { devices: [{ driver, pool: first, device: 'gpu-0', conditions: [broken] }] } }
    const key = { namespace, name: 'shared' }
    await cluster.client.patch(resourceClaims, key, { type: 'merge', body }, { subresource: 'status' })
    await environment.clock.settle()
    expect((await shared()).status?.reservedFor).toBeUndefined()
    await environment.clock.advance('30s')
    expect((await running()).map(({ spec }) => spec.nodeName)).toEqual([second])
    expect((await shared()).status).toMatchObject({ reservedFor: [{ name: 'a' }] })
    expect((await shared()).status?.devices).toBeUndefined()
    expect((await reasonsOf('a')).join()).toContain(
      'device binding failed: claim=shared, reason=NoLink, message="no link"',
    )
  })

  it('that are tainted take their pods with them, at once or when their claims no longer tolerate it', async () => {
    const [name = ''] = names
    for (const each of names.slice(1)) await cluster.client.delete(resourceSlices, { name: `${each}-gpus` })
    const toleration = { key: 'broken', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 } as const
    const exactly = { deviceClassName: 'gpu', tolerations: [toleration] }
    await cluster.client.create(resourceClaims, sharedClaim)
    await cluster.client.create(resourceClaims, {
      ...sharedClaim,
      metadata: { name: 'patient', namespace },
      spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
    })
    await cluster.client.create(pods, using('a', 'shared'))
    await cluster.client.create(pods, using('b', 'patient'))
    await environment.clock.advance('10s')
    expect(await running()).toHaveLength(2)

    const current = await cluster.client.get(resourceSlices, { name: `${name}-gpus` })
    const taints = [{ key: 'broken', value: '', effect: 'NoExecute' }] as const
    const tainted = { ...slice(name, 2, 2).spec, devices: [0, 1].map((index) => ({ name: `gpu-${index}`, taints })) }
    await cluster.client.update(resourceSlices, { ...current, spec: tainted })
    await environment.clock.advance('40s')
    expect((await allPods()).map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect(await reasonsOf('a')).toContain('DeviceTaintManagerEviction: Marking for deletion')

    await environment.clock.advance('60s')
    expect(await allPods()).toEqual([])
  })

  it('are held to quotas by their class', async () => {
    const hard = { 'gpu.deviceclass.resource.k8s.io/devices': '3' }
    const key = { namespace, name: 'gpus' }
    await cluster.client.create(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: key,
      spec: { hard },
    })
    await environment.clock.advance('5s')
    const claimOf = (name: string, count: number): ResourceClaim => ({
      ...sharedClaim,
      metadata: { name, namespace },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', count } }] } },
    })
    await cluster.client.create(resourceClaims, claimOf('two', 2))
    await expect(cluster.client.create(resourceClaims, claimOf('too-many', 2))).rejects.toThrow(
      'exceeded quota: gpus, requested: gpu.deviceclass.resource.k8s.io/devices=2, used: gpu.deviceclass.resource.k8s.io/devices=2, limited: gpu.deviceclass.resource.k8s.io/devices=3',
    )
    await cluster.client.delete(resourceClaims, { namespace, name: 'two' })
    await environment.clock.advance('60s')
    expect((await cluster.client.get(resourceQuotas, key)).status?.used).toEqual({
      'gpu.deviceclass.resource.k8s.io/devices': '0',
    })
  })

  it('that are well again before the time is over keep their pods', async () => {
    const toleration = { key: 'broken', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 } as const
    const exactly = { deviceClassName: 'gpu', tolerations: [toleration] }
    await cluster.client.create(resourceClaims, {
      ...sharedClaim,
      spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
    })
    await cluster.client.create(pods, using('a', 'shared'))
    await environment.clock.advance('10s')
    const [result] = (await shared()).status?.allocation?.devices?.results ?? []
    const { pool = '', device = '' } = result ?? {}
    const retaint = async (taints: readonly { key: string; value: string; effect: 'NoExecute' }[]) => {
      const current = await cluster.client.get(resourceSlices, { name: `${pool}-gpus` })
      const devices = (current.spec.devices ?? []).map((each) => (each.name === device ? { ...each, taints } : each))
      await cluster.client.update(resourceSlices, { ...current, spec: { ...current.spec, devices } })
    }
    await retaint([{ key: 'broken', value: '', effect: 'NoExecute' }])
    await environment.clock.advance('30s')
    await retaint([])
    await environment.clock.advance('90s')
    expect(await running()).toHaveLength(1)
    expect(await reasonsOf('a')).toEqual(expect.arrayContaining(['DeviceTaintManagerEviction: Cancelling deletion']))
  })
})
