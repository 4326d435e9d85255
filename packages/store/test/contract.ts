import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CompactedError,
  InvalidTransactionError,
  keyBytesMax,
  type NotesQuery,
  noteBytesMax,
  notesPageMax,
  type Operation,
  type SoleWriterStore,
  type Store,
  StoreClosedError,
  type StoreEvent,
  TransactionTooLargeError,
  valueBytesMax,
} from '../src/index.ts'
import { plainEntry } from './plain-entry.ts'

export interface StoreFactory<S extends Store = Store> {
  /** Opens an empty store. */
  open(): Promise<S>
  /** Runs after each test, with the stores closed. */
  cleanUp(): Promise<void>
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value)
export const put = (key: string, value = key): Operation => ({ type: 'put', key, value: bytes(value) })
/** A note of `length` bytes that begins with a text. */
export const noteOf = (label: string, length = label.length): Uint8Array => bytes(label.padEnd(length, '.'))
export const remove = (key: string): Operation => ({ type: 'delete', key })

/** Commits without conditions and returns the revision. */
export async function commit(store: Store, ...operations: Operation[]): Promise<number> {
  const result = await store.commit({ conditions: [], operations })
  if (!result.ok) throw new Error('a transaction without conditions was refused')
  return result.revision
}

/** An event in words, its revisions counted from `base`. */
export const describeEvent = (event: StoreEvent, base = 0): string => {
  const { type, key, value, revision, createRevision, previousRevision } = event
  const previous = previousRevision === 0 ? 0 : previousRevision - base
  return `${revision - base} ${type} ${key}=${text(value)} created ${createRevision - base} was ${previous}`
}

/**
 * Collects what a watch delivers. `until` resolves once it has delivered everything up to a revision, `over` when it is
 * over: with the error, or with undefined where the store's end had none.
 */
export function record(store: Store, prefix: string, after: number) {
  const events: StoreEvent[] = []
  const calls: (readonly StoreEvent[])[] = []
  const ends: Error[] = []
  const gaps: CompactedError[] = []
  let reached = after
  let wake = () => {}
  const over = Promise.withResolvers<Error>()
  const watch = store.watch(prefix, {
    after,
    onEvents(more) {
      calls.push(more)
      events.push(...more)
      reached = more.at(-1)?.revision ?? reached
      wake()
    },
    onProgress(revision) {
      reached = revision
      wake()
    },
    onGap(error) {
      gaps.push(error)
      over.resolve(error)
    },
    onEnd(error) {
      ends.push(error)
      over.resolve(error)
    },
  })
  const until = async (revision: number) => {
    watch.requestProgress(revision)
    while (reached < revision) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    events,
    calls,
    ends,
    gaps,
    over: over.promise,
    reached: () => reached,
    close: () => watch.close(),
    described: (base = 0) => events.map((event) => describeEvent(event, base)),
    until,
  }
}

/** The revision after which the store still has its whole history. */
export async function compactedRevision(store: Store): Promise<number> {
  const watch = record(store, '', 0)
  const latest = await store.latest()
  const gap = await Promise.race([watch.over, watch.until(latest)])
  watch.close()
  return gap instanceof CompactedError ? gap.compacted : 0
}

