import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import {
  apiServices,
  deployments,
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  type KubernetesObject,
  type MetricSpec,
  pods,
  type Resource,
  type Scale,
  services,
} from '@coracle/api'
import { createPki } from '@coracle/apiserver'
import { realEnvironment, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'

/** What the adapter says, by path; and what it was asked. */
let values: (path: string) => unknown
let asked: string[]
const pki = createPki(realEnvironment(), ['adapter.default.svc'])
const { certificatePem: cert, keyPem: key } = pki.serving
const adapter = createServer({ cert, key }, (request, response) => {
  const path = decodeURIComponent(request.url ?? '')
  const [, , group, version, ...rest] = path.split('/')
  response.setHeader('Content-Type', 'application/json')
  if (rest.length === 0) {
    return response.end(JSON.stringify({ kind: 'APIResourceList', groupVersion: `${group}/${version}`, resources: [] }))
  }
  asked.push(path)
  const items = values(path)
  if (items === undefined) response.writeHead(404)
  response.end(
    JSON.stringify(
      items === undefined ? { kind: 'Status', code: 404, reason: 'NotFound', message: 'no such metric' } : { items },
    ),
  )
})
beforeAll(async () => {
  adapter.listen(0, '127.0.0.1')
  await once(adapter, 'listening')
})
afterAll(() => {
  adapter.closeAllConnections()
  adapter.close()
})

let environment: VirtualEnvironment
let cluster: Cluster
let podNames: readonly string[]

beforeEach(async () => {
  asked = []
  environment = virtualEnvironment({ seed: 3 })
  cluster = await startCluster({ environment, nodes: 2 })
  const create = (resource: Resource, object: object) => cluster.client.create(resource, object as KubernetesObject)
  const meta = { name: 'adapter', namespace }
  await create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta,
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  const { port } = adapter.address() as AddressInfo
  const caBundle = Buffer.from(pki.ca.certificatePem).toString('base64')
  const serve = (group: string, version: string) =>
    create(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: { group, version, groupPriorityMinimum: 100, versionPriority: 100, caBundle, service: { ...meta, port } },
    })
  await serve('custom.metrics.k8s.io', 'v1beta2')
  await serve('external.metrics.k8s.io', 'v1beta1')
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web' }] } }
  const spec = { replicas: 2, selector: { matchLabels: labels }, template }
  await create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace }, spec })
  await environment.clock.advance('30s')
  podNames = (await cluster.client.list(pods, { namespace })).items.map(({ metadata }) => metadata.name ?? '')
})
afterEach(() => cluster.stop())

const service = { apiVersion: 'v1', kind: 'Service', name: 'adapter' }
const queue = { name: 'queue', selector: { matchLabels: { topic: 'mail' } } }

it.each<[string, MetricSpec, (path: string) => unknown, RegExp, number]>([
  [
    'pods',
    { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } } },
    () => podValues('20'),
    /^\/apis\/custom.metrics.k8s.io\/v1beta2\/namespaces\/default\/pods\/\*\/qps\?labelSelector=app=web$/,
    4,
  ],
  [
    'an object',
    {
      type: 'Object',
      object: { describedObject: service, metric: { name: 'hits' }, target: { type: 'Value', value: '100' } },
    },
    () => [{ describedObject: { name: 'adapter' }, value: '200' }],
    /^\/apis\/custom.metrics.k8s.io\/v1beta2\/namespaces\/default\/services\/adapter\/hits$/,
    4,
  ],
  [
    'something outside',
    { type: 'External', external: { metric: queue, target: { type: 'AverageValue', averageValue: '10' } } },
    () => [
      { metricName: 'queue', value: '17' },
      { metricName: 'queue', value: '13' },
    ],
    /^\/apis\/external.metrics.k8s.io\/v1beta1\/namespaces\/default\/queue\?labelSelector=topic=mail$/,
    3,
  ],
])('an autoscaler scales by a metric of %s that an adapter has', async (_what, metric, said, path, wanted) => {
  values = said
  await cluster.client.create(horizontalPodAutoscalers, autoscaler(metric))
  await environment.clock.advance('1s')
  expect(asked[0]).toMatch(path)
  const scale = await cluster.client.get(deployments, { namespace, name: 'web' }, { subresource: 'scale' })
  expect((scale as unknown as Scale).spec?.replicas).toBe(wanted)
})

