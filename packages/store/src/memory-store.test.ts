import { realClock, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { createMemoryStore } from './memory-store.ts'
import type { StoreEvent } from './store.ts'

it('waits on microtasks alone, so that a virtual clock can settle it', async () => {
  const { clock } = virtualEnvironment()
  const store = createMemoryStore()
  const seen: number[] = []
  const watch = (after: number) =>
    store.watch('', {
      after,
      onEvents(events) {
        for (const { revision } of events) {
          seen.push(revision)
          // A reaction to a reaction, as controllers have them.
          if (revision < 50)
            void store.commit({ conditions: [], operations: [{ type: 'put', key: 'k', value: new Uint8Array(1) }] })
        }
      },
      onGap() {},
      onEnd() {},
    })
  await store.commit({ conditions: [], operations: [{ type: 'put', key: 'k', value: new Uint8Array(1) }] })
  watch(0)
  await clock.settle()
  expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
})

it('lets timers and sockets be served between writes that wake each other, when it is given a way to defer', async () => {
  const store = createMemoryStore({ defer: (callback) => realClock.defer(callback) })
  const put = () => store.commit({ conditions: [], operations: [{ type: 'put', key: 'k', value: new Uint8Array(1) }] })
  let writes = 0
  let isServed = false
  const endless = async () => {
    for (; !isServed && writes < 100_000; writes++) await put()
  }
  realClock.setTimer(5, () => {
    isServed = true
  })
  await endless()
  expect(isServed).toBe(true)
})

it('reads a lazy value when somebody asks for it, and not before', async () => {
  const store = createMemoryStore()
  let reads = 0
  const token = {}
  const put = {
    type: 'put' as const,
    key: 'k',
    lazy: true,
    token,
    get value() {
      reads += 1
      return new Uint8Array([7])
    },
  }
  const seen: StoreEvent[] = []
  store.watch('', { after: 0, onEvents: (events) => seen.push(...events), onGap() {}, onEnd() {} })
  await store.commit({ conditions: [], operations: [put] })
  await store.commit({ conditions: [{ key: 'k', modRevision: 1 }], operations: [{ type: 'delete', key: 'k' }] })
  expect(seen.map(({ type, revision }) => [type, revision])).toEqual([
    ['put', 1],
    ['delete', 2],
  ])
  expect(seen[0]?.token).toBe(token)
  expect(reads).toBe(0)
  await store.commit({ conditions: [], operations: [put] })
  expect((await store.get('k'))?.value).toEqual(new Uint8Array([7]))
  expect(seen.map(({ value }) => value)).toEqual([7, 7, 7].map((each) => new Uint8Array([each])))
})

it('lets go of notes up to a revision, and of no entries', async () => {
  const store = createMemoryStore()
  for (const label of ['first', 'second', 'third']) {
    const operations = [{ type: 'put', key: label, value: new Uint8Array(1) }] as const
    await store.commit({ conditions: [], operations, note: Buffer.from(label) })
  }
  await store.forgetNotes(2)
  const notes = await store.notes({ limit: 10 })
  expect(notes.map(({ revision, note }) => `${revision} ${note}`)).toEqual(['3 third'])
  expect((await store.list('')).entries.map(({ key }) => key)).toEqual(['first', 'second', 'third'])
})
