import { type Node, nodes, services } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { afterEach, describe, expect, it } from 'vitest'
import type { Cluster, ClusterOptions } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

let cluster: Cluster
afterEach(() => cluster.stop())

const start = async (options: ClusterOptions = {}) => {
  cluster = await startCluster({ nodes: 1, ...options })
}

const join = (name: string, containerRuntimeVersion: string) =>
  cluster.client.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { nodeInfo: { containerRuntimeVersion } },
  } as Node)

const dnsServices = async () => {
  const { items } = await cluster.client.list(services, { namespace: 'kube-system' })
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec.clusterIP}`)
}

describe('the Service for names', () => {
  it('is there when a node has come whose pods have networks of their own, and not before', async () => {
    await start()
    await join('process', 'process://0.1.0')
    expect(await dnsServices()).toEqual([])
    await join('isolating', 'containerd://2.0.0')
    await expect.poll(dnsServices).toEqual(['kube-dns 10.96.0.10'])
  })

  it('has another address where another service has the tenth', async () => {
    await start()
    await cluster.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'first', namespace: 'default' },
      spec: { clusterIP: '10.96.0.10', ports: [{ port: 80 }] },
    })
    await join('isolating', 'docker://29.0.0')
    await expect.poll(async () => (await dnsServices()).length).toBe(1)
    expect((await dnsServices())[0]).not.toContain('10.96.0.10')
  })

  it('is not made on a virtual clock, as in a copy of a cluster', async () => {
    const environment = virtualEnvironment()
    await start({ environment })
    await join('isolating', 'containerd://2.0.0')
    await environment.clock.advance('1m')
    expect(await dnsServices()).toEqual([])
  })
})
