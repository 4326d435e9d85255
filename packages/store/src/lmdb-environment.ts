import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open as openLmdb, type RootDatabase, type Transaction } from 'lmdb'
import { dataFileName } from './lmdb-file-check.ts'

/** A table of bytes by bytes. */
export type Table = Database<Uint8Array, Uint8Array>
/** The environment itself, which is a table as well; nothing is in that. */
export type RootTable = RootDatabase<Uint8Array, Uint8Array>

/**
 * Address space set aside for the data file: LMDB reads it through memory. It takes neither memory nor disk until it
 * is used, and beyond it LMDB maps more.
 */
const mapBytes = 64 * 1024 ** 3

/**
 * `overlappingSync` would let a transaction be seen before it is on the disk. Without it LMDB's commit writes the pages,
 * waits for the disk, writes the root through `O_DSYNC`, and only then lets readers see and the promise resolve.
 * The thresholds make one call of `batch` one disk transaction, started at the end of the turn.
 */
const environmentOptions = {
  overlappingSync: false,
  noSubdir: false,
  remapChunks: false,
  mapSize: mapBytes,
  maxDbs: 4,
  eventTurnBatching: false,
  txnStartThreshold: 1,
  batchStartThreshold: 2 ** 31,
  encoding: 'binary',
  keyEncoding: 'binary',
  permissionsMode: 0o600,
} as const

/** LMDB's environment and the tables in it. */
export interface OpenedTables {
  readonly root: RootTable
  readonly data: Table
  readonly log: Table
  readonly notes: Table
  readonly meta: Table
}

/** Opens the environment in a directory, making it where there is none. */
export const openRoot = (directory: string): RootTable => openLmdb(directory, environmentOptions)

/** Opens all tables of an environment, making those that are not there. */
export function openTables(root: RootTable): OpenedTables {
  return {
    root,
    data: openTable(root, 'data'),
    log: openTable(root, 'log'),
    notes: openTable(root, 'notes'),
    meta: openTable(root, 'meta'),
  }
}

/**
 * Closes an environment at once. Nothing may be under way in it.
 *
 * `close` of lmdb-js first waits for promised writes, and takes turns of the event loop even where none is left: in that time there would be
 * no tables to read from. So the wait, a private method, is taken out. If a release of lmdb-js renames it, the environment stays open,
 * and the one opened next shares it.
 */
export function closeNow(root: RootTable): void {
  Object.assign(root, { _endWrites: undefined })
  void root.close()
}

/** How long LMDB's file is; undefined where there is none. */
export function fileBytes(directory: string): number | undefined {
  return statSync(join(directory, dataFileName), { throwIfNoEntry: false })?.size
}

export function openTable(root: RootTable, name: string): Table {
  return root.openDB<Uint8Array, Uint8Array>({ name, encoding: 'binary', keyEncoding: 'binary' })
}

/** A snapshot of everything committed so far. LMDB would hand out the one of its last read, which may be older. */
export function freshSnapshot(root: RootTable): Transaction {
  root.resetReadTxn()
  return root.useReadTransaction()
}

/** Waits for a write. Rejects with the disk's error: lmdb-js rejects with a general one that carries a promise of it. */
export async function settle(written: Promise<unknown>): Promise<void> {
  try {
    await written
  } catch (error) {
    throw await causeOf(error)
  }
}

async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  )
}
