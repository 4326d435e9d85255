import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { open as openLmdb } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { StoreDamagedError, UnknownFormatError } from './errors.ts'
import { reopenBytesMin } from './limits.ts'
import { LmdbTables } from './lmdb-tables.ts'
import { encodeEvents } from './log-record.ts'
import type { StoreEvent } from './store.ts'
import { checksumSeed } from './store-identity.ts'
import type { JournaledBatch } from './write-behind.ts'

const identity = Buffer.alloc(16, 7)
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const put = (key: string, revision: number, text = `${key}@${revision}`): StoreEvent => ({
  type: 'put',
  key,
  value: Buffer.from(text),
  revision,
  createRevision: revision,
  previousRevision: 0,
})
const remove = (key: string, revision: number): StoreEvent => ({ ...put(key, revision), type: 'delete' })

/** A batch of the journal: its number, its changes, and what is compacted with it. */
const batch = (sequence: number, events: readonly StoreEvent[], compacted = 0): JournaledBatch => ({
  sequence,
  revision: events.at(-1)?.revision ?? 0,
  compacted,
  events,
  encoded: encodeEvents(events, checksumSeed(identity)),
})

describe('the tables of a store', () => {
  let directory: ReturnType<typeof temporaryDirectory>
  let opened: LmdbTables | undefined

  beforeEach(() => {
    directory = temporaryDirectory()
  })
  afterEach(async () => {
    await close()
    directory.remove()
  })

  const close = async () => {
    const tables = opened
    opened = undefined
    await tables?.close()
  }
  const openTables = async () => {
    await close()
    opened = await LmdbTables.open(directory.path)
    return opened
  }
  const newTables = async () => {
    const tables = await openTables()
    await tables.initialize(identity)
    return tables
  }
  const contents = (tables: LmdbTables, prefix = '') =>
    tables.list(prefix).map(({ key, value }) => `${key}=${Buffer.from(value)}`)
  const stateOf = ({ sequence, revision, compacted }: LmdbTables) => ({ sequence, revision, compacted })

  it('have no identity before they are given one, and keep that', async () => {
    const tables = await openTables()
    expect([tables.identity, stateOf(tables)]).toEqual([undefined, { sequence: 0, revision: 0, compacted: 0 }])
    await expect(tables.write([])).rejects.toThrow('the tables have no identity yet')
    await expect(tables.forget([], { sequence: 1, revision: 1 })).rejects.toThrow('the tables have no identity yet')
    await tables.initialize(identity)
    expect(tables.identity).toEqual(identity)
    expect((await openTables()).identity).toEqual(identity)
  })

  it('hold what the last change of each key has left', async () => {
    const tables = await newTables()
    await tables.write([
      batch(1, [put('a', 1), put('b', 1), put('c', 1)]),
      batch(2, [put('a', 2), remove('b', 2)]),
      batch(3, [remove('c', 3), put('d', 3)]),
    ])
    const check = (found: LmdbTables) => {
      expect(contents(found)).toEqual(['a=a@2', 'd=d@3'])
      expect(found.get('a')).toEqual({ key: 'a', value: bytes('a@2'), modRevision: 2, createRevision: 2 })
      expect(found.get('b')).toBeUndefined()
      expect(stateOf(found)).toEqual({ sequence: 3, revision: 3, compacted: 0 })
    }
    check(tables)
    check(await openTables())
  })

  it('list a prefix without its neighbours', async () => {
    const tables = await newTables()
    await tables.write([
      batch(
        1,
        ['a', 'a/', 'a/\u{10ffff}', 'a0', 'é/x'].map((key) => put(key, 1, '')),
      ),
    ])
    expect(contents(tables, 'a/')).toEqual(['a/=', 'a/\u{10ffff}='])
    expect(contents(tables, 'é')).toEqual(['é/x='])
    expect(contents(tables)).toHaveLength(5)
  })

  it('hold the history that is not compacted, in stretches', async () => {
    const tables = await newTables()
    await tables.write([batch(1, [put('a', 1)]), batch(2, [put('a', 2)])])
    await tables.write([batch(3, [put('a', 3)])])
    const chunk = (after: number) => {
      const found = (opened ?? tables).chunkAfter(after)
      return [found.after, found.last, found.events.map(({ revision }) => revision)]
    }
    expect([chunk(0), chunk(1), chunk(2)]).toEqual([
      [0, 2, [1, 2]],
      [0, 2, [1, 2]],
      [2, 3, [3]],
    ])
    expect(() => tables.chunkAfter(3)).toThrow('the change log ends before revision 4')
    // A stretch goes when all of it is compacted.
    await tables.write([batch(4, [put('a', 4)], 1)])
    expect(chunk(1)).toEqual([0, 2, [1, 2]])
    await tables.write([batch(5, [put('a', 5)], 3)])
    expect(() => chunk(1)).toThrow(StoreDamagedError)
    expect([chunk(3), tables.compacted]).toEqual([[3, 4, [4]], 3])
    await openTables()
    expect([chunk(3), chunk(4)]).toEqual([
      [3, 4, [4]],
      [4, 5, [5]],
    ])
    await opened?.write([{ ...batch(6, []), revision: 5, compacted: 5 }])
    expect(() => chunk(4)).toThrow('the change log ends before revision 5')
    expect(opened && stateOf(opened)).toEqual({ sequence: 6, revision: 5, compacted: 5 })
  })

  it('keep the history of the last revision when a batch only says what is compacted', async () => {
    const tables = await newTables()
    await tables.write([batch(1, [put('a', 1)])])
    await tables.write([batch(2, [put('a', 2)])])
    await tables.write([{ ...batch(3, []), revision: 2, compacted: 1 }])
    expect(() => tables.chunkAfter(0)).toThrow(StoreDamagedError)
    expect(tables.chunkAfter(1)).toMatchObject({ after: 1, last: 2, events: [{ key: 'a', revision: 2 }] })
    expect(stateOf(tables)).toEqual({ sequence: 3, revision: 2, compacted: 1 })
  })

  it('show a snapshot: what is being written is seen when it is there whole', async () => {
    const tables = await newTables()
    const written = tables.write([batch(1, [put('a', 1), put('b', 1)])])
    expect([contents(tables), tables.revision]).toEqual([[], 0])
    await written
    expect([contents(tables), tables.revision]).toEqual([['a=a@1', 'b=b@1'], 1])
  })

  it('forget keys and all history, and go on from a position', async () => {
    const tables = await newTables()
    await tables.write([batch(1, [put('a', 1), put('b', 1)])])
    await tables.forget([Buffer.from('a')], { sequence: 7, revision: 100 })
    const check = (found: LmdbTables) => {
      expect([contents(found), stateOf(found)]).toEqual([['b=b@1'], { sequence: 7, revision: 100, compacted: 100 }])
      expect(() => found.chunkAfter(0)).toThrow('the change log ends before revision 1')
    }
    check(tables)
    check(await openTables())
    await opened?.write([batch(8, [put('c', 101)])])
    expect(opened?.chunkAfter(100)).toMatchObject({ after: 100, last: 101 })
  })

  describe('with damage', () => {
    /** Changes a text everywhere in the data file. */
    const damage = async (found: string) => {
      await close()
      const file = join(directory.path, 'data.mdb')
      const bytes = readFileSync(file)
      let count = 0
      for (let at = bytes.indexOf(found); at >= 0; at = bytes.indexOf(found, at + 1)) {
        bytes[at] = 63
        count += 1
      }
      expect(count).toBeGreaterThan(0)
      writeFileSync(file, bytes)
    }
    const overwrite = async (name: string, value: Buffer) => {
      await close()
      const options = { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false } as const
      const root = openLmdb(directory.path, options)
      await root.openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' }).put(Buffer.from(name), value)
      await root.close()
    }

    it('name the value that is not as it was written, and give the others', async () => {
      const tables = await newTables()
      await tables.write([batch(1, [put('a', 1), put('b', 1)])])
      expect([tables.damagedKeys(), tables.isHistoryWhole()]).toEqual([[], true])
      await damage('a@1')
      const damaged = await openTables()
      const message = 'the value of "a" is not as it was written'
      expect(() => damaged.get('a')).toThrow(new StoreDamagedError(directory.path, message))
      expect(() => damaged.list('')).toThrow(message)
      expect(damaged.get('b')?.value).toEqual(bytes('b@1'))
      expect(damaged.damagedKeys()).toEqual([bytes('a')])
      expect(damaged.isHistoryWhole()).toBe(false)
      expect(() => damaged.chunkAfter(0)).toThrow(
        new StoreDamagedError(directory.path, 'the history after revision 0 is not as it was written'),
      )
    })

    it('name history that is gone, though it is to be kept', async () => {
      const tables = await newTables()
      await tables.write([batch(1, [put('a', 1)])])
      await close()
      const root = openLmdb(directory.path, { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false })
      await root.openDB({ name: 'log', encoding: 'binary', keyEncoding: 'binary' }).clearAsync()
      await root.close()
      const damaged = await openTables()
      const lost = new StoreDamagedError(directory.path, 'the history after revision 0 is not as it was written')
      expect(() => damaged.chunkAfter(0)).toThrow(lost)
    })

    it('are refused where they do not say how far they go', async () => {
      await newTables()
      const message = 'its state, which says how far it goes, is not as it was written'
      for (const state of [Buffer.alloc(3), Buffer.alloc(44, 1)]) {
        await overwrite('state', state)
        await expect(openTables()).rejects.toThrow(new StoreDamagedError(directory.path, message))
      }
    })

    it('are refused in a format that another version has written', async () => {
      await newTables()
      await overwrite('format', Buffer.from('99'))
      await expect(openTables()).rejects.toThrow(new UnknownFormatError(directory.path, '99', '4'))
    })
  })

  describe('opened again while they are in use', () => {
    it('read and write as before', async () => {
      const tables = await newTables()
      await tables.write([batch(1, [put('a', 1), put('b', 1)]), batch(2, [{ ...put('b', 2), note: bytes('why') }])])
      const kept = tables.get('a')
      const before = [contents(tables), stateOf(tables), tables.chunkAfter(0), tables.notes(9, 9)]
      tables.reopen()
      expect([contents(tables), stateOf(tables), tables.chunkAfter(0), tables.notes(9, 9)]).toEqual(before)
      expect(tables.get('a')).toEqual(kept)
      await tables.write([batch(3, [put('a', 3), remove('b', 3)])])
      expect(contents(tables)).toEqual(['a=a@3'])
      expect(contents(await openTables())).toEqual(['a=a@3'])
    })

    it('are worth it when much has been written or was there before, and not again at once', async () => {
      const tables = await newTables()
      expect(tables.isWorthReopening).toBe(false)
      await tables.write([batch(1, [put('a', 1, 'x'.repeat(reopenBytesMin))])])
      expect(tables.isWorthReopening).toBe(true)
      tables.reopen()
      expect(tables.isWorthReopening).toBe(false)
      expect((await openTables()).isWorthReopening).toBe(true)
    })

    it.runIf(process.platform === 'linux')('give back the memory that their file took', async () => {
      const tables = await newTables()
      await tables.write([
        batch(
          1,
          Array.from({ length: 200 }, (_, index) => put(`k${index}`, 1, 'x'.repeat(50_000))),
        ),
      ])
      for (let index = 0; index < 200; index += 1) tables.get(`k${index}`)
      expect(residentBytesOf(join(directory.path, 'data.mdb'))).toBeGreaterThan(8e6)
      tables.reopen()
      expect(residentBytesOf(join(directory.path, 'data.mdb'))).toBeLessThan(1e6)
    })

    it('are refused where their file is gone, and no other is made', async () => {
      const tables = await newTables()
      rmSync(join(directory.path, 'data.mdb'))
      expect(() => tables.reopen()).toThrow('data.mdb was removed or replaced while it was in use')
      expect(existsSync(join(directory.path, 'data.mdb'))).toBe(false)
    })

    it('are refused where another file has taken its place', async () => {
      const tables = await newTables()
      const earlier = readFileSync(join(directory.path, 'data.mdb'))
      await tables.write([batch(1, [put('a', 1)])])
      rmSync(join(directory.path, 'data.mdb'))
      writeFileSync(join(directory.path, 'data.mdb'), earlier)
      expect(() => tables.reopen()).toThrow(StoreDamagedError)
    })

    it.each([
      ['another store', { of: Buffer.alloc(16, 9), state: [1, 1, 0] }],
      ['an earlier number', { of: identity, state: [0, 1, 0] }],
      ['another revision', { of: identity, state: [1, 2, 0] }],
      ['other history', { of: identity, state: [1, 1, 1] }],
    ] as const)('are refused where they are those of %s', async (_, { of, state }) => {
      const tables = await newTables()
      await tables.write([batch(1, [put('a', 1)])])
      const file = join(directory.path, 'data.mdb')
      const bytes = readFileSync(file)
      const text = encodeState(identity, [1, 1, 0])
      for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
        encodeState(of, state).copy(bytes, at)
      rmSync(file)
      writeFileSync(file, bytes)
      expect(() => tables.reopen()).toThrow('data.mdb was removed or replaced while it was in use')
    })
  })
})

/** What the tables say of how far they go: sequence, revision and compacted revision. */
function encodeState(store: Buffer, numbers: readonly number[]): Buffer {
  const bytes = Buffer.concat([store, Buffer.alloc(28)])
  for (const [index, number] of numbers.entries()) bytes.writeDoubleBE(number, 16 + 8 * index)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 40)), 40)
  return bytes
}

/** How much of a file is resident where this process has it mapped. */
function residentBytesOf(file: string): number {
  const [, ...rest] = readFileSync('/proc/self/smaps', 'latin1').split(/^(?=[\da-f]+-[\da-f]+ )/m)
  const mapped = rest.filter((each) => each.split('\n', 1)[0]?.endsWith(file))
  return mapped.reduce((sum, each) => sum + Number(/^Rss: +(\d+) kB/m.exec(each)?.[1]) * 1024, 0)
}
