import {
  type EndpointSlice,
  type Endpoints,
  endpointSlices,
  endpoints,
  type Job,
  jobs,
  type Node,
  nodes,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
  type Service,
  services,
} from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { createManager } from '@coracle/controller-runtime'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { createEndpointSliceController } from '../endpoint-slice/controller.ts'
import { createEndpointsController } from '../endpoints/controller.ts'
import { createJobController } from '../job/controller.ts'
import { createReplicaSetController } from '../replica-set/controller.ts'

/** A ReplicaSet and a Service whose pods have all been made, and none of which is ready. */
async function created(replicas: number) {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  const manager = createManager({ client, environment })
  for (const add of [createReplicaSetController, createEndpointSliceController, createEndpointsController])
    manager.add(add())
  await manager.start()
  onTestFinished(() => manager.stop())
  const labels = { app: 'web' }
  const metadata = { namespace: 'default', name: 'web' }
  await client.create<Service>(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: labels, ipFamilies: ['IPv4'], ports: [{ port: 80 }] },
  } as Service)
  await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' } } as Node)
  const spec = { nodeName: 'node', containers: [{ name: 'c', image: 'example/web:1' }] }
  const template = { metadata: { labels }, spec }
  await client.create<ReplicaSet>(replicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata,
    spec: { replicas, selector: { matchLabels: labels }, template },
  } as ReplicaSet)
  await environment.clock.advance('1m')
  return { client, clock: environment.clock }
}

/** Has all pods get ready, one after the other in one moment. */
async function getReady({ client, clock }: Awaited<ReturnType<typeof created>>): Promise<void> {
  for (const [index, { metadata }] of client.stored<Pod>(pods).entries()) {
    const ip = `10.0.${index >> 8}.${index & 255}`
    const conditions = [{ type: 'Ready', status: 'True' }]
    const body = { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } }
    const key = { namespace: 'default', name: metadata.name ?? '' }
    await client.patch(pods, key, { type: 'merge', body }, { subresource: 'status' })
    await clock.settle()
  }
}

it.each([100, 400])(
  '%i pods that get ready one by one in a moment are not as many writes about their number',
  async (count) => {
    const cluster = await created(count)
    const { client, clock } = cluster
    const before = client.calls.length
    await getReady(cluster)
    await clock.advance('1s')
    const writes = ['replicasets', 'endpoints', 'endpointslices'].map(
      (wanted) => client.calls.slice(before).filter(({ verb, plural }) => plural === wanted && verb !== 'watch').length,
    )
    // The first is told at once, and all others together, in as many slices as they need.
    expect(writes[0]).toBeLessThanOrEqual(2)
    expect(writes[1]).toBeLessThanOrEqual(3)
    expect(writes[2]).toBeLessThanOrEqual(2 + Math.ceil(count / 100))
    const [set] = client.stored<ReplicaSet>(replicaSets)
    expect(set?.status?.readyReplicas).toBe(count)
    const slices = client.stored<EndpointSlice>(endpointSlices)
    expect(slices.flatMap((slice) => slice.endpoints ?? [])).toHaveLength(count)
    const [{ subsets = [] } = {}] = client.stored<Endpoints>(endpoints)
    expect(subsets.flatMap(({ addresses = [] }) => addresses)).toHaveLength(count)
  },
)

it('of few pods each is told at once', async () => {
  const cluster = await created(10)
  await getReady(cluster)
  const [set] = cluster.client.stored<ReplicaSet>(replicaSets)
  expect(set?.status?.readyReplicas).toBe(10)
  expect(cluster.client.stored<EndpointSlice>(endpointSlices)[0]?.endpoints).toHaveLength(10)
})

/** A Job all of whose pods run at once, and end one after the other in one moment. */
async function endedJob(count: number) {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const manager = createManager({ client, environment })
  manager.add(createJobController())
  await manager.start()
  onTestFinished(() => manager.stop())
  const labels = { app: 'sum' }
  await client.create<Job>(jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'default', name: 'sum' },
    spec: {
      completions: count,
      parallelism: count,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [] } },
    },
  } as Job)
  await clock.advance('1m')
  const before = client.calls.length
  for (const { metadata } of client.stored<Pod>(pods)) {
    const key = { namespace: 'default', name: metadata.name ?? '' }
    await client.patch(
      pods,
      key,
      { type: 'merge', body: { status: { phase: 'Succeeded' } } },
      { subresource: 'status' },
    )
    await clock.settle()
  }
  const writesOf = (plural: string) =>
    client.calls.slice(before).filter((call) => call.plural === plural && call.verb !== 'watch').length
  return { client, clock, writesOf }
}

it.each([100, 400])(
  '%i pods of a Job that end one by one in a moment are named and counted together',
  async (count) => {
    const { client, clock, writesOf } = await endedJob(count)
    await clock.advance('2s')
    // The first and all others: named, then counted. Each pod ends, and is let go.
    expect(writesOf('jobs')).toBeLessThanOrEqual(4)
    expect(writesOf('pods')).toBe(2 * count)
    const [job] = client.stored<Job>(jobs)
    expect(job?.status?.succeeded).toBe(count)
    expect(job?.status?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete'])
  },
)

it('of a Job of few pods each is counted at once', async () => {
  const { client } = await endedJob(10)
  expect(client.stored<Job>(jobs)[0]?.status?.succeeded).toBe(10)
})
