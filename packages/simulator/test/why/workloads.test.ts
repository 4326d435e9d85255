import {
  configMaps,
  daemonSets,
  deployments,
  horizontalPodAutoscalers,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
  statefulSets,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, labels, namespace, Situation, selector, templateOf } from './situation.ts'

const web = (spec: object = {}, more: object = {}) => ({
  spec: { replicas: 1, selector, template: templateOf(spec), ...more },
})
const image = (version: number) => templateOf({ containers: [{ ...container, image: `example/web:${version}` }] })

describe('why a rollout does not get on', () => {
  it('is paused', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    await situation.patch(deployments, 'web', { spec: { paused: true, template: image(2) } })
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toBe(
      'Paused of deployment/web: it is paused: changes of its template have no effect',
    )
    expect(await situation.remedy(deployments, 'web')).toBe('`coracle rollout resume deployment/web`')
    await situation.patch(deployments, 'web', { spec: { paused: false } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('has passed its deadline, for what holds its pods up', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web({ nodeSelector: { disk: 'ssd' } }, { progressDeadlineSeconds: 10 }))
    await situation.passes('30s')
    const { findings } = await situation.why(deployments, 'web')
    expect(findings.map(({ reason }) => reason)).toEqual(['NodeSelectorMismatch', 'ProgressDeadlineExceeded'])
    await situation.patch(nodes, 'node-0', { metadata: { labels: { disk: 'ssd' } } })
    await situation.passes('30s')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('has no controller', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    await situation.cluster.controller('deployment-controller').stop()
    await situation.patch(deployments, 'web', { spec: { template: image(2) } })
    expect(await situation.verdict(deployments, 'web')).toBe('waiting')
    await situation.passes('1m')
    expect(await situation.cause(deployments, 'web')).toBe(
      'NotObserved of deployment/web: its status is of generation 1, and its generation is 2',
    )
    await situation.cluster.controller('deployment-controller').start()
    await situation.passes('1m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('is about to be done', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web({}, { minReadySeconds: 60 }))
    await situation.passes('30s')
    expect(await situation.why(deployments, 'web')).toMatchObject({
      verdict: 'waiting',
      findings: [{ reason: 'MinReadySeconds' }],
    })
    await situation.passes('1m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('waits for one pod of a StatefulSet', async () => {
    await using situation = await Situation.start()
    const template = templateOf({ containers: [{ ...container, envFrom: [{ configMapRef: { name: 'settings' } }] }] })
    await situation.create(statefulSets, 'db', { spec: { replicas: 2, serviceName: 'db', selector, template } })
    await situation.passes('2m')
    const { findings } = await situation.why(statefulSets, 'db')
    expect(findings.map(({ reason, object }) => `${reason} ${object.name}`)).toEqual([
      'ConfigurationMissing db-0',
      'WaitsForOrdinal db',
    ])
    await situation.create(configMaps, 'settings', {})
    await situation.passes('5m')
    expect(await situation.verdict(statefulSets, 'db')).toBe('fine')
  })

  it('leaves pods below a partition as they are', async () => {
    await using situation = await Situation.start()
    const spec = { replicas: 2, serviceName: 'db', selector, template: image(1) }
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } }
    await situation.create(statefulSets, 'db', { spec: { ...spec, updateStrategy } })
    await situation.passes('1m')
    await situation.replaceTemplate(statefulSets, 'db', image(2))
    await situation.passes('2m')
    expect(await situation.cause(statefulSets, 'db')).toMatch(/^HeldByPartition of statefulset\/db: .*partition is 1/)
    await situation.patch(statefulSets, 'db', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
    await situation.passes('2m')
    expect(await situation.verdict(statefulSets, 'db')).toBe('fine')
  })

  it('updates pods only when they are deleted', async () => {
    await using situation = await Situation.start()
    const updateStrategy = { type: 'OnDelete' }
    await situation.create(daemonSets, 'web', { spec: { selector, template: image(1), updateStrategy } })
    await situation.passes('30s')
    await situation.replaceTemplate(daemonSets, 'web', image(2))
    await situation.passes('30s')
    expect(await situation.cause(daemonSets, 'web')).toMatch(/^UpdatedOnDelete of daemonset\/web/)
    await situation.delete(pods, await situation.onlyPod())
    await situation.passes('1m')
    expect(await situation.verdict(daemonSets, 'web')).toBe('fine')
  })

  it('finds no node for a DaemonSet', async () => {
    await using situation = await Situation.start()
    const spec = { selector, template: templateOf({ nodeSelector: { disk: 'ssd' } }) }
    await situation.create(daemonSets, 'web', { spec })
    await situation.passes('10s')
    expect(await situation.cause(daemonSets, 'web')).toBe(
      'NodesNotMatched of daemonset/web: node-0: it is not labelled disk=ssd',
    )
    await situation.patch(nodes, 'node-0', { metadata: { labels: { disk: 'ssd' } } })
    await situation.passes('30s')
    expect(await situation.verdict(daemonSets, 'web')).toBe('fine')
  })
})

describe('why an autoscaler does not scale', () => {
  const scaler = (more: object = {}) => ({
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
      ...more,
    },
  })
  const using_ = (cpu: string, requests: object | undefined) => ({
    metadata: { labels, annotations: { 'coracle.dev/simulated-usage': `cpu=${cpu}` } },
    spec: { containers: [{ ...container, ...(requests === undefined ? {} : { resources: { requests } }) }] },
  })

  it('has a target that does not say what it requests', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', { spec: { replicas: 1, selector, template: using_('50m', undefined) } })
    await situation.create(horizontalPodAutoscalers, 'web', scaler())
    await situation.passes('3m')
    expect(await situation.cause(horizontalPodAutoscalers, 'web')).toMatch(
      /^RequestMissing of horizontalpodautoscaler\/web: .*missing request for cpu in container main of Pod web-/,
    )
    expect(await situation.remedy(horizontalPodAutoscalers, 'web')).toBe(
      'set resources.requests.cpu of container main in the template of deployment/web: utilization is measured against it',
    )
    await situation.replaceTemplate(deployments, 'web', using_('50m', { cpu: '100m' }))
    await situation.passes('10m')
    expect(await situation.verdict(horizontalPodAutoscalers, 'web')).toBe('fine')
  })

  it('has no target', async () => {
    await using situation = await Situation.start()
    await situation.create(horizontalPodAutoscalers, 'web', scaler())
    await situation.passes('1m')
    expect(await situation.cause(horizontalPodAutoscalers, 'web')).toBe(
      'TargetMissing of horizontalpodautoscaler/web: there is no deployment/web in namespace default',
    )
    await situation.create(deployments, 'web', {
      spec: { replicas: 1, selector, template: using_('50m', { cpu: '100m' }) },
    })
    await situation.passes('10m')
    expect(await situation.verdict(horizontalPodAutoscalers, 'web')).toBe('fine')
  })

  it('has as many as it may', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', {
      spec: { replicas: 1, selector, template: using_('400m', { cpu: '100m' }) },
    })
    await situation.create(horizontalPodAutoscalers, 'web', scaler({ maxReplicas: 2 }))
    await situation.passes('5m')
    expect(await situation.cause(horizontalPodAutoscalers, 'web')).toMatch(
      /^TooManyReplicas of horizontalpodautoscaler\/web: .*spec allows 1 to 2/,
    )
    expect(await situation.remedy(horizontalPodAutoscalers, 'web')).toBe('raise spec.maxReplicas')
  })

  it('has a target that is switched off', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', {
      spec: { replicas: 0, selector, template: using_('50m', { cpu: '100m' }) },
    })
    await situation.create(horizontalPodAutoscalers, 'web', scaler())
    await situation.passes('1m')
    expect(await situation.cause(horizontalPodAutoscalers, 'web')).toMatch(
      /^ScalingDisabled of horizontalpodautoscaler\/web/,
    )
    expect(await situation.remedy(horizontalPodAutoscalers, 'web')).toMatch(
      /^`coracle scale deployment\/web --replicas=1`/,
    )
    await situation.patch(deployments, 'web', { spec: { replicas: 1 } })
    await situation.passes('10m')
    expect(await situation.verdict(horizontalPodAutoscalers, 'web')).toBe('fine')
  })

  it('waits for its window', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', {
      spec: { replicas: 3, selector, template: using_('10m', { cpu: '100m' }) },
    })
    await situation.passes('1m')
    await situation.create(horizontalPodAutoscalers, 'web', scaler())
    await situation.passes('1m')
    expect(await situation.why(horizontalPodAutoscalers, 'web')).toMatchObject({
      verdict: 'waiting',
      findings: [{ reason: 'ScaleDownStabilized', because: expect.stringContaining('its window is 300 s') }],
    })
    await situation.passes('10m')
    expect(await situation.verdict(horizontalPodAutoscalers, 'web')).toBe('fine')
  })
})

