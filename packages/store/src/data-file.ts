import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreDamagedError } from './errors.ts'

/**
 * LMDB's two roots, each on a page of its own at the beginning of the file; numbers are little-endian (`MDB_meta`):
 *
 *     page header 24 bytes | magic u32 | version u32 | address u64 | map size u64 | page size u32 | … | last page u64 at 144 | transaction u64
 */
const magicAt = 24
const magic = 0xbeefc0de
const pageSizeAt = 48
const lastPageAt = 144
const transactionAt = 152
const rootBytes = 160
/** Where the second root is depends on the size of pages: these are the ones LMDB uses. */
const pageSizes = [4096, 8192, 16_384, 32_768, 65_536]

interface Root {
  readonly transaction: bigint
  /** How long the file is at least. */
  readonly fileBytes: number
}

/**
 * Throws a `StoreDamagedError` when the LMDB file of a directory cannot be what LMDB left there. LMDB reads through memory:
 * a file that is shorter than its root says would end the process without a word.
 */
export function checkDataFile(directory: string): void {
  const path = join(directory, 'data.mdb')
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const roots = readRoots(path)
  const newest = roots.reduce<Root | undefined>(
    (best, root) => (best === undefined || root.transaction > best.transaction ? root : best),
    undefined,
  )
  if (newest === undefined) throw new StoreDamagedError(directory, 'data.mdb is not a file of LMDB')
  if (size >= newest.fileBytes) return
  throw new StoreDamagedError(directory, `data.mdb has ${size} of its ${newest.fileBytes} bytes`)
}

function readRoots(path: string): readonly Root[] {
  const file = openSync(path, 'r')
  try {
    return [0, ...pageSizes].map((position) => readRoot(file, position)).filter((root) => root !== undefined)
  } finally {
    closeSync(file)
  }
}

function readRoot(file: number, position: number): Root | undefined {
  const bytes = Buffer.alloc(rootBytes)
  const length = readSync(file, bytes, 0, rootBytes, position)
  if (length < rootBytes || bytes.readUInt32LE(magicAt) !== magic) return undefined
  const pageSize = bytes.readUInt32LE(pageSizeAt)
  return {
    transaction: bytes.readBigUInt64LE(transactionAt),
    fileBytes: Number(bytes.readBigUInt64LE(lastPageAt) + 1n) * pageSize,
  }
}
