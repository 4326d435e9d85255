import { describe, expect, it } from 'vitest'
import { StoreTimeoutError, StoreUnavailableError } from './errors.ts'
import { faultyStore } from './faults.ts'
import { createMemoryStore } from './memory-store.ts'
import type { Transaction } from './store.ts'

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
})
