import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CompactedError,
  InvalidTransactionError,
  keyBytesMax,
  type Operation,
  type Store,
  StoreClosedError,
  type StoreEvent,
  valueBytesMax,
} from '../src/index.ts'

export interface StoreFactory {
  /** Opens an empty store that keeps `historyMax` revisions, its default when that is not given. */
  open(options?: { readonly historyMax?: number }): Promise<Store>
  /** Runs after each test, with the stores closed. */
  cleanUp(): Promise<void>
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value)
export const put = (key: string, value = key): Operation => ({ type: 'put', key, value: bytes(value) })
export const remove = (key: string): Operation => ({ type: 'delete', key })

/** Commits without conditions and returns the revision. */
export async function commit(store: Store, ...operations: Operation[]): Promise<number> {
  const result = await store.commit({ conditions: [], operations })
  if (!result.ok) throw new Error('a transaction without conditions was refused')
  return result.revision
}

export const describeEvent = (event: StoreEvent): string =>
  `${event.revision} ${event.type} ${event.key}=${text(event.value)} created ${event.createRevision} was ${event.previousRevision}`

/** Collects what a watch delivers; `until` resolves once it has delivered that revision. */
export function record(store: Store, prefix: string, after: number) {
  const events: StoreEvent[] = []
  const calls: (readonly StoreEvent[])[] = []
  const ends: Error[] = []
  let wake = () => {}
  const watch = store.watch(prefix, {
    after,
    onEvents(more) {
      calls.push(more)
      events.push(...more)
      wake()
    },
    onEnd(error) {
      ends.push(error)
    },
  })
  const until = async (revision: number) => {
    while ((events.at(-1)?.revision ?? 0) < revision) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    events,
    calls,
    ends,
    close: () => watch.close(),
    described: () => events.map(describeEvent),
    until,
  }
}

