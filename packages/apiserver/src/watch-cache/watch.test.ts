import { getEventListeners } from 'node:events'
import { configMaps, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { WatchDelivery } from '../registry-contract.ts'
import { configMap, follow, pod, startTestCore } from '../testing/test-core.ts'

const key = (name: string) => ({ namespace: 'default', name })
const relabel = (labels: Readonly<Record<string, string | null>>) =>
  ({ type: 'merge', body: { metadata: { labels } } }) as const

describe('watch', () => {
  it('begins with what is there, then tells what happens', async () => {
    const { client, environment } = await startTestCore()
    await client.create(configMaps, configMap('b'))
    await client.create(configMaps, configMap('a'))
    const { lines } = follow((await client.watch(configMaps)) as never)
    await environment.clock.settle()
    await client.update(configMaps, configMap('a', { x: 'y' }))
    await client.delete(configMaps, key('b'))
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b'])
  })

  it('loses and repeats nothing that happens while it begins', async () => {
    const { client, environment } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const { lines } = follow((await client.watch(configMaps)) as never)
    await client.create(configMaps, configMap('b'))
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED a', 'ADDED b'])
  })

  it('goes on after the version it is given', async () => {
    const { client, environment } = await startTestCore()
    const { metadata } = await client.create(configMaps, configMap('a'))
    await client.update(configMaps, configMap('a', { x: '1' }))
    await client.update(configMaps, configMap('a', { x: '2' }))
    const { lines, events } = follow(
      (await client.watch(configMaps, { resourceVersion: metadata.resourceVersion ?? '' })) as never,
    )
    await environment.clock.settle()
    await client.create(configMaps, configMap('b'))
    await environment.clock.settle()
    expect(lines).toEqual(['MODIFIED a', 'MODIFIED a', 'ADDED b'])
    expect((events[1]?.object as { data?: unknown } | undefined)?.data).toEqual({ x: '2' })
  })

  it('gives a deleted object the version of its deletion, so that a watch can go on after it', async () => {
    const { client, environment, store } = await startTestCore()
    await client.create(configMaps, configMap('a'))
    const { events } = follow((await client.watch(configMaps)) as never)
    await client.delete(configMaps, key('a'))
    await environment.clock.settle()
    const last = events.at(-1) as { object: { metadata: { resourceVersion: string } } } | undefined
    expect(last?.object.metadata.resourceVersion).toBe(String(await store.latest()))
  })

  it('sees objects enter and leave its selector', async () => {
    const { client, environment } = await startTestCore()
    await client.create(pods, pod('a', { labels: { app: 'web' } }))
    const { lines, events } = follow((await client.watch(pods, { labelSelector: 'app=web' })) as never)
    await environment.clock.settle()
    await client.patch(pods, key('a'), relabel({ note: 'x' }))
    await client.patch(pods, key('a'), relabel({ app: 'db' }))
    await client.patch(pods, key('a'), relabel({ note: 'unseen' }))
    await client.patch(pods, key('a'), relabel({ app: 'web' }))
    await client.delete(pods, key('a'))
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'MODIFIED a', 'DELETED a'])
    const left = events[2]?.object as { metadata: { labels: unknown; resourceVersion: string } } | undefined
    expect(left?.metadata.labels).toEqual({ app: 'web', note: 'x' })
    expect(left?.metadata.resourceVersion).not.toBe(
      (events[1]?.object as { metadata: { resourceVersion: string } } | undefined)?.metadata.resourceVersion,
    )
  })

  it('sees pods come to its node', async () => {
    const { client, environment } = await startTestCore()
    const { lines } = follow((await client.watch(pods, { fieldSelector: 'spec.nodeName=n1' })) as never)
    await client.create(pods, pod('a'))
    await client.create(pods, pod('b', {}, { nodeName: 'n2' }))
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'n1' } }
    await client.createSubresource(pods, key('a'), 'binding', binding)
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED a'])
  })

  it('of one object, or of one namespace, sees nothing else', async () => {
    const { client, environment } = await startTestCore()
    const one = await client.watch(configMaps, { namespace: 'default', fieldSelector: 'metadata.name=a' })
    const other = await client.watch(configMaps, { namespace: 'kube-system' })
    const followed = [follow(one as never), follow(other as never)]
    await client.create(configMaps, configMap('a'))
    await client.create(configMaps, configMap('b'))
    await client.create(configMaps, configMap('c', {}, { namespace: 'kube-system' }))
    await environment.clock.settle()
    expect(followed.map(({ lines }) => lines)).toEqual([['ADDED a'], ['ADDED c']])
  })

  it('from a version that is no longer kept ends with Expired', async () => {
    const { client, environment } = await startTestCore({ historyEventsMax: 5 })
    const { metadata } = await client.create(configMaps, configMap('a'))
    for (let index = 0; index < 6; index += 1) await client.update(configMaps, configMap('a', { x: String(index) }))
    const resourceVersion = metadata.resourceVersion ?? ''
    const { lines, events } = follow((await client.watch(configMaps, { resourceVersion })) as never)
    await environment.clock.settle()
    expect(lines).toEqual(['ERROR Expired', 'end'])
    expect(events[0]?.object).toMatchObject({
      code: 410,
      message: `too old resource version: ${resourceVersion} (${Number(resourceVersion) + 1})`,
    })
  })

  it('goes on from an old version where nothing has happened to the kind since', async () => {
    const { client, environment } = await startTestCore()
    const { metadata } = await client.create(pods, pod('a'))
    for (let index = 0; index < 20; index += 1) await client.create(configMaps, configMap(`c${index}`))
    await environment.clock.advance('20m')
    const { lines } = follow((await client.watch(pods, { resourceVersion: metadata.resourceVersion ?? '' })) as never)
    await environment.clock.settle()
    expect(lines).toEqual([])
  })

  it('ends after its timeout', async () => {
    const { client, environment } = await startTestCore()
    const { lines } = follow(
      (await client.watch(configMaps, { timeoutSeconds: 10, allowWatchBookmarks: true })) as never,
    )
    await environment.clock.advance('9s')
    expect(lines).toEqual([])
    await environment.clock.advance('1s')
    expect(lines).toEqual(['BOOKMARK', 'end'])
  })

  it('ends when it is closed, aborted, or the server closes', async () => {
    const { core, client, environment } = await startTestCore()
    const controller = new AbortController()
    const watches = [
      await client.watch(configMaps),
      await client.watch(configMaps, { signal: controller.signal }),
      await client.watch(configMaps),
    ]
    const followed = watches.map((watch) => follow(watch as never))
    watches[0]?.close()
    controller.abort()
    await environment.clock.settle()
    expect(followed.map(({ lines }) => lines)).toEqual([['end'], ['end'], []])
    await core.close()
    await environment.clock.settle()
    expect(followed[2]?.lines).toEqual(['end'])
  })
})

