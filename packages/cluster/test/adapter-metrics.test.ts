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
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
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

/** The same value for each pod there was at the start. */
const podValues = (value: string) =>
  podNames.map((name) => ({ describedObject: { name }, value, timestamp: '2026-01-01T00:00:30Z' }))

const autoscaler = (metric: MetricSpec): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 10,
    metrics: [metric],
  },
})
