import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { StoreDamagedError } from './errors.ts'
import { codeOf } from './system-errors.ts'

export const dataFileName = 'data.mdb'

/**
 * LMDB reads its file through memory and trusts what it finds: a file that is shorter than its root says, or a page that
 * points outside of it, ends the process without a word, and a page that is not the right one hides entries. So before
 * LMDB maps the file, its roots and the pages of its trees are checked here: each is what the page above it says, keys are in order
 * and within their bounds, no page is used twice, and there are as many entries as there should be. The values of the store
 * carry checksums of their own and are not looked at.
 *
 * Numbers are little-endian. A page begins with 24 bytes:
 *
 *     page     = number u64 | transaction u64 | pad u16 | flags u16 | lower u16, upper u16 (overflow: count u32)
 *     root     = page | magic u32 | version u32 | address u64 | map size u64 | free tree | main tree | last page u64 | transaction u64
 *     tree     = pad u32 (free tree: page size) | flags u16 | depth u16 | branch, leaf, overflow pages u64 | entries u64 | top page u64
 *     node     = low u16 | high u16 | flags u16 | key length u16 | key | data (length: low, high)
 *     overflow = page u64 | transaction u64 | count u64, in place of the data when it has pages of its own
 *
 * A node of a branch has no data: low, high and flags are the page below. `lower` is the end of a list of positions of nodes
 * that follows the page's beginning; positions count from there.
 */
const pageHeaderBytes = 24
const treeBytes = 48
const nodeHeaderBytes = 8
const rootBytes = 160
const magic = 0xbeefc0de
const version = 2
const flag = { branch: 1, leaf: 2, overflow: 4, root: 8 }
const nodeFlag = { overflow: 1, tree: 2 }
const valueFlags = [0, nodeFlag.overflow]
/** The flag of a tree whose keys are numbers in the machine's order. */
const numberedKeys = 8
const noPage = 2n ** 64n - 1n
/** Where the second root is depends on the size of pages: these are the ones LMDB uses. */
const pageSizes = [4096, 8192, 16_384, 32_768, 65_536]

interface Tree {
  readonly flags: number
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  readonly top: number | undefined
}

interface Root {
  readonly pageSize: number
  readonly free: Tree
  readonly main: Tree
  readonly lastPage: number
  readonly transaction: bigint
}

