import {
  customResourceDefinitions,
  type Deployment,
  deployments,
  events,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type KubernetesObject,
  pods,
  type Resource,
  replicaSets,
  replicationControllers,
  type Scale,
  simulatedUsageAnnotation,
  statefulSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const labels = { app: 'web' }
const podTemplate = {
  metadata: { labels },
  spec: { containers: [{ name: 'web', image: 'example/web', resources: { requests: { cpu: '500m' } } }] },
}

const deployment = (replicas: number): Deployment =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas, selector: { matchLabels: labels }, template: podTemplate },
  }) as Deployment

type Spec = HorizontalPodAutoscaler['spec']

/** Pods of what is called `web` are to use 20 percent of the half core they request. */
const autoscaler = (spec: Partial<Spec> = {}, name = 'web'): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name, namespace },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 20 } } }],
    ...spec,
  },
})

const rules = (policies: readonly (readonly [type: string, value: number, periodSeconds: number])[], more = {}) => ({
  policies: policies.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds })),
  ...more,
})

// Upstream's scenarios are those of test/e2e/autoscaling.
describe('an autoscaler in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster
  /** Millicores that all pods use together, as a load that is shared by them. */
  let load: number

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 11 })
    cluster = await startCluster({ environment, nodes: 3 })
    load = 0
  })

  afterEach(() => cluster.stop())

  /** Shares the load out among the pods that run. */
  const shareLoad = async () => {
    const { items } = await cluster.client.list(pods, { namespace, labelSelector: 'app=web' })
    const running = items.filter(({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp)
    for (const { metadata } of running) {
      const usage = `cpu=${Math.round(load / running.length)}m`
      if (metadata.annotations?.[simulatedUsageAnnotation] === usage) continue
      const body = { metadata: { annotations: { [simulatedUsageAnnotation]: usage } } }
      await cluster.client.patch(pods, { namespace, name: metadata.name ?? '' }, { type: 'merge', body })
    }
  }
  /** Lets time pass, and the pods that come and go meanwhile share the load. */
  const pass = async (seconds: number) => {
    for (let left = seconds; left > 0; left -= 5) {
      await shareLoad()
      await environment.clock.advance(`${Math.min(5, left)}s`)
    }
  }
  const replicasOf = async (resource: Resource = deployments, name = 'web') => {
    const scale = (await cluster.client.get(
      resource,
      { namespace, name },
      { subresource: 'scale' },
    )) as unknown as Scale
    return scale.spec?.replicas ?? 0
  }
  const current = (name = 'web') => cluster.client.get(horizontalPodAutoscalers, { namespace, name })
  const conditionsOf = async (name?: string) => {
    const { status } = await current(name)
    return Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, `${each.status} ${each.reason}`]))
  }
  const eventsOf = async (name = 'web') => {
    const { items } = await cluster.client.list(events, { namespace, fieldSelector: `involvedObject.name=${name}` })
    return items
      .filter(({ involvedObject }) => involvedObject.kind === 'HorizontalPodAutoscaler')
      .map(({ reason, message }) => `${reason}: ${message}`)
  }
  /** A deployment of so many with an autoscaler, once its pods have run for longer than they take to start. */
  const start = async (replicas: number, spec: Partial<Spec> = {}, millicores = replicas * 100) => {
    load = millicores
    await cluster.client.create(deployments, deployment(replicas))
    await pass(330)
    await cluster.client.create(horizontalPodAutoscalers, autoscaler(spec))
    await pass(20)
  }

  it('grows from one pod to three and from three to five, and shrinks by and by', async () => {
    await start(1)
    expect(await replicasOf()).toBe(1)
    load = 250
    await pass(60)
    expect(await replicasOf()).toBe(3)
    load = 700
    await pass(60)
    expect(await replicasOf()).toBe(5)
    expect(await conditionsOf()).toMatchObject({ ScalingLimited: 'True TooManyReplicas' })
    load = 250
    await pass(270)
    expect(await replicasOf()).toBe(5)
    expect(await conditionsOf()).toMatchObject({ AbleToScale: 'True ScaleDownStabilized' })
    await pass(120)
    expect(await replicasOf()).toBe(3)
    load = 0
    await pass(400)
    expect(await replicasOf()).toBe(1)
    expect(await eventsOf()).toEqual(
      expect.arrayContaining([
        'SuccessfulRescale: New size: 3; reason: cpu resource utilization (percentage of request) above target',
        'SuccessfulRescale: New size: 1; reason: All metrics below target',
      ]),
    )
    const { status } = await current()
    expect(status).toMatchObject({ currentReplicas: 1, desiredReplicas: 1 })
  })

  it('looks at a new spec at once, and otherwise every 15 seconds, whoever looks', async () => {
    await start(3)
    await cluster.client.patch(
      horizontalPodAutoscalers,
      { namespace, name: 'web' },
      { type: 'merge', body: { spec: { minReplicas: 4 } } },
    )
    await environment.clock.settle()
    expect(await replicasOf()).toBe(4)
    /** Where in 15 seconds the moment is at which too many replicas are noticed. */
    const momentOfLook = async () => {
      const body = { spec: { replicas: 6 } }
      await cluster.client.patch(deployments, { namespace, name: 'web' }, { type: 'merge', body })
      const startMs = environment.clock.now()
      while ((await replicasOf()) === 6) await environment.clock.advance('1s')
      const nowMs = environment.clock.now()
      expect(nowMs - startMs).toBeLessThanOrEqual(15_000)
      return nowMs % 15_000
    }
    const moment = await momentOfLook()
    await environment.clock.advance('4s')
    expect(await momentOfLook()).toBe(moment)
    await environment.clock.advance('7s')
    await cluster.components['kube-controller-manager'].stop()
    await cluster.components['kube-controller-manager'].start()
    expect(await momentOfLook()).toBe(moment)
  })

  it('does not write a status that says nothing new', async () => {
    await start(2)
    await pass(30)
    const { metadata } = await current()
    await pass(120)
    expect((await current()).metadata.resourceVersion).toBe(metadata.resourceVersion)
  })

  it.each<
    [string, NonNullable<Spec['behavior']>, number, number, readonly (readonly [seconds: number, replicas: number])[]]
  >([
    [
      'a short window of shrinking',
      { scaleDown: rules([['Percent', 100, 15]], { stabilizationWindowSeconds: 60 }) },
      3,
      100,
      [
        [45, 3],
        [45, 1],
      ],
    ],
    [
      'a long window of growth',
      { scaleUp: rules([['Percent', 900, 15]], { stabilizationWindowSeconds: 180 }) },
      2,
      400,
      [
        [150, 2],
        [60, 4],
      ],
    ],
    ['growth that is disabled', { scaleUp: { selectPolicy: 'Disabled' } }, 1, 500, [[300, 1]]],
    ['shrinking that is disabled', { scaleDown: { selectPolicy: 'Disabled' } }, 3, 100, [[600, 3]]],
    [
      'growth by a pod a minute',
      { scaleUp: rules([['Pods', 1, 60]]) },
      1,
      500,
      [
        [30, 2],
        [45, 3],
        [60, 4],
      ],
    ],
    [
      'growth by half every two minutes',
      { scaleUp: rules([['Percent', 50, 120]]) },
      2,
      600,
      [
        [40, 3],
        [60, 3],
        [50, 5],
      ],
    ],
    [
      'shrinking by a pod a minute',
      { scaleDown: rules([['Pods', 1, 60]], { stabilizationWindowSeconds: 0 }) },
      4,
      100,
      [
        [30, 3],
        [45, 2],
        [60, 1],
      ],
    ],
    [
      'shrinking by a quarter',
      { scaleDown: rules([['Percent', 25, 60]], { stabilizationWindowSeconds: 0 }) },
      4,
      100,
      [
        [30, 3],
        [45, 2],
      ],
    ],
  ])('keeps %s', async (_what, behavior, replicas, millicores, steps) => {
    await start(replicas, { behavior })
    load = millicores
    for (const [seconds, expected] of steps) {
      await pass(seconds)
      expect(await replicasOf()).toBe(expected)
    }
  })

  it('keeps windows of growth and of shrinking, one after the other', async () => {
    const window = (policy: readonly [string, number, number]) => rules([policy], { stabilizationWindowSeconds: 180 })
    await start(1, { behavior: { scaleUp: window(['Percent', 900, 15]), scaleDown: window(['Percent', 100, 15]) } }, 50)
    load = 250
    await pass(150)
    expect(await replicasOf()).toBe(1)
    await pass(60)
    expect(await replicasOf()).toBe(3)
    load = 150
    await pass(150)
    expect(await replicasOf()).toBe(3)
    await pass(60)
    expect(await replicasOf()).toBe(2)
  })

  it('keeps a limit of growth and a window of shrinking, together', async () => {
    const behavior = {
      scaleUp: rules([['Pods', 1, 120]]),
      scaleDown: rules([['Percent', 100, 15]], { stabilizationWindowSeconds: 180 }),
    }
    await start(2, { behavior, minReplicas: 2 }, 150)
    load = 350
    await pass(90)
    expect(await replicasOf()).toBe(3)
    await pass(60)
    expect(await replicasOf()).toBe(4)
    load = 150
    await pass(150)
    expect(await replicasOf()).toBe(4)
    await pass(60)
    expect(await replicasOf()).toBe(2)
  })

  it('goes by one container of several', async () => {
    const containers = [...podTemplate.spec.containers, { ...podTemplate.spec.containers[0], name: 'proxy' }]
    const template = { ...podTemplate, spec: { containers } }
    const base = deployment(1)
    await cluster.client.create(deployments, { ...base, spec: { ...base.spec, template } } as Deployment)
    await environment.clock.advance('6m')
    const target = { type: 'Utilization', averageUtilization: 20 }
    const byContainer = (container: string) => [
      { type: 'ContainerResource', containerResource: { name: 'cpu', container, target } },
    ]
    await cluster.client.create(horizontalPodAutoscalers, autoscaler({ metrics: byContainer('web') }))
    const busyProxy = async () => {
      for (const { metadata } of (await cluster.client.list(pods, { namespace })).items) {
        const body = { metadata: { annotations: { [simulatedUsageAnnotation]: 'proxy:cpu=300m' } } }
        await cluster.client.patch(pods, { namespace, name: metadata.name ?? '' }, { type: 'merge', body })
      }
    }
    await busyProxy()
    await environment.clock.advance('1m')
    expect(await replicasOf()).toBe(1)
    const body = { spec: { metrics: byContainer('proxy') } }
    await cluster.client.patch(horizontalPodAutoscalers, { namespace, name: 'web' }, { type: 'merge', body })
    await environment.clock.settle()
    expect(await replicasOf()).toBe(3)
  })

  it.each<[string, Resource, object]>([
    ['a replication controller', replicationControllers, { selector: labels }],
    ['a replica set', replicaSets, { selector: { matchLabels: labels } }],
    [
      'a stateful set',
      statefulSets,
      { selector: { matchLabels: labels }, serviceName: 'web', podManagementPolicy: 'Parallel' },
    ],
  ])('scales %s', async (_what, resource, more) => {
    const { group, version, kind } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    load = 100
    const object = {
      apiVersion,
      kind,
      metadata: { name: 'web', namespace },
      spec: { replicas: 1, template: podTemplate, ...more },
    }
    await cluster.client.create(resource, object as KubernetesObject)
    await pass(330)
    await cluster.client.create(
      horizontalPodAutoscalers,
      autoscaler({ scaleTargetRef: { apiVersion, kind, name: 'web' } }),
    )
    load = 250
    await pass(60)
    expect(await replicasOf(resource)).toBe(3)
    load = 700
    await pass(60)
    expect(await replicasOf(resource)).toBe(5)
    load = 0
    await pass(400)
    expect(await replicasOf(resource)).toBe(1)
  })

  it.each([
    ['an average of memory', { type: 'AverageValue', averageValue: '100Mi' }, 'Resource'],
    ['a utilization of memory', { type: 'Utilization', averageUtilization: 20 }, 'Resource'],
    ['an average of one container', { type: 'AverageValue', averageValue: '100Mi' }, 'ContainerResource'],
    ['a utilization of one container', { type: 'Utilization', averageUtilization: 20 }, 'ContainerResource'],
  ])('scales by %s', async (_what, target, type) => {
    const resources = { requests: { memory: '500Mi' } }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web', resources }] } }
    const base = deployment(1)
    await cluster.client.create(deployments, { ...base, spec: { ...base.spec, template } } as Deployment)
    await environment.clock.advance('6m')
    const metric =
      type === 'Resource'
        ? { type, resource: { name: 'memory', target } }
        : { type, containerResource: { name: 'memory', container: 'web', target } }
    await cluster.client.create(horizontalPodAutoscalers, autoscaler({ metrics: [metric] } as Partial<Spec>))
    const use = async (mebibytes: number) => {
      for (let round = 0; round < 12; round++) {
        const { items } = await cluster.client.list(pods, { namespace })
        for (const { metadata } of items) {
          const body = {
            metadata: {
              annotations: { [simulatedUsageAnnotation]: `memory=${Math.round(mebibytes / items.length)}Mi` },
            },
          }
          await cluster.client.patch(pods, { namespace, name: metadata.name ?? '' }, { type: 'merge', body })
        }
        await environment.clock.advance('5s')
      }
      return replicasOf()
    }
    expect(await use(250)).toBe(3)
    expect(await use(700)).toBe(5)
  })

  it('scales a kind that a definition makes, through its scale subresource', async () => {
    const widgets: Resource = {
      group: 'example.com',
      version: 'v1',
      kind: 'Widget',
      plural: 'widgets',
      namespaced: true,
    }
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const scale = {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    }
    await cluster.client.create(customResourceDefinitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', kind: 'Widget' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: { status: {}, scale },
          },
        ],
      },
    } as never)
    await environment.clock.settle()
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'web', namespace },
      spec: { replicas: 9 },
    }
    const created = await cluster.client.create(widgets, widget as KubernetesObject)
    const status = { replicas: 9, selector: 'app=web' }
    await cluster.client.update(widgets, { ...created, status } as KubernetesObject, { subresource: 'status' })
    const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'web' }
    await cluster.client.create(horizontalPodAutoscalers, autoscaler({ scaleTargetRef }))
    await environment.clock.settle()
    expect(await replicasOf(widgets)).toBe(5)
  })

  it('says what it lacks: something to scale, or metrics', async () => {
    await cluster.client.create(horizontalPodAutoscalers, autoscaler())
    await environment.clock.settle()
    expect(await conditionsOf()).toEqual({ AbleToScale: 'False FailedGetScale' })
    expect(await eventsOf()).toEqual(['FailedGetScale: deployments.apps "web" not found'])
    await cluster.client.create(deployments, { ...deployment(1), spec: { ...deployment(1).spec, paused: true } })
    await environment.clock.advance('15s')
    expect(await conditionsOf()).toEqual({
      AbleToScale: 'True SucceededGetScale',
      ScalingActive: 'False FailedGetResourceMetric',
    })
    expect(await eventsOf()).toContain(
      'FailedGetResourceMetric: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    )
  })

  it('does nothing about pods that another autoscaler scales as well', async () => {
    await start(2)
    await cluster.client.create(horizontalPodAutoscalers, autoscaler({}, 'other'))
    load = 900
    await pass(60)
    for (const name of ['web', 'other']) {
      expect(await conditionsOf(name)).toMatchObject({ ScalingActive: 'False AmbiguousSelector' })
    }
    expect(await eventsOf('other')).toContain(
      'AmbiguousSelector: pods by selector app=web are controlled by multiple HPAs: [default/other default/web]',
    )
    expect(await replicasOf()).toBe(2)
    await cluster.client.delete(horizontalPodAutoscalers, { namespace, name: 'other' })
    await pass(60)
    expect(await replicasOf()).toBe(5)
  })

  it('leaves alone what is scaled to zero by hand', async () => {
    await start(2)
    await cluster.client.patch(
      deployments,
      { namespace, name: 'web' },
      { type: 'merge', body: { spec: { replicas: 0 } } },
    )
    await pass(60)
    expect(await replicasOf()).toBe(0)
    expect(await conditionsOf()).toMatchObject({ ScalingActive: 'False ScalingDisabled' })
  })
})
