import {
  ApiError,
  controllerRevisions,
  cronJobs,
  daemonSets,
  deployments,
  endpointSlices,
  endpoints,
  horizontalPodAutoscalers,
  ingressClasses,
  ingresses,
  jobs,
  type KubernetesObject,
  networkPolicies,
  podDisruptionBudgets,
  type Resource,
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/web:1' }] } }
const once = { spec: { ...template.spec, restartPolicy: 'Never' } }
const selector = { matchLabels: labels }
const condition = { type: 'StatusUpdate', status: 'True', reason: 'Test', message: 'set by a test' }

interface Case {
  readonly resource: Resource
  readonly body: object
  /** What a status is patched with. */
  readonly status?: object
  readonly isScalable?: boolean
}

/** The kinds of which upstream's conformance tests ask for every operation of the API, while their controllers are at work. */
const cases: Readonly<Record<string, Case>> = {
  ReplicationController: {
    resource: replicationControllers as Resource,
    body: { spec: { replicas: 1, selector: labels, template } },
    status: { conditions: [condition] },
    isScalable: true,
  },
  ReplicaSet: {
    resource: replicaSets as Resource,
    body: { spec: { replicas: 1, selector, template } },
    status: { conditions: [condition] },
    isScalable: true,
  },
  Deployment: {
    resource: deployments as Resource,
    body: { spec: { replicas: 1, selector, template } },
    status: { conditions: [condition] },
    isScalable: true,
  },
  StatefulSet: {
    resource: statefulSets as Resource,
    body: { spec: { replicas: 1, serviceName: 'web', selector, template } },
    status: { conditions: [condition] },
    isScalable: true,
  },
  DaemonSet: {
    resource: daemonSets as Resource,
    body: { spec: { selector, template } },
    status: { conditions: [condition] },
  },
  Job: {
    resource: jobs as Resource,
    body: { spec: { suspend: true, template: once } },
    status: { conditions: [condition] },
  },
  CronJob: {
    resource: cronJobs as Resource,
    body: { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: once } } } },
    status: { lastScheduleTime: '2026-01-01T00:00:00Z' },
  },
  PodDisruptionBudget: {
    resource: podDisruptionBudgets as Resource,
    body: { spec: { minAvailable: 1, selector } },
    status: { conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  },
  ControllerRevision: { resource: controllerRevisions as Resource, body: { revision: 1, data: { some: 'state' } } },
  HorizontalPodAutoscaler: {
    resource: horizontalPodAutoscalers as Resource,
    body: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } } },
    status: { desiredReplicas: 2, currentReplicas: 1 },
  },
  Service: {
    resource: services as Resource,
    body: { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }] } },
  },
  Endpoints: {
    resource: endpoints as Resource,
    body: { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }] },
  },
  EndpointSlice: {
    resource: endpointSlices as Resource,
    body: { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }] },
  },
  Ingress: {
    resource: ingresses as Resource,
    body: { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
  },
  IngressClass: { resource: ingressClasses as Resource, body: { spec: { controller: 'example.com/edge' } } },
  NetworkPolicy: {
    resource: networkPolicies as Resource,
    body: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, endPort: 90, protocol: 'TCP' }] }] } },
  },
}

let environment: VirtualEnvironment
let cluster: Cluster

beforeAll(async () => {
  environment = virtualEnvironment({ seed: 11 })
  cluster = await startCluster({ environment, nodes: 2 })
})

afterAll(() => cluster.stop())