/** Throws a `StoreDamagedError` when the LMDB file of a directory is not what LMDB left there. One that is missing or empty is new. */
export function checkLmdbFile(directory: string): void {
  let file: number
  try {
    file = openSync(join(directory, dataFileName), 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  try {
    const { size } = fstatSync(file)
    if (size > 0)
      new LmdbFileCheck(file, size, (what) => new StoreDamagedError(directory, `${dataFileName} ${what}`)).run()
  } finally {
    closeSync(file)
  }
}

class LmdbFileCheck {
  readonly #file: number
  readonly #size: number
  readonly #damaged: (what: string) => Error
  #pageSize = 0
  #pages = 0
  /** Where pages are read to, by their depth. */
  readonly #buffers: Buffer[] = []
  /** The pages that a tree has been seen to use. */
  #used = new Uint8Array(0)

  constructor(file: number, size: number, damaged: (what: string) => Error) {
    this.#file = file
    this.#size = size
    this.#damaged = damaged
  }

  run(): void {
    const root = this.#newestRoot()
    this.#pageSize = root.pageSize
    this.#pages = root.lastPage + 1
    this.#used = new Uint8Array(this.#pages).fill(1, 0, 2)
    const onEntry = (data: Buffer) => this.#checkFreePages(data)
    this.#checkTree(root.free, { flags: numberedKeys, entryFlags: valueFlags, compare: compareNumbers, onEntry })
    const tables: Tree[] = []
    this.#checkTree(root.main, {
      flags: 0,
      entryFlags: [nodeFlag.tree],
      compare: Buffer.compare,
      onEntry: (data) => {
        if (data.length !== treeBytes) throw this.#damaged('has a table that is none')
        tables.push(readTree(data, 0))
      },
    })
    for (const table of tables) {
      this.#checkTree(table, { flags: 0, entryFlags: valueFlags, compare: Buffer.compare, onEntry: undefined })
    }
  }

  /** LMDB writes its two roots in turn, and reads the newest. */
  #newestRoot(): Root {
    const first = this.#readRoot(0)
    const second = pageSizes.map((position) => this.#readRoot(position)).find((root) => root !== undefined)
    if (first === undefined && second === undefined) throw this.#damaged('is not a file of LMDB')
    if (first === undefined || second === undefined || first.pageSize !== second.pageSize) {
      throw this.#damaged('has lost one of its two roots')
    }
    const [older, newest] = first.transaction > second.transaction ? [second, first] : [first, second]
    const isInTurn = newest.transaction % 2n === (newest === second ? 1n : 0n)
    const isFollowing = newest.transaction - older.transaction === 1n && isInTurn
    if (!isFollowing && newest.transaction !== 0n) throw this.#damaged('has roots that do not follow one another')
    const bytes = (newest.lastPage + 1) * newest.pageSize
    if (this.#size < bytes) throw this.#damaged(`has ${this.#size} of its ${bytes} bytes`)
    return newest
  }

  #readRoot(position: number): Root | undefined {
    const bytes = Buffer.alloc(rootBytes)
    if (readSync(this.#file, bytes, 0, rootBytes, position) < rootBytes) return undefined
    if (bytes.readUInt32LE(24) !== magic || bytes.readUInt32LE(28) !== version) return undefined
    const pageSize = bytes.readUInt32LE(48)
    const page = bytes.readBigUInt64LE(0)
    if (!pageSizes.includes(pageSize) || position !== Number(page) * pageSize || bytes.readUInt16LE(18) !== flag.root) {
      return undefined
    }
    const lastPage = Number(bytes.readBigUInt64LE(144))
    // More would be beyond any disk: the number itself is damaged.
    if (lastPage < 1 || lastPage > 2 ** 40) return undefined
    const [free, main] = [readTree(bytes, 48), readTree(bytes, 96)]
    return { pageSize, free, main, lastPage, transaction: bytes.readBigUInt64LE(152) }
  }

  #checkTree(tree: Tree, kind: TreeKind): void {
    if (tree.flags !== kind.flags) throw this.#damaged(`has a table with the flags ${tree.flags}`)
    const seen = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
    if (tree.top !== undefined)
      this.#checkPage(tree.top, { ...kind, depth: tree.depth, from: undefined, to: undefined, seen })
    for (const what of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const) {
      if (seen[what] !== tree[what])
        throw this.#damaged(`has ${seen[what]} ${names[what]} where ${tree[what]} should be`)
    }
  }

  #checkPage(number: number, place: Place): void {
    const page = this.#readPage(number, place.depth)
    const isLeaf = place.depth === 1
    if (place.depth < 1 || page.readUInt16LE(18) !== (isLeaf ? flag.leaf : flag.branch)) throw this.#badPage(number)
    const nodes = readNodes(page)
    if (nodes === undefined || nodes.length === 0 || !isInOrder(nodes, place, isLeaf)) throw this.#badPage(number)
    if (isLeaf) {
      place.seen.leafPages++
      for (const node of nodes) this.#checkEntry(page, node, number, place)
      return
    }
    place.seen.branchPages++
    for (const [index, node] of nodes.entries()) {
      const from = index === 0 ? place.from : node.key
      this.#checkPage(node.below, { ...place, depth: place.depth - 1, from, to: nodes[index + 1]?.key ?? place.to })
    }
  }

  #checkEntry(
    page: Buffer,
    { flags, dataAt, dataBytes }: Node,
    number: number,
    { seen, entryFlags, onEntry }: Place,
  ): void {
    seen.entries++
    if (!entryFlags.includes(flags)) throw this.#badPage(number)
    if ((flags & nodeFlag.overflow) === 0) {
      if (dataAt + dataBytes > page.length) throw this.#badPage(number)
      onEntry?.(page.subarray(dataAt, dataAt + dataBytes))
      return
    }
    if (dataAt + 24 > page.length) throw this.#badPage(number)
    const first = Number(page.readBigUInt64LE(dataAt))
    const count = Math.floor((pageHeaderBytes - 1 + dataBytes) / this.#pageSize) + 1
    if (first >= this.#pages || Number(page.readBigUInt64LE(dataAt + 16)) !== count) throw this.#badPage(number)
    for (let each = first; each < first + count; each++) this.#use(each)
    const bytes = this.#read(first, onEntry === undefined ? pageHeaderBytes : pageHeaderBytes + dataBytes)
    if (bytes.readUInt16LE(18) !== flag.overflow || bytes.readUInt32LE(20) !== count) throw this.#badPage(first)
    seen.overflowPages += count
    onEntry?.(bytes.subarray(pageHeaderBytes))
  }

  /**
   * Pages that nothing uses, as LMDB keeps them: how many numbers follow, and the numbers of pages; before a run of pages
   * its length, negative; zeros are left over.
   */
  #checkFreePages(data: Buffer): void {
    const count = data.length < 8 ? -1 : Number(data.readBigInt64LE(0))
    if (count < 0 || data.length < (count + 1) * 8) throw this.#damaged('does not say which of its pages are free')
    for (let index = 1, run = 1; index <= count; index++) {
      const number = Number(data.readBigInt64LE(index * 8))
      if (number < 0) {
        run = -number
        continue
      }
      if (number > 0) for (let page = number; page < number + run; page++) this.#use(page)
      run = 1
    }
  }

  /** A page of a tree. It is good until another one of the same depth is read. */
  #readPage(number: number, depth: number): Buffer {
    this.#use(number)
    this.#buffers[depth] ??= Buffer.alloc(this.#pageSize)
    return this.#read(number, this.#pageSize, this.#buffers[depth])
  }

  /** What is at the beginning of a page, and in those that belong to it. */
  #read(number: number, length: number, bytes: Buffer = Buffer.allocUnsafe(length)): Buffer {
    const found = readSync(this.#file, bytes, 0, length, number * this.#pageSize)
    if (found < length || bytes.readBigUInt64LE(0) !== BigInt(number)) throw this.#badPage(number)
    return bytes
  }

  #use(number: number): void {
    if (!(number < this.#pages) || this.#used[number] !== 0) throw this.#badPage(number)
    this.#used[number] = 1
  }

  #badPage(number: number): Error {
    return this.#damaged(`is wrong at page ${number}`)
  }
}

