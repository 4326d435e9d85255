import { configMaps, namespaces, type Pod, pods, priorityClasses, replicationControllers } from '@coracle/api'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { configMap, createAccount, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { planDeletion } from './deletion.ts'

const key = { namespace: 'default', name: 'a' }

async function runningPod({ client }: TestCore): Promise<void> {
  await client.create(pods, pod('a', {}, { nodeName: 'n1' }))
}

describe('delete', () => {
  it('removes an object and answers with a Status', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    expect(await client.delete(configMaps, key)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
    })
    expect((await refusal(client.get(configMaps, key))).code).toBe(404)
  })

  it('keeps the classes of priority that every cluster has, unless all are deleted as a collection', async () => {
    const { client } = await startTestCore()
    const name = 'system-node-critical'
    const classes = (...names: string[]) =>
      Promise.all(
        names.map((each) =>
          client.get(priorityClasses, { name: each }).then(
            () => each,
            () => 'gone',
          ),
        ),
      )
    await client
      .create(priorityClasses, {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value: 2_000_001_000,
      })
      .catch(() => {})
    await client.create(priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'mine' },
      value: 1,
    })
    const refused = await refusal(client.delete(priorityClasses, { name }))
    expect([refused.code, refused.message]).toEqual([
      403,
      `priorityclasses.scheduling.k8s.io "${name}" is forbidden: this is a system priority class and cannot be deleted`,
    ])
    await client.delete(priorityClasses, { name: 'mine' })
    expect(await classes(name, 'mine')).toEqual([name, 'gone'])
    await client.deleteCollection(priorityClasses, {})
    expect(await classes(name)).toEqual(['gone'])
  })

  it('says of namespaces in words of their own that a precondition fails', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'a' },
    } as never)
    for (const [preconditions, what, found] of [
      [{ uid: 'other' }, 'UID in precondition: other, UID', metadata.uid],
      [{ resourceVersion: '1' }, 'ResourceVersion in precondition: 1, ResourceVersion', metadata.resourceVersion],
    ] as const) {
      expect((await refusal(client.delete(namespaces, { name: 'a' }, { preconditions }))).message).toBe(
        `Operation cannot be fulfilled on namespaces "a": Precondition failed: ${what} in object meta: ${found}`,
      )
    }
  })

  it('removes a pod that no node has, and answers with the pod', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(pods, pod('a'))
    const gone = await client.delete(pods, key)
    const marks = { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 }
    expect(gone).toMatchObject({ kind: 'Pod', metadata: { uid: metadata.uid, ...marks } })
    expect(Number(gone.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion))
    expect((await refusal(client.get(pods, key))).code).toBe(404)
  })

  // Upstream writes its marks, and then removes it: what looks after pods reacts to the first.
  it('tells who watches a pod that no node has that it is deleted, before it is gone', async () => {
    const { client, environment } = await startTestCore()
    await client.create(pods, pod('a'))
    await client.create(pods, pod('b', {}, { nodeName: 'n1' }))
    const seen: unknown[] = []
    await client.watch(pods, { namespace: 'default' }).then(async (watch) => {
      void (async () => {
        for await (const { type, object } of watch) {
          const { name, deletionTimestamp, deletionGracePeriodSeconds } = (object as Pod).metadata
          seen.push([type, name, deletionTimestamp !== undefined, deletionGracePeriodSeconds])
        }
      })()
    })
    await client.delete(pods, key)
    await client.delete(pods, { ...key, name: 'b' }, { gracePeriodSeconds: 0 })
    await environment.clock.settle()
    expect(seen.slice(-4)).toEqual([
      ['MODIFIED', 'a', true, 0],
      ['DELETED', 'a', true, 0],
      ['MODIFIED', 'b', true, 0],
      ['DELETED', 'b', true, 0],
    ])
  })

  describe('of a pod that is marked, where something else comes before its removal', () => {
    /** A core with a pod `a`, in whose store `intrude` happens once before an object is removed. */
    const startIntruded = async (intrude: (store: Store, removedKey: string) => Promise<unknown>) => {
      const store = createMemoryStore()
      const commit = store.commit.bind(store)
      let isDone = false
      store.commit = async (transaction) => {
        const removed = transaction.operations.find(({ type }) => type === 'delete')
        if (removed !== undefined && !isDone) {
          isDone = true
          await intrude(store, removed.key)
        }
        return commit(transaction)
      }
      const test = await startTestCore({ store })
      await createAccount(test.client, 'default')
      const { metadata } = await test.client.create(pods, pod('a'))
      return { ...test, uid: metadata.uid }
    }

    it('removes what it has become', async () => {
      const { client, uid } = await startIntruded(async (store, key) => {
        const value = (await store.get(key))?.value ?? expect.fail('it is gone')
        await store.commit({ conditions: [], operations: [{ type: 'put', key, value }] })
      })
      expect((await client.delete(pods, key)).metadata.uid).toBe(uid)
      expect((await refusal(client.get(pods, key))).code).toBe(404)
    })

    it('takes it for removed where it is', async () => {
      const { client, uid } = await startIntruded(async (store, key) => {
        await store.commit({ conditions: [], operations: [{ type: 'delete', key }] })
      })
      expect((await client.delete(pods, key)).metadata.uid).toBe(uid)
    })

    it('leaves another one that has its name by then', async () => {
      const test = await startIntruded(async (store, removed) => {
        await store.commit({ conditions: [], operations: [{ type: 'delete', key: removed }] })
        await test.client.create(pods, pod('a'))
      })
      expect((await test.client.delete(pods, key)).metadata.uid).toBe(test.uid)
      expect((await test.client.get(pods, key)).metadata.uid).not.toBe(test.uid)
    })
  })

  it('does neither in a dry run', async () => {
    const { client, store } = await startTestCore()
    await client.create(pods, pod('a'))
    const before = await store.latest()
    const answer = await client.delete(pods, key, { dryRun: true })
    expect(answer.metadata.deletionGracePeriodSeconds).toBe(0)
    expect(await store.latest()).toBe(before)
  })

  it('gives a pod on a node its grace period, until the node deletes it with 0', async () => {
    const test = await startTestCore()
    await runningPod(test)
    const { client } = test
    expect(await client.delete(pods, key)).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30, generation: 2 },
    })
    await client.delete(pods, key, { gracePeriodSeconds: 0 })
    expect((await refusal(client.get(pods, key))).code).toBe(404)
  })

  it('shortens a grace period that runs and never lengthens it', async () => {
    const test = await startTestCore()
    await runningPod(test)
    const { client, store } = test
    await client.delete(pods, key)
    const before = await store.latest()
    await client.delete(pods, key)
    await client.delete(pods, key, { gracePeriodSeconds: 60 })
    expect(await store.latest()).toBe(before)
    expect(await client.delete(pods, key, { gracePeriodSeconds: 5 })).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:05Z', deletionGracePeriodSeconds: 5, generation: 2 },
    })
  })

  it('grants a pod the longest grace period there is, which can still be shortened', async () => {
    const test = await startTestCore()
    await runningPod(test)
    const { client } = test
    expect(await client.delete(pods, key, { gracePeriodSeconds: Number.MAX_SAFE_INTEGER })).toMatchObject({
      metadata: {
        deletionTimestamp: '9999-12-31T23:59:59Z',
        deletionGracePeriodSeconds: Number.MAX_SAFE_INTEGER,
      },
    })
    expect(await client.delete(pods, key, { gracePeriodSeconds: 5 })).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 },
    })
  })

  it('keeps an object with finalizers until the last is taken away', async () => {
    const { client, environment } = await startTestCore()
    const created = await client.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    expect(await client.delete(configMaps, key)).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, uid: created.metadata.uid },
    })
    await environment.clock.advance('1m')
    expect(await client.delete(configMaps, key)).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    })
    const last = await client.patch(configMaps, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    expect(last.metadata.finalizers).toBeUndefined()
    expect((await refusal(client.get(configMaps, key))).code).toBe(404)
  })

  it('plans the deletion of what has very many finalizers in time that grows with their number', {
    timeout: 5_000,
  }, () => {
    const finalizers = Array.from({ length: 90_000 }, (_, index) => `example.com/${index}`)
    const held = configMap('a', {}, { finalizers })
    const plan = planDeletion(configMaps, held, {}, 0)
    expect(plan).toMatchObject({ type: 'mark', object: { metadata: { deletionGracePeriodSeconds: 0 } } })
    if (plan.type !== 'mark') return
    expect(plan.object.metadata.finalizers).toBe(finalizers)
    expect(planDeletion(configMaps, plan.object, {}, 0)).toEqual({ type: 'keep' })
  })

  it.each([
    ['Orphan', ['example.com/own', 'orphan']],
    ['Foreground', ['example.com/own', 'foregroundDeletion']],
    ['Background', ['example.com/own']],
  ] as const)('marks an object for the garbage collector: %s', async (propagationPolicy, finalizers) => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a', {}, { finalizers: ['example.com/own'] }))
    await client.delete(configMaps, key, { propagationPolicy })
    expect((await client.get(configMaps, key)).metadata.finalizers).toEqual(finalizers)
  })

  it('orphans the pods of a replication controller unless told otherwise', async () => {
    const { client } = await startTestCore()
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const controller = { apiVersion: 'v1', kind: 'ReplicationController', metadata: key, spec: { template } } as never
    await client.create(replicationControllers, controller)
    await client.delete(replicationControllers, key)
    expect((await client.get(replicationControllers, key)).metadata).toMatchObject({
      finalizers: ['orphan'],
      generation: 2,
    })
  })

  it('deletes only the object that was meant', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    expect((await refusal(client.delete(configMaps, key, { preconditions: { uid: 'other' } }))).message).toBe(
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
    expect((await refusal(client.delete(configMaps, key, { preconditions: { resourceVersion: '1' } }))).message).toBe(
      `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
    await client.delete(configMaps, key, { preconditions: { uid: metadata.uid ?? '' } })
  })

  it('deletes nothing in a dry run', async () => {
    const { client, store } = await startTestCore()
    await client.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    const before = await store.latest()
    await client.delete(configMaps, key, { dryRun: true })
    expect(await store.latest()).toBe(before)
  })

  it('says so when an object of the same name is still going', async () => {
    const { client } = await startTestCore()
    await client.create(configMaps, configMap('a', {}, { finalizers: ['example.com/hold'] }))
    await client.delete(configMaps, key)
    expect((await refusal(client.create(configMaps, configMap('a')))).message).toBe(
      'object is being deleted: configmaps "a" already exists',
    )
  })

  it('deletes the selected objects of a collection', async () => {
    const { client } = await startTestCore()
    for (let index = 0; index < 250; index += 1) {
      await client.create(configMaps, configMap(`c${index}`, {}, { labels: { even: String(index % 2 === 0) } }))
    }
    await client.deleteCollection(configMaps, { namespace: 'default', labelSelector: 'even=true' })
    const { items } = await client.list(configMaps, { namespace: 'default' })
    expect(items).toHaveLength(125)
    expect(items.every(({ metadata }) => metadata.labels?.even === 'false')).toBe(true)
  })
})

describe('the end of a namespace', () => {
  it('waits for its spec.finalizers', async () => {
    const { client } = await startTestCore()
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
    expect(await client.delete(namespaces, { name: 'team' })).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    })
    const ending = await client.get(namespaces, { name: 'team' })
    await client.delete(namespaces, { name: 'team' })
    expect(await client.get(namespaces, { name: 'team' })).toBe(ending)
    await client.update(namespaces, { ...ending, spec: {} }, { subresource: 'finalize' })
    expect((await refusal(client.get(namespaces, { name: 'team' }))).code).toBe(404)
  })
})