describe.each(Object.entries(cases))('%s', (_, { resource, body, status, isScalable = false }) => {
  const place = resource.namespaced ? { namespace } : {}
  const key = { ...place, name: 'web' }
  const create = (name: string, mark: string) =>
    cluster.client.create(resource, {
      ...body,
      apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: { name, ...place, labels: { mark } },
    } as KubernetesObject)
  const marked = async (mark: string) => {
    const { items } = await cluster.client.list(resource, { labelSelector: `mark=${mark}` })
    return items.map(({ metadata }) => metadata.name).sort()
  }
  const mergePatch = (patched: object, options = {}) =>
    cluster.client.patch(resource, key, { type: 'merge', body: patched }, options)
  const isGone = () =>
    cluster.client.get(resource, key).then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.code === 404,
    )

  it('is created, found, watched, patched, replaced and deleted', async () => {
    const watch = await cluster.client.watch(resource, { labelSelector: 'mark=one' })
    const seen: string[] = []
    const watching = (async () => {
      for await (const event of watch) if (!seen.includes(event.type)) seen.push(event.type)
    })()
    const created = await create('web', 'one')
    expect(await cluster.client.get(resource, key)).toMatchObject({ metadata: { uid: created.metadata.uid } })
    expect(await marked('one')).toEqual(['web'])
    expect(await mergePatch({ metadata: { annotations: { patched: 'true' } } })).toMatchObject({
      metadata: { annotations: { patched: 'true' } },
    })
    await environment.clock.settle()
    const current = await cluster.client.get(resource, key)
    const annotations = { ...current.metadata.annotations, updated: 'true' }
    const replaced = { ...current, metadata: { ...current.metadata, annotations } }
    expect((await cluster.client.update(resource, replaced)).metadata.annotations).toMatchObject({
      patched: 'true',
      updated: 'true',
    })
    await cluster.client.delete(resource, key, { propagationPolicy: 'Background' })
    await environment.clock.advance('2m')
    expect(await isGone()).toBe(true)
    expect(seen).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    watch.close()
    await watching
  })

  it('is listed in all namespaces and deleted as a collection, by its labels', async () => {
    for (const name of ['a', 'b', 'c']) await create(name, name === 'c' ? 'other' : 'two')
    expect(await marked('two')).toEqual(['a', 'b'])
    await cluster.client.deleteCollection(resource, { ...place, labelSelector: 'mark=two' })
    await environment.clock.advance('2m')
    expect([await marked('two'), await marked('other')]).toEqual([[], ['c']])
    await cluster.client.deleteCollection(resource, { ...place, labelSelector: 'mark' })
    await environment.clock.advance('2m')
  })

  if (status !== undefined)
    it('has a status that is read, patched and replaced apart from the rest', async () => {
      await create('web', 'three')
      await environment.clock.advance('1m')
      const before = await cluster.client.get(resource, key)
      const patched = (await mergePatch(
        { metadata: { annotations: { patchedstatus: 'true' } }, spec: null, status },
        { subresource: 'status' },
      )) as KubernetesObject & { readonly spec: object; readonly status: object }
      expect(patched.metadata.annotations).toMatchObject({ patchedstatus: 'true' })
      expect(patched.metadata.generation).toBe(before.metadata.generation)
      expect(patched.spec).toEqual((before as typeof patched).spec)
      expect(patched.status).toMatchObject(status ?? {})
      await environment.clock.settle()
      const current = (await cluster.client.get(resource, key)) as typeof patched
      const updated = { ...current, status: { ...current.status, ...status } }
      expect(await cluster.client.update(resource, updated, { subresource: 'status' })).toMatchObject({ status })
      await cluster.client.delete(resource, key, { propagationPolicy: 'Background' })
      await environment.clock.advance('2m')
    })

  if (isScalable)
    it('has a scale that is read, replaced and patched', async () => {
      await create('web', 'four')
      await environment.clock.advance('1m')
      const counts = async () => {
        await environment.clock.advance('1m')
        const { spec, status: observed } = (await cluster.client.get(resource, key)) as KubernetesObject & {
          readonly spec: { readonly replicas: number }
          readonly status: { readonly replicas: number }
        }
        return [spec.replicas, observed.replicas]
      }
      const scale = { metadata: { name: 'web', namespace }, spec: { replicas: 2 } }
      const full = { apiVersion: 'autoscaling/v1', kind: 'Scale', ...scale } as unknown as KubernetesObject
      await cluster.client.update(resource, full, { subresource: 'scale' })
      expect(await counts()).toEqual([2, 2])
      await mergePatch({ spec: { replicas: 4 } }, { subresource: 'scale' })
      expect(await counts()).toEqual([4, 4])
      await cluster.client.delete(resource, key, { propagationPolicy: 'Background' })
      await environment.clock.advance('2m')
      expect(await isGone()).toBe(true)
    })
})
