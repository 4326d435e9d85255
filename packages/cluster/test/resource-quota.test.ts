import {
  configMaps,
  pods,
  type ReplicationController,
  type ResourceQuota,
  replicationControllers,
  resourceQuotas,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'

let environment: VirtualEnvironment
let cluster: Cluster

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 7 })
  cluster = await startCluster({ environment, nodes: 2 })
})

afterEach(() => cluster.stop())

const settled = async () => {
  await environment.clock.settle()
  await environment.clock.advance('40s')
}

const createQuota = async (hard: Readonly<Record<string, string>>) => {
  await cluster.client.create<ResourceQuota>(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace },
    spec: { hard },
  })
  await settled()
}

const used = async () => (await cluster.client.get(resourceQuotas, { namespace, name: 'q' })).status?.used

it('a controller gets as many pods as its quota allows, and more when the quota grows', async () => {
  await createQuota({ pods: '3' })
  await cluster.client.create(replicationControllers, {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 5,
      selector: { app: 'web' },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'example/main' }] },
      },
    },
  } as unknown as ReplicationController)
  await settled()
  const count = async () => (await cluster.client.list(pods, { namespace })).items.length
  expect(await count()).toBe(3)
  expect(await used()).toEqual({ pods: '3' })
  const body = { spec: { hard: { pods: '10' } } }
  await cluster.client.patch(resourceQuotas, { namespace, name: 'q' }, { type: 'merge', body })
  await environment.clock.advance('10m')
  expect(await count()).toBe(5)
  expect(await used()).toEqual({ pods: '5' })
  const key = { namespace, name: 'web' }
  await cluster.client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 1 } } })
  await settled()
  expect(await used()).toEqual({ pods: '1' })
})

it('a quota counts what was there before it, and what is given back', async () => {
  for (const name of ['a', 'b']) {
    await cluster.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } })
  }
  await createQuota({ configmaps: '5', 'count/configmaps': '5', 'count/widgets.example.com': '1' })
  // kube-root-ca.crt is only there where the API is served over TLS.
  expect(await used()).toEqual({ configmaps: '2', 'count/configmaps': '2', 'count/widgets.example.com': '0' })
  await cluster.client.delete(configMaps, { namespace, name: 'a' })
  await settled()
  expect(await used()).toMatchObject({ configmaps: '1', 'count/configmaps': '1' })
})
