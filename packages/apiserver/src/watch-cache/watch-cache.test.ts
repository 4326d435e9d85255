import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalers,
  jsonFormOf,
  nodes,
  type Pod,
  pods,
  type StoredKind,
} from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import type { SoleWriterStore } from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import type { Stored, WatchDelivery } from '../registry-contract.ts'
import { bookmarkIntervalMs } from './bookmark-rounds.ts'
import { indexedObjectsMin } from './key-indexes.ts'
import { createObjectCodec } from './object-codec.ts'
import { eagerPut } from './object-put.ts'
import { snapshotsMax } from './past-states.ts'
import { selectionOf } from './selection.ts'
import { StoreFeed } from './store-feed.ts'
import { type PodParts, podSelection, storedPod } from './testing/stored-pods.ts'
import { type CacheWatchOptions, WatchCache } from './watch-cache.ts'

const prefix = '/registry/core/pods/'
const codec = createObjectCodec(pods)
const everything = { limit: 0, afterKey: '' }
const onNode = (nodeName: string): PodParts => ({ nodeName })
const names = (items: readonly Stored[]) => items.map(({ object }) => object.metadata.name).join(' ')

/** A cache of pods on a store, in which keys are put and deleted. */
async function startCache({ historyMax, kind = pods }: { historyMax?: number; kind?: StoredKind } = {}) {
  const real: SoleWriterStore = createMemoryStore()
  const store = faultyStore(real)
  const environment = virtualEnvironment()
  const { clock } = environment
  const feed = new StoreFeed(store, environment, () => {})
  const cache = new WatchCache(kind, environment, feed, historyMax)
  const settled = async (revision: number) => {
    await clock.settle()
    return revision
  }
  const put = async (key: string, parts: PodParts = {}) => {
    const value = codec.encode(withoutVersionOf(key, parts), [])
    return settled(
      (await real.commit({ conditions: [], operations: [{ type: 'put', key: prefix + key, value }] })).revision,
    )
  }
  const remove = async (key: string) =>
    settled((await real.commit({ conditions: [], operations: [{ type: 'delete', key: prefix + key }] })).revision)
  const start = async () => {
    await feed.start()
    await feed.attach(cache)
  }
  /** A watch, and what it gets as it grows: `ADDED a@REVISION`. */
  const watch = (options: Partial<CacheWatchOptions> = {}) => {
    const lines: string[] = []
    const describeDelivery = ({ event }: WatchDelivery) => {
      const { kind, metadata, message, code } = event.object as {
        readonly kind?: string
        readonly metadata?: { readonly name?: string; readonly resourceVersion?: string; readonly annotations?: object }
        readonly message?: string
        readonly code?: number
      }
      if (event.type === 'ERROR') return `ERROR ${code} ${message}`
      if (event.type === 'BOOKMARK') {
        return `BOOKMARK ${kind}@${metadata?.resourceVersion}${metadata?.annotations === undefined ? '' : ' end of state'}`
      }
      return `${event.type} ${metadata?.name ?? ''}@${metadata?.resourceVersion}`
    }
    const watching = cache.watch(
      { selection: podSelection(), from: 'now', bookmarks: false, marksInitialEnd: false, ...options },
      (delivery) => lines.push(describeDelivery(delivery)) > 0,
      () => lines.push('end'),
    )
    return { lines, watching }
  }
  const state = (revision?: number) => {
    const slice =
      revision === undefined
        ? cache.slice(podSelection(), everything)
        : cache.sliceAt(revision, podSelection(), everything)
    return slice && names(slice.items)
  }
  return { cache, feed, store, real, clock, put, remove, start, watch, state }
}

function withoutVersionOf(key: string, parts: PodParts) {
  const { resourceVersion: _resourceVersion, ...metadata } = storedPod(key, parts).object.metadata
  return { ...storedPod(key, parts).object, metadata }
}