it('a watch that has ended leaves nothing with the signal it was given', async () => {
  const { client, environment } = await startTestCore()
  const { signal } = new AbortController()
  for (let count = 0; count < 3; count += 1) follow((await client.watch(pods, { timeoutSeconds: 1, signal })) as never)
  expect(getEventListeners(signal, 'abort')).toHaveLength(3)
  await environment.clock.advance('1s')
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

describe('bookmarks', () => {
  it('tell each minute how far things have come, to those who asked', async () => {
    const { registry, environment, store, client } = await startTestCore()
    const podRegistry = registry(pods)
    const told: unknown[] = []
    const onEvent = ({ event }: WatchDelivery): boolean => told.push(event) > 0
    const onOtherEvent = (): boolean => expect.unreachable('nobody asked')
    await podRegistry.watch({ resourceVersion: '1', allowWatchBookmarks: true }, onEvent, () => {})
    await podRegistry.watch({ resourceVersion: '1' }, onOtherEvent, () => {})
    await client.create(configMaps, configMap('a'))
    await environment.clock.advance('60s')
    const metadata = { resourceVersion: String(await store.latest()) }
    const bookmark = { type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata } }
    expect(told).toEqual([bookmark])
    await environment.clock.advance('60s')
    expect(told).toEqual([bookmark, bookmark])
  })

  it('come to readers in process with the end of their watch, and not before', async () => {
    const { core, client, environment, store } = await startTestCore()
    const options = { allowWatchBookmarks: true }
    const closed = follow((await client.watch(pods, options)) as never)
    const behind = follow((await client.watch(configMaps, options)) as never)
    await environment.clock.advance('70s')
    await client.create(configMaps, configMap('a'))
    const version = String(await store.latest())
    expect([closed.lines, behind.lines]).toEqual([[], ['ADDED a']])
    await environment.clock.advance('2m')
    expect([closed.lines, behind.lines]).toEqual([[], ['ADDED a']])
    await core.close()
    await environment.clock.settle()
    expect([closed.lines, behind.lines]).toEqual([
      ['BOOKMARK', 'end'],
      ['ADDED a', 'BOOKMARK', 'end'],
    ])
    expect([closed.events[0], behind.events[1]].map((event) => event?.object.metadata.resourceVersion)).toEqual([
      version,
      version,
    ])
  })

  it('let a watch that ends at its time be resumed from there', async () => {
    const { client, environment, store } = await startTestCore()
    const options = { allowWatchBookmarks: true, timeoutSeconds: 150 }
    const { lines, events } = follow((await client.watch(pods, options)) as never)
    await environment.clock.advance('130s')
    await client.create(configMaps, configMap('a'))
    await environment.clock.advance('20s')
    expect(lines).toEqual(['BOOKMARK', 'end'])
    expect(events[0]?.object.metadata.resourceVersion).toBe(String(await store.latest()))
  })

  it('mark the end of the initial events', async () => {
    const { client, environment } = await startTestCore()
    await client.create(pods, pod('a'))
    const options = { sendInitialEvents: true, allowWatchBookmarks: true }
    const { lines, events } = follow((await client.watch(pods, options)) as never)
    await environment.clock.settle()
    expect(lines).toEqual(['ADDED a', 'BOOKMARK'])
    expect(events[1]?.object).toMatchObject({ metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } })
  })
})

