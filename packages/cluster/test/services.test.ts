import {
  endpointSlices,
  endpoints,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type ReplicationController,
  replicationControllers,
  type Service,
  serviceCidrs,
  services,
} from '@coracle/api'
import { createLogger, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'

let environment: VirtualEnvironment
let cluster: Cluster

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 42 })
  cluster = await startCluster({ environment, nodes: 3 })
})

afterEach(() => cluster.stop())

const settled = async () => {
  await environment.clock.settle()
  await environment.clock.advance('40s')
}

const track = (name: string, replicas: number) =>
  ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { app: 'web', track: name },
      template: {
        metadata: { labels: { app: 'web', track: name } },
        spec: { containers: [{ name: 'main', image: 'example/web', ports: [{ name: 'http', containerPort: 8080 }] }] },
      },
    },
  }) as unknown as ReplicationController

/** The addresses that take traffic, by slices and by Endpoints. */
async function ready() {
  const slices = await cluster.client.list(endpointSlices, { namespace })
  const older = await cluster.client.get(endpoints, { namespace, name: 'web' })
  const all = slices.items.flatMap((slice) => slice.endpoints ?? [])
  return {
    slices: all.flatMap(({ addresses, conditions }) => (conditions?.ready === true ? addresses : [])).sort(),
    older: (older.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)).sort(),
  }
}

it('a service has the pods of all its release tracks behind it, and follows them', async () => {
  await cluster.client.create(replicationControllers, track('stable', 9))
  await cluster.client.create(replicationControllers, track('canary', 1))
  const service = await cluster.client.create<Service>(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
  } as Service)
  expect(service.spec.clusterIP).toMatch(/^10\./)
  await settled()
  const { items } = await cluster.client.list(pods, { namespace })
  const addresses = items.map((pod: Pod) => pod.status?.podIP ?? '').sort()
  expect(addresses).toHaveLength(10)
  expect(await ready()).toEqual({ slices: addresses, older: addresses })
  const [{ metadata } = {}] = (await cluster.client.list(endpointSlices, { namespace })).items
  expect(metadata?.name).toMatch(/^web-[a-z0-9]{5}$/)

  const key = { namespace, name: 'stable' }
  await cluster.client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 2 } } })
  await settled()
  expect((await ready()).slices).toHaveLength(3)

  await cluster.client.delete(services, { namespace, name: 'web' })
  await settled()
  expect((await cluster.client.list(endpointSlices, { namespace })).items).toEqual([])
  expect((await cluster.client.list(endpoints, { namespace })).items).toEqual([])
})

it('a claim stays while a pod uses it', async () => {
  await cluster.client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  const { items: nodes } = await cluster.client.list({
    group: '',
    version: 'v1',
    kind: 'Node',
    plural: 'nodes',
    namespaced: false,
  })
  await cluster.client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'user', namespace },
    spec: {
      nodeName: nodes[0]?.metadata.name,
      containers: [{ name: 'main', image: 'example/main' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  } as Pod)
  await settled()
  await cluster.client.delete(persistentVolumeClaims, { namespace, name: 'data' })
  await settled()
  const kept = await cluster.client.get(persistentVolumeClaims, { namespace, name: 'data' })
  expect(kept.metadata.deletionTimestamp).toBeDefined()
  await cluster.client.delete(pods, { namespace, name: 'user' })
  await settled()
  expect((await cluster.client.list(persistentVolumeClaims, { namespace })).items).toEqual([])
})

it('a range of addresses stays while a service has one of them, and gives none away meanwhile', async () => {
  const create = (name: string) =>
    cluster.client.create<Service>(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { ports: [{ port: 80 }] },
    } as Service)
  const condition = async (name: string) =>
    (await cluster.client.get(serviceCidrs, { name })).status?.conditions?.map(({ status, reason }) => [status, reason])
  await settled()
  expect(await condition('kubernetes')).toEqual([['True', '']])
  const [first] = (await create('old')).spec.clusterIPs ?? []
  await cluster.client.create(serviceCidrs, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'more' },
    spec: { cidrs: ['10.200.0.0/24'] },
  })
  await cluster.client.delete(serviceCidrs, { name: 'kubernetes' })
  await settled()
  expect(await condition('kubernetes')).toEqual([['False', 'Terminating']])
  expect((await create('new')).spec.clusterIP).toMatch(/^10\.200\.0\./)
  expect(first).toMatch(/^10\.(9[6-9]|10\d|11[01])\./)
  for (const name of ['old', 'kubernetes']) await cluster.client.delete(services, { namespace, name })
  await settled()
  expect((await cluster.client.list(serviceCidrs)).items.map(({ metadata }) => metadata.name)).toEqual(['more'])
})

it('has the range of addresses that it began with, and says so to whoever asks for another', async () => {
  const lines: string[] = []
  const logger = createLogger(({ level, message, fields }) => {
    if (level === 'warn') lines.push(`${message}: ${fields.ranges}, not ${fields.wanted}`)
  })
  const store = createMemoryStore()
  const addresses: unknown[] = []
  for (const serviceCidr of ['10.20.0.0/16', '10.20.0.0/16', '10.99.0.0/16']) {
    const own = await startCluster({ environment: virtualEnvironment({ logger }), store, serviceCidr, nodes: 0 })
    const found = await own.client.list(serviceCidrs)
    const kubernetes = await own.client.get(services, { namespace, name: 'kubernetes' })
    addresses.push([found.items.map(({ spec }) => spec?.cidrs), kubernetes.spec.clusterIP])
    await own.stop()
  }
  expect(addresses).toEqual(Array.from({ length: 3 }, () => [[['10.20.0.0/16']], '10.20.0.1']))
  expect(lines).toEqual([
    'services keep the ranges that there are: another is for new clusters, or is added as a ServiceCIDR: 10.20.0.0/16, not 10.99.0.0/16',
  ])
})
