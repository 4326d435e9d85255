import {
  type ControllerRevision,
  controllerRevisions,
  type DaemonSet,
  type Deployment,
  daemonSets,
  deployments,
  type Job,
  jobs,
  type KubernetesObject,
  type Node,
  nodes,
  pods,
  type ReplicaSet,
  type Resource,
  replicaSets,
  type StatefulSet,
  statefulSets,
} from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import { controllerRef } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDaemonSetController } from './daemon-set/controller.ts'
import { createDeploymentController } from './deployment/controller.ts'
import { createJobController } from './job/controller.ts'
import { RunningPods } from './pods/running-pods.ts'
import { createReplicaSetController } from './replica-set/controller.ts'
import { createStatefulSetController } from './stateful-set/controller.ts'
import { atWork } from './testing/at-work.ts'
import { pod } from './testing/objects.ts'

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } }

/** Whoever may write in one namespace must not have a say in another, whatever owner the objects name. */
describe('what says in another namespace that it belongs to', () => {
  let environment: VirtualEnvironment
  let client: FakeClient

  beforeEach(async () => {
    ;({ environment, client } = await atWork(() => [
      createReplicaSetController(),
      createDeploymentController(),
      createStatefulSetController(),
      createDaemonSetController(),
      createJobController(),
    ]))
  })

  async function own<T extends KubernetesObject>(resource: Resource<T>, kind: string, spec: object): Promise<T> {
    const selector = { matchLabels: labels }
    const metadata = { namespace: 'default', name: 'web' }
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
    const made = { apiVersion, kind, metadata, spec: { selector, template, ...spec } } as unknown as T
    const created = await client.create(resource, made)
    await environment.clock.settle()
    return created
  }

  /** Makes an object of another namespace that says that `owner` controls it. */
  async function pretend<T extends KubernetesObject>(
    resource: Resource<T>,
    object: T,
    owner: KubernetesObject,
    more: object = {},
  ): Promise<void> {
    const { name } = object.metadata
    const metadata = { namespace: 'elsewhere', name, labels, ownerReferences: [controllerRef(owner)], ...more }
    await client.create(resource, { ...object, metadata } as T)
    await environment.clock.settle()
  }

  const keys = (resource: Resource) =>
    client
      .stored(resource)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
      .sort()
  const present = <T extends KubernetesObject>(resource: Resource<T>): T | undefined =>
    client.stored(resource).find(({ metadata }) => metadata.namespace === 'default')

  it('a ReplicaSet is no replica of it', async () => {
    const set = await own<ReplicaSet>(replicaSets, 'ReplicaSet', { replicas: 1 })
    const before = keys(pods)
    await pretend(pods, pod('fake'), set)
    expect(keys(pods)).toEqual([...before, 'elsewhere/fake'])
    expect(present(replicaSets)?.status?.replicas).toBe(1)
    // Neither where all pods are counted anew.
    await client.update<ReplicaSet>(replicaSets, {
      ...(present(replicaSets) as ReplicaSet),
      spec: { ...set.spec, minReadySeconds: 1 },
    })
    await environment.clock.settle()
    expect(keys(pods)).toEqual([...before, 'elsewhere/fake'])
  })

  it('a Deployment is no ReplicaSet of it', async () => {
    const deployment = await own<Deployment>(deployments, 'Deployment', { replicas: 2 })
    const [set] = client.stored(replicaSets)
    if (set === undefined) throw new Error('there is no ReplicaSet')
    await pretend(replicaSets, { ...set, spec: { ...set.spec, replicas: 5 } }, deployment)
    const elsewhere = client.stored(replicaSets).find(({ metadata }) => metadata.namespace === 'elsewhere')
    expect(elsewhere?.spec.replicas).toBe(5)
    expect(elsewhere?.metadata.annotations).toBeUndefined()
    expect(present(deployments)?.status).toMatchObject({ replicas: 2, updatedReplicas: 2 })
  })

  it('a ReplicaSet does not run for its Deployment', () => {
    const running = new RunningPods()
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { namespace: 'default', name: 'web', uid: 'rs' },
    }
    const fake = pod('fake')
    running.add({
      ...fake,
      metadata: { ...fake.metadata, namespace: 'elsewhere', ownerReferences: [controllerRef(owner)] },
    })
    expect(running.hasAny('default', 'rs')).toBe(false)
    expect(running.hasAny('elsewhere', 'rs')).toBe(true)
  })

  it('a StatefulSet takes no place of its pods, and is no revision of it', async () => {
    const set = await own<StatefulSet>(statefulSets, 'StatefulSet', { replicas: 0, serviceName: 'web' })
    const [revision] = client.stored<ControllerRevision>(controllerRevisions)
    if (revision === undefined) throw new Error('there is no revision')
    await pretend(controllerRevisions, { ...revision, revision: 99 }, set)
    await pretend(pods, pod('web-0'), set)
    await client.update<StatefulSet>(statefulSets, {
      ...(present(statefulSets) as StatefulSet),
      spec: { ...set.spec, replicas: 1 },
    })
    await environment.clock.settle()
    expect(keys(pods)).toEqual(['default/web-0', 'elsewhere/web-0'])
    expect(present(controllerRevisions)?.revision).toBe(1)
  })

  it('a DaemonSet is no pod of its nodes', async () => {
    const set = await own<DaemonSet>(daemonSets, 'DaemonSet', {})
    await pretend(pods, pod('fake', { node: 'node-1' }), set)
    await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
    await environment.clock.settle()
    expect(keys(pods)).toEqual([expect.stringMatching(/^default\//), 'elsewhere/fake'])
  })

  it('a Job does no work for it', async () => {
    const job = await own<Job>(jobs, 'Job', { completions: 1, parallelism: 1 })
    const finalizers = ['batch.kubernetes.io/job-tracking']
    await pretend(pods, pod('fake', { phase: 'Succeeded' }), job, { finalizers })
    await environment.clock.advance('10s')
    expect(present(jobs)?.status).toMatchObject({ active: 1 })
    expect(present(jobs)?.status?.succeeded).toBeUndefined()
  })
})