describe('deliveries', () => {
  it('are lines of JSON made once, however many watch', async () => {
    const { client, registry, environment } = await startTestCore()
    const seen: WatchDelivery[] = []
    for (let index = 0; index < 3; index += 1) {
      await registry(pods).watch(
        {},
        (delivery) => {
          seen.push(delivery)
          return true
        },
        () => {},
      )
    }
    const created = await client.create(pods, pod('a'))
    await environment.clock.settle()
    expect(seen).toHaveLength(3)
    expect(seen[1]?.bytes).toBe(seen[0]?.bytes)
    const line = seen[0]?.bytes.toString() ?? ''
    expect(line.endsWith('\n')).toBe(true)
    expect(JSON.parse(line)).toEqual({ type: 'ADDED', object: seen[0]?.stored?.withManagedFields })
    expect(seen[0]?.event.object).toEqual(created)
  })

  it('stop at a reader who cannot take more', async () => {
    const { client, registry, environment } = await startTestCore()
    let taken = 0
    let ended = 0
    const onEvent = () => {
      taken += 1
      return taken < 2
    }
    await registry(configMaps).watch({ resourceVersion: '1' }, onEvent, () => {
      ended += 1
    })
    await environment.clock.settle()
    for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name))
    await environment.clock.settle()
    expect([taken, ended]).toEqual([2, 1])
  })

  it('wait while their reader has paused, and come in order', async () => {
    const { client, registry, environment } = await startTestCore()
    for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name))
    const names: string[] = []
    const watch = await registry(configMaps).watch(
      {},
      ({ stored }) => {
        names.push(stored?.object.metadata.name ?? '')
        if (names.length === 1) watch.pause()
        return true
      },
      () => {},
    )
    await environment.clock.settle()
    await client.create(configMaps, configMap('d'))
    await environment.clock.settle()
    expect(names).toEqual(['a'])
    watch.resume()
    await client.create(configMaps, configMap('e'))
    await environment.clock.settle()
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
