import {
  ApiError,
  type Deployment,
  deployments,
  formatTime,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
  type ReplicaSet,
  type Resource,
  replicaSets,
  replicationControllers,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import { controllerRef, type Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { countReads } from '../testing/count-reads.ts'
import { deployment, replicaSet } from '../testing/deployments.ts'
import { ownedBy, pod, replicationController } from '../testing/objects.ts'
import { createDisruptionController } from './controller.ts'
import { expectedScale } from './expected-scale.ts'

let environment: VirtualEnvironment
let client: FakeClient
let manager: Manager

beforeEach(async () => {
  ;({ environment, client, manager } = await atWork(() => [createDisruptionController({ resources: () => [] })]))
})

const createBudget = (spec: PodDisruptionBudget['spec']) =>
  client.create<PodDisruptionBudget>(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  })

async function createPod(name: string, parts: Partial<Pod['metadata']> = {}): Promise<void> {
  const { metadata, ...rest } = pod(name, { readyFor: 60 })
  const own = { namespace: 'default', name, labels: metadata.labels, ...parts }
  await client.create<Pod>(pods, { ...rest, metadata: own })
}

async function status() {
  await environment.clock.settle()
  return (await client.get(podDisruptionBudgets, { namespace: 'default', name: 'web' })).status
}

it('counts again when a pod comes, goes, or is ready no more', async () => {
  await createBudget({ minAvailable: 1 })
  for (const name of ['a', 'b', 'c']) await createPod(name)
  expect(await status()).toMatchObject({ disruptionsAllowed: 2, currentHealthy: 3 })
  await client.delete(pods, { namespace: 'default', name: 'a' })
  expect(await status()).toMatchObject({ disruptionsAllowed: 1, currentHealthy: 2 })
  const object = await client.get(pods, { namespace: 'default', name: 'b' })
  const conditions = [{ type: 'Ready', status: 'False' as const }]
  await client.update<Pod>(pods, { ...object, status: { ...object.status, conditions } }, { subresource: 'status' })
  expect(await status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1 })
})

it('asks the replication controller of its pods how many there should be', async () => {
  const owner = await client.create(replicationControllers, replicationController(4))
  await createBudget({ maxUnavailable: '50%' })
  for (const name of ['a', 'b', 'c']) await createPod(name, { ownerReferences: [ownedBy(owner)] })
  expect(await status()).toMatchObject({ expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 1 })
})

it('counts again when another number of pods is asked for, and before any comes or goes', async () => {
  const owner = await client.create(replicationControllers, replicationController(4))
  await createBudget({ maxUnavailable: '50%' })
  for (const name of ['a', 'b', 'c']) await createPod(name, { ownerReferences: [ownedBy(owner)] })
  await status()
  await client.update(replicationControllers, { ...owner, spec: { ...owner.spec, replicas: 2 } })
  expect(await status()).toMatchObject({ expectedPods: 2, desiredHealthy: 1, disruptionsAllowed: 2 })
})

it('counts a pod again that was to be evicted and stayed', async () => {
  const created = await createBudget({ minAvailable: 1 })
  for (const name of ['a', 'b']) await createPod(name)
  await status()
  const object = await client.get(podDisruptionBudgets, { namespace: 'default', name: 'web' })
  const since = formatTime(environment.clock.now())
  const granted = { ...object.status, disruptionsAllowed: 0, disruptedPods: { a: since } }
  await client.update(podDisruptionBudgets, { ...created, ...object, status: granted } as PodDisruptionBudget, {
    subresource: 'status',
  })
  expect(await status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1, disruptedPods: { a: since } })
  await environment.clock.advance('2m')
  expect(await status()).toMatchObject({ disruptionsAllowed: 1, currentHealthy: 2 })
  expect((await status())?.disruptedPods).toBeUndefined()
})

it('takes back that a pod is about to be disrupted, when it is still there', async () => {
  await createPod('a')
  const object = await client.get(pods, { namespace: 'default', name: 'a' })
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const conditions = [{ type: 'DisruptionTarget', status: 'True' as const, lastTransitionTime }]
  await client.update<Pod>(pods, { ...object, status: { ...object.status, conditions } }, { subresource: 'status' })
  const target = async () => (await client.get(pods, { namespace: 'default', name: 'a' })).status?.conditions?.[0]
  await environment.clock.advance('119s')
  expect(await target()).toMatchObject({ status: 'True' })
  await environment.clock.advance('2s')
  expect(await target()).toMatchObject({ type: 'DisruptionTarget', status: 'False' })
})

it('asks a deployment once, for the pods of all its replica sets', async () => {
  const { uid: _uid, resourceVersion: _version, ...named } = deployment(4).metadata
  const owner = await client.create<Deployment>(deployments, { ...deployment(4), metadata: named })
  for (const name of ['old', 'new']) {
    const { metadata, ...rest } = replicaSet(name, { replicas: 3 })
    const set = await client.create<ReplicaSet>(replicaSets, {
      ...rest,
      metadata: { name: `web-${name}`, namespace: 'default', ownerReferences: [controllerRef(owner)] },
    })
    await createPod(name, { ownerReferences: [controllerRef(set)] })
  }
  await createBudget({ maxUnavailable: 3 })
  expect(await status()).toMatchObject({ expectedPods: 4, desiredHealthy: 1, disruptionsAllowed: 1 })
})