const names = {
  branchPages: 'inner pages',
  leafPages: 'leaf pages',
  overflowPages: 'pages of values',
  entries: 'entries',
}

type Compare = (a: Buffer, b: Buffer) => number

interface TreeKind {
  readonly flags: number
  /** The flags that an entry may have. */
  readonly entryFlags: readonly number[]
  readonly compare: Compare
  /** Called with the data of each entry; where it is undefined data with pages of its own is not read. */
  readonly onEntry: ((data: Buffer) => void) | undefined
}

/** Where in a tree a page is: its distance from the entries, the bounds of its keys, and what has been counted so far. */
interface Place extends TreeKind {
  readonly depth: number
  /** The least key there may be. */
  readonly from: Buffer | undefined
  /** Every key is before it. */
  readonly to: Buffer | undefined
  readonly seen: { branchPages: number; leafPages: number; overflowPages: number; entries: number }
}

interface Node {
  readonly key: Buffer
  readonly flags: number
  readonly below: number
  readonly dataAt: number
  readonly dataBytes: number
}

/** The nodes of a page; undefined when one is not within it. */
function readNodes(page: Buffer): Node[] | undefined {
  const lower = page.readUInt16LE(20)
  const upper = page.readUInt16LE(22)
  if (lower % 2 !== 0 || lower > upper) return undefined
  const nodes: Node[] = []
  for (let at = pageHeaderBytes; at < pageHeaderBytes + lower; at += 2) {
    const start = pageHeaderBytes + page.readUInt16LE(at)
    if (start < pageHeaderBytes + upper || start + nodeHeaderBytes > page.length) return undefined
    const [low, high, flags] = [page.readUInt16LE(start), page.readUInt16LE(start + 2), page.readUInt16LE(start + 4)]
    const dataAt = start + nodeHeaderBytes + page.readUInt16LE(start + 6)
    if (dataAt > page.length) return undefined
    const dataBytes = low + high * 2 ** 16
    const key = page.subarray(start + nodeHeaderBytes, dataAt)
    nodes.push({ key, flags, below: dataBytes + flags * 2 ** 32, dataAt, dataBytes })
  }
  return nodes
}

function readTree(bytes: Buffer, at: number): Tree {
  const top = bytes.readBigUInt64LE(at + 40)
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: Number(bytes.readBigUInt64LE(at + 8)),
    leafPages: Number(bytes.readBigUInt64LE(at + 16)),
    overflowPages: Number(bytes.readBigUInt64LE(at + 24)),
    entries: Number(bytes.readBigUInt64LE(at + 32)),
    top: top === noPage ? undefined : Number(top),
  }
}

/** Whether keys ascend, within the bounds of their page. The first of a branch is not looked at: it is not kept. */
function isInOrder(nodes: readonly Node[], { from, to, compare }: Place, isLeaf: boolean): boolean {
  const keys = (isLeaf ? nodes : nodes.slice(1)).map(({ key }) => key)
  const [first] = keys
  const last = keys.at(-1)
  if (first === undefined || last === undefined) return true
  if (from !== undefined && compare(from, first) > (isLeaf ? 0 : -1)) return false
  if (to !== undefined && compare(last, to) >= 0) return false
  return keys.every((key, index) => index === 0 || compare(keys[index - 1] as Buffer, key) < 0)
}

/** The free tree's keys are numbers of transactions. */
function compareNumbers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) return 1
  const difference = a.readBigUInt64LE(0) - b.readBigUInt64LE(0)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}