/** What every store promises, whatever it keeps its entries in and whoever else writes there. */
export function describeStore(name: string, factory: StoreFactory): void {
  describe(name, () => {
    let store: Store
    /** The revision of the store before the test: others may have written to it, if nothing that it shows. */
    let base: number

    beforeEach(async () => {
      store = await factory.open()
      base = await store.latest()
    })

    afterEach(async () => {
      await store.close()
      await factory.cleanUp()
    })

    describe('entries', () => {
      it('are none at first', async () => {
        expect(await store.get('a')).toBeUndefined()
        expect(await store.list('')).toEqual({ revision: base, entries: [] })
      })

      it('have the revisions of the transactions that created and last wrote them', async () => {
        expect(await commit(store, put('a', '1'))).toBe(base + 1)
        expect(await commit(store, put('b', '1'))).toBe(base + 2)
        expect(await commit(store, put('a', '2'))).toBe(base + 3)
        expect(plainEntry(await store.get('a'))).toEqual({
          key: 'a',
          value: bytes('2'),
          modRevision: base + 3,
          createRevision: base + 1,
        })
        expect(await store.latest()).toBe(base + 3)
      })

      it('count as created anew where the key was deleted and put again', async () => {
        await commit(store, put('a'))
        await commit(store, remove('a'))
        expect(await store.get('a')).toBeUndefined()
        await commit(store, put('a'))
        expect(await store.get('a')).toMatchObject({ createRevision: base + 3, modRevision: base + 3 })
      })

      it('keep any bytes, none and many included', async () => {
        const every = Uint8Array.from({ length: 256 }, (_, index) => index)
        const many = new Uint8Array(300_000).fill(0xff)
        const operations = Object.entries({ none: new Uint8Array(0), every, many }).map(
          ([key, value]): Operation => ({ type: 'put', key, value }),
        )
        await commit(store, ...operations)
        expect((await store.get('none'))?.value).toEqual(new Uint8Array(0))
        expect(Buffer.compare((await store.get('every'))?.value ?? many, every)).toBe(0)
        expect(Buffer.compare((await store.get('many'))?.value ?? every, many)).toBe(0)
        expect((await store.list('')).entries.map(({ value }) => value.length)).toEqual([256, 300_000, 0])
      })

      it('are listed under a prefix, without neighbours', async () => {
        await commit(store, put('/pods'), put('/pods/'), put('/pods/a'), put('/pods/b'), put('/podsx'), put('/pod/z'))
        const { revision, entries } = await store.list('/pods/')
        expect(entries.map(({ key }) => key)).toEqual(['/pods/', '/pods/a', '/pods/b'])
        expect(revision).toBe(base + 1)
        expect((await store.list('')).entries).toHaveLength(6)
        expect((await store.list('/none/')).entries).toEqual([])
      })

      it('are listed in pages of one revision, whatever changes between them', async () => {
        for (let index = 0; index < 7; index++) await commit(store, put(`a/${index}`))
        await commit(store, put('b'))
        const found: string[][] = []
        for await (const { revision, entries } of store.pages('a/', 3)) {
          expect(revision).toBe(base + 8)
          found.push(entries.map(({ key, value }) => `${key}=${text(value)}`))
          await commit(store, remove('a/5'), put('a/6', 'changed'), put(`a/9-${found.length}`))
        }
        expect(found).toEqual([['a/0=a/0', 'a/1=a/1', 'a/2=a/2'], ['a/3=a/3', 'a/4=a/4', 'a/5=a/5'], ['a/6=a/6']])
      })

      it('are listed in one empty page where there are none', async () => {
        const pages = []
        for await (const page of store.pages('a/', 3)) pages.push(page)
        expect(pages).toEqual([{ revision: base, entries: [] }])
      })

      it('are asked for by whole characters', async () => {
        const refused = new InvalidTransactionError('the prefix "a\\ud83d" has half a surrogate pair')
        await expect(store.list('a\ud83d')).rejects.toThrow(refused)
        expect(() => record(store, 'a\ud83d', base)).toThrow(refused)
        await expect(store.get('')).rejects.toThrow(new InvalidTransactionError('a key must not be empty'))
      })

      it('are in the order of the UTF-8 bytes of their keys, which JavaScript does not have', async () => {
        const ascending = [
          '!',
          'A',
          'a',
          'a\u0000',
          'a!',
          'é',
          '\u{d7ff}',
          '\ue000',
          '\uffff',
          '\u{10000}',
          '\u{10ffff}',
        ]
        expect([...ascending].sort()).not.toEqual(ascending)
        for (const key of [...ascending].reverse()) await commit(store, put(`k${key}`))
        expect((await store.list('k')).entries.map(({ key }) => key.slice(1))).toEqual(ascending)
        expect((await store.list('k\u{10ffff}')).entries).toHaveLength(1)
      })

      it('have keys up to a limit in bytes; the error names a longer one', async () => {
        const longest = 'é'.repeat(keyBytesMax / 2)
        await commit(store, put(longest, 'x'))
        expect(text((await store.get(longest))?.value)).toBe('x')
        expect((await store.list('é')).entries.map(({ key }) => key)).toEqual([longest])
        await expect(commit(store, put(`${longest}a`))).rejects.toThrow(/^the key "é+…" is longer than 1978 bytes$/)
      })
    })

    describe('transactions', () => {
      it('write when every condition holds', async () => {
        const first = await commit(store, put('a', '1'))
        const conditions = [
          { key: 'a', modRevision: first },
          { key: 'b', modRevision: 0 },
        ]
        expect(await store.commit({ conditions, operations: [put('a', '2'), put('b', '1')] })).toEqual({
          ok: true,
          revision: first + 1,
        })
        expect(text((await store.get('a'))?.value)).toBe('2')
      })

      it('write nothing when one does not, and tell what was found for each and when', async () => {
        const first = await commit(store, put('a', '1'))
        await commit(store, put('c'))
        const conditions = [
          { key: 'b', modRevision: 0 },
          { key: 'a', modRevision: first + 7 },
        ]
        const result = await store.commit({ conditions, operations: [put('a', '2'), put('b', '1')] })
        const found = { key: 'a', value: bytes('1'), modRevision: first, createRevision: first }
        if (result.ok) throw new Error('it was committed')
        expect(result.revision).toBe(first + 1)
        expect(result.current.map(plainEntry)).toEqual([undefined, found])
        expect(plainEntry(await store.get('a'))).toEqual(found)
        expect(await store.get('b')).toBeUndefined()
        expect(await store.latest()).toBe(first + 1)
      })

      it('tell at which revision a deleted key was found missing', async () => {
        const created = await commit(store, put('a'))
        const deleted = await commit(store, remove('a'))
        const conditions = [{ key: 'a', modRevision: created }]
        const result = await store.commit({ conditions, operations: [put('a', '2')] })
        expect(result).toEqual({ ok: false, revision: deleted, current: [undefined] })
      })

      it('may check keys they do not write', async () => {
        const lock = await commit(store, put('lock'))
        const conditions = [{ key: 'lock', modRevision: lock }]
        expect(await store.commit({ conditions, operations: [put('a')] })).toMatchObject({ ok: true })
        await commit(store, put('lock', 'taken'))
        expect(await store.commit({ conditions, operations: [put('b')] })).toMatchObject({ ok: false })
        expect(await store.get('b')).toBeUndefined()
      })

      it('let one of many who saw the same revision win', async () => {
        const first = await commit(store, put('a', '0'))
        const attempts = Array.from({ length: 20 }, (_, index) =>
          store.commit({ conditions: [{ key: 'a', modRevision: first }], operations: [put('a', `${index}`)] }),
        )
        const results = await Promise.all(attempts)
        const winner = results.findIndex(({ ok }) => ok)
        const written = await store.get('a')
        expect(written).toMatchObject({ modRevision: first + 1, value: bytes(`${winner}`) })
        for (const [index, result] of results.entries()) {
          if (index !== winner) expect(result).toEqual({ ok: false, revision: first + 1, current: [written] })
        }
        expect(await store.latest()).toBe(first + 1)
      })

      it.each([
        ['the same key twice', [put('a'), remove('a')], 'the key "a" appears in more than one operation'],
        ['an empty key', [put('')], 'a key must not be empty'],
        ['half a surrogate pair', [put('a\ud800')], 'the key "a\\ud800" has half a surrogate pair'],
      ] satisfies [string, Operation[], string][])('are refused with %s', async (_, operations, message) => {
        await expect(commit(store, ...operations)).rejects.toThrow(new InvalidTransactionError(message))
        expect(await store.latest()).toBe(base)
      })

      it('are refused with too large a value', async () => {
        const value = new Uint8Array(valueBytesMax + 1)
        const message = 'the value of "a" has 8388609 bytes, more than 8388608'
        await expect(commit(store, { type: 'put', key: 'a', value })).rejects.toThrow(
          new TransactionTooLargeError(message),
        )
        expect(await store.latest()).toBe(base)
      })
    })

    describe('watches', () => {
      it('deliver what changes under their prefix', async () => {
        const watch = record(store, 'a/', base)
        await commit(store, put('a/1', 'x'), put('b/1'))
        await commit(store, put('b/2'))
        await commit(store, put('a/1', 'y'))
        await commit(store, remove('a/1'))
        await watch.until(base + 4)
        expect(watch.described(base)).toEqual([
          '1 put a/1=x created 1 was 0',
          '3 put a/1=y created 1 was 1',
          '4 delete a/1=y created 1 was 3',
        ])
      })

      it('deliver a transaction whole, its changes in the order of its operations', async () => {
        const watch = record(store, '', base)
        await commit(store, put('c'), put('a'), put('b'))
        await watch.until(base + 1)
        expect(watch.calls.map((events) => events.map(({ key }) => key))).toEqual([['c', 'a', 'b']])
      })

      it('tell how far they are where nothing under their prefix changes', async () => {
        const live = record(store, 'a/', base)
        await commit(store, put('a/1'))
        await commit(store, put('b/1'))
        await commit(store, put('b/2'))
        await live.until(base + 3)
        expect(live.described(base)).toEqual(['1 put a/1=a/1 created 1 was 0'])
        const replaying = record(store, 'a/', base + 1)
        await replaying.until(base + 3)
        expect(replaying.events).toEqual([])
      })

      it('replay what came after their revision, then go on without gap or double', async () => {
        for (let index = 1; index <= 20; index++) await commit(store, put(`k${index}`))
        const watch = record(store, '', base + 5)
        // Some commits are under way when the watch starts, some come while it replays.
        const underWay = Array.from({ length: 10 }, (_, index) => commit(store, put(`m${index}`)))
        await Promise.all(underWay)
        for (let index = 0; index < 10; index++) await commit(store, put(`n${index}`))
        await watch.until(base + 40)
        expect(watch.events.map(({ revision }) => revision - base)).toEqual(
          Array.from({ length: 35 }, (_, index) => index + 6),
        )
      })

      it('start each exactly where it was asked, whenever it came', async () => {
        const watches: { after: number; watch: ReturnType<typeof record> }[] = []
        const commits: Promise<number>[] = []
        for (let index = 0; index < 60; index++) {
          commits.push(commit(store, put(`k${index}`)))
          if (index % 7 === 0) await commits.at(-1)
          const after = base + Math.floor(((await store.latest()) - base) / 2)
          watches.push({ after, watch: record(store, '', after) })
        }
        await Promise.all(commits)
        for (const { after, watch } of watches) {
          await watch.until(base + 60)
          const expected = Array.from({ length: base + 60 - after }, (_, index) => after + index + 1)
          expect(watch.events.map(({ revision }) => revision)).toEqual(expected)
        }
      })

      it('may start at a revision that is yet to come', async () => {
        const watch = record(store, '', base + 2)
        for (const key of ['a', 'b', 'c']) await commit(store, put(key))
        await watch.until(base + 3)
        expect(watch.described(base)).toEqual(['3 put c=c created 3 was 0'])
      })

      it('deliver in order even when one of them commits', async () => {
        const orders: number[][] = [[], []]
        const both = Promise.withResolvers<void>()
        let second: Promise<number> | undefined
        for (const order of orders) {
          store.watch('', {
            after: base,
            onEvents(events) {
              order.push(...events.map(({ revision }) => revision - base))
              second ??= commit(store, put('b'))
              if (orders.every(({ length }) => length === 2)) both.resolve()
            },
            onGap() {},
            onEnd() {},
          })
        }
        await commit(store, put('a'))
        await both.promise
        await second
        expect(orders).toEqual([
          [1, 2],
          [1, 2],
        ])
      })

      it('deliver nothing once closed', async () => {
        await commit(store, put('a'))
        const replaying = record(store, '', base)
        const live = record(store, '', base + 1)
        replaying.close()
        live.close()
        await commit(store, put('b'))
        const other = record(store, '', base)
        await other.until(base + 2)
        expect([replaying.events, live.events, replaying.ends, live.ends]).toEqual([[], [], [], []])
      })
    })

    describe('compaction', () => {
      it('forgets history, not entries; a watch from there ends at the gap', async () => {
        for (const key of ['a', 'b', 'c', 'd']) await commit(store, put(key))
        await store.compact(base + 2)
        expect((await store.list('')).entries).toHaveLength(4)
        const late = record(store, '', base + 1)
        expect(await late.over).toEqual(new CompactedError(base + 1, base + 2))
        expect([late.events, late.ends, late.gaps.length]).toEqual([[], [], 1])
        const watch = record(store, '', base + 2)
        await watch.until(base + 4)
        expect(watch.events.map(({ key }) => key)).toEqual(['c', 'd'])
      })

      it('may take all history there is, and does not bring back what it took before', async () => {
        await commit(store, put('a'))
        await commit(store, put('b'))
        await store.compact(base + 2)
        await store.compact(base + 1)
        expect(await record(store, '', base + 1).over).toEqual(new CompactedError(base + 1, base + 2))
        const watch = record(store, '', base + 2)
        const next = await commit(store, put('c'))
        await watch.until(next)
        expect(watch.events.map(({ revision }) => revision)).toEqual([next])
      })

      it('is refused for a revision that is yet to come', async () => {
        await commit(store, put('a'))
        const message = `revision ${base + 2} is yet to come; the last is ${base + 1}`
        await expect(store.compact(base + 2)).rejects.toThrow(new RangeError(message))
      })
    })

    describe('notes', () => {
      const noted = async (label: string, ...operations: Operation[]) => {
        const result = await store.commit({ conditions: [], operations, note: noteOf(label) })
        return result.revision
      }
      const shown = async (query: NotesQuery) =>
        (await store.notes(query)).map(({ revision, note }) => `${revision - base} ${text(note)}`)

      it('are kept under the revision of their transaction, and read newest first', async () => {
        expect(await store.notes({ limit: 10 })).toEqual([])
        await noted('first', put('a'), put('b'))
        await commit(store, put('c'))
        await noted('third', remove('a'))
        expect(await shown({ limit: 10 })).toEqual(['3 third', '1 first'])
        expect(await shown({ limit: 1 })).toEqual(['3 third'])
        expect(await shown({ limit: 10, before: base + 3 })).toEqual(['1 first'])
        expect(await shown({ limit: 1, before: base + 4 })).toEqual(['3 third'])
        expect(await shown({ limit: 10, before: base + 1 })).toEqual([])
      })

      it('are no entries and no changes of any key', async () => {
        const watch = record(store, '', base)
        const revision = await noted('why', put('a'))
        await watch.until(revision)
        expect(watch.events.map(({ key }) => key)).toEqual(['a'])
        expect((await store.list('')).entries.map(({ key }) => key)).toEqual(['a'])
      })

      it('come with no transaction that is refused', async () => {
        await noted('first', put('a'))
        const conditions = [{ key: 'a', modRevision: 0 }]
        await store.commit({ conditions, operations: [put('a', 'other')], note: noteOf('second') })
        expect(await shown({ limit: 10 })).toEqual(['1 first'])
      })

      it('outlive the history', async () => {
        const revision = await noted('first', put('a'))
        await store.compact(revision)
        expect(await shown({ limit: 10 })).toEqual(['1 first'])
      })

      it('are bounded in length and asked for in pages; the errors tell the bounds', async () => {
        const note = new Uint8Array(noteBytesMax + 1)
        await expect(store.commit({ conditions: [], operations: [put('a')], note })).rejects.toThrow(
          new InvalidTransactionError(`the note has ${noteBytesMax + 1} bytes, more than ${noteBytesMax}`),
        )
        await store.commit({ conditions: [], operations: [put('a')], note: note.subarray(1) })
        expect((await store.notes({ limit: notesPageMax }))[0]?.note).toHaveLength(noteBytesMax)
        for (const limit of [0, notesPageMax + 1]) {
          await expect(store.notes({ limit })).rejects.toThrow(
            new InvalidTransactionError(`between 1 and ${notesPageMax} notes may be asked for at once, not ${limit}`),
          )
        }
      })

      it('are found in order however many write at once', async () => {
        const labels = Array.from({ length: 60 }, (_, index) => `note ${index}`)
        const revisions = await Promise.all(labels.map((label) => noted(label, put(label))))
        const expected = new Map(revisions.map((revision, index) => [revision, labels[index]]))
        const notes = await store.notes({ limit: 100 })
        expect(notes.map(({ revision }) => revision)).toEqual(revisions.toSorted((a, b) => b - a))
        for (const { revision, note } of notes) expect(text(note)).toBe(expected.get(revision))
      })
    })

    describe('closing', () => {
      it('carries out what was committed, tells watches, then refuses every call', async () => {
        const watch = record(store, '', base)
        const last = commit(store, put('a'))
        await store.close()
        expect(await last).toBe(base + 1)
        expect(watch.ends).toEqual([new StoreClosedError()])
        await expect((async () => store.latest())()).rejects.toThrow(StoreClosedError)
        await expect(store.get('a')).rejects.toThrow(StoreClosedError)
        await expect(store.list('')).rejects.toThrow(StoreClosedError)
        await expect(store.pages('', 1)[Symbol.asyncIterator]().next()).rejects.toThrow(StoreClosedError)
        await expect(commit(store, put('b'))).rejects.toThrow(StoreClosedError)
        await expect(store.compact(1)).rejects.toThrow(StoreClosedError)
        await expect(store.notes({ limit: 1 })).rejects.toThrow(StoreClosedError)
        await expect(store.forgetNotes(1)).rejects.toThrow(StoreClosedError)
        expect(() => record(store, '', base)).toThrow(StoreClosedError)
      })

      it('may happen twice', async () => {
        await Promise.all([store.close(), store.close()])
        await store.close()
      })
    })
  })
}

