import { type Pod, pods, type ReplicationController, replicationControllers } from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Cluster } from '../src/index.ts'
import { startCluster } from '../src/index.ts'

const namespace = 'default'

function controller(name: string, replicas: number, labels: Readonly<Record<string, string>> = { app: name }) {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: labels,
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/main' }] } },
    },
  } as unknown as ReplicationController
}

describe('a replication controller in a whole cluster', () => {
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
    await environment.clock.advance('40s')
  }

  const create = async (object: ReplicationController) => {
    await cluster.client.create(replicationControllers, object)
    await settled()
  }

  const listPods = async (labelSelector?: string): Promise<readonly Pod[]> =>
    (await cluster.client.list(pods, { namespace, ...(labelSelector === undefined ? {} : { labelSelector }) })).items

  const names = (list: readonly Pod[]) => list.map(({ metadata }) => metadata.name)
  const keyOf = (pod: Pod) => ({ namespace, name: pod.metadata.name ?? '' })
  const ownersOf = (pod: Pod) => (pod.metadata.ownerReferences ?? []).map(({ name }) => name)

  const scale = async (name: string, replicas: number) => {
    await cluster.client.patch(
      replicationControllers,
      { namespace, name },
      { type: 'merge', body: { spec: { replicas } } },
    )
    await settled()
  }

  const relabel = async (pod: Pod, labels: Readonly<Record<string, string | null>>) => {
    await cluster.client.patch(pods, keyOf(pod), { type: 'merge', body: { metadata: { labels } } })
    await settled()
  }

  it('brings up exactly the pods it asks for, running and ready, and says so', async () => {
    await create(controller('web', 5))
    const list = await listPods()
    expect(list).toHaveLength(5)
    expect(list.every(({ status }) => status?.phase === 'Running')).toBe(true)
    expect(
      list.every(({ status }) => status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')),
    ).toBe(true)
    const { status } = await cluster.client.get(replicationControllers, { namespace, name: 'web' })
    expect(status).toMatchObject({
      replicas: 5,
      fullyLabeledReplicas: 5,
      readyReplicas: 5,
      availableReplicas: 5,
      observedGeneration: 1,
    })
  })

  it('scales up and down to the count', async () => {
    await create(controller('web', 2))
    await scale('web', 7)
    expect(await listPods()).toHaveLength(7)
    await scale('web', 1)
    expect(await listPods()).toHaveLength(1)
    await scale('web', 0)
    expect(await listPods()).toHaveLength(0)
  })

  it('replaces a pod that is deleted', async () => {
    await create(controller('web', 2))
    const [gone, kept] = (await listPods()) as [Pod, Pod]
    await cluster.client.delete(pods, keyOf(gone))
    await settled()
    const after = names(await listPods())
    expect(after).toHaveLength(2)
    expect(after).toContain(kept.metadata.name)
    expect(after).not.toContain(gone.metadata.name)
  })

  it('releases a pod that was relabelled out of the set, leaves it running, and replaces it', async () => {
    await create(controller('web', 2))
    const [aside] = (await listPods()) as [Pod]
    await relabel(aside, { app: 'debug' })
    const released = await cluster.client.get(pods, keyOf(aside))
    expect(ownersOf(released)).toEqual([])
    expect(released.status?.phase).toBe('Running')
    expect(await listPods('app=web')).toHaveLength(2)
  })

  it('takes a pod back that is relabelled into the set, and removes the one too many', async () => {
    await create(controller('web', 2))
    const [aside] = (await listPods()) as [Pod]
    await relabel(aside, { app: 'debug' })
    await relabel(aside, { app: 'web' })
    const list = await listPods('app=web')
    expect(list).toHaveLength(2)
    expect(list.map(ownersOf)).toEqual([['web'], ['web']])
  })

  it('touches no pod when its template changes, and makes new ones from the new template', async () => {
    await create(controller('web', 2))
    const before = await listPods()
    await cluster.client.patch(
      replicationControllers,
      { namespace, name: 'web' },
      {
        type: 'strategic',
        body: { spec: { template: { spec: { containers: [{ name: 'main', image: 'example/main:2' }] } } } },
      },
    )
    await settled()
    expect(await listPods()).toEqual(before)
    await scale('web', 3)
    const images = (await listPods()).map(({ spec }) => spec.containers[0]?.image).sort()
    expect(images).toEqual(['example/main', 'example/main', 'example/main:2'])
  })

  it('never fights with another controller over a pod', async () => {
    await create(controller('one', 2, { app: 'web' }))
    await create(controller('two', 3, { app: 'web' }))
    const list = await listPods('app=web')
    expect(list.filter((pod) => ownersOf(pod)[0] === 'one')).toHaveLength(2)
    expect(list.filter((pod) => ownersOf(pod)[0] === 'two')).toHaveLength(3)
    await settled()
    expect(names(await listPods('app=web')).sort()).toEqual(names(list).sort())
  })

  describe('is deleted', () => {
    const remove = async (propagationPolicy: 'Background' | 'Foreground' | 'Orphan') => {
      await cluster.client.delete(replicationControllers, { namespace, name: 'web' }, { propagationPolicy })
    }

    it('with its pods (Background)', async () => {
      await create(controller('web', 3))
      await remove('Background')
      await settled()
      expect(await listPods()).toHaveLength(0)
    })

    it('after its pods (Foreground)', async () => {
      await create(controller('web', 3))
      const [first] = (await listPods()) as [Pod]
      // A finalizer holds one pod, and that pod holds its owner.
      await cluster.client.patch(pods, keyOf(first), {
        type: 'merge',
        body: { metadata: { finalizers: ['example.com/hold'] } },
      })
      await remove('Foreground')
      await settled()
      const waiting = await cluster.client.get(replicationControllers, { namespace, name: 'web' })
      expect(waiting.metadata.finalizers).toEqual(['foregroundDeletion'])
      expect(await listPods()).toHaveLength(1)
      await cluster.client.patch(pods, keyOf(first), { type: 'merge', body: { metadata: { finalizers: null } } })
      await settled()
      expect(await listPods()).toHaveLength(0)
      await expect(cluster.client.get(replicationControllers, { namespace, name: 'web' })).rejects.toMatchObject({
        reason: 'NotFound',
      })
    })

    it('alone (Orphan), and the next controller with its selector adopts the pods', async () => {
      await create(controller('web', 3))
      const before = names(await listPods()).sort()
      await remove('Orphan')
      await settled()
      const orphans = await listPods()
      expect(names(orphans).sort()).toEqual(before)
      expect(orphans.map(ownersOf)).toEqual([[], [], []])
      await create(controller('heir', 3, { app: 'web' }))
      const adopted = await listPods()
      expect(names(adopted).sort()).toEqual(before)
      expect(adopted.map(ownersOf)).toEqual([['heir'], ['heir'], ['heir']])
    })
  })

  it('gives the same run for the same seed', async () => {
    const run = async (seed: number) => {
      const world = virtualEnvironment({ seed })
      await using other = await startCluster({ environment: world, nodes: 3 })
      await other.client.create(replicationControllers, controller('web', 4))
      await world.clock.advance('1m')
      const { items } = await other.client.list(pods, { namespace })
      return items.map(({ metadata, spec, status }) => [
        metadata.name,
        metadata.uid,
        spec.nodeName,
        status?.podIP,
        status?.startTime,
      ])
    }
    const first = await run(7)
    expect(await run(7)).toEqual(first)
    expect(await run(8)).not.toEqual(first)
  })

  it('keeps its count through a hundred changes at random', async () => {
    await create(controller('web', 10))
    for (let round = 0; round < 100; round++) {
      const list = await listPods('app=web')
      const victim = list[Math.floor(environment.random.next() * list.length)] as Pod
      if (environment.random.next() < 0.5) await cluster.client.delete(pods, keyOf(victim), { gracePeriodSeconds: 0 })
      else {
        const body = { metadata: { labels: { app: `aside-${round}` } } }
        await cluster.client.patch(pods, keyOf(victim), { type: 'merge', body })
      }
      await environment.clock.advance(Math.floor(environment.random.next() * 3000))
    }
    await settled()
    expect(await listPods('app=web')).toHaveLength(10)
  })
})
