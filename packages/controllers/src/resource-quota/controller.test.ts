import {
  type KubernetesObject,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  type ResourceQuota,
  resourceQuotas,
} from '@coracle/api'
import { type Interceptor, interceptClient } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, vi } from 'vitest'
import { createResourceQuotaController, mayGiveBack } from './controller.ts'

const key = { namespace: 'default', name: 'quota' }

const pod = (name: string): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { containers: [] },
    status: { phase: 'Running' },
  }) as unknown as Pod

const charge = (client: FakeClient, used: string) =>
  client.patch(resourceQuotas, key, { type: 'merge', body: { status: { used: { pods: used } } } })

it('counts again where the quota was charged meanwhile, though the count is what it said before', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  let isFirst = true
  /** While pods are listed for the first time another comes, which is charged, and is in the list. */
  const meanwhile: Interceptor = {
    async call({ verb, resource }, proceed) {
      if (verb === 'list' && resource.plural === 'pods' && isFirst) {
        isFirst = false
        await charge(client, '2')
        await client.create<Pod>(pods, pod('second'))
      }
      return proceed()
    },
  }
  await client.create<ResourceQuota>(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: key,
    spec: { hard: { pods: '2' } },
    // The pod that it was charged for is gone.
    status: { hard: { pods: '2' }, used: { pods: '1' } },
  })
  const manager = createManager({ client: interceptClient(() => client, meanwhile), environment })
  manager.add(createResourceQuotaController({ resources: () => [pods] }))
  const started = manager.start()
  await environment.clock.advance('1s')
  await started
  expect((await client.get<ResourceQuota>(resourceQuotas, key)).status?.used).toEqual({ pods: '1' })
  await manager.stop()
})

it('asks what objects take only where there is a quota', () => {
  const { sources } = createResourceQuotaController({ resources: () => [pods] })
  const sourceOf = ({ plural }: Resource) => sources.find(({ resource }) => resource.plural === plural)
  const [cache] = sourceOf(resourceQuotas)?.options.aggregates ?? []
  const object = { ...pod('web') }
  const status = vi.fn(() => ({ phase: 'Running' }))
  Object.defineProperty(object, 'status', { get: status })
  const isWorthIt = () =>
    sourceOf(pods)?.predicates.every((holds) => holds({ type: 'update', old: object, object: pod('web') }))
  const quota = { metadata: { ...key, uid: 'u' } } as KubernetesObject
  expect(isWorthIt()).toBe(false)
  expect(status).not.toHaveBeenCalled()
  cache?.add(quota)
  isWorthIt()
  expect(status).toHaveBeenCalled()
  cache?.remove(quota)
  status.mockClear()
  isWorthIt()
  expect(status).not.toHaveBeenCalled()
})

describe('of a pod whose resources are changed', () => {
  /** A pod that asks for some CPU, and has some, of a node that has seen `observed` of its generations. */
  const resized = ({ asked, given, observed, ...status }: ResizedPod): Pod =>
    ({
      ...pod('web'),
      metadata: { namespace: 'default', name: 'web' },
      spec: { containers: [{ name: 'main', resources: { requests: { cpu: asked } } }] },
      status: {
        phase: 'Running',
        observedGeneration: observed,
        containerStatuses: [{ name: 'main', allocatedResources: { cpu: given } }],
        ...status,
      },
    }) as unknown as Pod

  interface ResizedPod {
    readonly asked: string
    readonly given: string
    readonly observed: number
    readonly conditions?: readonly object[]
  }

  const infeasible = { type: 'PodResizePending', status: 'True', reason: 'Infeasible', observedGeneration: 1 }

  it.each<[string, ResizedPod, string, ResizedPod, string]>([
    [
      'what it has, until the node has taken it back',
      { asked: '1', given: '3', observed: 0 },
      '3',
      { asked: '1', given: '1', observed: 1 },
      '1',
    ],
    [
      'what it asks for, until the node has refused it for good',
      { asked: '3', given: '1', observed: 0 },
      '3',
      { asked: '3', given: '1', observed: 1, conditions: [infeasible] },
      '1',
    ],
  ])('counts %s', async (_what, before, used, after, usedAfter) => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    const hard = { 'requests.cpu': '4' }
    await client.create<ResourceQuota>(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: key,
      spec: { hard },
    })
    const created = await client.create<Pod>(pods, resized(before))
    const manager = createManager({ client, environment })
    manager.add(createResourceQuotaController({ resources: () => [pods] }))
    const started = manager.start()
    await environment.clock.advance('1s')
    await started
    const counted = async () => (await client.get<ResourceQuota>(resourceQuotas, key)).status?.used
    expect(await counted()).toEqual({ 'requests.cpu': used })
    await client.update<Pod>(pods, { ...created, status: resized(after).status } as Pod, { subresource: 'status' })
    await environment.clock.advance('1s')
    expect(await counted()).toEqual({ 'requests.cpu': usedAfter })
    await manager.stop()
  })
})