/** What every store promises, whatever it keeps its entries in. */
export function describeStore(name: string, factory: StoreFactory): void {
  describe(name, () => {
    let store: Store

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

    describe('entries', () => {
      it('starts empty at revision 0', async () => {
        expect(store.revision).toBe(0)
        expect(store.compactedRevision).toBe(0)
        expect(await store.get('a')).toBeUndefined()
        expect(await store.list('')).toEqual({ revision: 0, entries: [] })
      })

      it('gives each transaction the next revision, and an entry those that created and last wrote it', async () => {
        expect(await commit(store, put('a', '1'))).toBe(1)
        expect(await commit(store, put('b', '1'))).toBe(2)
        expect(await commit(store, put('a', '2'))).toBe(3)
        expect(await store.get('a')).toEqual({ key: 'a', value: bytes('2'), modRevision: 3, createRevision: 1 })
        expect(store.revision).toBe(3)
      })

      it('counts a key that was deleted and put again as created anew', async () => {
        await commit(store, put('a'))
        await commit(store, remove('a'))
        expect(await store.get('a')).toBeUndefined()
        await commit(store, put('a'))
        expect(await store.get('a')).toMatchObject({ createRevision: 3, modRevision: 3 })
      })

      it('keeps any bytes, none and many included', async () => {
        const every = Uint8Array.from({ length: 256 }, (_, index) => index)
        const many = new Uint8Array(300_000).fill(0xff)
        const operations = Object.entries({ none: new Uint8Array(0), every, many }).map(
          ([key, value]): Operation => ({ type: 'put', key, value }),
        )
        await commit(store, ...operations)
        expect((await store.get('none'))?.value).toEqual(new Uint8Array(0))
        expect((await store.get('every'))?.value).toEqual(every)
        expect(Buffer.compare((await store.get('many'))?.value ?? every, many)).toBe(0)
        expect((await store.list('')).entries.map(({ value }) => value.length)).toEqual([256, 300_000, 0])
      })

      it('lists the entries under a prefix, and no neighbours', async () => {
        await commit(store, put('/pods'), put('/pods/'), put('/pods/a'), put('/pods/b'), put('/podsx'), put('/pod/z'))
        const { revision, entries } = await store.list('/pods/')
        expect(entries.map(({ key }) => key)).toEqual(['/pods/', '/pods/a', '/pods/b'])
        expect(revision).toBe(1)
        expect((await store.list('')).entries).toHaveLength(6)
        expect((await store.list('/none/')).entries).toEqual([])
      })

      it('orders keys by their UTF-8 bytes, which JavaScript does not', async () => {
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

      it('takes a key up to its limit in bytes and names a longer one as the error', async () => {
        const longest = 'é'.repeat(keyBytesMax / 2)
        await commit(store, put(longest, 'x'))
        expect(text((await store.get(longest))?.value)).toBe('x')
        expect((await store.list('é')).entries.map(({ key }) => key)).toEqual([longest])
        await expect(commit(store, put(`${longest}a`))).rejects.toThrow(/^the key "é+…" is longer than 1978 bytes$/)
      })
    })

    describe('transactions', () => {
      it('writes when every condition holds', async () => {
        await commit(store, put('a', '1'))
        const conditions = [
          { key: 'a', modRevision: 1 },
          { key: 'b', modRevision: 0 },
        ]
        expect(await store.commit({ conditions, operations: [put('a', '2'), put('b', '1')] })).toEqual({
          ok: true,
          revision: 2,
        })
        expect(text((await store.get('a'))?.value)).toBe('2')
      })

      it('writes nothing when one does not, and returns what it found for each', async () => {
        await commit(store, put('a', '1'))
        const conditions = [
          { key: 'b', modRevision: 0 },
          { key: 'a', modRevision: 7 },
        ]
        const result = await store.commit({ conditions, operations: [put('a', '2'), put('b', '1')] })
        const found = { key: 'a', value: bytes('1'), modRevision: 1, createRevision: 1 }
        expect(result).toEqual({ ok: false, current: [undefined, found] })
        expect(await store.get('a')).toEqual(found)
        expect(await store.get('b')).toBeUndefined()
        expect(store.revision).toBe(1)
      })

      it('lets one of many who saw the same revision win', async () => {
        await commit(store, put('a', '0'))
        const attempts = Array.from({ length: 20 }, (_, index) =>
          store.commit({ conditions: [{ key: 'a', modRevision: 1 }], operations: [put('a', `${index}`)] }),
        )
        const results = await Promise.all(attempts)
        expect(results.map(({ ok }) => ok)).toEqual([true, ...Array.from({ length: 19 }, () => false)])
        expect(results[19]).toEqual({ ok: false, current: [await store.get('a')] })
        expect(text((await store.get('a'))?.value)).toBe('0')
        expect(store.revision).toBe(2)
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

      it('shows a watch what a conflict revealed before the conflict is told', async () => {
        const watch = record(store, '', 0)
        const winner = store.commit({ conditions: [], operations: [put('a')] })
        const loser = await store.commit({ conditions: [{ key: 'a', modRevision: 0 }], operations: [put('a')] })
        expect(loser.ok).toBe(false)
        expect(store.revision).toBe(1)
        expect(watch.described()).toEqual(['1 put a=a created 1 was 0'])
        expect(await winner).toEqual({ ok: true, revision: 1 })
      })

      it('takes a revision for one that changes nothing', async () => {
        expect(await commit(store)).toBe(1)
        expect(await commit(store, remove('none'))).toBe(2)
        const watch = record(store, '', 0)
        expect(await commit(store, put('a'))).toBe(3)
        await watch.until(3)
        expect(watch.described()).toEqual(['3 put a=a created 3 was 0'])
      })

      it.each([
        ['the same key twice', [put('a'), remove('a')], 'the key "a" appears in more than one operation'],
        ['an empty key', [put('')], 'a key must not be empty'],
        ['half a surrogate pair', [put('a\ud800')], 'the key "a\\ud800" has half a surrogate pair'],
        [
          'too large a value',
          [{ type: 'put', key: 'a', value: new Uint8Array(valueBytesMax + 1) }],
          'the value of "a" has 8388609 bytes, more than 8388608',
        ],
      ] satisfies [string, Operation[], string][])('refuses %s', async (_, operations, message) => {
        await expect(commit(store, ...operations)).rejects.toThrow(new InvalidTransactionError(message))
        expect(store.revision).toBe(0)
      })
    })

    describe('watches', () => {
      it('delivers what changes under its prefix, before the commit is acknowledged', async () => {
        const watch = record(store, 'a/', 0)
        await commit(store, put('a/1', 'x'), put('b/1'))
        expect(watch.described()).toEqual(['1 put a/1=x created 1 was 0'])
        await commit(store, put('b/2'))
        await commit(store, put('a/1', 'y'))
        await commit(store, remove('a/1'))
        expect(watch.described()).toEqual([
          '1 put a/1=x created 1 was 0',
          '3 put a/1=y created 1 was 1',
          '4 delete a/1=y created 1 was 3',
        ])
      })

      it('delivers a transaction whole, its changes in the order of its operations', async () => {
        const watch = record(store, '', 0)
        await commit(store, put('c'), put('a'), put('b'))
        expect(watch.calls.map((events) => events.map(({ key }) => key))).toEqual([['c', 'a', 'b']])
      })

      it('replays what came after its revision, then goes on without gap or double', async () => {
        for (let index = 1; index <= 20; index++) await commit(store, put(`k${index}`))
        const watch = record(store, '', 5)
        // Some commits are under way when the watch starts, some come while it replays.
        const underWay = Array.from({ length: 10 }, (_, index) => commit(store, put(`m${index}`)))
        await Promise.all(underWay)
        for (let index = 0; index < 10; index++) await commit(store, put(`n${index}`))
        await watch.until(40)
        expect(watch.events.map(({ revision }) => revision)).toEqual(
          Array.from({ length: 35 }, (_, index) => index + 6),
        )
      })

      it('starts each of many watches exactly where it asked, whenever it came', async () => {
        const watches: { after: number; watch: ReturnType<typeof record> }[] = []
        const commits: Promise<number>[] = []
        for (let index = 0; index < 60; index++) {
          commits.push(commit(store, put(`k${index}`)))
          if (index % 7 === 0) await commits.at(-1)
          const after = Math.floor(store.revision / 2)
          watches.push({ after, watch: record(store, '', after) })
        }
        await Promise.all(commits)
        for (const { after, watch } of watches) {
          await watch.until(60)
          const expected = Array.from({ length: 60 - after }, (_, index) => after + index + 1)
          expect(watch.events.map(({ revision }) => revision)).toEqual(expected)
        }
      })

      it('may start at a revision that is yet to come', async () => {
        const watch = record(store, '', 2)
        for (const key of ['a', 'b', 'c']) await commit(store, put(key))
        expect(watch.described()).toEqual(['3 put c=c created 3 was 0'])
      })

      it('delivers in order even when a watch commits', async () => {
        const orders: number[][] = [[], []]
        let second: Promise<number> | undefined
        for (const order of orders) {
          store.watch('', {
            after: 0,
            onEvents(events) {
              order.push(...events.map(({ revision }) => revision))
              second ??= commit(store, put('b'))
            },
            onEnd() {},
          })
        }
        await commit(store, put('a'))
        await second
        expect(orders).toEqual([
          [1, 2],
          [1, 2],
        ])
      })

      it('delivers nothing once closed', async () => {
        await commit(store, put('a'))
        const replaying = record(store, '', 0)
        const live = record(store, '', 1)
        replaying.close()
        live.close()
        await commit(store, put('b'))
        const other = record(store, '', 0)
        await other.until(2)
        expect([replaying.events, live.events, replaying.ends, live.ends]).toEqual([[], [], [], []])
      })
    })

    describe('compaction', () => {
      it('forgets history, not entries', async () => {
        for (const key of ['a', 'b', 'c', 'd']) await commit(store, put(key))
        await store.compact(2)
        expect(store.compactedRevision).toBe(2)
        expect((await store.list('')).entries).toHaveLength(4)
        expect(() => record(store, '', 1)).toThrow(new CompactedError(1, 2))
        const watch = record(store, '', 2)
        await watch.until(4)
        expect(watch.events.map(({ key }) => key)).toEqual(['c', 'd'])
      })

      it('may take all history there is, and go back no further than before', async () => {
        await commit(store, put('a'))
        await commit(store, put('b'))
        await store.compact(2)
        await store.compact(1)
        expect(store.compactedRevision).toBe(2)
        const watch = record(store, '', 2)
        await commit(store, put('c'))
        expect(watch.events.map(({ revision }) => revision)).toEqual([3])
      })

      it('refuses a revision that is yet to come', async () => {
        await commit(store, put('a'))
        await expect(store.compact(2)).rejects.toThrow('revision 2 is yet to come; the last is 1')
      })

      it('keeps as many revisions as asked', async () => {
        await reopenWith({ historyMax: 3 })
        for (let index = 1; index <= 10; index++) await commit(store, put(`k${index}`))
        expect(store.compactedRevision).toBe(7)
        expect(() => record(store, '', 6)).toThrow(CompactedError)
        const watch = record(store, '', 7)
        await watch.until(10)
        expect(watch.events.map(({ revision }) => revision)).toEqual([8, 9, 10])
      })

      it('keeps nothing when asked for nothing, and still serves watches that follow', async () => {
        await reopenWith({ historyMax: 0 })
        const watch = record(store, '', 0)
        for (const key of ['a', 'b']) await commit(store, put(key))
        expect(watch.events.map(({ revision }) => revision)).toEqual([1, 2])
        expect(store.compactedRevision).toBe(2)
      })
    })

    describe('closing', () => {
      it('carries out what was committed, tells watches, then refuses every call', async () => {
        const watch = record(store, '', 0)
        const last = commit(store, put('a'))
        await store.close()
        expect(await last).toBe(1)
        expect(watch.events).toHaveLength(1)
        expect(watch.ends).toEqual([new StoreClosedError()])
        await expect(store.get('a')).rejects.toThrow(StoreClosedError)
        await expect(store.list('')).rejects.toThrow(StoreClosedError)
        await expect(commit(store, put('b'))).rejects.toThrow(StoreClosedError)
        await expect(store.compact(1)).rejects.toThrow(StoreClosedError)
        expect(() => record(store, '', 0)).toThrow(StoreClosedError)
      })

      it('may happen twice', async () => {
        await Promise.all([store.close(), store.close()])
        await store.close()
      })
    })
  })
}
