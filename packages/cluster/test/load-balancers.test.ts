import { type Service, services } from '@coracle/api'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { startTestCluster, type TestCluster } from '../src/testing.ts'

const key = { namespace: 'default', name: 'web' }

const balanced = (spec: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key,
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], ...spec },
  }) as Service

const start = (store: Store, loadBalancerAddresses?: 'nodes' | 'none') =>
  startTestCluster({ store, nodes: 2, ...(loadBalancerAddresses === undefined ? {} : { loadBalancerAddresses }) })

async function ingress(cluster: TestCluster): Promise<readonly string[]> {
  await cluster.settle()
  const { status } = await cluster.client.get(services, key)
  return (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
}

describe('services of type LoadBalancer', () => {
  it('have the addresses of nodes where the cluster gives these, with the rights of their controller', async () => {
    await using cluster = await start(createMemoryStore(), 'nodes')
    await cluster.client.create(services, balanced())
    expect(await ingress(cluster)).toEqual(['10.64.0.1', '10.64.0.2'])
    await cluster.client.patch(services, key, { type: 'merge', body: { spec: { type: 'NodePort' } } })
    expect(await ingress(cluster)).toEqual([])
    await cluster.client.patch(services, key, { type: 'merge', body: { spec: { type: 'LoadBalancer' } } })
    expect(await ingress(cluster)).toEqual(['10.64.0.1', '10.64.0.2'])
    await cluster.client.delete(services, key)
    await cluster.settle()
    expect((await cluster.client.list(services)).items.map(({ metadata }) => metadata.name)).toEqual(['kubernetes'])
  })

  it('are pending by default, and their status is whatever others say', async () => {
    await using cluster = await start(createMemoryStore())
    const { metadata } = await cluster.client.create(services, balanced())
    expect(await ingress(cluster)).toEqual([])
    expect((await cluster.client.get(services, key)).metadata).toEqual(metadata)
    const body = { status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } }
    await cluster.client.patch(services, key, { type: 'merge', body }, { subresource: 'status' })
    expect(await ingress(cluster)).toEqual(['203.0.113.7'])
  })

  it('lose the addresses of nodes, and can go, where a later start gives none', async () => {
    const store = createMemoryStore()
    {
      await using cluster = await start(store, 'nodes')
      await cluster.client.create(services, balanced())
      expect(await ingress(cluster)).toEqual(['10.64.0.1', '10.64.0.2'])
    }
    await using cluster = await start(store)
    expect(await ingress(cluster)).toEqual([])
    const { metadata, status } = await cluster.client.get(services, key)
    expect(metadata).not.toHaveProperty('finalizers')
    expect(status).toEqual({ loadBalancer: {} })
  })
})
