import { type ConfigMap, configMaps, controllerRevisions, namespaces } from '@coracle/api'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { configMap, follow, refusal, startTestCore } from '../testing/test-core.ts'
import { futureVersionWaitMs } from './future-version.ts'

const a = { namespace: 'default', name: 'a' }

/** Two servers on one store; news reach the second, `here`, as the test lets them. */
async function twoServers() {
  const real = createMemoryStore()
  const there = await startTestCore({ store: real })
  const store = faultyStore(real)
  const here = await startTestCore({ store })
  const { clock } = here.environment
  /** What a call comes to once news are let through: until then it must not have ended. */
  const onceReleased = async <T>(call: Promise<T>): Promise<T> => {
    let isOver = false
    call
      .finally(() => {
        isOver = true
      })
      .catch(() => {})
    await clock.settle()
    expect(isOver).toBe(false)
    store.release()
    return call
  }
  const watchHere = async (options: object = {}) => {
    const watch = await here.client.watch(configMaps, { namespace: 'default', ...options })
    const following = follow(watch as never)
    await clock.settle()
    return following
  }
  return { here: here.client, there: there.client, store, clock, onceReleased, watchHere }
}

describe('with another server on the store, late news', () => {
  it('make no read stale', async () => {
    const { here, there, store, clock, onceReleased } = await twoServers()
    store.hold()
    await there.create(configMaps, configMap('a', { by: 'another' }))
    expect((await onceReleased(here.get(configMaps, a))).data).toEqual({ by: 'another' })
    store.hold()
    await there.delete(configMaps, a)
    expect(await onceReleased(refusal(here.get(configMaps, a)))).toMatchObject({ reason: 'NotFound' })
    store.hold()
    await there.create(configMaps, configMap('b'))
    const { items } = await onceReleased(here.list(configMaps, { namespace: 'default' }))
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['b'])
    store.hold()
    await there.create(configMaps, configMap('c'))
    const { lines } = follow((await onceReleased(here.watch(configMaps, { namespace: 'default' }))) as never)
    await clock.settle()
    expect(lines).toEqual(['ADDED b', 'ADDED c'])
  })

  it('are waited for by no read that takes any version', async () => {
    const { here, there, store } = await twoServers()
    store.hold()
    await there.create(configMaps, configMap('a'))
    expect((await here.list(configMaps, { namespace: 'default', resourceVersion: '0' })).items).toEqual([])
  })

  it('refuse no write falsely', async () => {
    const { here, there, store, onceReleased } = await twoServers()
    await there.create(configMaps, configMap('a'))
    store.hold()
    await there.delete(configMaps, a)
    expect((await onceReleased(here.create(configMaps, configMap('a', { by: 'here' })))).data).toEqual({ by: 'here' })
    store.hold()
    await there.create(configMaps, configMap('b'))
    const update = here.update(configMaps, configMap('b', { by: 'here' }))
    expect((await onceReleased(update)).data).toEqual({ by: 'here' })
    store.hold()
    await there.create(configMaps, configMap('c'))
    const removal = here.delete(configMaps, { namespace: 'default', name: 'c' })
    expect(await onceReleased(removal)).toMatchObject({ status: 'Success' })
  })

  it('are what admission decides by', async () => {
    const { here, there, store, onceReleased } = await twoServers()
    store.hold()
    await there.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } })
    const create = here.create(configMaps, configMap('a', {}, { namespace: 'new' }))
    expect((await onceReleased(create)).metadata.namespace).toBe('new')
  })

  it('are a Timeout (504) where they take too long', async () => {
    const { here, there, store, clock } = await twoServers()
    store.hold()
    await there.create(configMaps, configMap('a'))
    const read = refusal(here.get(configMaps, a))
    await clock.advance(futureVersionWaitMs)
    expect(await read).toMatchObject({ code: 504, reason: 'Timeout' })
  })

  it('keep no write from being acknowledged that is stored', async () => {
    const { here, store, clock } = await twoServers()
    store.hold()
    const write = here.create(configMaps, configMap('a', { by: 'here' }))
    await clock.advance(futureVersionWaitMs)
    const created = await write
    store.release()
    expect(await here.get(configMaps, a)).toEqual(created)
    store.hold()
    const removal = here.delete(configMaps, a)
    await clock.advance(futureVersionWaitMs)
    expect(await removal).toMatchObject({ status: 'Success' })
  })
})

