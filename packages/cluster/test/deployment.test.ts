import {
  type Deployment,
  type DeploymentSpec,
  deployments,
  events,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }

/** A deployment `web` of containers with this image. */
function web(spec: Partial<DeploymentSpec> = {}, image = 'example/web:1'): Deployment {
  const labels = { app: 'web' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 4,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
      ...spec,
    },
  } as Deployment
}

describe('a deployment in a whole cluster', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 42 })
    cluster = await startCluster({ environment, nodes: 3 })
  })

  afterEach(() => cluster.stop())

  const settled = async () => {
    await environment.clock.settle()
    await environment.clock.advance('90s')
  }
  const create = async (object: Deployment) => {
    await cluster.client.create(deployments, object)
    await settled()
  }
  const current = () => cluster.client.get(deployments, key)
  const patch = async (body: unknown) => {
    await cluster.client.patch(deployments, key, { type: 'strategic', body })
    await environment.clock.settle()
  }
  const setImage = (image: string) => patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })
  const listPods = async (): Promise<readonly Pod[]> => (await cluster.client.list(pods, { namespace })).items
  const listSets = async (): Promise<readonly ReplicaSet[]> =>
    [...(await cluster.client.list(replicaSets, { namespace })).items].sort((a, b) => revisionOf(a) - revisionOf(b))
  const revisionOf = ({ metadata }: ReplicaSet) => Number(metadata.annotations?.['deployment.kubernetes.io/revision'])
  const images = async () => (await listPods()).map(({ spec }) => spec.containers[0]?.image).sort()

  it('makes a ReplicaSet named after its template, whose pods belong to it', async () => {
    await create(web())
    const [set] = await listSets()
    const hash = set?.metadata.labels?.['pod-template-hash'] ?? ''
    expect(hash).toMatch(/^[a-z0-9]{7,10}$/)
    expect(set).toMatchObject({
      metadata: { name: `web-${hash}`, ownerReferences: [{ kind: 'Deployment', name: 'web', controller: true }] },
      spec: { replicas: 4, selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } } },
    })
    const list = await listPods()
    expect(list).toHaveLength(4)
    for (const { metadata } of list) {
      expect(metadata.name).toMatch(new RegExp(`^web-${hash}-[a-z0-9]{5}$`))
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', name: `web-${hash}` }])
    }
    const { metadata, status } = await current()
    expect(metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '1' })
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
      terminatingReplicas: 0,
      conditions: [
        { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
        {
          type: 'Progressing',
          status: 'True',
          reason: 'NewReplicaSetAvailable',
          message: `ReplicaSet "web-${hash}" has successfully progressed.`,
        },
      ],
    })
    expect(status).not.toHaveProperty('unavailableReplicas')
  })

  it('replaces the pods when the template changes', async () => {
    await create(web())
    await setImage('example/web:2')
    await settled()
    expect(await images()).toEqual(Array.from({ length: 4 }, () => 'example/web:2'))
    expect((await listSets()).map((set) => [revisionOf(set), set.spec.replicas])).toEqual([
      [1, 0],
      [2, 4],
    ])
    const { items } = await cluster.client.list(events, { namespace })
    const scaling = items.filter(({ reason }) => reason === 'ScalingReplicaSet').map(({ message }) => message)
    expect(scaling).toContainEqual(expect.stringMatching(/^Scaled up replica set web-\w+ from 0 to 4$/))
    expect(scaling).toContainEqual(expect.stringMatching(/^Scaled down replica set web-\w+ from \d to 0$/))
  })
})
