import {
  ApiError,
  configMaps,
  customResourceDefinitions,
  deployments,
  ipAddresses,
  type KubernetesObject,
  nodes,
  type Pod,
  pods,
  type Resource,
  services,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { type ClusterState, loadState, readState, startCluster } from '@coracle/cluster'
import { startTestCluster, type TestCluster } from '@coracle/cluster/testing'
import { virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'

const gadgets: Resource = { group: 'example.dev', version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true }

/** A cluster with something of everything that a copy has to get right. */
async function busyCluster(): Promise<TestCluster> {
  const source = await startTestCluster({ nodes: 3, nodePrefix: 'worker-' })
  const { client } = source
  await client.create(customResourceDefinitions as Resource, gadgetDefinition as unknown as KubernetesObject)
  await source.advance('2s')
  await client.create(gadgets, {
    apiVersion: 'example.dev/v1',
    kind: 'Gadget',
    metadata: { name: 'g', namespace: 'default', finalizers: ['example.dev/hold'] },
    spec: { size: 3 },
  } as KubernetesObject)
  await client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'example/web:1', env: [{ name: 'SIMULATED_RUN', value: '10m' }] }] },
      },
    },
  })
  await client.create(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] },
  })
  await source.advance('1m')
  await client.delete(gadgets, { namespace: 'default', name: 'g' })
  await source.settle()
  return source
}

const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.dev' },
  spec: {
    group: 'example.dev',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        },
      },
    ],
  },
}

const read = async ({ client, discover, environment }: TestCluster, through: Client = client): Promise<ClusterState> =>
  readState({ client: through, resources: await discover() }, { clock: environment.clock })

/** A copy that goes on from a state, and what was said of it. */
async function copyOf(state: ClusterState, nodes?: number) {
  const environment = virtualEnvironment({ start: state.takenAtMs })
  const store = createMemoryStore()
  const report = await loadState(store, state, environment)
  const cluster = await startCluster({
    environment,
    store,
    storedNodes: true,
    ...(nodes === undefined ? {} : { nodes }),
  })
  await environment.clock.settle()
  return { environment, cluster, report, store }
}

/** Objects without what is new in a copy, and without signs of life. */
const comparable = ({ objects }: ClusterState) =>
  objects
    .filter(({ kind }) => kind !== 'Lease')
    .map(({ metadata: { resourceVersion: _, ...metadata }, ...object }) => ({ ...object, metadata }))
    .sort((a, b) => nameOf(a).localeCompare(nameOf(b)))

