import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { checkLmdbFile } from './lmdb-file-check.ts'

const pageBytes = 4096

describe('the check of a file of LMDB', () => {
  let directory: ReturnType<typeof temporaryDirectory>
  let whole: Buffer

  beforeAll(async () => {
    directory = temporaryDirectory()
    const options = { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false, noSubdir: false } as const
    const root: RootDatabase<Uint8Array, Uint8Array> = open(directory.path, { ...options, maxDbs: 3 })
    const table = root.openDB<Uint8Array, Uint8Array>({ name: 'data', encoding: 'binary', keyEncoding: 'binary' })
    // Two levels, values with pages of their own, and pages that are free again.
    for (let round = 0; round < 3; round++) {
      await root.batch(() => {
        for (let each = 0; each < 120; each++) {
          table.put(
            Buffer.from(`key ${each * 7919} `.padEnd(60, '.')),
            Buffer.alloc(each % 10 === 0 ? 9000 : 100, round),
          )
        }
        for (let each = 0; each < 20; each++) table.remove(Buffer.from(`key ${each * 7919} `.padEnd(60, '.')))
      })
    }
    await root.close()
    whole = readFileSync(join(directory.path, 'data.mdb'))
  })

  afterAll(() => directory.remove())

  const check = (bytes: Buffer) => {
    writeFileSync(join(directory.path, 'data.mdb'), bytes)
    checkLmdbFile(directory.path)
  }

  const newestRoot = () => (whole.readBigUInt64LE(152) > whole.readBigUInt64LE(pageBytes + 152) ? 0 : pageBytes)
  const topOf = (tree: number) => Number(whole.readBigUInt64LE(newestRoot() + tree + 40))
  const dataTop = () => {
    // The only table: its tree ends the only node of the page of the main tree.
    const main = topOf(96) * pageBytes
    const node = main + 24 + whole.readUInt16LE(main + 24)
    return Number(whole.readBigUInt64LE(node + 8 + whole.readUInt16LE(node + 6) + 40))
  }
  const nodeOf = (page: number, index: number) =>
    page * pageBytes + 24 + whole.readUInt16LE(page * pageBytes + 24 + 2 * index)
  const childOf = (page: number, index: number) => whole.readUInt32LE(nodeOf(page, index))
  /** The first entry, in a page of entries, whose value has pages of its own. */
  const overflowNode = () => {
    for (let child = 0; ; child++) {
      const page = childOf(dataTop(), child)
      const count = whole.readUInt16LE(page * pageBytes + 20) / 2
      for (let index = 0; index < count; index++) {
        if (whole.readUInt16LE(nodeOf(page, index) + 4) === 1) return nodeOf(page, index)
      }
    }
  }

  it('passes a file as LMDB leaves it, one that is empty and one that is not there', () => {
    check(whole)
    check(Buffer.alloc(0))
    checkLmdbFile(join(directory.path, 'none'))
  })

  const flips: readonly [string, () => number, RegExp][] = [
    ['the number of a page', () => dataTop() * pageBytes, /is wrong at page/],
    ['the flags of a page', () => dataTop() * pageBytes + 18, /is wrong at page/],
    ['the number of nodes', () => dataTop() * pageBytes + 20, /is wrong at page/],
    ['the end of the free room', () => dataTop() * pageBytes + 23, /is wrong at page/],
    ['the position of a node', () => dataTop() * pageBytes + 24 + 3, /is wrong at page/],
    ['the page below a branch', () => nodeOf(dataTop(), 0), /is wrong at page/],
    ['the length of a key', () => nodeOf(dataTop(), 1) + 7, /is wrong at page/],
    ['the beginning of a key in a branch', () => nodeOf(dataTop(), 1) + 8, /is wrong at page/],
    ['the beginning of a key in a leaf', () => nodeOf(childOf(dataTop(), 1), 0) + 8, /is wrong at page/],
    ['the flags of an entry', () => nodeOf(childOf(dataTop(), 1), 0) + 4, /is wrong at page/],
    ['the length of a value', () => nodeOf(childOf(dataTop(), 1), 0) + 2, /is wrong at page/],
    ['where a value has its pages', () => overflowNode() + 8 + 60, /is wrong at page/],
    ['how many pages a value has', () => overflowNode() + 8 + 60 + 16, /is wrong at page/],
    [
      'the first page of a value',
      () => Number(whole.readBigUInt64LE(overflowNode() + 68)) * pageBytes + 18,
      /wrong at page/,
    ],
    ['the count in it', () => Number(whole.readBigUInt64LE(overflowNode() + 68)) * pageBytes + 20, /is wrong at page/],
    ['the flags of the main tree', () => newestRoot() + 96 + 4, /has a table with the flags/],
    ['the depth of the main tree', () => newestRoot() + 96 + 6, /is wrong at page/],
    ['the entries of the main tree', () => newestRoot() + 96 + 32, /has 1 entries where 65 should be/],
    ['the leaves of the main tree', () => newestRoot() + 96 + 16, /has 1 leaf pages where 65 should be/],
    ['the branches of the main tree', () => newestRoot() + 96 + 8, /has 0 inner pages where 64 should be/],
    [
      'the pages of values of the free tree',
      () => newestRoot() + 48 + 24,
      /has \d+ pages of values where \d+ should be/,
    ],
    ['the top of the main tree', () => newestRoot() + 96 + 40, /is wrong at page/],
    ['the last page', () => newestRoot() + 144 + 1, /has \d+ of its \d+ bytes/],
    ['the transaction of a root', () => newestRoot() + 152, /has roots that do not follow one another/],
    ['the magic number of a root', () => newestRoot() + 24, /has lost one of its two roots/],
    ['the version of a root', () => 28, /has lost one of its two roots/],
    ['the size of pages', () => pageBytes + 49, /has lost one of its two roots/],
    ['the flags of the page of a root', () => 18, /has lost one of its two roots/],
    ['the free pages', () => nodeOf(topOf(48), 0) + 16 + 8, /is wrong at page/],
    ['how many pages are free', () => nodeOf(topOf(48), 0) + 16 + 1, /does not say which of its pages are free/],
  ]
  it.each(flips)('finds a bit that is wrong in %s', (_, position, message) => {
    const bytes = Buffer.from(whole)
    const at = position()
    bytes[at] = (bytes[at] ?? 0) ^ 64
    expect(() => check(bytes)).toThrow(message)
  })

  it('finds a page that is an older one, and one that is used twice', () => {
    const older = Buffer.from(whole)
    const [from, to] = [childOf(dataTop(), 1), childOf(dataTop(), 2)]
    whole.copy(older, to * pageBytes, from * pageBytes, (from + 1) * pageBytes)
    expect(() => check(older)).toThrow(`is wrong at page ${to}`)
    const twice = Buffer.from(whole)
    twice.writeUInt32LE(from, nodeOf(dataTop(), 2))
    expect(() => check(twice)).toThrow(`is wrong at page ${from}`)
  })

  it('finds every page of a tree that is empty', () => {
    for (const page of [0, 1, topOf(48), topOf(96), dataTop(), childOf(dataTop(), 0)]) {
      const bytes = Buffer.from(whole)
      bytes.fill(0, page * pageBytes, (page + 1) * pageBytes)
      expect(() => check(bytes)).toThrow(page < 2 ? 'lost one of its two roots' : `is wrong at page ${page}`)
    }
  })

  it('finds a file that is cut short', () => {
    for (const length of [1, pageBytes, 2 * pageBytes, whole.length - pageBytes]) {
      writeFileSync(join(directory.path, 'data.mdb'), whole)
      truncateSync(join(directory.path, 'data.mdb'), length)
      expect(() => checkLmdbFile(directory.path)).toThrow(/is damaged: data\.mdb/)
    }
  })
})
