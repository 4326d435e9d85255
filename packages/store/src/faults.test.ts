import { describe, expect, it } from 'vitest'
import { StoreTimeoutError, StoreUnavailableError } from './errors.ts'
import { faultyStore } from './faults.ts'
import { createMemoryStore } from './memory-store.ts'
import type { Note, SoleWriterStore, Transaction, WatchOptions } from './store.ts'

const put = (key: string): Transaction => ({
  conditions: [],
  operations: [{ type: 'put', key, value: new Uint8Array(1) }],
})

function setUp(onCommit?: (number: number) => void) {
  const real = createMemoryStore()
  const store = faultyStore(real, onCommit === undefined ? {} : { onCommit })
  const heard: string[] = []
  store.watch('', {
    after: 0,
    onEvents: (events) => heard.push(...events.map(({ key }) => key)),
    onGap: () => heard.push('gap'),
    onEnd: () => heard.push('end'),
  })
  return { real, store, heard }
}

describe('a faulty store', () => {
  it('is a store like any other while nothing is wrong', async () => {
    const { store, heard } = setUp()
    await store.commit(put('a'))
    expect([await store.latest(), (await store.list('')).entries.length, heard]).toEqual([1, 1, ['a']])
  })

  it('fails calls and hears nothing while it is cut, and misses nothing for it', async () => {
    const { real, store, heard } = setUp()
    store.cut()
    for (const call of [() => store.commit(put('a')), () => store.latest(), () => store.get('a')]) {
      await expect(call()).rejects.toThrow(StoreUnavailableError)
    }
    await real.commit(put('b'))
    expect([real.latest(), heard]).toEqual([1, []])
    store.restore()
    await store.commit(put('c'))
    expect(heard).toEqual(['b', 'c'])
  })

  it('cuts off what is under way: it takes effect, and its answer is lost', async () => {
    const { real, store } = setUp()
    const committed = store.commit(put('a'))
    store.cut()
    await expect(committed).rejects.toThrow(StoreTimeoutError)
    expect(await real.get('a')).toBeDefined()
  })

  it('loses as many answers as told', async () => {
    const { real, store } = setUp()
    store.loseAnswers(1)
    await expect(store.commit(put('a'))).rejects.toThrow(StoreTimeoutError)
    expect(await store.commit(put('b'))).toMatchObject({ ok: true })
    expect(real.latest()).toBe(2)
  })

  it('may be cut at any commit', async () => {
    const { real, store } = setUp((number) => number === 2 && store.cut())
    await store.commit(put('a'))
    await expect(store.commit(put('b'))).rejects.toThrow(StoreUnavailableError)
    expect(real.latest()).toBe(1)
  })

  it('tells watches of a gap where history is lost', async () => {
    const { real, store, heard } = setUp()
    store.hold()
    await real.commit(put('a'))
    store.loseHistory()
    expect(heard).toEqual(['gap'])
  })

  it('tells watches of a gap from where they began to the newest revision, and lets nothing more be heard', async () => {
    const { real, store } = setUp()
    const told: unknown[] = []
    store.watch('', {
      after: 0,
      onEvents: () => told.push('events'),
      onGap: ({ requested, compacted }) => told.push([requested, compacted]),
      onEnd: () => told.push('end'),
    })
    store.hold()
    await real.commit(put('a'))
    await real.commit(put('b'))
    store.loseHistory()
    store.loseHistory()
    await real.commit(put('c'))
    expect(told).toEqual([[0, 2]])
    await expect(store.list('')).resolves.toMatchObject({ revision: 3 })
  })

  it('is shared, and keeps lazy values as the store behind it does', () => {
    const real = createMemoryStore()
    expect(faultyStore(real)).toMatchObject({ shared: true, keepsLazyValues: true })
    const { keepsLazyValues: _, ...eager } = real
    expect('keepsLazyValues' in faultyStore({ ...eager } as SoleWriterStore)).toBe(false)
  })

  it('passes every call on to the store behind it, and none while it is cut', async () => {
    const { real, store } = setUp()
    await store.commit({ ...put('a'), note: new Uint8Array([1]) })
    await store.commit({ ...put('b'), note: new Uint8Array([2]) })
    const revisions = async (notes: Promise<readonly Note[]>) => (await notes).map(({ revision }) => revision)
    const pages = async () => {
      const sizes: number[] = []
      for await (const { entries } of store.pages('', 1)) sizes.push(entries.length)
      return sizes
    }
    expect([await store.get('a'), await pages()]).toEqual([await real.get('a'), [1, 1]])
    expect(await revisions(store.notes({ limit: 5 }))).toEqual([2, 1])
    await store.forgetNotes(1)
    expect(await revisions(real.notes({ limit: 5 }))).toEqual([2])
    await store.compact(2)
    const gaps: number[] = []
    real.watch('', { after: 1, onEvents() {}, onGap: ({ compacted }) => gaps.push(compacted), onEnd() {} })
    await Promise.resolve()
    expect(gaps).toEqual([2])
    store.cut()
    const calls = [pages, () => store.list(''), () => store.notes({ limit: 5 })]
    for (const call of [...calls, () => store.compact(2), () => store.forgetNotes(2)]) {
      await expect(call()).rejects.toThrow('the store at the other side is not available: the network is gone')
    }
  })

  it('counts the commits that were tried', async () => {
    const { store } = setUp()
    store.loseAnswers(2)
    for (const key of ['a', 'b']) {
      await expect(store.commit(put(key))).rejects.toThrow(
        'the store at the other side has not answered in time: the answer is lost',
      )
    }
    await store.commit(put('c'))
    store.cut()
    await expect(store.commit(put('d'))).rejects.toThrow(StoreUnavailableError)
    expect(store.commits).toBe(4)
  })

  it('keeps news back while it is held, also those of how far things are, and delivers them in order', async () => {
    const { real, store } = setUp()
    const told: string[] = []
    store.watch('a', {
      after: 0,
      onEvents: (events) => told.push(...events.map(({ key }) => key)),
      onProgress: (revision) => told.push(`up to ${revision}`),
      onGap() {},
      onEnd() {},
    })
    store.hold()
    await real.commit(put('a1'))
    // What is held already stays held.
    store.hold()
    store.cut()
    await real.commit(put('b'))
    expect(told).toEqual([])
    store.restore()
    expect(told).toEqual(['a1', 'up to 2'])
    await real.commit(put('a2'))
    expect(told).toEqual(['a1', 'up to 2', 'a2'])
    store.release()
    expect(told).toHaveLength(3)
  })

  it('closes a watch, or all of them, and not the store behind it', async () => {
    const { real, store, heard } = setUp()
    const watch = store.watch('', { after: 0, onEvents: () => heard.push('events'), onGap() {}, onEnd() {} })
    watch.requestProgress(1)
    watch.close()
    await real.commit(put('a'))
    expect(heard).toEqual(['a'])
    await store.close()
    await real.commit(put('b'))
    store.loseHistory()
    expect(heard).toEqual(['a'])
  })

  it('asks for progress where the watch is', () => {
    const asked: number[] = []
    const watch = () => ({ close() {}, requestProgress: (revision: number) => void asked.push(revision) })
    const store = faultyStore({ watch } as unknown as SoleWriterStore)
    store.watch('', { after: 0, onEvents() {}, onGap() {}, onEnd() {} }).requestProgress(7)
    expect(asked).toEqual([7])
  })

  it('tells nobody how far things are who does not want to know', async () => {
    const { real, store } = setUp()
    const told: string[] = []
    const onEvents: WatchOptions['onEvents'] = (events) => told.push(...events.map(({ key }) => key))
    store.watch('a', { after: 0, onEvents, onGap: () => told.push('gap'), onEnd() {} })
    const closed = store.watch('a', {
      after: 0,
      onEvents,
      onGap: () => told.push('gap of one that is closed'),
      onEnd() {},
    })
    closed.close()
    await real.commit(put('b'))
    await real.commit(put('a'))
    store.loseHistory()
    expect(told).toEqual(['a', 'gap'])
  })

  it('loses the answer of what is under way also where it is restored meanwhile', async () => {
    const { store } = setUp()
    const committed = store.commit(put('a'))
    store.cut()
    store.restore()
    await expect(committed).rejects.toThrow('the store at the other side has not answered in time: the network is gone')
  })
})
