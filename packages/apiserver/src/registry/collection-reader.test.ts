import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import type { ListOptions, WatchOptions } from '@coracle/client'
import { virtualEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import type { Stored } from '../registry-contract.ts'
import { hubView, type VersionView } from '../versions/version-view.ts'
import { StoreFeed } from '../watch-cache/store-feed.ts'
import { unstored } from '../watch-cache/stored-object.ts'
import { podEvent, storedPod } from '../watch-cache/testing/stored-pods.ts'
import { WatchCache } from '../watch-cache/watch-cache.ts'
import { CollectionReader } from './collection-reader.ts'

/** Lists through a version that shows pods on a node under another name, `shown-` in front, and is selected by what it shows. */
async function startReader(store = createMemoryStore()) {
  const environment = virtualEnvironment()
  const feed = new StoreFeed(store, environment, () => {})
  const cache = new WatchCache(pods, environment, feed)
  await feed.start()
  await feed.attach(cache)
  const shownAtOnce: number[] = []
  const show = (stored: Stored): Stored => unstored(onShownNode(stored.object as Pod), stored.revision, stored.owners)
  const view: VersionView = {
    ...hubView(pods),
    selectsShown: true,
    show,
    showPage: (page) => {
      shownAtOnce.push(page.items.length)
      return { ...page, items: page.items.map(show) }
    },
  }
  /** Acknowledged, though the caches may not have it yet. */
  const commit = async (name: string, nodeName: string) => {
    const value = cache.codec.encode(withoutVersion(storedPod(`default/${name}`, { nodeName }).object), [])
    const key = `${cache.prefix}default/${name}`
    return (await store.commit({ conditions: [], operations: [{ type: 'put', key, value }] })).revision
  }
  const put = async (name: string, nodeName: string) => {
    const revision = await commit(name, nodeName)
    await environment.clock.settle()
    return revision
  }
  const reader = new CollectionReader(cache, feed, view)
  const list = async (options: ListOptions) => {
    const page = await reader.list({ fieldSelector: 'spec.nodeName=shown-n1', ...options })
    return { ...page, items: page.items.map(({ object }) => object.metadata.name).join(' ') }
  }
  const watch = async (options: WatchOptions) => {
    const told: string[] = []
    await reader.watch(
      options,
      ({ event: { type, object } }) => {
        told.push(`${type} ${(object as KubernetesObject).metadata.name}`)
        return true
      },
      () => {},
    )
    await environment.clock.settle()
    return told
  }
  return { reader, cache, list, watch, put, commit, store, shownAtOnce, clock: environment.clock }
}

function onShownNode(pod: Pod): KubernetesObject {
  return { ...pod, spec: { ...pod.spec, nodeName: `shown-${pod.spec.nodeName}` } } as KubernetesObject
}

function withoutVersion(object: KubernetesObject): KubernetesObject {
  const { resourceVersion: _resourceVersion, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Pods `p000` on; of every sixty one is on n1. */
async function startReaderOf(count: number) {
  const started = await startReader()
  for (let index = 0; index < count; index += 1) {
    await started.put(`p${String(index).padStart(3, '0')}`, index % 60 === 59 ? 'n1' : 'n2')
  }
  return started
}

describe('a list that is selected by what its version shows', () => {
  it('has what matches as it is shown, at the present revision', async () => {
    const { list, put } = await startReader()
    await put('a', 'n1')
    await put('b', 'n2')
    const revision = await put('c', 'n1')
    const whole = { revision, continue: '', remainingItemCount: undefined }
    expect(await list({})).toEqual({ ...whole, items: 'a c' })
    expect(await list({ fieldSelector: 'spec.nodeName=n1' })).toEqual({ ...whole, items: '' })
    expect(await list({ fieldSelector: 'spec.nodeName=shown-n1,metadata.name=c' })).toEqual({ ...whole, items: 'c' })
  })

  it('is shown all at once', async () => {
    const { list, shownAtOnce } = await startReaderOf(250)
    expect((await list({})).items).toBe('p059 p119 p179 p239')
    expect(shownAtOnce).toEqual([250])
  })

  it('comes in full pages, however few objects match, and shows some at a time to find them', async () => {
    const { list, shownAtOnce } = await startReaderOf(250)
    const first = await list({ limit: 2 })
    expect([first.items, first.remainingItemCount]).toEqual(['p059 p119', undefined])
    // A page is full when the next object that matches is found: the one after it may be far away.
    expect(shownAtOnce).toEqual([100, 100])
    const second = await list({ limit: 2, continue: first.continue })
    expect([second.items, second.continue, second.remainingItemCount]).toEqual(['p179 p239', '', undefined])
    expect(second.revision).toBe(first.revision)
  })

  it('reads as much at a time as a page may have', async () => {
    const { list, shownAtOnce } = await startReaderOf(250)
    expect((await list({ limit: 200 })).items).toBe('p059 p119 p179 p239')
    expect(shownAtOnce).toEqual([200, 50])
  })

  it('is of one state on all pages', async () => {
    const { list, put } = await startReaderOf(250)
    const first = await list({ limit: 1 })
    await put('p119', 'n2')
    await put('p200', 'n1')
    const second = await list({ continue: first.continue })
    expect([second.items, second.revision]).toEqual(['p119 p179 p239', first.revision])
    expect((await list({})).items).toBe('p059 p179 p200 p239')
  })

  it.each(['spec.nodeName=shown-n1', 'spec.nodeName!=shown-n9', ''])(
    'keeps the state of its pages, though nothing else remembers it: of %j',
    async (fieldSelector) => {
      const { list, put, cache, store } = await startReaderOf(130)
      const first = await list({ limit: 1, fieldSelector })
      const whole = await list({ fieldSelector })
      cache.forgetHistory()
      await put('p129', 'n1')
      await store.compact(await put('p119', 'n9'))
      const second = await list({ continue: first.continue, fieldSelector })
      expect(`${first.items} ${second.items}`).toBe(whole.items)
    },
  )

  it('goes on from a token for the present state in that state', async () => {
    const { list, put } = await startReaderOf(130)
    const first = await list({ limit: 1 })
    const revision = await put('p100', 'n1')
    const token = JSON.parse(Buffer.from(first.continue, 'base64url').toString())
    const present = Buffer.from(JSON.stringify({ ...token, rv: -1 })).toString('base64url')
    expect(await list({ continue: present })).toMatchObject({ items: 'p100 p119', revision })
  })

  it('does not take the present state for one to come, whatever a token says', async () => {
    const { list, put, clock } = await startReaderOf(130)
    const { continue: next, revision } = await list({ limit: 1, fieldSelector: '' })
    const token = JSON.parse(Buffer.from(next, 'base64url').toString())
    const ahead = Buffer.from(JSON.stringify({ ...token, rv: revision + 2 })).toString('base64url')
    const refused = expect(list({ continue: ahead, limit: 1, fieldSelector: '' })).rejects.toMatchObject({ code: 504 })
    await clock.advance('3s')
    await refused
    await put('p200', 'n1')
    const at = await put('p201', 'n1')
    await put('p202', 'n1')
    expect(at).toBe(revision + 2)
    const options = {
      resourceVersion: String(at),
      resourceVersionMatch: 'Exact',
      fieldSelector: 'metadata.name=p201',
    } as const
    expect(await list(options)).toMatchObject({ items: 'p201', revision: at })
  })
})

describe('a watch that is selected by what its version shows', () => {
  const selector = { fieldSelector: 'spec.nodeName=shown-n1' }
  const change = { event: { type: 'MODIFIED' } } as const
  /** What the watch is told of a change of the pod after which it is where `nodeName` says. */
  const told = ({ view }: NonNullable<Awaited<ReturnType<CollectionReader['shownView']>>>, nodeName: string) => {
    const { stored } = podEvent('default/a', { nodeName: 'n2' }, { nodeName: `shown-${nodeName}` })
    return view.take({ ...change, stored } as never)?.event.type
  }

  it('needs no view where what is stored says all', async () => {
    const { reader } = await startReader()
    expect(await reader.shownView({ fieldSelector: 'metadata.name=a' })).toBeUndefined()
  })

  it.each<[string, object]>([
    ['with the state', {}],
    ['with the state of any server', { resourceVersion: '0' }],
    ['with the state as events', { resourceVersion: '1', sendInitialEvents: true }],
    ['with nothing, by a version that is none', { resourceVersion: 'x', sendInitialEvents: false }],
  ])('has nothing in view before it begins %s', async (_, options) => {
    const { reader, put } = await startReader()
    await put('a', 'n1')
    const begun = await reader.shownView({ ...selector, ...options })
    if (begun === undefined) expect.unreachable('there is a view')
    expect(begun.options).toEqual({ ...selector, ...options })
    expect(told(begun, 'n1')).toBe('ADDED')
  })

  it('has the state of its revision in view where it begins after that', async () => {
    const { reader, put } = await startReader()
    const first = await put('a', 'n1')
    const second = await put('a', 'n2')
    const begin = async (revision: number) => {
      const options = { ...selector, resourceVersion: String(revision) }
      const begun = await reader.shownView(options)
      if (begun === undefined) expect.unreachable('there is a view')
      expect(begun.options).toEqual(options)
      return begun
    }
    expect(told(await begin(first), 'n1')).toBe('MODIFIED')
    expect(told(await begin(first), 'n2')).toBe('DELETED')
    expect(told(await begin(second), 'n1')).toBe('ADDED')
    expect(told(await begin(second), 'n2')).toBeUndefined()
  })

  it('has the state of its revision in view, though the server started after that', async () => {
    const { put, store } = await startReader()
    const first = await put('a', 'n1')
    await put('a', 'n2')
    const { reader } = await startReader(store)
    const begun = await reader.shownView({ ...selector, resourceVersion: String(first) })
    if (begun === undefined) expect.unreachable('there is a view')
    expect(told(begun, 'n1')).toBe('MODIFIED')
  })

  it('has nothing in view where its revision is no longer known', async () => {
    const { put, store } = await startReader()
    const first = await put('a', 'n1')
    await store.compact(await put('a', 'n1'))
    const { reader } = await startReader(store)
    const begun = await reader.shownView({ ...selector, resourceVersion: String(first) })
    if (begun === undefined) expect.unreachable('there is a view')
    expect(told(begun, 'n1')).toBe('ADDED')
  })

  it('has what was acknowledged just now in view', async () => {
    const { reader, commit } = await startReader()
    await commit('a', 'n1')
    const begun = await reader.shownView({ ...selector, sendInitialEvents: false })
    if (begun === undefined) expect.unreachable('there is a view')
    expect(told(begun, 'n1')).toBe('MODIFIED')
  })

  it('has the present state in view, and says so, where it is to begin now without it', async () => {
    const { reader, put } = await startReader()
    const revision = await put('a', 'n1')
    const begun = await reader.shownView({ ...selector, sendInitialEvents: false })
    if (begun === undefined) expect.unreachable('there is a view')
    expect(begun.options).toEqual({ ...selector, sendInitialEvents: false, resourceVersion: String(revision) })
    expect(told(begun, 'n1')).toBe('MODIFIED')
  })
})

describe('a watch', () => {
  it.each<[string, WatchOptions, readonly string[]]>([
    ['the state', {}, ['ADDED a', 'ADDED b']],
    ['the state of any server', { resourceVersion: '0' }, ['ADDED a', 'ADDED b']],
    ['nothing, where it begins now', { sendInitialEvents: false }, []],
    ['what has happened since its revision', { resourceVersion: '1' }, ['MODIFIED a', 'ADDED b']],
    ['the state where it wants that', { resourceVersion: '1', sendInitialEvents: true }, ['ADDED a', 'ADDED b']],
  ])('is told %s, also by a server that started later', async (_, options, expected) => {
    const { put, watch, store } = await startReader()
    for (const name of ['a', 'a', 'b']) await put(name, 'n1')
    expect(await watch(options)).toEqual(expected)
    const later = await startReader(store)
    expect(await later.watch(options)).toEqual(expected)
  })

  it('begins with what was acknowledged just now', async () => {
    const { commit, watch } = await startReader()
    await commit('a', 'n1')
    expect(await watch({})).toEqual(['ADDED a'])
  })

  it('waits for the state that it asks for', async () => {
    const { put, watch } = await startReader()
    const next = (await put('a', 'n1')) + 1
    const begun = watch({ resourceVersion: String(next), sendInitialEvents: true })
    await put('b', 'n1')
    expect(await begun).toEqual(['ADDED a', 'ADDED b'])
  })
})