describe('what is no longer in the scope of a quota is given back', () => {
  const claim = (wanted: string, current: string) =>
    ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'default', name: 'data' },
      spec: { volumeAttributesClassName: wanted },
      status: { currentVolumeAttributesClassName: current },
    }) as KubernetesObject
  const ofGold = {
    matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }],
  }
  const endingIn = (seconds?: number): Pod => {
    const { spec, ...rest } = pod('data')
    return { ...rest, spec: seconds === undefined ? spec : { ...spec, activeDeadlineSeconds: seconds } }
  }

  it.each<[string, Resource, ResourceQuota['spec'], KubernetesObject, KubernetesObject]>([
    [
      'a claim whose volume has become of another class',
      persistentVolumeClaims,
      { hard: { persistentvolumeclaims: '2' }, scopeSelector: ofGold },
      claim('silver', 'gold'),
      claim('silver', 'silver'),
    ],
    [
      'a pod that has got a deadline',
      pods,
      { hard: { pods: '2' }, scopes: ['NotTerminating'] },
      endingIn(),
      endingIn(60),
    ],
  ])('%s', async (_what, resource, spec, before, after) => {
    const environment = virtualEnvironment()
    const client = createFakeClient(environment)
    await client.create<ResourceQuota>(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: key,
      spec,
    })
    const { metadata } = await client.create(resource, before)
    const manager = createManager({ client, environment })
    manager.add(createResourceQuotaController({ resources: () => [resource] }))
    const started = manager.start()
    await environment.clock.advance('1s')
    await started
    const counted = async () => (await client.get<ResourceQuota>(resourceQuotas, key)).status?.used
    expect(await counted()).toEqual({ [resource.plural]: '1' })
    const changed = { ...after, metadata }
    await client.update(resource, changed)
    if (resource === persistentVolumeClaims) {
      const { metadata: now } = await client.get(resource, { namespace: 'default', name: 'data' })
      await client.update(resource, { ...after, metadata: now }, { subresource: 'status' })
    }
    await environment.clock.advance('1s')
    expect(await counted()).toEqual({ [resource.plural]: '0' })
    await manager.stop()
  })
})

describe('what a pod takes is summed up again', () => {
  const old = pod('web')
  it.each<[when: string, object: Pod, expected: boolean]>([
    ['not when it gets a node', { ...old, spec: { ...old.spec, nodeName: 'node-1' } }, false],
    ['not when its conditions change', { ...old, status: { ...old.status, conditions: [] } }, false],
    ['not when it is no longer running, but may again', { ...old, status: { phase: 'Unknown' } }, false],
    ['when it has ended', { ...old, status: { phase: 'Succeeded' } }, true],
    ['when its containers are others', { ...old, spec: { ...old.spec, containers: [] } }, true],
    ['when it is given other resources as a whole', { ...old, spec: { ...old.spec, resources: {} } }, true],
  ])('%s', (_when, object, expected) => {
    expect(mayGiveBack({ type: 'update', old, object })).toBe(expected)
  })
})
