import { seededRandom } from '@coracle/environment'
import type { Encodable } from '@coracle/environment/grpc'
import { describe, expect, it } from 'vitest'
import { etcdNoteLagMax, notesPageMax } from '../limits.ts'
import { type rangeRequest, sortDescending } from './api.ts'
import { KeySpace } from './key-space.ts'
import { EtcdNotes, isNoteKey } from './notes.ts'

const keys = new KeySpace('/store/')

type Request = Encodable<typeof rangeRequest>

/** The notes in an etcd, each under its key, and what it was asked for. */
function setUp(notesMax = 100) {
  const stored = new Map<string, { readonly modRevision: number; readonly value: Uint8Array }>()
  const asked: Request[] = []
  const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()
  const within = ({ key, rangeEnd }: Request) =>
    [...stored].filter(([name]) => text(key) <= name && name < text(rangeEnd)).sort(([a], [b]) => (a < b ? -1 : 1))
  const notes = new EtcdNotes({
    keys,
    random: seededRandom(1),
    notesMax,
    async range(request) {
      asked.push(request)
      const found = within(request)
        .filter(([, { modRevision }]) => modRevision >= (request.minModRevision ?? 0))
        .filter(([, { modRevision }]) => modRevision <= (request.maxModRevision || Number.POSITIVE_INFINITY))
      if (request.sortOrder === sortDescending) found.reverse()
      const kvs = found.slice(0, request.limit ?? found.length).map(([key, { modRevision, value }]) => {
        return { key: Buffer.from(key), value, modRevision, createRevision: modRevision, version: 1 }
      })
      return { header: undefined, kvs: request.countOnly ? [] : kvs, more: false, count: found.length }
    },
    async remove(range) {
      for (const [key] of within(range)) stored.delete(key)
    },
  })
  /** Writes a note as a transaction of this revision does, whose writer has last heard of `known`. */
  const write = (revision: number, known = revision - 1) =>
    stored.set(text(notes.newKey(known)), { modRevision: revision, value: Buffer.from(`note ${revision}`) })
  const shown = async (limit: number, before?: number) =>
    (await notes.newest(before === undefined ? { limit } : { limit, before })).map(({ revision, note }) => {
      expect(text(note)).toBe(`note ${revision}`)
      return revision
    })
  const kept = () => [...stored.values()].map(({ modRevision }) => modRevision).sort((a, b) => a - b)
  return { notes, stored, asked, write, shown, kept }
}

describe('the notes of a store in etcd', () => {
  it('have keys that sort by what their writers had heard of, and are never the same', () => {
    const { notes } = setUp()
    const key = () => Buffer.from(notes.newKey(42)).toString()
    expect(key()).toMatch(/^\/store\/coracle-notes\/0000000000000042\/[a-z0-9]{8}$/)
    expect(key()).not.toBe(key())
    expect([isNoteKey('coracle-notes/1'), isNoteKey('other/coracle-notes/1')]).toEqual([true, false])
  })

  it('are read newest first, as many as asked for, before a revision', async () => {
    const { write, shown, stored } = setUp()
    stored.set('/store/coracle-notes0', { modRevision: 99, value: Buffer.from('no note') })
    for (const revision of [3, 5, 6, 9]) write(revision)
    expect(await shown(10)).toEqual([9, 6, 5, 3])
    expect(await shown(2)).toEqual([9, 6])
    expect(await shown(10, 6)).toEqual([5, 3])
    expect(await shown(1, 6)).toEqual([5])
    expect(await shown(1, 3)).toEqual([])
  })

  it('are read before a revision, however many there are after it', async () => {
    const { write, shown } = setUp()
    for (let revision = 1; revision <= 3 * etcdNoteLagMax; revision++) write(revision)
    expect(await shown(2, 100)).toEqual([99, 98])
  })

  it('are in order also where writers had not heard of each other', async () => {
    const { write, shown } = setUp()
    write(7, 2)
    write(6, 5)
    write(8, 3)
    expect(await shown(10)).toEqual([8, 7, 6])
    expect(await shown(10, 8)).toEqual([7, 6])
  })

  it('are found by their revision, however little their writer had heard of', async () => {
    const { write, shown, asked } = setUp()
    write(1000, 1)
    for (let revision = 2; revision < 2 + etcdNoteLagMax + 5; revision++) write(revision)
    expect(await shown(1, 1001)).toEqual([1000])
    // Where it is among those that are read anyway, it is not looked for.
    asked.length = 0
    expect(await shown(1, 101)).toEqual([100])
    expect(asked).toHaveLength(1)
    expect(await shown(2, 1001)).toEqual([257 + 5, 256 + 5])
    expect(asked).toHaveLength(2)
  })

  it('go up to a revision', async () => {
    const { notes, write, kept } = setUp()
    for (const revision of [3, 5, 6, 9]) write(revision)
    await notes.forget(5)
    expect(kept()).toEqual([6, 9])
    await notes.forget(5)
    expect(kept()).toEqual([6, 9])
    await notes.forget(9)
    expect(kept()).toEqual([])
    await notes.forget(9)
  })

  it('are counted, and their keys read once, where a page of them has all', async () => {
    const { notes, write, asked } = setUp()
    const requests = async (revision: number) => {
      asked.length = 0
      await notes.forget(revision)
      return asked.map(({ countOnly = false, keysOnly = false }) => [countOnly, keysOnly])
    }
    for (const revision of [3, 5]) write(revision)
    const once = [
      [true, false],
      [false, true],
    ]
    expect([await requests(1), await requests(3), await requests(9)]).toEqual([once, once, once])
  })

  it('go where there are more than are to be kept, the oldest first', async () => {
    const { notes, write, kept } = setUp(3)
    for (const revision of [3, 5, 6, 9, 10]) write(revision)
    await notes.forget(0)
    expect(kept()).toEqual([6, 9, 10])
    await notes.forget(6)
    expect(kept()).toEqual([9, 10])
  })

  it.each([
    [notesPageMax - 1, 0],
    [notesPageMax, 0],
    [2 * notesPageMax, 0],
    [2 * notesPageMax + 1, 0],
    [2 * notesPageMax, 5],
  ])('go page by page: of %i all but %i', async (count, left) => {
    const { notes, write, kept } = setUp(left)
    for (let revision = 1; revision <= count; revision++) write(revision)
    await notes.forget(0)
    expect(kept()).toHaveLength(left)
  })
})