describe('a write that another server was faster with', () => {
  it('is tried again from what that server wrote', async () => {
    const { here, there, store } = await twoServers()
    await there.create(configMaps, configMap('a', { x: '1' }))
    const before = store.commits
    const patch = here.patch(configMaps, a, { type: 'merge', body: { data: { y: '1' } } })
    await there.patch(configMaps, a, { type: 'merge', body: { data: { x: '2' } } })
    expect((await patch).data).toEqual({ x: '2', y: '1' })
    expect(store.commits - before).toBeLessThanOrEqual(2)
  })

  it('ends as NotFound, after one try, where that server deleted the object', async () => {
    const { here, there, store, clock } = await twoServers()
    await there.create(configMaps, configMap('a'))
    await clock.settle()
    const before = store.commits
    const patch = refusal(here.patch(configMaps, a, { type: 'merge', body: { data: { y: '1' } } }))
    await there.delete(configMaps, a)
    expect(await patch).toMatchObject({ reason: 'NotFound' })
    expect(store.commits - before).toBeLessThanOrEqual(1)
  })
})

describe('history that was compacted before it was read', () => {
  it('ends no watch: it gets what has changed in sum, and goes on', async () => {
    const { here, there, store, clock, watchHere } = await twoServers()
    for (const name of ['changed', 'deleted', 'remade', 'same']) await there.create(configMaps, configMap(name))
    const { lines, events } = await watchHere({ resourceVersion: '0' })
    lines.length = 0
    events.length = 0

    store.hold()
    await there.create(configMaps, configMap('passing'))
    await there.delete(configMaps, { namespace: 'default', name: 'remade' })
    await there.update(configMaps, configMap('changed', { x: '1' }))
    await there.update(configMaps, configMap('changed', { x: '2' }))
    await there.create(configMaps, configMap('remade', { x: '1' }))
    await there.delete(configMaps, { namespace: 'default', name: 'passing' })
    await there.create(configMaps, configMap('new'))
    await there.delete(configMaps, { namespace: 'default', name: 'deleted' })
    store.loseHistory()
    await clock.settle()
    expect(lines).toEqual(['MODIFIED changed', 'DELETED remade', 'ADDED remade', 'ADDED new', 'DELETED deleted'])
    const versions = events.map(({ object }) => Number((object as ConfigMap).metadata.resourceVersion))
    expect(versions).toEqual(versions.toSorted((x, y) => x - y))
    const { items } = await here.list(configMaps, { namespace: 'default' })
    expect(items).toEqual((await there.list(configMaps, { namespace: 'default' })).items)

    await there.create(configMaps, configMap('after'))
    await clock.settle()
    expect(lines.at(-1)).toBe('ADDED after')
  })

  it('is Expired (410) for a watch that asks for it', async () => {
    const { here, there, store, clock, watchHere } = await twoServers()
    const { metadata } = await here.create(configMaps, configMap('a'))
    store.hold()
    await there.update(configMaps, configMap('a', { x: '1' }))
    store.loseHistory()
    await clock.settle()
    const { lines } = await watchHere({ resourceVersion: metadata.resourceVersion })
    expect(lines).toEqual(['ERROR Expired', 'end'])
    const { metadata: now } = await here.list(configMaps)
    const next = await watchHere({ resourceVersion: now.resourceVersion })
    await there.update(configMaps, configMap('a', { x: '2' }))
    await clock.settle()
    expect(next.lines).toEqual(['MODIFIED a'])
  })

  it('keeps reads waiting until everything is read anew', async () => {
    const { here, there, store } = await twoServers()
    await there.create(configMaps, configMap('a', { x: '1' }))
    store.hold()
    await there.update(configMaps, configMap('a', { x: '2' }))
    const read = here.get(configMaps, a)
    store.loseHistory()
    expect((await read).data).toEqual({ x: '2' })
  })
})

it('what another server stored is read with whole numbers as they are, where a kind takes any JSON', async () => {
  const { here, there, clock } = await twoServers()
  const data = { count: 9007199254740993n }
  const type = { apiVersion: 'apps/v1', kind: 'ControllerRevision' } as const
  const revision = { ...type, metadata: { name: 'a', namespace: 'default' }, revision: 2n ** 60n + 1n, data }
  await there.create(controllerRevisions, revision)
  await clock.settle()
  expect(await here.get(controllerRevisions, a)).toMatchObject({ revision: 2n ** 60n + 1n, data })
})
