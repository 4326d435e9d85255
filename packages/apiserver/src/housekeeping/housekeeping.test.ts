import { configMaps, events, namespaces, pods } from '@coracle/api'
import type { ListOptions } from '@coracle/client'
import { realEnvironment, virtualEnvironment } from '@coracle/environment'
import type { CompactedError } from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { createApiCore } from '../api-core.ts'
import { configMap, createAccount, follow, pod, refusal, startTestCore } from '../testing/test-core.ts'
import { historyEventsMin } from '../watch-cache/event-history.ts'

const event = (name: string) =>
  ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
    reason: 'Test',
    message: 'text',
  }) as never

describe('events', () => {
  it('go an hour after they were last written', async () => {
    const { client, environment } = await startTestCore()
    await client.create(events, event('a'))
    await client.create(events, event('b'))
    await environment.clock.advance('30m')
    await client.patch(events, { namespace: 'default', name: 'b' }, { type: 'merge', body: { count: 2 } })
    await environment.clock.advance('31m')
    const names = async () => (await client.list(events)).items.map(({ metadata }) => metadata.name)
    expect(await names()).toEqual(['b'])
    await environment.clock.advance('30m')
    expect(await names()).toEqual([])
  })

  it('go later where they could not be removed when their time was over', async () => {
    const store = faultyStore(createMemoryStore())
    const { client, environment } = await startTestCore({ store })
    await client.create(events, event('a'))
    await environment.clock.advance('59m')
    store.cut()
    await environment.clock.advance('2m')
    store.restore()
    expect((await client.list(events)).items).toHaveLength(1)
    await environment.clock.advance('2m')
    expect((await client.list(events)).items).toEqual([])
  })

  it('go in their time where the clock was ahead when others were written', async () => {
    const { core, client, environment } = await startTestCore()
    const { clock } = environment
    const now = clock.now.bind(clock)
    clock.now = () => now() + 86_400_000
    await client.create(events, event('ahead'))
    clock.now = now
    await client.create(events, event('a'))
    await clock.advance('62m')
    expect((await client.list(events)).items.map(({ metadata }) => metadata.name)).toEqual([])
    await core.close()
  })
})

describe('history', () => {
  it('is kept for five minutes at least, and then given up in the caches but for the latest events, and in the store', async () => {
    const { client, environment, store } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    const resourceVersion = metadata.resourceVersion ?? ''
    await client.update(configMaps, configMap('a', { x: '1' }))
    await client.update(configMaps, configMap('a', { x: '2' }))
    const watched = async (): Promise<readonly string[]> => {
      const { lines } = follow((await client.watch(configMaps, { resourceVersion })) as never)
      await environment.clock.settle()
      return lines
    }
    const listed = () => client.list(configMaps, { resourceVersion, resourceVersionMatch: 'Exact' })
    await environment.clock.advance('5m')
    expect(await watched()).toEqual(['MODIFIED a', 'MODIFIED a'])
    expect((await listed()).items).toHaveLength(1)
    await environment.clock.advance('6m')
    expect(await watched()).toEqual(['MODIFIED a', 'MODIFIED a'])
    expect(await refusal(listed())).toMatchObject({ code: 410, reason: 'Expired' })
    for (let turn = 0; turn < historyEventsMin; turn += 1)
      await client.update(configMaps, configMap('a', { turn: `${turn}` }))
    await environment.clock.advance('11m')
    expect(await watched()).toEqual(['ERROR Expired', 'end'])
    const gaps: CompactedError[] = []
    store.watch('', { after: Number(resourceVersion) - 1, onEvents() {}, onGap: (gap) => gaps.push(gap), onEnd() {} })
    await environment.clock.settle()
    expect(gaps).toHaveLength(1)
  })

  it('is given up for pages of what has not changed, too, once others have', async () => {
    const { client, environment } = await startTestCore()
    for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name))
    const first = await client.list(configMaps, { limit: 1 })
    const token = first.metadata.continue ?? ''
    const next = (more: ListOptions) => client.list(configMaps, { limit: 1, ...more })
    await createAccount(client, 'robot')
    await environment.clock.advance('5m')
    expect((await next({ continue: token })).metadata.remainingItemCount).toBe(1)
    await environment.clock.advance('6m')
    const { resourceVersion = '' } = first.metadata
    expect(await refusal(next({ resourceVersion, resourceVersionMatch: 'Exact' }))).toMatchObject({ code: 410 })
    const error = await next({ continue: token }).catch((caught) => caught)
    expect(error.status).toMatchObject({ code: 410, reason: 'Expired' })
    const { items, metadata } = await next({ continue: error.status.metadata.continue })
    expect(items.map((item) => item.metadata.name)).toEqual(['b'])
    expect(metadata).toMatchObject({ remainingItemCount: 1, continue: expect.any(String) })
    expect(metadata.resourceVersion).not.toBe(resourceVersion)
  })
})

