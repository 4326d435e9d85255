import { open as openLmdb } from 'lmdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { StoreDamagedError } from './errors.ts'
import { noteChunkBytes, noteChunksDroppedMax } from './limits.ts'
import { LmdbTables } from './lmdb-tables.ts'
import { encodeEvents } from './log-record.ts'
import type { StoreEvent } from './store.ts'
import { checksumSeed } from './store-identity.ts'

const identity = Buffer.alloc(16, 7)
/** Notes of the length of a chunk each: every one has a chunk of its own. */
const wholeChunk = noteChunkBytes / 2

describe('the notes in the tables of a store', () => {
  let directory: ReturnType<typeof temporaryDirectory>
  let tables: LmdbTables

  const open = async (notesMax?: number) => {
    tables = await LmdbTables.open(directory.path, { notesMax })
    if (tables.identity === undefined) await tables.initialize(identity)
  }
  const reopen = async (notesMax?: number) => {
    await tables.close()
    await open(notesMax)
  }
  beforeEach(async () => {
    directory = temporaryDirectory()
    await open()
  })
  afterEach(async () => {
    await tables.close()
    directory.remove()
  })

  /** Writes a batch of one change for each note; the notes are their revisions in words. */
  const write = async (revisions: readonly number[], length = 0) => {
    const events = revisions.map((revision): StoreEvent => {
      const note = Buffer.from(`because of ${revision}`.padEnd(length, '.'))
      return { type: 'put', key: 'a', value: note, revision, createRevision: 1, previousRevision: revision - 1, note }
    })
    const [sequence, last] = [tables.sequence + 1, revisions.at(-1) ?? 0]
    const encoded = encodeEvents(events, checksumSeed(identity))
    await tables.write([{ sequence, revision: last, compacted: last, events, encoded }])
  }
  const writeWithoutNotes = async (revision: number) => {
    await tables.write([
      { sequence: tables.sequence + 1, revision, compacted: revision, events: [], encoded: encodeEvents([], 0) },
    ])
  }
  const shown = (before = Number.POSITIVE_INFINITY, limit = 1000) =>
    tables.notes(before, limit).map(({ revision, note }) => {
      expect(Buffer.from(note).toString()).toMatch(new RegExp(`^because of ${revision}\\.*$`))
      return revision
    })
  const stored = () => {
    const options = { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false } as const
    const root = openLmdb(directory.path, options)
    const notes = root.openDB<Uint8Array, Uint8Array>({ name: 'notes', encoding: 'binary', keyEncoding: 'binary' })
    return { root, notes }
  }

  it('join the newest chunk until it is full, and are read across chunks', async () => {
    await write([1, 2], wholeChunk)
    await write([3])
    await write([4])
    await write([5, 6])
    expect(shown()).toEqual([6, 5, 4, 3, 2, 1])
    expect(shown(4)).toEqual([3, 2, 1])
    expect(shown(6, 2)).toEqual([5, 4])
    await tables.close()
    const { root, notes } = stored()
    expect([...notes.getKeys({})].map((key) => Buffer.from(key).readBigUInt64BE())).toEqual([1n, 3n])
    await root.close()
    await open()
  })

  it('of one write fill as many chunks as they need', async () => {
    await write([1])
    await write([2, 3, 4, 5, 6], wholeChunk)
    expect(shown()).toEqual([6, 5, 4, 3, 2, 1])
    await tables.close()
    const { root, notes } = stored()
    expect([...notes.getKeys({})].map((key) => Buffer.from(key).readBigUInt64BE())).toEqual([1n, 4n, 6n])
    await root.close()
    await open()
    expect(shown()).toEqual([6, 5, 4, 3, 2, 1])
  })

  it('are there after the tables were closed, and go on in a chunk of their own', async () => {
    await write([1, 2])
    await reopen()
    await write([3])
    await reopen()
    expect(shown()).toEqual([3, 2, 1])
  })

  it('cost what recurs in them once', async () => {
    await write(
      Array.from({ length: 100 }, (_, index) => index + 1),
      300,
    )
    await tables.close()
    const { root, notes } = stored()
    const bytes = [...notes.getRange({})].reduce((sum, { value }) => sum + value.length, 0)
    expect(bytes).toBeLessThan(100 * 30)
    await root.close()
    await open()
  })

  it('go, the oldest first, where there are enough without them', async () => {
    await reopen(3)
    for (let revision = 1; revision <= 20; revision += 2) await write([revision, revision + 1], wholeChunk)
    expect(shown()).toEqual([20, 19, 18, 17])
    await reopen(3)
    expect(shown()).toEqual([20, 19, 18, 17])
    await reopen(2)
    await writeWithoutNotes(21)
    expect(shown()).toEqual([20, 19])
  })

  it('go a few with each write, however many are too many', async () => {
    for (let revision = 1; revision <= 4 * noteChunksDroppedMax; revision += 2) {
      await write([revision, revision + 1], wholeChunk)
    }
    await reopen(1)
    expect(shown()).toHaveLength(4 * noteChunksDroppedMax)
    await write([1000])
    expect(shown()).toHaveLength(2 * noteChunksDroppedMax + 1)
    await write([1001])
    await write([1002])
    expect(shown()).toEqual([1002, 1001, 1000])
  })

  it('go with the next write when they are forgotten, by whole chunks', async () => {
    await write([1, 2], wholeChunk)
    await write([3, 4], wholeChunk)
    tables.forgetNotes(2)
    expect(shown()).toEqual([4, 3, 2, 1])
    await write([5])
    expect(shown()).toEqual([5, 4, 3])
    tables.forgetNotes(5)
    await write([6])
    expect(shown()).toEqual([6, 5])
  })

  it('stay forgotten where less is to be forgotten later', async () => {
    await write([1, 2], wholeChunk)
    await write([3, 4], wholeChunk)
    tables.forgetNotes(4)
    tables.forgetNotes(2)
    await write([5])
    expect(shown()).toEqual([5])
  })

  it('that are forgotten do not come back with the next: it begins a chunk of its own', async () => {
    await write([1])
    tables.forgetNotes(1)
    await writeWithoutNotes(2)
    expect(shown()).toEqual([])
    await write([3])
    expect(shown()).toEqual([3])
    await reopen()
    expect(shown()).toEqual([3])
  })

  it('that say nothing any more are passed over, and a repair removes them', async () => {
    await write([1, 2], wholeChunk)
    await write([3])
    await tables.close()
    const { root, notes } = stored()
    const [first] = [...notes.getKeys({ limit: 1 })]
    await notes.put(first ?? new Uint8Array(), new Uint8Array(15))
    await root.close()
    await open()
    expect([shown(), tables.damagedNotes()]).toEqual([[3], [Uint8Array.from(first ?? [])]])
    await tables.forget([], { sequence: 2, revision: 3 })
    expect(tables.damagedNotes()).toEqual([])
  })

  it('are not given where they are not as they were written, and a repair goes on without them', async () => {
    await write([1, 2], wholeChunk)
    await write([3])
    await tables.close()
    const { root, notes } = stored()
    const [first] = [...notes.getRange({ limit: 1 })]
    const wrong = Buffer.from(first?.value ?? [])
    wrong[20] = (wrong[20] ?? 0) ^ 1
    await notes.put(first?.key ?? wrong, wrong)
    await root.close()
    await open()
    expect(shown(undefined, 1)).toEqual([3])
    expect(() => shown()).toThrow(
      new StoreDamagedError(directory.path, 'the notes from revision 1 are not as they were written'),
    )
    expect(tables.damagedNotes()).toHaveLength(1)
    await tables.forget([], { sequence: 2, revision: 3 })
    expect([tables.damagedNotes(), shown()]).toEqual([[], [3]])
  })
})
