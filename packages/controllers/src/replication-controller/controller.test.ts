import { ApiError, badRequest, type OwnerReference, type Pod, pods, replicationControllers } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { Manager } from '@coracle/controller-runtime'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { countReads } from '../testing/count-reads.ts'
import { ownedBy, pod, replicationController } from '../testing/objects.ts'
import { createReplicationController } from './controller.ts'

const key = { namespace: 'default', name: 'web' }

describe('the replication controller', () => {
  let environment: VirtualEnvironment
  let client: FakeClient
  let manager: Manager

  beforeEach(async () => {
    ;({ environment, client, manager } = await atWork(() => [createReplicationController()]))
  })

  const create = (replicas: number) => client.create(replicationControllers, replicationController(replicas))
  const current = () => client.get(replicationControllers, key)
  const names = () => client.stored(pods).map(({ metadata }) => metadata.name)
  const writes = () => client.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  const merge = (name: string, body: unknown) =>
    client.patch(pods, { namespace: 'default', name }, { type: 'merge', body })

  async function setStatus(name: string, status: unknown): Promise<void> {
    const object = await client.get(pods, { namespace: 'default', name })
    await client.update<Pod>(pods, { ...object, status } as Pod, { subresource: 'status' })
    await environment.clock.settle()
  }

  it('makes the pods that are missing, of its template and its own', async () => {
    const owner = await create(3)
    await environment.clock.settle()
    expect(client.stored(pods)).toHaveLength(3)
    expect(client.stored(pods)[0]).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
        namespace: 'default',
        labels: { app: 'web' },
        ownerReferences: [ownedBy(owner)],
      },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    })
    expect((await current()).status).toEqual({ replicas: 3, fullyLabeledReplicas: 3, observedGeneration: 1 })
  })

  it('makes no pod twice while its cache lags behind its own writes', async () => {
    client.holdWatches(pods)
    await create(3)
    await environment.clock.settle()
    await client.patch(replicationControllers, key, {
      type: 'merge',
      body: { metadata: { labels: { touched: 'yes' } } },
    })
    await environment.clock.settle()
    expect(client.stored(pods)).toHaveLength(3)
    client.releaseWatches()
    await environment.clock.settle()
    expect(client.stored(pods)).toHaveLength(3)
  })

  it('replaces a pod that is deleted, and one that fails; the failed one stays', async () => {
    await create(2)
    await environment.clock.settle()
    const [deleted = '', failed = ''] = names()
    await client.delete(pods, { namespace: 'default', name: deleted })
    await setStatus(failed, { phase: 'Failed' })
    expect(names()).toHaveLength(3)
    expect(names()).toContain(failed)
    expect((await current()).status?.replicas).toBe(2)
  })

  it('lets go of a pod that is relabelled out of the set, replaces it, and takes it back', async () => {
    await create(1)
    await environment.clock.settle()
    const [aside = ''] = names()
    await merge(aside, { metadata: { labels: { app: 'debug' } } })
    await environment.clock.settle()
    expect(names()).toHaveLength(2)
    expect((await client.get(pods, { namespace: 'default', name: aside })).metadata.ownerReferences).toBeUndefined()

    await merge(aside, { metadata: { labels: { app: 'web' } } })
    await environment.clock.settle()
    expect(names()).toHaveLength(1)
  })

  it('adopts a matching pod that is nobody’s instead of making one', async () => {
    const { metadata, ...orphan } = pod('lonely')
    await client.create(pods, { ...orphan, metadata: { namespace: 'default', name: 'lonely', labels: { app: 'web' } } })
    const owner = await create(1)
    await environment.clock.settle()
    expect(client.stored(pods).map(({ metadata }) => [metadata.name, metadata.ownerReferences])).toEqual([
      ['lonely', [ownedBy(owner)]],
    ])
  })

  it('adopts nothing for an owner that only its cache still shows', async () => {
    await create(0)
    await environment.clock.settle()
    client.holdWatches(replicationControllers)
    await client.delete(replicationControllers, key)
    const { metadata, ...orphan } = pod('lonely')
    await client.create(pods, { ...orphan, metadata: { namespace: 'default', name: 'lonely', labels: { app: 'web' } } })
    await environment.clock.settle()
    expect(client.stored(pods)[0]?.metadata.ownerReferences).toBeUndefined()
  })

  it('makes 1,200 pods in bursts and deletes them again', async () => {
    await create(1200)
    await environment.clock.advance('1s')
    expect(names()).toHaveLength(1200)
    await client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 0 } } })
    await environment.clock.advance('1s')
    expect(names()).toHaveLength(0)
    expect((await current()).status).toEqual({ replicas: 0, observedGeneration: 2 })
  })

  describe('with two of three pods on one node', () => {
    /** Makes room for one pod less, among pods of which the one alone on its node is the youngest. */
    async function scaleDown(ownerReferences?: readonly OwnerReference[]): Promise<readonly (string | undefined)[]> {
      for (const [name, node, readyFor] of [
        ['a', 'n1', 5000],
        ['b', 'n1', 5000],
        ['alone', 'n2', 1],
      ] as const) {
        const { metadata, ...rest } = pod(name, { node, readyFor })
        await client.create(pods, { ...rest, metadata: { namespace: 'default', name, labels: { app: 'web' } } })
      }
      const { metadata, ...rest } = replicationController(3)
      await client.create(replicationControllers, { ...rest, metadata: { ...metadata, ownerReferences } })
      await environment.clock.settle()
      await client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 2 } } })
      await environment.clock.settle()
      return names()
    }

    it('deletes the youngest where nobody controls the controller', async () => {
      expect(await scaleDown()).toEqual(['a', 'b'])
    })

    it('deletes one of the two where somebody does', async () => {
      const owner = { apiVersion: 'example.com/v1', kind: 'Rollout', name: 'r', uid: 'r', controller: true }
      expect(await scaleDown([owner])).toContain('alone')
    })
  })

  it('says that pods cannot be made, and takes it back when they can', async () => {
    const accept = client.intercept(({ verb, plural }) => {
      if (verb === 'create' && plural === 'pods') throw badRequest('no room')
    })
    await create(2)
    await environment.clock.settle()
    expect((await current()).status?.conditions).toMatchObject([
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no room' },
    ])
    accept()
    await environment.clock.advance('1m')
    expect((await current()).status).toEqual({ replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 })
  })

  it('tells of the pods it makes and deletes once, when they have come or gone', async () => {
    const statuses = () => client.calls.filter(({ verb, plural }) => verb === 'update' && plural !== 'pods')
    await create(3)
    await environment.clock.settle()
    expect(statuses()).toHaveLength(1)
    await client.patch(replicationControllers, key, { type: 'merge', body: { spec: { replicas: 1 } } })
    await environment.clock.settle()
    expect(statuses()).toHaveLength(2)
    expect((await current()).status).toEqual({ replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 2 })
  })

  it('rests in a namespace that is going, where nothing can be made', async () => {
    client.intercept(({ verb, plural }) => {
      if (verb !== 'create' || plural !== 'pods') return
      const causes = [{ reason: 'NamespaceTerminating', message: 'the namespace is being terminated' }]
      throw new ApiError(403, 'Forbidden', 'the namespace is being terminated', { causes })
    })
    await create(1)
    await environment.clock.advance('1m')
    // As often as something has changed: it is there, and it has a status.
    expect(writes().filter(({ plural }) => plural === 'pods').length).toBeLessThanOrEqual(2)
    expect((await current()).status).toEqual({ replicas: 0, observedGeneration: 1 })
  })

  it('counts a pod as available once it has been ready for long enough', async () => {
    await client.create(replicationControllers, replicationController(1, { minReadySeconds: 10 }))
    await environment.clock.settle()
    const [name = ''] = names()
    await setStatus(name, pod(name, { readyFor: 0 }).status)
    expect((await current()).status).toMatchObject({ readyReplicas: 1 })
    await environment.clock.advance('9s')
    expect((await current()).status?.availableReplicas).toBeUndefined()
    await environment.clock.advance('1s')
    expect((await current()).status).toMatchObject({ readyReplicas: 1, availableReplicas: 1 })
  })

  it.each([100, 10_000])('looks at few objects when one of %i pods changes', async (count) => {
    await create(count)
    for (let more = 0; more < count; more++) {
      const { metadata, ...bare } = pod(`bare-${more}`, { labels: { app: 'bare' } })
      await client.create(pods, {
        ...bare,
        metadata: { namespace: 'default', name: metadata.name, labels: metadata.labels },
      })
    }
    await environment.clock.advance('1s')
    const reads = countReads(manager.informer(pods), manager.informer(replicationControllers))
    const name = names().find((each) => each?.startsWith('web-')) ?? ''
    await setStatus(name, pod(name, { readyFor: 0 }).status)
    await environment.clock.advance('1s')
    expect((await current()).status).toMatchObject({ replicas: count, readyReplicas: 1 })
    await client.delete(pods, { namespace: 'default', name })
    await environment.clock.advance('1s')
    expect((await current()).status).toEqual({ replicas: count, fullyLabeledReplicas: count, observedGeneration: 1 })
    expect(reads.taken()).toBeLessThan(10)
  })

  it('writes nothing for changes of a pod that are not its business', async () => {
    await create(1)
    await environment.clock.settle()
    const [name = ''] = names()
    const before = writes().length
    await merge(name, { spec: { nodeName: 'node-1' } })
    await setStatus(name, pod(name).status)
    expect(writes()).toHaveLength(before + 2)
  })
})
