import {
  controllerRevisions,
  type DaemonSet,
  type DaemonSetSpec,
  daemonSets,
  type Node,
  nodes,
  type Pod,
  pods,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'
const key = { namespace, name: 'agent' }

/** A daemon set `agent` of containers with this image. */
function agent(spec: Partial<DaemonSetSpec> = {}): DaemonSet {
  const labels = { app: 'agent' }
  const containers = [{ name: 'main', image: 'example/agent:1' }]
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...spec },
  } as DaemonSet
}

describe('a daemon set in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 42 })
    cluster = await startCluster({ environment, nodes: 3 })
  })

  afterEach(() => cluster.stop())

  const settled = async () => {
    await environment.clock.settle()
    await environment.clock.advance('2m')
  }
  const create = async (spec: Partial<DaemonSetSpec> = {}) => {
    await cluster.client.create(daemonSets, agent(spec))
    await settled()
  }
  const status = async () => (await cluster.client.get(daemonSets, key)).status
  const listPods = async (): Promise<readonly Pod[]> => (await cluster.client.list(pods, { namespace })).items
  const nodeNames = async () =>
    (await cluster.client.list(nodes)).items.map(({ metadata }) => metadata.name ?? '').sort()
  const podNodes = async () => (await listPods()).map(({ spec }) => spec.nodeName ?? '').sort()
  const patchNode = async (name: string, body: unknown) => {
    await cluster.client.patch<Node>(nodes, { name }, { type: 'merge', body })
    await settled()
  }
  const setImage = (image: string) =>
    cluster.client.patch(daemonSets, key, {
      type: 'strategic',
      body: { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } },
    })

  it('has a pod on every node, and says so', async () => {
    await create()
    expect(await podNodes()).toEqual(await nodeNames())
    expect(await status()).toMatchObject({
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberReady: 3,
      numberAvailable: 3,
      updatedNumberScheduled: 3,
      numberMisscheduled: 0,
      observedGeneration: 1,
    })
    expect(await status()).not.toHaveProperty('numberUnavailable')
  })

  it('replaces a pod that is deleted, on the same node', async () => {
    await create()
    const [first] = await listPods()
    await cluster.client.delete(pods, { namespace, name: first?.metadata.name ?? '' })
    await settled()
    expect(await podNodes()).toEqual(await nodeNames())
    expect((await listPods()).map(({ metadata }) => metadata.uid)).not.toContain(first?.metadata.uid)
  })

  it('replaces a pod that has ended while a finalizer keeps it', async () => {
    const { template } = agent().spec
    const metadata = { ...template.metadata, finalizers: ['example.com/audit'] }
    await create({ template: { ...template, metadata } })
    await cluster.components.nodes.stop()
    const [first] = await listPods()
    const name = first?.metadata.name ?? ''
    const body = { status: { phase: 'Succeeded' } }
    await cluster.client.patch(pods, { namespace, name }, { type: 'merge', body }, { subresource: 'status' })
    await environment.clock.advance('10s')
    const onItsNode = (await listPods()).filter(({ spec }) => spec.nodeName === first?.spec.nodeName)
    expect(onItsNode.map(({ status }) => status?.phase).sort()).toEqual(['Pending', 'Succeeded'])
  })

  it('comes to a node that is labelled for it, and leaves one that is no longer', async () => {
    const [a = '', b = ''] = await nodeNames()
    const base = agent().spec.template
    await patchNode(a, { metadata: { labels: { disk: 'ssd' } } })
    await create({ template: { ...base, spec: { ...base.spec, nodeSelector: { disk: 'ssd' } } } })
    expect(await podNodes()).toEqual([a])
    await patchNode(b, { metadata: { labels: { disk: 'ssd' } } })
    expect(await podNodes()).toEqual([a, b])
    await patchNode(a, { metadata: { labels: { disk: null } } })
    expect(await podNodes()).toEqual([b])
    expect(await status()).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 })
  })

  it('stays on a node that is cordoned, and comes back there', async () => {
    await create()
    const [first] = await listPods()
    await patchNode(first?.spec.nodeName ?? '', { spec: { unschedulable: true } })
    await cluster.client.delete(pods, { namespace, name: first?.metadata.name ?? '' })
    await settled()
    expect(await podNodes()).toEqual(await nodeNames())
  })

  it('replaces its pods one by one when the template changes', async () => {
    await create({ minReadySeconds: 10 })
    const watched = new Set((await listPods()).map(({ metadata }) => metadata.name))
    await setImage('example/agent:2')
    let fewest = 3
    for (let seconds = 0; seconds < 300; seconds++) {
      await environment.clock.advance('1s')
      fewest = Math.min(fewest, (await status())?.numberAvailable ?? 0)
    }
    expect(fewest).toBe(2)
    const after = await listPods()
    expect(after.map(({ spec }) => spec.containers[0]?.image)).toEqual(
      Array.from({ length: 3 }, () => 'example/agent:2'),
    )
    expect(after.filter(({ metadata }) => watched.has(metadata.name))).toEqual([])
    const { items } = await cluster.client.list(controllerRevisions, { namespace })
    expect(items.map(({ revision }) => revision).sort()).toEqual([1, 2])
    expect(await status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 })
  })

  it('never lacks a pod while it may have a surplus one', async () => {
    await create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } })
    await setImage('example/agent:2')
    let fewest = 3
    for (let seconds = 0; seconds < 300; seconds++) {
      await environment.clock.advance('1s')
      const ready = (await listPods()).filter(({ status }) => status?.conditions?.some(isReadyTrue))
      fewest = Math.min(fewest, new Set(ready.map(({ spec }) => spec.nodeName)).size)
    }
    expect(fewest).toBe(3)
    expect(await status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 })
    expect(await listPods()).toHaveLength(3)
  })

  it('leaves nothing behind when it is deleted', async () => {
    await create()
    await cluster.client.delete(daemonSets, key)
    await settled()
    expect(await listPods()).toEqual([])
    expect((await cluster.client.list(controllerRevisions, { namespace })).items).toEqual([])
  })
})

const isReadyTrue = ({ type, status }: { readonly type: string; readonly status: string }): boolean =>
  type === 'Ready' && status === 'True'