it.each([100, 10_000])('looks at few objects when one of %i pods changes', async (count) => {
  await createBudget({ minAvailable: 1 })
  for (let index = 0; index < count; index++) await createPod(`web-${index}`)
  await status()
  const reads = countReads(manager.informer(pods), manager.informer(podDisruptionBudgets))
  await client.delete(pods, { namespace: 'default', name: 'web-0' })
  expect(await status()).toMatchObject({ disruptionsAllowed: count - 2, currentHealthy: count - 1 })
  expect(reads.taken()).toBeLessThan(5)
})

it('counts for another selector once it has one', async () => {
  const budget = await createBudget({ minAvailable: 0 })
  await createPod('a')
  await createPod('b', { labels: { app: 'api' } })
  await createPod('c', { labels: { app: 'api' } })
  expect(await status()).toMatchObject({ currentHealthy: 1 })
  const { metadata } = await client.get(podDisruptionBudgets, { namespace: 'default', name: 'web' })
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['api'] }] }
  await client.update<PodDisruptionBudget>(podDisruptionBudgets, {
    ...budget,
    metadata,
    spec: { minAvailable: 0, selector },
  } as PodDisruptionBudget)
  expect(await status()).toMatchObject({ currentHealthy: 2 })
  await client.delete(pods, { namespace: 'default', name: 'a' })
  await createPod('d', { labels: { app: 'api' } })
  expect(await status()).toMatchObject({ currentHealthy: 3 })
})

it('asks the scale of whatever else controls pods', async () => {
  const sets = { group: 'example.com', version: 'v1', kind: 'Set', plural: 'sets', namespaced: true }
  const owner = { apiVersion: 'example.com/v1', kind: 'Set', name: 's', uid: 'u', controller: true }
  const scaleWhere = (answer: () => unknown) => {
    const client = { get: async () => answer() } as never
    const informer = () => {
      throw new Error('not asked')
    }
    return expectedScale({ client, informer, resources: () => [sets] }, 'default', [{ owner, podName: 'a' }])
  }
  const scale = { metadata: { uid: 'u' }, spec: { replicas: 7 } }
  expect(await scaleWhere(() => scale)).toEqual({ count: 7 })
  const noPath = () => {
    throw new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
  }
  expect(await scaleWhere(noPath)).toEqual({ error: 'sets.example.com does not implement the scale subresource' })
  const another = { ...scale, metadata: { uid: 'other' } }
  expect(await scaleWhere(() => another)).toEqual({ error: 'found no controllers for pod "a"' })
})

it('says of a kind of the core group that it has no scale, by its name alone', async () => {
  const nodes = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true }
  const get = async () => {
    throw new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
  }
  const sources = { client: { get } as never, informer: manager.informer.bind(manager), resources: () => [nodes] }
  expect(await expectedScale(sources, 'default', [{ owner, podName: 'a' }])).toEqual({
    error: 'nodes does not implement the scale subresource',
  })
})

it.each(['apps/v1', 'apps/v1beta2', 'extensions/v1beta1'])(
  'knows the controller of a pod as %s',
  async (apiVersion) => {
    const { uid: _uid, resourceVersion: _version, ...named } = replicaSet('1').metadata
    const { metadata } = await client.create<ReplicaSet>(replicaSets, {
      ...replicaSet('1', { replicas: 5 }),
      metadata: named,
    })
    await environment.clock.settle()
    const owner = { apiVersion, kind: 'ReplicaSet', name: 'web-1', uid: metadata.uid ?? '', controller: true }
    const sources = { client, informer: manager.informer.bind(manager), resources: () => [] }
    expect(await expectedScale(sources, 'default', [{ owner, podName: 'a' }])).toEqual({ count: 5 })
  },
)

it('asks again for a kind that is not served yet', async () => {
  const sets = { group: 'example.com', version: 'v1', kind: 'Set', plural: 'sets', namespaced: true }
  const served: Resource[] = []
  ;({ environment, client, manager } = await atWork(() => [createDisruptionController({ resources: () => served })]))
  const get = client.get.bind(client)
  client.get = (async (resource: Resource, ...rest: never[]) =>
    resource === sets
      ? { metadata: { uid: 'u' }, spec: { replicas: 2 } }
      : get(resource as never, ...(rest as [never]))) as typeof client.get
  const owner = { apiVersion: 'example.com/v1', kind: 'Set', name: 's', uid: 'u', controller: true }
  await createPod('a', { ownerReferences: [owner] })
  await createBudget({ maxUnavailable: 1 })
  expect((await status())?.conditions).toMatchObject([
    { reason: 'SyncFailed', message: 'no matches for kind "Set" in version "example.com/v1"' },
  ])
  served.push(sets)
  await environment.clock.advance('1m')
  expect(await status()).toMatchObject({ expectedPods: 2, conditions: [{ reason: 'InsufficientPods' }] })
})