describe('a start on a store that has been used', () => {
  it('finds everything as it was, and makes no second namespaces', async () => {
    const store = createMemoryStore()
    const first = await startTestCore({ store })
    await createAccount(first.client, 'default')
    const created = await first.client.create(pods, pod('a', { labels: { app: 'web' } }))
    await first.core.close()
    const before = await store.latest()
    const second = await startTestCore({ store })
    expect(await store.latest()).toBe(before)
    const found = await second.client.get(pods, { namespace: 'default', name: 'a' })
    expect(found).toEqual(created)
    expect(Object.isFrozen(found.spec)).toBe(true)
    const stored = second.registry(pods).peek('default', 'a')
    expect(JSON.parse(stored?.bytes.toString() ?? '')).toEqual(stored?.withManagedFields)
    await second.client.update(pods, { ...found, metadata: { ...found.metadata, labels: { app: 'db' } } })
  })

  it('shares it with another server', async () => {
    const store = createMemoryStore()
    const one = await startTestCore({ store })
    const two = await startTestCore({ store })
    const { lines } = follow((await two.client.watch(configMaps)) as never)
    await two.environment.clock.settle()
    await one.client.create(configMaps, configMap('a', { by: 'one' }))
    expect((await two.client.get(configMaps, { namespace: 'default', name: 'a' })).data).toEqual({ by: 'one' })
    await two.client.update(configMaps, configMap('a', { by: 'two' }))
    expect((await one.client.get(configMaps, { namespace: 'default', name: 'a' })).data).toEqual({ by: 'two' })
    await two.environment.clock.settle()
    expect(lines).toEqual(['ADDED a', 'MODIFIED a'])
    expect((await refusal(two.client.create(configMaps, configMap('a')))).reason).toBe('AlreadyExists')
  })
})

it('lets no write wait for ever when it closes', async () => {
  const store = faultyStore(createMemoryStore())
  const { client, core } = await startTestCore({ store })
  store.hold()
  const write = client.create(configMaps, configMap('a'))
  await expect.poll(async () => (await store.list('/registry/core/configmaps/')).entries).toHaveLength(1)
  await core.close()
  expect((await write).metadata.name).toBe('a')
})

describe('a store that fails', () => {
  it('ends the watches and is reported', async () => {
    const store = createMemoryStore()
    const failures: Error[] = []
    const { client, environment } = await startTestCore({ store, onFailure: (error) => failures.push(error) })
    const { lines } = follow((await client.watch(namespaces, { resourceVersion: '1000' })) as never)
    await environment.clock.settle()
    await store.close()
    await environment.clock.settle()
    expect(lines).toEqual(['end'])
    expect(failures).toHaveLength(1)
    await expect(client.create(configMaps, configMap('a'))).rejects.toThrow()
  })

  it('is why a core does not get ready', async () => {
    const store = createMemoryStore()
    await store.close()
    const authorizer = { refuse: () => undefined }
    const core = createApiCore({ environment: virtualEnvironment(), store, kinds: [namespaces], authorizer })
    await expect(core.ready).rejects.toThrow()
  })
})

it('works on the real clock too', async () => {
  const { client } = await startTestCore({ environment: realEnvironment() })
  await client.create(configMaps, configMap('a'))
  const { lines } = follow((await client.watch(configMaps)) as never)
  await new Promise((resolve) =>
    realEnvironment().clock.defer(() => realEnvironment().clock.defer(() => resolve(undefined))),
  )
  expect(lines).toEqual(['ADDED a'])
})