describe('a watch cache', () => {
  it('knows how large its objects are on average, whatever comes, changes and goes', async () => {
    const { cache, put, remove, start } = await startCache()
    expect(cache.averageBytes).toBe(0)
    await put('b/1')
    await put('a/2')
    await start()
    await put('a/1')
    await put('a/1', onNode('a-node-with-a-long-name'))
    await remove('b/1')
    const lengths = [...cache.values()].map(({ byteLength }) => byteLength)
    expect(new Set(lengths).size).toBe(2)
    expect(cache.averageBytes).toBe(lengths.reduce((sum, each) => sum + each, 0) / 2)
  })

  it('has what the store has, by key and in the order of keys', async () => {
    const { cache, put, remove, start } = await startCache()
    await put('b/1')
    await put('a/2', onNode('n1'))
    await start()
    await put('a/1')
    await put('c/1')
    await remove('c/1')
    expect([cache.size, names([...cache.values()])]).toEqual([3, '1 2 1'])
    expect(cache.get('a/2')).toMatchObject({
      revision: 2,
      object: { metadata: { name: '2', resourceVersion: '2' }, spec: { nodeName: 'n1' } },
    })
    expect(cache.get('c/1')).toBeUndefined()
    expect(cache.revision).toBe(5)
  })

  it('knows objects by namespace and name, or by name alone', async () => {
    expect((await startCache()).cache.keyOf('a', 'x')).toBe('a/x')
    expect((await startCache({ kind: nodes })).cache.keyOf('', 'x')).toBe('x')
  })

  it('tells listeners of every change once it has it', async () => {
    const { cache, put, remove, start } = await startCache()
    await start()
    const heard: string[] = []
    cache.onChange(({ type, key, revision, sequence, previous }) => {
      heard.push(`${sequence} ${type} ${key}@${revision} was ${previous?.revision} is ${cache.get(key)?.revision}`)
    })
    await put('a/1')
    await put('a/1')
    await remove('a/1')
    await put('a/1')
    expect(heard).toEqual([
      '1 ADDED a/1@1 was undefined is 1',
      '2 MODIFIED a/1@2 was 1 is 2',
      '3 DELETED a/1@3 was 2 is undefined',
      '4 ADDED a/1@4 was undefined is 4',
    ])
  })

  it('takes a write of this process as it is, and gives it the object', async () => {
    const { cache, put, start } = await startCache()
    await start()
    const object = withoutVersionOf('a/1', onNode('n1'))
    const storeKey = `${cache.prefix}a/1`
    const written = eagerPut(codec, storeKey, object, [])
    const write = cache.writes.begin({ key: 'a/1', storeKey, previousRevision: 0, put: written, object, owners: [] })
    const revision = await put('a/1', onNode('n1'))
    expect(write.stored).toBe(cache.get('a/1'))
    expect(write.stored).toMatchObject({ revision, decoded: true })
    await put('a/2')
    expect(cache.get('a/2')).toMatchObject({ decoded: false })
  })

  it('shows what is stored in another version in the form of the hub', async () => {
    const { cache, feed, real, clock } = await startCache({ kind: horizontalPodAutoscalers })
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 50,
    }
    const metadata = { name: 'x', namespace: 'a' }
    const value = Buffer.from(
      JSON.stringify({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata, spec }),
    )
    const key = '/registry/autoscaling/horizontalpodautoscalers/a/x'
    await real.commit({ conditions: [], operations: [{ type: 'put', key, value }] })
    await feed.start()
    await feed.attach(cache)
    await clock.settle()
    const stored = cache.get('a/x')
    const hub = stored?.object as HorizontalPodAutoscaler | undefined
    expect(hub?.apiVersion).toBe('autoscaling/v2')
    expect(hub?.spec.metrics).toMatchObject([{ type: 'Resource', resource: { target: { averageUtilization: 50 } } }])
    expect(Object.isFrozen(hub?.spec)).toBe(true)
    expect(JSON.parse(String(stored?.bytes))).toEqual(stored && jsonFormOf(stored.withManagedFields))
  })

  it('names what it cannot read', async () => {
    const { real, start } = await startCache()
    const operations = [{ type: 'put', key: `${prefix}a/1`, value: Buffer.from('{') }] as const
    await real.commit({ conditions: [], operations })
    await expect(start()).rejects.toThrow(
      expect.objectContaining({
        message: `what is stored as ${prefix}a/1 cannot be read as a Pod`,
        cause: expect.any(SyntaxError),
      }),
    )
  })
})

describe('a cache that is filled anew', () => {
  it('tells watches and listeners what has changed in sum, and goes on', async () => {
    const { cache, store, clock, put, remove, start, watch, state } = await startCache()
    for (const key of ['a/changed', 'a/deleted', 'a/same']) await put(key)
    await start()
    const { lines } = watch()
    const heard: string[] = []
    cache.onChange(({ type, key, previous }) => heard.push(`${type} ${key} was ${previous?.revision}`))
    store.hold()
    await put('a/changed', onNode('n1'))
    await put('a/changed', onNode('n2'))
    await remove('a/deleted')
    await put('b/new')
    store.loseHistory()
    await clock.settle()
    await put('b/later')
    expect(lines).toEqual(['MODIFIED changed@5', 'ADDED new@7', 'DELETED deleted@7', 'ADDED later@8'])
    expect(heard).toEqual([
      'MODIFIED a/changed was 1',
      'ADDED b/new was undefined',
      'DELETED a/deleted was 2',
      'ADDED b/later was undefined',
    ])
    expect([state(), cache.size, cache.oldestRevision]).toEqual(['changed same later new', 4, 7])
  })
})