export interface SoleWriterStoreFactory extends StoreFactory<SoleWriterStore> {
  /** Opens an empty store that keeps `historyMax` revisions, its default when that is not given. */
  open(options?: { readonly historyMax?: number }): Promise<SoleWriterStore>
}

/** What a store promises beyond that where nobody else writes to it. */
export function describeSoleWriterStore(name: string, factory: SoleWriterStoreFactory): void {
  describe(`${name}, with nobody else writing`, () => {
    let store: SoleWriterStore

    beforeEach(async () => {
      store = await factory.open()
    })

    afterEach(async () => {
      await store.close()
      await factory.cleanUp()
    })

    const reopenWith = async (options: { readonly historyMax: number }) => {
      await store.close()
      await factory.cleanUp()
      store = await factory.open(options)
    }

    it('starts at revision 0, and says so without being waited for', () => {
      expect([store.shared, store.latest()]).toEqual([false, 0])
    })

    it('judges conditions by the order of the calls, acknowledged or not', async () => {
      const results = await Promise.all([
        store.commit({ conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a')] }),
        store.commit({ conditions: [{ key: 'a', modRevision: 1 }], operations: [remove('a')] }),
        store.commit({ conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a')] }),
        store.commit({ conditions: [{ key: 'a', modRevision: 3 }], operations: [put('b')] }),
      ])
      expect(results).toEqual([1, 2, 3, 4].map((revision) => ({ ok: true, revision })))
    })

    it('shows watches a transaction before it is acknowledged, and before `latest` tells of it', async () => {
      const latest: number[] = []
      store.watch('', {
        after: 0,
        onEvents: ([event]) => latest.push(store.latest(), event?.revision ?? 0),
        onGap() {},
        onEnd() {},
      })
      const watch = record(store, 'a', 0)
      expect(await commit(store, put('a'))).toBe(1)
      expect([watch.described(), store.latest()]).toEqual([['1 put a=a created 1 was 0'], 1])
      expect(await commit(store, put('b'))).toBe(2)
      expect(watch.reached()).toBe(2)
      expect(latest).toEqual([1, 1, 2, 2])
    })

    it('shows a watch what a conflict revealed before the conflict is told', async () => {
      const watch = record(store, '', 0)
      const winner = store.commit({ conditions: [], operations: [put('a')] })
      const loser = await store.commit({ conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a')] })
      expect(loser).toMatchObject({ ok: false, revision: 1 })
      expect(store.latest()).toBe(1)
      expect(watch.described()).toEqual(['1 put a=a created 1 was 0'])
      expect(await winner).toEqual({ ok: true, revision: 1 })
    })

    it('takes a revision for a transaction that changes nothing', async () => {
      expect(await commit(store)).toBe(1)
      expect(await commit(store, remove('none'))).toBe(2)
      const watch = record(store, '', 0)
      expect(await commit(store, put('a'))).toBe(3)
      await watch.until(3)
      expect(watch.described()).toEqual(['3 put a=a created 3 was 0'])
    })

    it('keeps as many revisions as asked', async () => {
      await reopenWith({ historyMax: 3 })
      for (let index = 1; index <= 10; index++) await commit(store, put(`k${index}`))
      expect(await record(store, '', 6).over).toEqual(new CompactedError(6, 7))
      const watch = record(store, '', 7)
      await watch.until(10)
      expect(watch.events.map(({ revision }) => revision)).toEqual([8, 9, 10])
    })

    it('gives with a change the value before it where history may soon not have that', async () => {
      await reopenWith({ historyMax: 10 })
      const watch = record(store, '', 0)
      await commit(store, put('old', 'old 1'), put('compacted', 'compacted 1'))
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'recent']) await commit(store, put(key))
      await commit(store, put('old', 'old 2'), put('recent', 'recent 2'), put('new'))
      await store.compact(await commit(store, put('last')))
      await commit(store, put('compacted', 'compacted 2'), put('last', 'last 2'))
      await commit(store, put('last', 'last 3'), remove('old'))
      const carried = watch.events
        .filter(({ previousValue }) => previousValue !== undefined)
        .map(({ key, value, previousValue }) => `${key}: ${text(previousValue)} > ${text(value)}`)
      expect(carried).toEqual(['old: old 1 > old 2', 'compacted: compacted 1 > compacted 2', 'last: last > last 2'])
    })

    it('is refused less than no history', async () => {
      await expect(reopenWith({ historyMax: -1 })).rejects.toThrow('historyMax is not a count: -1')
    })

    it('keeps nothing when asked for nothing, and still serves watches that follow', async () => {
      await reopenWith({ historyMax: 0 })
      const watch = record(store, '', 0)
      for (const key of ['a', 'b']) await commit(store, put(key))
      expect(watch.events.map(({ revision }) => revision)).toEqual([1, 2])
      expect(await compactedRevision(store)).toBe(2)
    })

    it('delivers what was committed when it is closed', async () => {
      const watch = record(store, '', 0)
      const last = commit(store, put('a'))
      await store.close()
      expect(await last).toBe(1)
      expect(watch.events).toHaveLength(1)
    })
  })
}