it('an autoscaler says which metric an adapter does not have', async () => {
  values = () => undefined
  const metric = { type: 'External', external: { metric: queue, target: { type: 'Value', value: '1' } } }
  await cluster.client.create(horizontalPodAutoscalers, autoscaler(metric))
  await environment.clock.advance('1s')
  const { status } = await cluster.client.get(horizontalPodAutoscalers, { namespace, name: 'web' })
  expect(status?.conditions?.find(({ type }) => type === 'ScalingActive')).toMatchObject({
    status: 'False',
    reason: 'FailedGetExternalMetric',
    message:
      'the HPA was unable to compute the replica count: unable to get external metric default/queue/&LabelSelector{MatchLabels:map[string]string{topic: mail,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: no such metric',
  })
})

// What upstream's tests ask of external metrics (test/e2e/autoscaling), each named after the one it stands for.
describe('an autoscaler by external metrics', () => {
  const external = (name: string, target: object) =>
    ({ type: 'External', external: { metric: { name }, target } }) as MetricSpec
  const value = (of: string) => ({ type: 'Value', value: of })
  const average = (of: string) => ({ type: 'AverageValue', averageValue: of })
  const messages = 'queue_messages_ready'
  const requests = 'http_requests_total'
  const atOnce = { scaleUp: { stabilizationWindowSeconds: 0 }, scaleDown: { stabilizationWindowSeconds: 0 } }
  /** The values of the metrics now, by name. */
  let measured: Record<string, string>
  const start = async (metrics: readonly MetricSpec[], maxReplicas: number, behavior: object) => {
    measured = { [messages]: '100', [requests]: '500' }
    values = (path) => {
      const metricName = path.split('/').at(-1)?.split('?')[0] ?? ''
      return [{ metricName, value: measured[metricName], timestamp: '2026-01-01T00:00:30Z' }]
    }
    await cluster.client.patch(
      deployments,
      { namespace, name: 'web' },
      { type: 'merge', body: { spec: { replicas: 1 } } },
    )
    await environment.clock.advance('30s')
    const [metric = external(messages, value('1'))] = metrics
    await cluster.client.create(horizontalPodAutoscalers, autoscaler(metric, { metrics, maxReplicas, behavior }))
  }
  const after = async (time: string) => {
    await environment.clock.advance(time)
    const scale = await cluster.client.get(deployments, { namespace, name: 'web' }, { subresource: 'scale' })
    return (scale as unknown as Scale).spec?.replicas
  }

  it('should scale up and down based on external metric value', async () => {
    await start([external(messages, value('50'))], 3, atOnce)
    expect(await after('1m')).toBe(3)
    measured[messages] = '0'
    expect(await after('1m')).toBe(1)
  })

  it('should scale based on multiple external metrics', async () => {
    await start([external(messages, value('50')), external(requests, value('100'))], 5, atOnce)
    measured[messages] = '0'
    expect(await after('1m')).toBe(5)
    measured[requests] = '0'
    expect(await after('1m')).toBe(1)
  })

  it('should scale to intermediate replica count when dominant metric drops', async () => {
    await start([external(messages, average('50')), external(requests, average('200'))], 5, atOnce)
    expect(await after('1m')).toBe(3)
    measured[requests] = '100'
    expect(await after('1m')).toBe(2)
    expect(await after('90s')).toBe(2)
    measured[messages] = '0'
    expect(await after('1m')).toBe(1)
  })

  it('should respect the stabilization window for scale down', async () => {
    await start([external(messages, value('20'))], 5, { ...atOnce, scaleDown: { stabilizationWindowSeconds: 60 } })
    expect(await after('1m')).toBe(5)
    measured[messages] = '0'
    // The last look that found so many was up to 15 s ago, and the first after the window is up to 15 s later.
    expect(await after('44s')).toBe(5)
    expect(await after('46s')).toBe(1)
  })

  it('should respect the scaling limits when scaling up', async () => {
    const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }]
    await start([external(messages, value('20'))], 5, { scaleUp: { policies, selectPolicy: 'Max' } })
    expect(await after('20s')).toBe(2)
    expect(await after('35s')).toBe(2)
    expect(await after('20s')).toBe(3)
  })
})

/** The same value for each pod there was at the start. */
const podValues = (value: string) =>
  podNames.map((name) => ({ describedObject: { name }, value, timestamp: '2026-01-01T00:00:30Z' }))

const autoscaler = (
  metric: MetricSpec,
  spec: Partial<HorizontalPodAutoscaler['spec']> = {},
): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 10,
    metrics: [metric],
    ...spec,
  },
})
