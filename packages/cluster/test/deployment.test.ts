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
import { createInformer } from '@coracle/client'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

const namespace = 'default'
const key = { namespace, name: 'web' }
const revisionAnnotation = 'deployment.kubernetes.io/revision'

/** A deployment of containers with the image `example/web:1`. */
function deployment(
  name: string,
  spec: Partial<DeploymentSpec> = {},
  labels: Readonly<Record<string, string>> = { app: name },
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 4,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/web:1' }] } },
      ...spec,
    },
  } as Deployment
}

const web = (spec: Partial<DeploymentSpec> = {}) => deployment('web', spec)

/** How pods are replaced. */
const rolling = (maxSurge: number | string, maxUnavailable: number | string): Partial<DeploymentSpec> => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
})

/** A change of the template to one whose pods find no node, and so never become available. */
const toFailing = { spec: { template: { spec: { nodeSelector: { disk: 'none' } } } } }
const toWorking = { spec: { template: { spec: { nodeSelector: null } } } }

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
    // Graceful deletions and batched status writes take a little virtual time.
    await environment.clock.advance('90s')
  }
  const create = async (object: Deployment) => {
    await cluster.client.create(deployments, object)
    await settled()
  }
  const current = () => cluster.client.get(deployments, key)
  const patch = async (body: unknown) => {
    await cluster.client.patch(deployments, key, { type: 'merge', body })
    await environment.clock.settle()
  }
  const toImage = (image: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } })
  const setImage = (image: string) => patch(toImage(image))
  const listPods = async (): Promise<readonly Pod[]> => (await cluster.client.list(pods, { namespace })).items
  const revisionOf = ({ metadata }: ReplicaSet) => Number(metadata.annotations?.[revisionAnnotation])
  const listSets = async (): Promise<readonly ReplicaSet[]> => {
    const { items } = await cluster.client.list(replicaSets, { namespace })
    return [...items].sort((a, b) => revisionOf(a) - revisionOf(b))
  }
  /** Replicas by revision. */
  const sizes = async () => (await listSets()).map((set) => [revisionOf(set), set.spec.replicas])
  const images = async () => (await listPods()).map(({ spec }) => spec.containers[0]?.image).sort()
  const times = (count: number, image: string) => Array.from({ length: count }, () => image)
  const condition = async (type: string) => (await current()).status?.conditions?.find((each) => each.type === type)
  const isReady = ({ status }: Pod) =>
    status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  const isGoing = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined

  it('makes a ReplicaSet named after its template, whose pods belong to it', async () => {
    await create(web())
    const [set] = await listSets()
    const hash = set?.metadata.labels?.['pod-template-hash'] ?? ''
    expect(hash).toMatch(/^[a-z0-9]{6,10}$/)
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
    expect(metadata.annotations).toEqual({ [revisionAnnotation]: '1' })
    expect(status).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
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

  it('replaces the pods when the template changes, and says how', async () => {
    await create(web())
    await setImage('example/web:2')
    await settled()
    expect(await images()).toEqual(times(4, 'example/web:2'))
    expect(await sizes()).toEqual([
      [1, 0],
      [2, 4],
    ])
    const { items } = await cluster.client.list(events, { namespace })
    const scaling = items.filter(({ reason }) => reason === 'ScalingReplicaSet').map(({ message }) => message)
    expect(scaling).toContainEqual(expect.stringMatching(/^Scaled up replica set web-\w+ from 0 to 4$/))
    expect(scaling).toContainEqual(expect.stringMatching(/^Scaled down replica set web-\w+ from \d to 0$/))
  })

  it.each([
    ['25%', '25%', 13, 8],
    [2, 0, 12, 10],
    [0, 3, 10, 7],
    ['100%', 0, 20, 10],
  ])('keeps within maxSurge %s and maxUnavailable %s all the time', async (surge, unavailable, most, fewest) => {
    await create(web({ replicas: 10, minReadySeconds: 3, ...rolling(surge, unavailable) }))
    await setImage('example/web:2')
    for (let step = 0; step < 400; step++) {
      const active = (await listPods()).filter((pod) => !isGoing(pod))
      expect(active.length).toBeLessThanOrEqual(most)
      expect(active.filter(isReady).length).toBeGreaterThanOrEqual(fewest)
      await environment.clock.advance('100ms')
    }
    expect((await current()).status).toMatchObject({ updatedReplicas: 10, availableReplicas: 10, replicas: 10 })
    expect(await images()).toEqual(times(10, 'example/web:2'))
  })

  it('counts a pod that is ready as available after minReadySeconds', async () => {
    await cluster.client.create(deployments, web({ replicas: 2, minReadySeconds: 30 }))
    await environment.clock.advance('10s')
    expect((await current()).status).toMatchObject({ readyReplicas: 2, unavailableReplicas: 2 })
    expect(await condition('Available')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' })
    await environment.clock.advance('25s')
    expect((await current()).status).toMatchObject({ availableReplicas: 2 })
    expect(await condition('Available')).toMatchObject({ status: 'True' })
  })

  it('changes counts only when it is scaled', async () => {
    await create(web())
    const before = (await listPods()).map(({ metadata }) => metadata.uid)
    await patch({ spec: { replicas: 6 } })
    await settled()
    expect(await sizes()).toEqual([[1, 6]])
    expect((await listPods()).map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(before))
    await patch({ spec: { replicas: 0 } })
    await settled()
    expect(await listPods()).toEqual([])
    expect(await sizes()).toEqual([[1, 0]])
  })

  describe('whose new pods never become available', () => {
    beforeEach(async () => {
      await create(web({ replicas: 10, ...rolling(3, 2), progressDeadlineSeconds: 100 }))
      await patch(toFailing)
      await environment.clock.advance('30s')
    })

    it('stops as soon as it may not go further, and says so when the time is up', async () => {
      expect(await sizes()).toEqual([
        [1, 8],
        [2, 5],
      ])
      expect(await condition('Progressing')).toMatchObject({ status: 'True', reason: 'ReplicaSetUpdated' })
      await environment.clock.advance('100s')
      expect(await condition('Progressing')).toMatchObject({
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: expect.stringMatching(/^ReplicaSet "web-\w+" has timed out progressing\.$/),
      })
      expect(await condition('Available')).toMatchObject({ status: 'True' })
      expect((await current()).status).toMatchObject({
        availableReplicas: 8,
        updatedReplicas: 5,
        unavailableReplicas: 5,
      })
    })

    it('goes back to the earlier template, which becomes the latest revision', async () => {
      await environment.clock.advance('100s')
      await patch(toWorking)
      await settled()
      expect(await sizes()).toEqual([
        [2, 0],
        [3, 10],
      ])
      const [, back] = await listSets()
      expect(back?.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision-history': '1' })
      expect((await current()).metadata.annotations).toMatchObject({ [revisionAnnotation]: '3' })
      expect(await condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' })
    })

    it('keeps the proportions of old and new when it is scaled', async () => {
      await patch({ spec: { replicas: 30 } })
      await settled()
      expect(await sizes()).toEqual([
        [1, 20],
        [2, 13],
      ])
    })

    it('goes over to a newer template at once', async () => {
      await patch({
        spec: { template: { spec: { nodeSelector: null, containers: [{ name: 'main', image: 'x:3' }] } } },
      })
      await settled()
      expect(await sizes()).toEqual([
        [1, 0],
        [2, 0],
        [3, 10],
      ])
    })
  })

  it('makes nothing of a change while it is paused, but keeps its size, and goes on when it is resumed', async () => {
    await create(web())
    await patch({ spec: { paused: true } })
    expect(await condition('Progressing')).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' })
    await setImage('example/web:2')
    await patch({ spec: { replicas: 6 } })
    await settled()
    expect(await sizes()).toEqual([[1, 6]])
    await patch({ spec: { paused: false } })
    await settled()
    expect(await images()).toEqual(times(6, 'example/web:2'))
    expect(await condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' })
  })

  it('never has old and new pods at once where they are recreated', async () => {
    await create(web({ strategy: { type: 'Recreate' } }))
    const informer = createInformer(cluster.client, pods, {}, environment)
    const seen: string[] = []
    const look = () => {
      const present = new Set(informer.list().map(({ spec }) => spec.containers[0]?.image ?? ''))
      seen.push([...present].sort().join(' and '))
    }
    informer.addHandler({ add: look, delete: look })
    informer.start()
    await setImage('example/web:2')
    await settled()
    await informer.stop()
    expect(new Set(seen)).toEqual(new Set(['example/web:1', '', 'example/web:2']))
    expect((await current()).status).toMatchObject({ updatedReplicas: 4, availableReplicas: 4 })
  })

  it('keeps as many old ReplicaSets as it may', async () => {
    await create(web({ replicas: 1, revisionHistoryLimit: 2 }))
    for (const version of [2, 3, 4, 5]) {
      await setImage(`example/web:${version}`)
      await settled()
    }
    expect(await sizes()).toEqual([
      [3, 0],
      [4, 0],
      [5, 1],
    ])
  })

  it('replaces a ReplicaSet that is deleted', async () => {
    await create(web())
    const [set] = await listSets()
    await cluster.client.delete(replicaSets, { namespace, name: set?.metadata.name ?? '' })
    await settled()
    const [again] = await listSets()
    expect(again?.metadata.name).toBe(set?.metadata.name)
    expect(again?.metadata.uid).not.toBe(set?.metadata.uid)
    expect(await listPods()).toHaveLength(4)
  })

  it('takes another name where that of its new ReplicaSet is taken', async () => {
    await create(web())
    const [first] = await listSets()
    const name = first?.metadata.name ?? ''
    await cluster.client.delete(deployments, key, { propagationPolicy: 'Background' })
    await settled()
    const labels = { app: 'other' }
    await cluster.client.create(replicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { ...first?.spec.template, metadata: { labels } },
      },
    } as ReplicaSet)
    await create(web())
    expect((await current()).status).toMatchObject({ collisionCount: 1, availableReplicas: 4 })
    const own = (await listSets()).filter(({ metadata }) => metadata.ownerReferences !== undefined)
    expect(own.map(({ metadata }) => metadata.name)).not.toContain(name)
  })

  it('never fights with another deployment over ReplicaSets or pods', async () => {
    const shared = { tier: 'front' }
    await create(deployment('web', { replicas: 2 }, { ...shared, app: 'web' }))
    await create(deployment('two', { replicas: 3, selector: { matchLabels: shared } }, { ...shared, app: 'two' }))
    await settled()
    expect((await listSets()).map(({ spec }) => spec.replicas).sort()).toEqual([2, 3])
    expect(await listPods()).toHaveLength(5)
  })

  describe('is deleted', () => {
    const remove = async (propagationPolicy: 'Background' | 'Foreground' | 'Orphan') => {
      await cluster.client.delete(deployments, key, { propagationPolicy })
      await settled()
    }

    it.each(['Background', 'Foreground'] as const)('with its ReplicaSets and their pods (%s)', async (policy) => {
      await create(web())
      await setImage('example/web:2')
      await settled()
      await remove(policy)
      expect(await listSets()).toEqual([])
      expect(await listPods()).toEqual([])
    })

    it('alone (Orphan), and the next of that selector and template takes all over', async () => {
      await create(web())
      const before = (await listPods()).map(({ metadata }) => metadata.uid).sort()
      await remove('Orphan')
      expect((await listSets()).map(({ metadata }) => metadata.ownerReferences)).toEqual([undefined])
      await create(web())
      expect(await sizes()).toEqual([[1, 4]])
      expect((await listPods()).map(({ metadata }) => metadata.uid).sort()).toEqual(before)
    })
  })

  it('replaces a pod that is relabelled out of it, which goes on running', async () => {
    await create(web({ replicas: 2 }))
    const [aside] = await listPods()
    const name = aside?.metadata.name ?? ''
    const body = { metadata: { labels: { app: 'debug' } } }
    await cluster.client.patch(pods, { namespace, name }, { type: 'merge', body })
    await settled()
    expect((await listPods()).filter(({ metadata }) => metadata.labels?.app === 'web')).toHaveLength(2)
    expect((await cluster.client.get(pods, { namespace, name })).status?.phase).toBe('Running')
  })
})