describe('why things do not go', () => {
  it('are held by a finalizer', async () => {
    await using situation = await Situation.start()
    await situation.create(configMaps, 'settings', { metadata: { finalizers: ['a.io/keep'] } })
    await situation.delete(configMaps, 'settings')
    expect(await situation.cause(configMaps, 'settings')).toBe(
      'HeldByFinalizer of configmap/settings: a finalizer holds it: a.io/keep',
    )
    await situation.patch(configMaps, 'settings', { metadata: { finalizers: null } })
    expect(await situation.why(configMaps, 'settings')).toMatchObject({
      verdict: 'gone',
      findings: [{ reason: 'Deleted', because: expect.stringMatching(/^kubernetes-admin deleted it at/) }],
    })
  })

  it('keep their namespace', async () => {
    await using situation = await Situation.start()
    await situation.create(namespaces, 'team', {})
    await situation.create(configMaps, 'settings', { metadata: { finalizers: ['a.io/keep'] } }, 'team')
    await situation.delete(namespaces, 'team')
    await situation.passes('1m')
    const { findings } = await situation.why(namespaces, 'team')
    expect(findings.map(({ reason, object }) => `${reason} ${object.name}`)).toEqual([
      'HeldByFinalizer settings',
      'ContentHeldByFinalizers team',
    ])
    const { client } = situation.cluster
    const key = { namespace: 'team', name: 'settings' }
    await client.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    await situation.passes('1m')
    expect(await situation.verdict(namespaces, 'team')).toBe('gone')
  })

  it('may not be evicted', async () => {
    await using situation = await Situation.start({ nodes: 2 })
    await situation.create(deployments, 'web', web())
    await situation.create(podDisruptionBudgets, 'web', { spec: { selector, minAvailable: 1 } })
    await situation.passes('10s')
    const name = await situation.onlyPod()
    const { spec } = await situation.cluster.client.get(pods, { namespace, name })
    const node = spec.nodeName ?? ''
    await situation.patch(nodes, node, { spec: { unschedulable: true } })
    const { findings } = await situation.why(nodes, node)
    expect(findings.map(({ reason, object }) => `${reason} ${object.name}`)).toEqual([
      `Cordoned ${node}`,
      'BudgetAllowsNone web',
      `DrainBlocked ${node}`,
    ])
    await situation.patch(deployments, 'web', { spec: { replicas: 2 } })
    await situation.passes('30s')
    expect(await situation.verdict(podDisruptionBudgets, 'web')).toBe('fine')
  })

  it('were evicted by an administrator, or for a taint', async () => {
    await using situation = await Situation.start({ nodes: 2 })
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    const first = await situation.onlyPod()
    const key = { namespace, name: first }
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key }
    await situation.cluster.client.createSubresource(pods, key, 'eviction', eviction)
    await situation.passes('1m')
    expect(await situation.cause(pods, first)).toMatch(
      /^Deleted of pod\/web-\S+: kubernetes-admin deleted it at \S+ \(eviction\)/,
    )
    const second = await situation.onlyPod()
    const { spec } = await situation.cluster.client.get(pods, { namespace, name: second })
    await situation.patch(nodes, spec.nodeName ?? '', { spec: { taints: [{ key: 'gpu', effect: 'NoExecute' }] } })
    await situation.passes('1m')
    expect(await situation.cause(pods, second)).toMatch(
      /^Deleted of pod\/web-\S+: node-controller deleted it at \S+: node\/node-\d: the pod does not tolerate a taint/,
    )
  })
})

describe('why a pod is not looked after', () => {
  it('has lost its node', async () => {
    await using situation = await Situation.start({ nodes: 1, agents: 'separate' })
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    const name = await situation.onlyPod()
    await situation.cluster.node('node-0').crash()
    await situation.passes('90s')
    expect(await situation.cause(pods, name)).toMatch(
      /^NodeSilent of node\/node-0: Kubelet stopped posting node status\.$/,
    )
    expect(await situation.cause(deployments, 'web')).toMatch(/^NodeSilent of node\/node-0/)
    await situation.cluster.node('node-0').start()
    await situation.passes('2m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('is changed by two writers in turns', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web())
    for (let turn = 0; turn < 4; turn++) {
      for (const [fieldManager, replicas] of [
        ['gitops', 1],
        ['scaler', 2],
      ] as const) {
        await situation.patch(deployments, 'web', { spec: { replicas } }, { fieldManager })
        await situation.passes('5s')
      }
    }
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^ManagersContend of deployment\/web: kubernetes-admin \(scaler\) and kubernetes-admin \(gitops\) have changed it 7 times in 30s, each after the other$/,
    )
    await situation.passes('15m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })
})
