import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, createLogger, realClock, realRandom, virtualEnvironment } from '@coracle/environment'
import { open } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CompactedError,
  DirectoryInUseError,
  type LmdbStoreOptions,
  openLmdbStore,
  type Store,
  StoreDamagedError,
  UnknownFormatError,
} from '../src/index.ts'
import { bytes, commit, compactedRevision, describeEvent, put, record, remove } from './contract.ts'
import { plainEntry } from './plain-entry.ts'
import { temporaryDirectory } from './temporary-directory.ts'

describe('LMDB store', () => {
  let directory: ReturnType<typeof temporaryDirectory>
  let opened: Store[]

  beforeEach(() => {
    directory = temporaryDirectory()
    opened = []
  })

  afterEach(async () => {
    for (const store of opened) await store.close()
    directory.remove()
  })

  const openStore = async (options: Omit<LmdbStoreOptions, 'directory'> = {}) => {
    const store = await openLmdbStore({ directory: directory.path, ...options })
    opened.push(store)
    return store
  }

  /** A store that starts on the disk, and reads history for watches, only when the test runs a turn. */
  const openHeld = async () => {
    const turns: (() => void)[] = []
    const { clock, random, logger } = virtualEnvironment()
    const held: Clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
      defer: (callback) => turns.push(callback),
      hold: (work) => work,
      catchUp: () => undefined,
    }
    const store = await openLmdbStore({ directory: directory.path, environment: { clock: held, random, logger } })
    opened.push(store)
    return { store, turns }
  }

  /** Resolves when the tables have what the journal has: a list is answered from them alone. */
  const writtenBehind = (store: Store) => store.list('')

  it('is as it was after closing and opening again', async () => {
    const store = await openStore()
    await commit(store, put('a', '1'), put('b', '1'))
    await commit(store, put('a', '2'))
    await commit(store, remove('b'))
    const before = await store.list('')
    await store.close()

    const again = await openStore()
    expect([again.latest(), await compactedRevision(again)]).toEqual([3, 0])
    expect(await again.list('')).toEqual(before)
    expect(await commit(again, put('b', '2'))).toBe(4)
    expect(await again.get('b')).toMatchObject({ createRevision: 4 })
  })

  it('lets a watch resume from a revision before the restart', async () => {
    const store = await openStore()
    const watch = record(store, '', 0)
    for (const key of ['a', 'b', 'c']) await commit(store, put(key))
    await commit(store, remove('a'), put('b', 'new'))
    await store.close()

    const again = await openStore()
    const resumed = record(again, '', 2)
    await commit(again, put('d'))
    await resumed.until(5)
    expect(resumed.described().slice(0, 3)).toEqual(watch.events.slice(2).map((event) => describeEvent(event)))
    expect(resumed.described()[3]).toBe('5 put d=d created 5 was 0')
  })

  it('remembers what was compacted', async () => {
    const store = await openStore()
    for (const key of ['a', 'b', 'c', 'd']) await commit(store, put(key))
    await store.compact(3)
    await store.close()

    const again = await openStore()
    expect(await record(again, '', 2).over).toEqual(new CompactedError(2, 3))
  })

  it('begins after the revision it is told to, with nothing before it to watch', async () => {
    const store = await openStore({ firstAfter: 1000 })
    expect([store.latest(), await compactedRevision(store)]).toEqual([1000, 1000])
    expect(await commit(store, put('a'))).toBe(1001)
    await store.close()
    const again = await openStore({ firstAfter: 5000 })
    expect([again.latest(), await compactedRevision(again)]).toEqual([1001, 1000])
    const watch = record(again, '', 1000)
    await watch.until(1001)
    expect(watch.described()).toEqual(['1001 put a=a created 1001 was 0'])
  })

  it('compacts within transactions that shared a disk transaction', async () => {
    const store = await openStore()
    await Promise.all(Array.from({ length: 20 }, (_, index) => commit(store, put(`k${index}`))))
    await store.compact(12)
    await store.close()

    const again = await openStore()
    const watch = record(again, '', 12)
    await watch.until(20)
    expect(watch.events.map(({ revision }) => revision)).toEqual([13, 14, 15, 16, 17, 18, 19, 20])
  })

  it('ends a watch whose replay is overtaken by compaction', async () => {
    // What is written before a restart is a stretch of the log, which a watch replays in one turn.
    for (let index = 0; index < 5; index++) {
      const before = await openStore()
      await commit(before, put(`k${index}`))
      await before.close()
    }

    const { store, turns } = await openHeld()
    const watch = record(store, '', 0)
    const readFirst = turns.shift()
    readFirst?.()
    const readSecond = turns.shift()
    const compacted = store.compact(3)
    turns.shift()?.()
    await compacted
    readSecond?.()
    expect(watch.events.map(({ revision }) => revision)).toEqual([1])
    expect(watch.gaps).toEqual([new CompactedError(1, 3)])
    expect(turns).toEqual([])
  })

  it('does not grow with writes that replace each other', async () => {
    const store = await openStore({ historyMax: 10 })
    const write = async (count: number) => {
      const value = new Uint8Array(2000)
      for (let index = 0; index < count; index++) {
        await store.commit({ conditions: [], operations: [{ type: 'put', key: `k${index % 5}`, value }] })
        if (index % 10 === 9) await writtenBehind(store)
      }
      return statSync(join(directory.path, 'data.mdb')).size
    }
    const settled = await write(100)
    expect(await write(300)).toBeLessThan(settled * 1.5)
  })

  it('shows a transaction to nobody before the disk has it', async () => {
    const { store, turns } = await openHeld()
    const watch = record(store, '', 0)
    const committed = commit(store, put('a'))
    let told = false
    const conditions = [{ key: 'a', modRevision: 0 }]
    const conflict = store.commit({ conditions, operations: [] }).finally(() => {
      told = true
    })
    for (let hop = 0; hop < 50; hop++) await Promise.resolve()
    expect([store.latest(), await store.get('a'), watch.events, told]).toEqual([0, undefined, [], false])
    expect(await store.list('')).toEqual({ revision: 0, entries: [] })

    turns.shift()?.()
    expect(await committed).toBe(1)
    expect(watch.events).toHaveLength(1)
    expect(await conflict).toMatchObject({ ok: false, current: [{ key: 'a', modRevision: 1 }] })
  })

  it('judges by what was on its way while it was listed', async () => {
    const { store, turns } = await openHeld()
    const committed = commit(store, put('a/x'), put('a/y'))
    turns.shift()?.()
    await committed
    await store.list('elsewhere')
    const changes = [commit(store, put('b/z')), commit(store, remove('b/z')), commit(store, put('a/z'), remove('a/y'))]
    for (const prefix of ['a/', 'b/', '']) await store.list(prefix)
    const create = (key: string) =>
      store.commit({ conditions: [{ key, modRevision: 0 }], operations: [put(key)] }).then(({ ok }) => ok)
    const created = Promise.all(['a/x', 'a/y', 'a/z', 'b/z'].map(create))
    turns.shift()?.()
    await Promise.all(changes)
    expect(await created).toEqual([false, true, false, true])
  })

  it('creates nothing twice, whenever it is listed', async () => {
    const store = await openStore()
    const create = (key: string) =>
      store.commit({ conditions: [{ key, modRevision: 0 }], operations: [put(key)] }).then(({ ok }) => ok)
    const twice: string[] = []
    for (let round = 0; round < 40; round++) {
      const keys = Array.from({ length: 12 }, (_, index) => `${round}/${index}`)
      const listed = commit(store, put('other')).then(() => store.list(`${round}/`))
      for (const key of keys) expect(await create(key)).toBe(true)
      await listed
      for (const key of keys) if (await create(key)) twice.push(key)
    }
    expect(twice).toEqual([])
  })

  it('judges by the newest of several changes that are on their way in different disk transactions', async () => {
    const { store, turns } = await openHeld()
    const first = commit(store, put('a', '1'))
    turns.shift()?.()
    const second = commit(store, put('a', '2'))
    expect(await first).toBe(1)
    expect(store.latest()).toBe(1)
    const third = store.commit({ conditions: [{ key: 'a', modRevision: 2 }], operations: [put('a', '3')] })
    turns.shift()?.()
    expect(await second).toBe(2)
    expect(await third).toEqual({ ok: true, revision: 3 })
    expect(await store.get('a')).toMatchObject({ value: bytes('3'), modRevision: 3, createRevision: 1 })
  })

  it('loses nothing of many journals full of writes', async () => {
    const store = await openStore()
    const value = new Uint8Array(100_000)
    const watch = record(store, '', 0)
    const write = async (writer: number) => {
      for (let count = 0; count < 60; count++) {
        const key = `${writer}/${count % 20}`
        value[0] = count
        await store.commit({ conditions: [], operations: [{ type: 'put', key, value: Uint8Array.from(value) }] })
        if (count % 7 === 0) expect((await store.get(key))?.value[0]).toBe(count)
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(write))
    expect(watch.events.map(({ revision }) => revision)).toEqual(Array.from({ length: 480 }, (_, index) => index + 1))
    const before = await store.list('')
    await store.close()

    const again = await openStore()
    expect(again.latest()).toBe(480)
    const after = await again.list('')
    expect(after.entries.map(({ key, value }) => [key, value[0]])).toEqual(
      before.entries.map(({ key, value }) => [key, value[0]]),
    )
    expect(after.entries).toHaveLength(160)
    expect(new Set(after.entries.map(({ value }) => value[0]))).toEqual(
      new Set(Array.from({ length: 20 }, (_, index) => index + 40)),
    )
  })

  it('makes its directory for its owner alone', async () => {
    const path = join(directory.path, 'deep', 'state')
    opened.push(await openLmdbStore({ directory: path }))
    expect(statSync(path).mode & 0o777).toBe(0o700)
  })

  it('refuses a directory that a living process has, naming it', async () => {
    await openStore()
    const refused = new DirectoryInUseError(directory.path, { pid: process.pid })
    await expect(openStore()).rejects.toThrow(refused)
    expect(refused.message).toMatch(`is in use by process ${process.pid}`)
  })

  it('leaves no lock behind when closed', async () => {
    const store = await openStore()
    await store.close()
    expect(readdirSync(directory.path).sort()).toEqual([
      'coracle.lock',
      'data.mdb',
      'journal-0',
      'journal-1',
      'journal-mark',
      'lock.mdb',
    ])
  })

  describe('with damaged files', () => {
    const dataFile = () => join(directory.path, 'data.mdb')
    /** A store that has been used, and closed. */
    const leave = async () => {
      const store = await openStore({ historyMax: 5 })
      const value = new Uint8Array(5000)
      for (let count = 0; count < 50; count++) {
        await store.commit({ conditions: [], operations: [{ type: 'put', key: `k${count}`, value }] })
        if (count % 10 === 9) await writtenBehind(store)
      }
      await store.close()
    }

    it.each([
      ['a data file that is cut short', () => truncateSync(dataFile(), 8192), /data\.mdb has 8192 of its \d+ bytes/],
      ['a data file without its first page', () => truncateSync(dataFile(), 100), /data\.mdb is not a file of LMDB/],
      [
        'a data file of random bytes',
        () => writeFileSync(dataFile(), createHash('shake256', { outputLength: 100_000 }).digest()),
        /data\.mdb is not a file of LMDB/,
      ],
    ])('refuses %s, and says so', async (_, damage, message) => {
      await leave()
      damage()
      await expect(openStore()).rejects.toThrow(StoreDamagedError)
      await expect(openStore()).rejects.toThrow(message)
    })

    it('does not take a directory that has lost its data file for a new one', async () => {
      await leave()
      // Long journals are written over; this one then begins somewhere in the middle.
      const again = await openStore()
      await commit(again, put('later'))
      await again.close()
      rmSync(dataFile())
      await expect(openStore()).rejects.toThrow(/data\.mdb is missing or empty, and its journal holds records/)
    })

    it('refuses to replace a value that cannot be read, tells the log, and goes on with the next revision', async () => {
      const store = await openStore()
      await commit(store, put('k', 'readable'))
      await commit(store, put('other'))
      await writtenBehind(store)
      await store.close()
      const bytes = readFileSync(dataFile())
      for (let at = bytes.indexOf('readable'); at >= 0; at = bytes.indexOf('readable', at + 1)) bytes[at] = 63
      writeFileSync(dataFile(), bytes)

      const logged: string[] = []
      const logger = createLogger(({ level, message }) => logged.push(`${level} ${message}`))
      const again = await openStore({ environment: { clock: realClock, random: realRandom, logger } })
      await expect(commit(again, put('k', 'new'))).rejects.toThrow('the value of "k" is not as it was written')
      expect(logged).toEqual(['error what is stored cannot be read'])
      expect(await commit(again, put('other', 'new'))).toBe(3)
    })

    it.each(['', 'not what LMDB has left there '.repeat(1000)])(
      'does without the locks that LMDB has left',
      async (left) => {
        await leave()
        writeFileSync(join(directory.path, 'lock.mdb'), left)
        const store = await openStore()
        expect((await store.list('')).entries).toHaveLength(50)
      },
    )
  })

  it('refuses a format it does not know and lets the directory go', async () => {
    await (await openStore()).close()
    const root = open(directory.path, { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false })
    await root
      .openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' })
      .put(Buffer.from('format'), Buffer.from('99'))
    await root.close()
    const refused = new UnknownFormatError(directory.path, '99', '4')
    await expect(openStore()).rejects.toThrow(refused)
    await expect(openStore()).rejects.toThrow(refused)
  })

  it('tells how much of the disk it takes', async () => {
    const store = await openStore()
    const before = (await store.sizeBytes?.()) ?? Number.NaN
    expect(before).toBeGreaterThan(0)
    const grown = 4 * 1024 * 1024
    for (let index = 0; index < 8; index++) await commit(store, put(`${index}`, 'x'.repeat(grown / 8)))
    await writtenBehind(store)
    expect((await store.sizeBytes?.()) ?? Number.NaN).toBeGreaterThan(before + grown)
    await store.close()
    await expect(store.sizeBytes?.()).rejects.toThrow('closed')
  })

  it('keeps as many notes as it is told, and few more', async () => {
    const store = await openStore({ notesMax: 2 })
    const note = new Uint8Array(16 * 1024)
    for (let count = 0; count < 10; count += 1) {
      await store.commit({ conditions: [], operations: [{ type: 'put', key: 'a', value: bytes('a') }], note })
      await writtenBehind(store)
    }
    const kept = (await store.notes({ limit: 100 })).map(({ revision }) => revision)
    expect(kept.slice(0, 2)).toEqual([10, 9])
    expect(kept.length).toBeLessThan(5)
  })

  it('gives memory back while others write, and neither loses nor misses anything', async () => {
    const store = await openStore()
    const watch = record(store, '', 0)
    const value = (round: number) => bytes(`${round}`.repeat(400_000))
    const written: Promise<unknown>[] = []
    for (let round = 1; round <= 20; round += 1) {
      const operations = ['a', 'b'].map((key) => ({ type: 'put', key, value: value(round) }) as const)
      written.push(store.commit({ conditions: [{ key: 'a', modRevision: round - 1 }], operations }))
      if (round % 5 === 0) {
        await writtenBehind(store)
        // With the next writes on their way, and with nothing to do.
        written.push(store.releaseMemory?.() ?? Promise.reject(new Error('it should be able to')))
      }
    }
    expect(await Promise.all(written)).toContainEqual({ ok: true, revision: 20 })
    await store.releaseMemory?.()
    const { entries } = await store.list('')
    expect(entries.map(({ key, modRevision, value: found }) => [key, modRevision, found.length])).toEqual([
      ['a', 20, 800_000],
      ['b', 20, 800_000],
    ])
    expect(watch.events.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 40 }, (_, index) => 1 + Math.floor(index / 2)),
    )
    const replay = record(store, '', 0)
    await replay.until(20)
    expect(replay.events).toHaveLength(40)
  })

  it('finds in the tables what it knew without them, once it drops its caches', async () => {
    const store = await openStore()
    await commit(store, put('a', '1'), put('b', '1'))
    await commit(store, put('a', '2'))
    await commit(store, remove('b'))
    const known = [await store.get('a'), await store.get('b')]
    await writtenBehind(store)
    store.dropCaches?.()
    expect([await store.get('a'), await store.get('b')].map(plainEntry)).toEqual(known.map(plainEntry))
    expect(known).toMatchObject([{ modRevision: 2, createRevision: 1 }, undefined])
  })

  it('gives no memory back after it is closed', async () => {
    const store = await openStore()
    const operations = [{ type: 'put', key: 'a', value: bytes('x'.repeat(5_000_000)) }] as const
    await store.commit({ conditions: [], operations })
    await writtenBehind(store)
    const released = store.releaseMemory?.()
    const closed = store.close()
    await Promise.all([released, closed])
    await expect(store.releaseMemory?.()).rejects.toThrow('closed')
    expect(await (await openStore()).get('a')).toMatchObject({ modRevision: 1 })
  })
})