const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.namespace}/${metadata.name}`

/** `web Running`: pods and their phases, in the order in which they were last written. */
async function lastWritten(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(pods)
  const revisionOf = ({ metadata }: Pod) => Number(metadata.resourceVersion)
  const inOrder = items.toSorted((one, other) => revisionOf(one) - revisionOf(other))
  return inOrder.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)
}

describe('the state of a cluster', () => {
  it('is the same in a copy: nothing is restarted, nothing is written, all is as it was', async () => {
    await using source = await busyCluster()
    const state = await read(source)
    const { cluster, environment, report } = await copyOf(state)
    await using _ = cluster
    await environment.clock.advance('30s')
    const copied = await readState({ client: cluster.client, resources: await cluster.discover() }, environment)
    expect(comparable(copied)).toEqual(comparable(state))
    expect(report.written).toBe(state.objects.length)
    expect([report.unknownKinds, report.droppedFields, report.refusedObjects]).toEqual([[], [], []])
  })

  it('goes on: containers that end in one moment do so in the order in which they began', async () => {
    await using source = await startTestCluster({ nodes: 2 })
    for (const name of ['c', 'a', 'd', 'b']) {
      const main = { name: 'main', image: 'example/task:1', env: [{ name: 'SIMULATED_RUN', value: '10s' }] }
      const spec = { restartPolicy: 'Never', containers: [main] } as const
      await source.client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default' },
        spec,
      })
      await source.environment.clock.settle()
    }
    await source.advance('3s')
    const { cluster, environment } = await copyOf(await read(source))
    await using _ = cluster
    await environment.clock.advance('8s')
    expect(await lastWritten(cluster.client)).toEqual(['c Succeeded', 'a Succeeded', 'd Succeeded', 'b Succeeded'])
  })

  it('goes on: containers that are being started do so in the order in which they began', async () => {
    await using source = await startTestCluster({ nodes: 2, behaviour: () => ({ startLatencyMs: 10_000 }) })
    for (const name of ['c', 'a', 'd', 'b']) {
      const spec = { containers: [{ name: 'main', image: 'example/web:1' }] }
      await source.client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default' },
        spec,
      })
      await source.environment.clock.settle()
    }
    await source.advance('3s')
    const { cluster, environment } = await copyOf(await read(source))
    await using _ = cluster
    await environment.clock.advance('8s')
    expect(await lastWritten(cluster.client)).toEqual(['c Running', 'a Running', 'd Running', 'b Running'])
  })

  it('goes on: containers end when they would have, nodes are kept alive, and addresses stay taken', async () => {
    await using source = await busyCluster()
    const state = await read(source)
    const { cluster, environment } = await copyOf(state, 0)
    await using _ = cluster
    await environment.clock.advance('8m')
    const restarts = async () =>
      (await cluster.client.list(pods)).items.map(({ status }) => status?.containerStatuses?.[0]?.restartCount)
    expect(await restarts()).toEqual([0, 0, 0, 0])
    await environment.clock.advance('90s')
    expect(await restarts()).toEqual([1, 1, 1, 1])
    const { items } = await cluster.client.list(nodes)
    expect(items.map(({ metadata, status }) => [metadata.name, status?.conditions?.at(-1)?.status])).toEqual([
      ['worker-0', 'True'],
      ['worker-1', 'True'],
      ['worker-2', 'True'],
    ])
    const { spec } = await source.client.get(services, { namespace: 'default', name: 'web' })
    const clash = cluster.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'other', namespace: 'default' },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: spec.ports?.[0]?.nodePort ?? 0 }] },
    })
    await expect(clash).rejects.toThrow('provided port is already allocated')
  })

  it('makes the records of addresses where the source has none', async () => {
    await using source = await busyCluster()
    const state = await read(source)
    const objects = state.objects.filter(({ kind }) => kind !== 'IPAddress')
    const { cluster } = await copyOf({ ...state, objects })
    await using _ = cluster
    const { items } = await cluster.client.list(ipAddresses)
    const { spec } = await source.client.get(services, { namespace: 'default', name: 'web' })
    expect(items.map(({ metadata }) => metadata.name)).toContain(spec.clusterIP)
  })

  it('keeps a node that is down as it is: nobody speaks for it', async () => {
    await using source = await busyCluster()
    const { objects, ...rest } = await read(source)
    const down = objects.map((object) =>
      object.kind === 'Node' && object.metadata.name === 'worker-1' ? withoutReady(object) : object,
    )
    const { cluster, environment } = await copyOf({ ...rest, objects: down })
    await using _ = cluster
    await environment.clock.advance('2m')
    const { status } = await cluster.client.get(nodes, { name: 'worker-1' })
    expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('Unknown')
  })

  it('is read by lists alone, at one revision, and names what may not be read', async () => {
    await using source = await busyCluster()
    const asked: string[] = []
    const spied = new Proxy(source.client, {
      get: (client, verb: keyof Client) => {
        if (verb !== 'list') throw new Error(`${verb} is no way to read a state`)
        return async (resource: Resource, options: object) => {
          asked.push(resource.plural)
          if (resource.plural === 'secrets') throw new ApiError(403, 'Forbidden', 'secrets is forbidden')
          // What is written while it is read is not in it.
          await source.client.create(configMaps, {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { namespace: 'default', name: `late-${asked.length}` },
          })
          return client.list(resource, options)
        }
      },
    })
    const state = await read(source, spied)
    expect(asked.length).toBeGreaterThan(40)
    expect(state.gaps).toEqual([{ resource: 'secrets', reason: 'forbidden', message: 'secrets is forbidden' }])
    expect(state.later).toEqual([])
    // The first list tells the revision.
    expect(
      state.objects.filter(({ metadata }) => metadata.name?.startsWith('late-')).map(({ metadata }) => metadata.name),
    ).toEqual(['late-1'])
  })

  it('has the time of the source where its clock is another', async () => {
    await using source = await busyCluster()
    const resources = await source.discover()
    const { takenAtMs } = await readState(
      { client: source.client, resources },
      virtualEnvironment({ start: '2030-01-01T00:00:00Z' }),
    )
    expect(Math.abs(takenAtMs - source.environment.clock.now())).toBeLessThanOrEqual(10_000)
  })

  it('reports what a server does not know, and does not take it', async () => {
    await using source = await busyCluster()
    const state = await read(source)
    const pod = state.objects.find(({ kind }) => kind === 'Pod') as Pod | undefined
    if (pod === undefined) throw new Error('there is no pod')
    const odd = [
      { ...pod, metadata: { ...pod.metadata, name: 'odd', uid: 'u1' }, spec: { ...pod.spec, tomorrow: true } },
      { ...pod, metadata: { ...pod.metadata, name: 'bad', uid: 'u2' }, spec: { ...pod.spec, containers: 'none' } },
      { ...pod, metadata: { namespace: 'default', name: 'made-up' } },
      { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name: 'x', uid: 'u3' } },
    ] as unknown as readonly KubernetesObject[]
    const { cluster, report } = await copyOf({ ...state, objects: [...state.objects, ...odd] })
    await using _ = cluster
    expect(report.droppedFields).toEqual([
      { apiVersion: 'v1', kind: 'Pod', field: 'unknown field "spec.tomorrow"', count: 1 },
    ])
    expect(report.unknownKinds).toEqual([
      { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', count: 1 },
    ])
    expect(report.refusedObjects.map(({ object }) => object)).toEqual(['Pod default/bad', 'Pod default/made-up'])
    expect(report.refusedObjects[1]?.message).toContain('metadata.uid: Required value')
  })

  it('takes former versions of kinds as what they are today', async () => {
    await using source = await busyCluster()
    const state = await read(source)
    const slices = state.objects.map((object) => {
      if (object.kind !== 'EndpointSlice') return object
      const { endpoints = [] } = object as unknown as { endpoints: readonly { nodeName?: string }[] }
      const former = endpoints.map(({ nodeName, ...each }) => ({
        ...each,
        topology: { 'kubernetes.io/hostname': nodeName },
      }))
      return { ...object, apiVersion: 'discovery.k8s.io/v1beta1', endpoints: former }
    })
    const { cluster, report } = await copyOf({ ...state, objects: slices })
    await using _ = cluster
    expect(report.droppedFields).toEqual([])
    expect(
      comparable(await readState({ client: cluster.client, resources: await cluster.discover() }, cluster.environment)),
    ).toEqual(comparable(state))
  })

  it('is loaded into an empty store alone', async () => {
    const store = createMemoryStore()
    await store.commit({ conditions: [], operations: [{ type: 'put', key: '/x', value: Buffer.from('{}') }] })
    await expect(loadState(store, { objects: [] }, virtualEnvironment())).rejects.toThrow('an empty store')
  })
})

function withoutReady(node: KubernetesObject): KubernetesObject {
  const { status } = node as unknown as { status: { conditions: readonly { type: string }[] } }
  const conditions = status.conditions.map((each) =>
    each.type === 'Ready' ? { ...each, status: 'Unknown', reason: 'NodeStatusUnknown' } : each,
  )
  return { ...node, status: { ...status, conditions } } as KubernetesObject
}
