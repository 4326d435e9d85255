import {
  type NodeMetrics,
  nodeMetrics,
  nodes,
  type Pod,
  type PodMetrics,
  podMetrics,
  pods,
  serviceAccounts,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { nodeGateway, pod, refusal, startTestCore } from '../testing/test-core.ts'

const metadataOf = (name: string, namespace?: string) => ({ name, ...(namespace === undefined ? {} : { namespace }) })
const metricsOfPod = (of: Pod): PodMetrics => ({
  apiVersion: 'metrics.k8s.io/v1beta1',
  kind: 'PodMetrics',
  metadata: metadataOf(of.metadata.name ?? '', of.metadata.namespace),
  timestamp: '2026-01-01T00:00:00Z',
  window: '15s',
  containers: [{ name: 'main', usage: { cpu: '5m', memory: '1Mi' } }],
})
const metricsOfNode = (name: string, podCount: number): NodeMetrics => ({
  apiVersion: 'metrics.k8s.io/v1beta1',
  kind: 'NodeMetrics',
  metadata: metadataOf(name),
  timestamp: '2026-01-01T00:00:00Z',
  window: '15s',
  usage: { cpu: String(podCount) },
})

async function withPods() {
  const asked: string[] = []
  const gateway = nodeGateway({
    podMetrics: async (node, of) => {
      asked.push(`${node}: ${of.map(({ metadata }) => metadata.name).join(' ')}`)
      return node === 'n3' ? [] : of.map(metricsOfPod)
    },
    nodeMetrics: async ({ metadata: { name = '' } }, of) =>
      name === 'n3' ? undefined : metricsOfNode(name, of.length),
  })
  const { client, core } = await startTestCore({ nodes: gateway })
  for (const name of ['n1', 'n2', 'n3']) {
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { zone: name } } })
  }
  const run = async (name: string, node: string, phase: 'Running' | 'Pending', namespace = 'default') => {
    const created = await client.create(pods, pod(name, { namespace, labels: { app: name } }, { nodeName: node }))
    await client.update(pods, { ...created, status: { phase } }, { subresource: 'status' })
  }
  await client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'kube-system' },
  })
  await run('b', 'n1', 'Running')
  await run('a', 'n2', 'Running')
  await run('c', 'n1', 'Running', 'kube-system')
  await run('waiting', 'n1', 'Pending')
  await run('far', 'n3', 'Running')
  return { client, core, asked }
}

const namesOf = ({ items }: { readonly items: readonly PodMetrics[] }) =>
  items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)

describe('usage of pods', () => {
  it('comes from the nodes that have them, in order, of those that run and can be reached', async () => {
    const { client, asked } = await withPods()
    expect(namesOf(await client.list(podMetrics))).toEqual(['default/a', 'default/b', 'kube-system/c'])
    expect(asked.sort()).toEqual(['n1: b c', 'n2: a', 'n3: far'])
  })

  it('is asked about only of pods that are selected', async () => {
    const { client, asked } = await withPods()
    const list = await client.list(podMetrics, { namespace: 'default', labelSelector: 'app in (b,c)' })
    expect([namesOf(list), asked]).toEqual([['default/b'], ['n1: b']])
    expect(namesOf(await client.list(podMetrics, { fieldSelector: 'metadata.name=c' }))).toEqual(['kube-system/c'])
    expect(list).toMatchObject({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetricsList' })
  })

  it('is had of one pod, or not where the pod or its node is not there', async () => {
    const { client } = await withPods()
    expect((await client.get(podMetrics, { namespace: 'default', name: 'a' })).containers).toHaveLength(1)
    expect(await refusal(client.get(podMetrics, { namespace: 'default', name: 'far' }))).toMatchObject({
      code: 404,
      message: 'pods.metrics.k8s.io "default/far" not found',
    })
    expect(await refusal(client.get(podMetrics, { namespace: 'default', name: 'x' }))).toMatchObject({
      code: 404,
      message: 'pods "x" not found',
    })
  })

  it('is read and nothing else', async () => {
    const { client } = await withPods()
    const key = { namespace: 'default', name: 'a' }
    const writes = [
      client.watch(podMetrics),
      client.delete(podMetrics, key),
      client.patch(podMetrics, key, { type: 'merge', body: {} }),
      client.deleteCollection(podMetrics, {}),
      client.create(podMetrics, metricsOfPod(pod('a'))),
      client.update(podMetrics, metricsOfPod(pod('a'))),
    ]
    for (const write of writes) expect(await refusal(write)).toMatchObject({ code: 405 })
  })
})

describe('usage of nodes', () => {
  it('comes from each node that can be reached, with the pods on it', async () => {
    const { client } = await withPods()
    const { items } = await client.list(nodeMetrics)
    expect(items.map(({ metadata, usage }) => [metadata.name, usage.cpu])).toEqual([
      ['n1', '3'],
      ['n2', '1'],
    ])
    expect((await client.list(nodeMetrics, { labelSelector: 'zone=n2' })).items).toHaveLength(1)
    expect((await client.get(nodeMetrics, { name: 'n1' })).usage).toEqual({ cpu: '3' })
    expect(await refusal(client.get(nodeMetrics, { name: 'n3' }))).toMatchObject({
      code: 404,
      message: 'nodes.metrics.k8s.io "n3" not found',
    })
  })
})

describe('metrics.k8s.io', () => {
  it('is not there where no nodes can be reached', async () => {
    const { client } = await startTestCore()
    expect(await refusal(client.list(podMetrics))).toMatchObject({ code: 404 })
  })

  it('is no concern of those who look after stored objects', async () => {
    const { core } = await withPods()
    expect(core.registries.resources().filter(({ group }) => group === 'metrics.k8s.io')).toEqual([])
  })
})