describe('a slice of a cache', () => {
  it('says of a first page how many follow, in all and in a namespace', async () => {
    const { cache, put, remove, start } = await startCache()
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1']) await put(key)
    await start()
    const remaining = (namespace: string, limit: number) =>
      cache.slice(podSelection({ namespace }), { limit, afterKey: '' }).remaining
    expect([remaining('', 1), remaining('a', 1), remaining('b', 1), remaining('c', 1)]).toEqual([3, 2, 0, 0])
    await put('a/4')
    await put('a/4', onNode('n1'))
    await remove('a/1')
    await remove('b/1')
    expect([remaining('', 1), remaining('a', 1), remaining('b', 1)]).toEqual([2, 2, 0])
    await put('b/2')
    await put('b/3')
    expect([remaining('', 1), remaining('b', 1)]).toEqual([4, 1])
  })

  it('says of a later page how many follow, whether it is told how many there were or not', async () => {
    const { cache, put, start } = await startCache()
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1']) await put(key)
    await start()
    const page = { limit: 1, afterKey: 'a/2' }
    expect(cache.slice(podSelection(), page).remaining).toBe(2)
    expect(cache.slice(podSelection(), { ...page, following: 3 }).remaining).toBe(2)
    expect(cache.slice(podSelection({ namespace: 'a' }), page).remaining).toBe(1)
  })

  it('looks at every object where there are few, else at those of an index, or at the one that is named', async () => {
    let looks = 0
    const nodeName = (pod: Pod) => {
      looks += 1
      return pod.spec.nodeName ?? ''
    }
    const { cache, put, start } = await startCache({
      kind: { ...pods, selectableFields: { 'spec.nodeName': nodeName } },
    })
    const view = {
      selectableFields: { 'spec.nodeName': nodeName },
      selectsShown: false,
      hubField: (field: string) => field,
    }
    const looksAt = (fieldSelector: string, namespace = '') => {
      looks = 0
      const { items } = cache.slice(selectionOf(pods, { fieldSelector, namespace }, view), everything)
      return `${items.length} of ${looks}`
    }
    for (let index = 1; index < indexedObjectsMin; index += 1) await put(`a/${index}`, onNode(`n${index % 7}`))
    await start()
    expect(looksAt('spec.nodeName=n1')).toBe('9 of 63')
    expect(looksAt('spec.nodeName=n1')).toBe('9 of 63')
    expect(looksAt('metadata.name=8,spec.nodeName=n1', 'a')).toBe('1 of 1')
    await put('b/1', onNode('n1'))
    expect(looksAt('spec.nodeName=n1')).toBe('10 of 74')
    expect(looksAt('spec.nodeName=n1')).toBe('10 of 10')
    expect(looksAt('spec.nodeName!=n1')).toBe('54 of 64')
    expect(looksAt('')).toBe('64 of 0')
  })

  it('goes by an index from so many objects on, with the same result', async () => {
    const { cache, put, remove, start } = await startCache()
    for (let index = 0; index < 70; index += 1) {
      await put(`${index % 2 === 0 ? 'a' : 'b'}/${String(index).padStart(2, '0')}`, onNode(`n${index % 7}`))
    }
    await start()
    const selection = podSelection({ fieldSelector: 'spec.nodeName=n3' })
    const { items, lastKey } = cache.slice(selection, { limit: 4, afterKey: '' })
    expect([names(items), lastKey]).toEqual(['10 24 38 52', 'a/52'])
    const rest = cache.slice(selection, { limit: 0, afterKey: lastKey })
    expect([names(rest.items), rest.lastKey]).toEqual(['66 03 17 31 45 59', ''])
    await put('a/20', onNode('n3'))
    await put('a/24', onNode('n1'))
    await remove('a/38')
    expect(names(cache.slice(selection, { limit: 4, afterKey: '' }).items)).toBe('10 20 52 66')
    expect(
      names(cache.slice(podSelection({ namespace: 'a', fieldSelector: 'metadata.name=10' }), everything).items),
    ).toBe('10')
  })
})

