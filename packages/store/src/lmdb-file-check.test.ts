import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../test/temporary-directory.ts'
import { StoreDamagedError } from './errors.ts'
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

  /** A copy of the file in which something was changed. */
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(whole)
    change(bytes)
    return bytes
  }
  const lastPage = () => Number(whole.readBigUInt64LE(newestRoot() + 144))
  /** Where the key of a node begins, and how long it is. */
  const keyOf = (page: number, index: number) => {
    const node = nodeOf(page, index)
    return { at: node + 8, length: whole.readUInt16LE(node + 6) }
  }
  const countOf = (page: number) => whole.readUInt16LE(page * pageBytes + 20) / 2

  it('passes a file with more than its pages, and none with less', () => {
    const bytes = (lastPage() + 1) * pageBytes
    check(Buffer.concat([whole, Buffer.alloc(pageBytes)]))
    check(whole.subarray(0, bytes))
    const damaged = new StoreDamagedError(directory.path, `data.mdb has ${bytes - 1} of its ${bytes} bytes`)
    expect(() => check(whole.subarray(0, bytes - 1))).toThrow(damaged)
  })

  it('passes what LMDB leaves after each of its transactions, from the first on', async () => {
    const each = temporaryDirectory()
    const options = { encoding: 'binary', keyEncoding: 'binary', overlappingSync: false, noSubdir: false } as const
    const root: RootDatabase<Uint8Array, Uint8Array> = open(each.path, { ...options, maxDbs: 3 })
    checkLmdbFile(each.path)
    const table = root.openDB<Uint8Array, Uint8Array>({ name: 'data', encoding: 'binary', keyEncoding: 'binary' })
    checkLmdbFile(each.path)
    for (let round = 0; round < 8; round++) {
      await root.batch(() => {
        for (let key = 0; key < 40 * round; key++)
          table.put(Buffer.from(`${key}`.padStart(60)), Buffer.alloc(200, round))
        for (let key = 0; key < 20; key++) table.remove(Buffer.from(`${key * round}`.padStart(60)))
      })
      checkLmdbFile(each.path)
    }
    // Three levels, long keys, and values that are just as long as pages are, or a little less.
    for (const length of [1900, 100]) {
      await root.batch(() => {
        for (let key = 0; key < 100; key++) {
          const value = Buffer.alloc(((key % 3) + 1) * pageBytes + (key % 4) - 26)
          table.put(Buffer.from(`${key}`.padStart(length)), value)
        }
      })
      checkLmdbFile(each.path)
    }
    await root.close()
    checkLmdbFile(each.path)
    each.remove()
  })

  const damages: readonly [string, (bytes: Buffer) => void, RegExp | (() => string)][] = [
    [
      'keys of a leaf that are not in order',
      (bytes) => {
        const list = childOf(dataTop(), 1) * pageBytes + 24
        whole.copy(bytes, list, list + 2, list + 4)
        whole.copy(bytes, list + 2, list, list + 2)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a key of a leaf twice',
      (bytes) => {
        const list = childOf(dataTop(), 1) * pageBytes + 24
        whole.copy(bytes, list, list + 2, list + 4)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a first key before those of its page',
      (bytes) => {
        const leaf = childOf(dataTop(), 1)
        const { at, length } = keyOf(leaf, 0)
        bytes.writeUInt8(whole.readUInt8(at + length - 1) - 1, at + length - 1)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a last key that belongs to the next page',
      (bytes) => {
        const [leaf, next] = [childOf(dataTop(), 0), keyOf(dataTop(), 1)]
        const { at, length } = keyOf(leaf, countOf(leaf) - 1)
        whole.copy(bytes, at, next.at, next.at + Math.min(length, next.length))
      },
      () => `is wrong at page ${childOf(dataTop(), 0)}`,
    ],
    [
      'keys of a branch that are not in order',
      (bytes) => {
        const list = dataTop() * pageBytes + 24
        whole.copy(bytes, list + 2, list + 4, list + 6)
        whole.copy(bytes, list + 4, list + 2, list + 4)
      },
      () => `is wrong at page ${dataTop()}`,
    ],
    [
      'a leaf without entries',
      (bytes) => bytes.writeUInt16LE(0, childOf(dataTop(), 1) * pageBytes + 20),
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'half a position of a node',
      (bytes) => {
        const at = childOf(dataTop(), 1) * pageBytes + 20
        bytes.writeUInt16LE(whole.readUInt16LE(at) - 1, at)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a node that begins before the room of nodes',
      (bytes) => {
        const leaf = childOf(dataTop(), 1) * pageBytes
        bytes.writeUInt16LE(whole.readUInt16LE(leaf + 22) - 2, leaf + 24)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a node that begins at the end of its page',
      (bytes) => bytes.writeUInt16LE(pageBytes - 24 - 7, childOf(dataTop(), 1) * pageBytes + 24),
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'an end of the free room behind the page',
      (bytes) => bytes.writeUInt16LE(pageBytes - 24 + 1, childOf(dataTop(), 1) * pageBytes + 22),
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'an end of the free room before the list of nodes',
      (bytes) => {
        const leaf = childOf(dataTop(), 1) * pageBytes
        bytes.writeUInt16LE(whole.readUInt16LE(leaf + 20) - 1, leaf + 22)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a value that ends behind its page',
      (bytes) => bytes.writeUInt16LE(pageBytes, nodeOf(childOf(dataTop(), 1), 1)),
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a page that is not there',
      (bytes) => bytes.writeUInt32LE(lastPage() + 1, nodeOf(dataTop(), 1)),
      () => `is wrong at page ${lastPage() + 1}`,
    ],
    [
      'a page with a number of more than 32 bits',
      (bytes) => bytes.writeUInt16LE(1, nodeOf(dataTop(), 1) + 4),
      () => `is wrong at page ${2 ** 32 + childOf(dataTop(), 1)}`,
    ],
    [
      'a first key of free pages that is no number',
      (bytes) => bytes.writeUInt16LE(7, nodeOf(topOf(48), 0) + 6),
      () => `is wrong at page ${topOf(48)}`,
    ],
    [
      'a last key of free pages that is no number',
      (bytes) => bytes.writeUInt16LE(7, nodeOf(topOf(48), countOf(topOf(48)) - 1) + 6),
      () => `is wrong at page ${topOf(48)}`,
    ],
    [
      'a value on a page beyond all numbers that are exact',
      (bytes) => bytes.writeBigUInt64LE(2n ** 60n, overflowNode() + 68),
      () => `is wrong at page ${Math.floor(overflowNode() / pageBytes)};`,
    ],
    [
      'roots of pages of different sizes',
      (bytes) => bytes.writeUInt32LE(2 * pageBytes, 48),
      /has lost one of its two roots/,
    ],
    [
      'a value whose pages are named behind its page',
      (bytes) => {
        const node = overflowNode()
        const end = (Math.floor(node / pageBytes) + 1) * pageBytes
        bytes.writeUInt16LE(end - 10 - (node + 8), node + 6)
      },
      () => `is wrong at page ${Math.floor(overflowNode() / pageBytes)};`,
    ],
    [
      'one free page more than there are numbers',
      (bytes) => {
        const at = nodeOf(topOf(48), 0)
        bytes.writeBigInt64LE(BigInt(whole.readUInt16LE(at) / 8), at + 16)
      },
      /does not say which of its pages are free/,
    ],
    [
      'nodes where there should be free room',
      (bytes) => {
        const leaf = childOf(dataTop(), 1) * pageBytes
        bytes.writeUInt16LE(whole.readUInt16LE(leaf + 22) + 2, leaf + 22)
      },
      () => `is wrong at page ${childOf(dataTop(), 1)}`,
    ],
    [
      'a key of a branch that ends behind its page',
      (bytes) => {
        const nodes = Array.from({ length: countOf(dataTop()) }, (_, index) => nodeOf(dataTop(), index))
        const last = Math.max(...nodes)
        bytes.writeUInt16LE((dataTop() + 1) * pageBytes - (last + 8) + 1, last + 6)
      },
      () => `is wrong at page ${dataTop()}`,
    ],
    [
      'numbers of transactions that are not in order',
      (bytes) => {
        const list = topOf(48) * pageBytes + 24
        expect(countOf(topOf(48))).toBeGreaterThan(1)
        whole.copy(bytes, list, list + 2, list + 4)
        whole.copy(bytes, list + 2, list, list + 2)
      },
      () => `is wrong at page ${topOf(48)}`,
    ],
    ['a root as a page', (bytes) => bytes.writeUInt32LE(1, nodeOf(dataTop(), 1)), /is wrong at page 1;/],
    [
      'a value on a page that is not there',
      (bytes) => bytes.writeBigUInt64LE(BigInt(lastPage() + 1), overflowNode() + 68),
      /is wrong at page \d+;/,
    ],
    [
      'a tree deeper than it is',
      (bytes) => bytes.writeUInt16LE(whole.readUInt16LE(newestRoot() + 96 + 6) + 1, newestRoot() + 96 + 6),
      () => `is wrong at page ${topOf(96)}`,
    ],
    [
      'a tree without a depth',
      (bytes) => bytes.writeUInt16LE(0, newestRoot() + 96 + 6),
      () => `is wrong at page ${topOf(96)}`,
    ],
    [
      'a tree that is gone',
      (bytes) => bytes.writeBigUInt64LE(2n ** 64n - 1n, newestRoot() + 96 + 40),
      /has 0 leaf pages where 1 should be/,
    ],
    [
      'a table whose description is too short',
      (bytes) => {
        const node = nodeOf(topOf(96), 0)
        bytes.writeUInt16LE(47, node)
      },
      /has a table that is none/,
    ],
    [
      'a table that is an entry',
      (bytes) => bytes.writeUInt16LE(0, nodeOf(topOf(96), 0) + 4),
      () => `is wrong at page ${topOf(96)}`,
    ],
    [
      'flags of a table',
      (bytes) => {
        const node = nodeOf(topOf(96), 0)
        bytes.writeUInt16LE(4, node + 8 + whole.readUInt16LE(node + 6) + 4)
      },
      /has a table with the flags 4/,
    ],
    ['a root of no pages', (bytes) => bytes.writeBigUInt64LE(0n, 144), /has lost one of its two roots/],
    [
      'a root of more pages than any disk has',
      (bytes) => bytes.writeBigUInt64LE(2n ** 41n, 144),
      /lost one of its two/,
    ],
    ['a root that is not where it says', (bytes) => bytes.writeBigUInt64LE(1n, 0), /has lost one of its two roots/],
    [
      'two roots of the same transaction',
      (bytes) => {
        bytes.writeBigUInt64LE(whole.readBigUInt64LE(pageBytes + 152), 152)
      },
      /has roots that do not follow one another/,
    ],
    [
      'roots of which one is much older',
      (bytes) => {
        const older = newestRoot() === 0 ? pageBytes : 0
        bytes.writeBigUInt64LE(whole.readBigUInt64LE(older + 152) - 2n, older + 152)
      },
      /has roots that do not follow one another/,
    ],
    [
      'roots out of turn',
      (bytes) => {
        for (const root of [0, pageBytes]) bytes.writeBigUInt64LE(whole.readBigUInt64LE(root + 152) + 1n, root + 152)
      },
      /has roots that do not follow one another/,
    ],
    [
      'a free page that is not there',
      (bytes) => bytes.writeBigInt64LE(BigInt(lastPage() + 1), nodeOf(topOf(48), 0) + 24),
      () => `is wrong at page ${lastPage() + 1}`,
    ],
    [
      'a free page that is in use',
      (bytes) => bytes.writeBigInt64LE(BigInt(dataTop()), nodeOf(topOf(48), 0) + 24),
      () => `is wrong at page ${dataTop()}`,
    ],
    [
      'a count of free pages below none',
      (bytes) => bytes.writeBigInt64LE(-1n, nodeOf(topOf(48), 0) + 16),
      /does not say which of its pages are free/,
    ],
    [
      'a list of free pages that is too short for a count',
      (bytes) => bytes.writeUInt16LE(7, nodeOf(topOf(48), 0)),
      /does not say which of its pages are free/,
    ],
  ]
  it.each(damages)('finds %s', (_, damage, message) => {
    expect(() => check(changed(damage))).toThrow(typeof message === 'function' ? message() : message)
  })

  it('passes a list of free pages that names none', () => {
    check(
      changed((bytes) => {
        const at = nodeOf(topOf(48), 0)
        bytes.writeUInt16LE(8, at)
        bytes.writeBigInt64LE(0n, at + 16)
      }),
    )
  })

  it('passes a page that has no free room', () => {
    const leaf = childOf(dataTop(), 1) * pageBytes
    check(changed((bytes) => bytes.writeUInt16LE(whole.readUInt16LE(leaf + 20), leaf + 22)))
  })

  it('takes zeros in a list of free pages for what is left over', () => {
    check(changed((bytes) => bytes.writeBigInt64LE(0n, nodeOf(topOf(48), 0) + 24)))
  })

  it('says so of what is no file of LMDB at all', () => {
    for (const bytes of [Buffer.from('x'), Buffer.alloc(3 * pageBytes), Buffer.alloc(10 * pageBytes, 255)]) {
      expect(() => check(bytes)).toThrow('data.mdb is not a file of LMDB')
    }
  })
})