describe('the past of a cache', () => {
  it('is had by undoing what happened since', async () => {
    const { put, remove, start, state, cache } = await startCache()
    await put('a/1', onNode('n1'))
    await put('a/2')
    await start()
    const then = cache.revision
    await put('a/1', onNode('n2'))
    await remove('a/2')
    const between = cache.revision
    await put('a/3')
    expect([state(then), state(between), state(cache.revision), state()]).toEqual(['1 2', '1', '1 3', '1 3'])
    const [first] = cache.sliceAt(then, podSelection(), everything)?.items ?? []
    expect(first).toMatchObject({ revision: 1, object: { spec: { nodeName: 'n1' } } })
    expect(state(then - 1)).toBeUndefined()
    expect(cache.oldestRevision).toBe(then)
  })

  it('is not had where history no longer reaches', async () => {
    const { put, start, state, cache } = await startCache({ historyMax: 2 })
    await start()
    for (const key of ['a/1', 'a/2', 'a/3']) await put(key)
    expect([cache.oldestRevision, state(0), state(1), state(2)]).toEqual([1, undefined, '1', '1 2'])
  })

  it('is kept for those who read on, also when history is gone', async () => {
    const { put, start, state, cache } = await startCache({ historyMax: 1 })
    await start()
    await put('a/1')
    cache.keepSnapshot(1)
    for (const key of ['a/2', 'a/3', 'a/4']) await put(key)
    expect([state(1), state(2)]).toEqual(['1', undefined])
    // What is kept first is kept.
    cache.keepSnapshot(1)
    expect(state(1)).toBe('1')
  })

  it('is kept in so many states, of which the oldest goes first', async () => {
    const { put, start, state, cache } = await startCache({ historyMax: 1 })
    await start()
    const revisions: number[] = []
    for (let index = 0; index <= snapshotsMax; index += 1) {
      revisions.push(await put(`a/${index}`))
      cache.keepSnapshot(cache.revision)
    }
    await put('a/x')
    await put('a/y')
    const [oldest = 0, next = 0] = revisions
    expect([state(oldest), state(next)]).toEqual([undefined, '0 1'])
    expect(state(revisions.at(-1))).toBe(Array.from({ length: snapshotsMax + 1 }, (_, index) => index).join(' '))
  })

  it('is forgotten when that is asked for, with the states of that time', async () => {
    const { put, start, state, cache } = await startCache()
    await start()
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4']) {
      await put(key)
      cache.keepSnapshot(cache.revision)
    }
    cache.forget(2)
    // The events stay: there are few.
    expect([cache.oldestRevision, state(1), state(2), state(3)]).toEqual([0, undefined, '1 2', '1 2 3'])
    cache.forget(1000)
    expect([cache.oldestRevision, state(3), state(4)]).toEqual([0, undefined, '1 2 3 4'])
  })

  it('that is kept stays where history up to it is forgotten, and what is older goes', async () => {
    const { put, start, state, cache } = await startCache({ historyMax: 1 })
    await start()
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) {
      await put(key)
      cache.keepSnapshot(cache.revision)
    }
    cache.forget(2)
    expect([state(1), state(2), state(3)]).toEqual([undefined, '1 2', '1 2 3'])
  })

  it('before the cache began is read from the store where somebody asks for it', async () => {
    const { put, remove, start, state, cache } = await startCache()
    await put('a/1')
    await put('a/2')
    await remove('a/1')
    await start()
    expect(state(1)).toBeUndefined()
    await cache.reachBack(1)
    expect([cache.oldestRevision, state(1), state(2)]).toEqual([1, '1', '1 2'])
    await Promise.all([cache.reachBack(0), cache.reachBack(0)])
    expect([cache.oldestRevision, state(0)]).toEqual([0, ''])
  })

  it('that the store no longer has is asked for once', async () => {
    const { put, start, store, real, cache } = await startCache()
    await put('a/1')
    await put('a/2')
    await real.compact(2)
    await put('a/3')
    await start()
    let watches = 0
    const { watch } = store
    Object.assign(store, {
      watch: (...args: Parameters<typeof watch>) => {
        watches += 1
        return watch(...args)
      },
    })
    await cache.reachBack(1)
    expect([cache.oldestRevision, watches > 0]).toEqual([2, true])
    const before = watches
    await cache.reachBack(1)
    await cache.reachBack(0)
    expect(watches).toBe(before)
  })

  it('that was being read is left out where the cache was filled anew meanwhile', async () => {
    const { put, start, store, cache, clock } = await startCache()
    await put('a/1')
    await put('a/2')
    await start()
    store.hold()
    const reading = cache.reachBack(1)
    await put('a/3')
    store.loseHistory()
    await clock.settle()
    await reading
    expect(cache.oldestRevision).toBe(3)
  })
})

describe('a watch of a cache', () => {
  it('begins with the state, and may mark where that ends', async () => {
    const { put, start, watch, clock } = await startCache()
    await put('b/1')
    await put('a/1')
    await start()
    const plain = watch({ from: 'state' })
    const marking = watch({ from: 'state', marksInitialEnd: true })
    await put('a/2')
    await clock.settle()
    expect(plain.lines).toEqual(['ADDED 1@2', 'ADDED 1@1', 'ADDED 2@3'])
    expect(marking.lines).toEqual(['ADDED 1@2', 'ADDED 1@1', 'BOOKMARK Pod@2 end of state', 'ADDED 2@3'])
  })

  it('begins now', async () => {
    const { put, start, watch } = await startCache()
    await start()
    await put('a/1')
    const { lines } = watch()
    await put('a/2')
    expect(lines).toEqual(['ADDED 2@2'])
  })

  it('begins after a revision, with what it selects', async () => {
    const { put, start, watch, cache, clock } = await startCache()
    await start()
    await put('a/1')
    const from = cache.revision
    await put('a/2')
    await put('b/1')
    const one = watch({ from, selection: podSelection({ namespace: 'a' }) })
    const latest = watch({ from: cache.revision })
    await clock.settle()
    expect([one.lines, latest.lines]).toEqual([['ADDED 2@2'], []])
    await put('a/2')
    expect([one.lines.at(-1), latest.lines]).toEqual(['MODIFIED 2@4', ['MODIFIED 2@4']])
  })

  it('after a revision that is still to come gets what comes after that', async () => {
    const { put, start, watch } = await startCache()
    await start()
    const { lines } = watch({ from: 2 })
    for (const key of ['a/1', 'a/2', 'a/3']) await put(key)
    expect(lines).toEqual(['ADDED 3@3'])
  })

  it('before history ends with Expired (410)', async () => {
    const { put, start, watch, clock } = await startCache({ historyMax: 1 })
    await start()
    for (const key of ['a/1', 'a/2']) await put(key)
    const [tooOld, oldest] = [watch({ from: 0 }), watch({ from: 1 })]
    await clock.settle()
    expect(tooOld.lines).toEqual(['ERROR 410 too old resource version: 0 (1)', 'end'])
    expect(oldest.lines).toEqual(['ADDED 2@2'])
    await put('a/3')
    expect([tooOld.lines.length, oldest.lines.at(-1)]).toEqual([2, 'ADDED 3@3'])
  })

  it('ends at its time, with a bookmark where those are wanted', async () => {
    const { start, watch, clock, cache } = await startCache()
    await start()
    const plain = watch({ timeoutMs: 5000 })
    const marking = watch({ timeoutMs: 5000, bookmarks: true })
    await clock.advance(5000)
    expect(plain.lines).toEqual(['end'])
    expect(marking.lines).toEqual([`BOOKMARK Pod@${cache.revision}`, 'end'])
  })

  it('gets bookmarks as long as somebody wants them', async () => {
    const { put, start, watch, clock } = await startCache()
    await start()
    const first = watch({ bookmarks: true })
    const other = watch()
    await clock.advance(bookmarkIntervalMs / 2)
    const second = watch({ bookmarks: true })
    await put('a/1')
    await clock.advance(bookmarkIntervalMs / 2)
    expect([first.lines, second.lines, other.lines]).toEqual([
      ['ADDED 1@1', 'BOOKMARK Pod@1'],
      ['ADDED 1@1', 'BOOKMARK Pod@1'],
      ['ADDED 1@1'],
    ])
    first.watching.close()
    await clock.advance(bookmarkIntervalMs)
    expect(second.lines).toEqual(['ADDED 1@1', 'BOOKMARK Pod@1', 'BOOKMARK Pod@1'])
    second.watching.close()
    await clock.advance(2 * bookmarkIntervalMs)
    const later = watch({ bookmarks: true })
    await clock.advance(bookmarkIntervalMs)
    expect(later.lines).toEqual(['BOOKMARK Pod@1'])
  })

  it('gets one bookmark for a time in which nothing else happened', async () => {
    const { start, watch, clock } = await startCache()
    await start()
    const { lines } = watch({ bookmarks: true })
    await clock.advance('1h')
    expect(lines.length).toBeLessThanOrEqual(2)
    await clock.advance('1h')
    expect(lines.length).toBeLessThanOrEqual(4)
  })

  it('ends with the cache', async () => {
    const { start, watch, clock, cache } = await startCache()
    await start()
    const watches = [watch({ bookmarks: true }), watch()]
    cache.close()
    await clock.advance(bookmarkIntervalMs)
    expect(watches.map(({ lines }) => lines)).toEqual([['end'], ['end']])
  })
})
