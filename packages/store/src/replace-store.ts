import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectoryNames } from './data-directory-names.ts'
import { syncDirectory } from './directories.ts'
import { holdsLmdbStore } from './lmdb-store.ts'

/** What is done to files while a store is replaced. */
export interface ReplacingFiles {
  /** Gives a directory another name, and returns once that is durable. */
  rename(from: string, to: string): void
  /** Removes what is there, if anything. */
  remove(path: string): void
}

const hostFiles = (directory: string): ReplacingFiles => ({
  rename(from, to) {
    renameSync(from, to)
    syncDirectory(directory)
  },
  remove: (path) => rmSync(path, { recursive: true, force: true }),
})

/**
 * Puts a store that is complete in the place of the one that a data directory has, if it has any. Interrupted wherever, the directory has
 * one of the two whole, and `settleStore` has it in place. For whoever holds the directory's lock.
 */
export function replaceStore(directory: string, complete: string, files = hostFiles(directory)): void {
  const { store, former } = pathsIn(directory)
  settleStore(directory, files)
  if (existsSync(store)) files.rename(store, former)
  files.rename(complete, store)
  finish(directory, files)
}

/** Ends what an interrupted `replaceStore` has begun. For whoever holds the directory's lock. */
export function settleStore(directory: string, files = hostFiles(directory)): void {
  const { store, former } = pathsIn(directory)
  if (!existsSync(former)) return
  if (holdsLmdbStore(store)) finish(directory, files)
  else files.rename(former, store)
}

/** The new store is in place. It is not the one that the marker names; the former goes last, since by it what is left to do is known. */
function finish(directory: string, files: ReplacingFiles): void {
  const { marker, former } = pathsIn(directory)
  files.remove(marker)
  files.remove(former)
}

const pathsIn = (directory: string) => ({
  store: join(directory, dataDirectoryNames.store),
  former: join(directory, dataDirectoryNames.formerStore),
  marker: join(directory, dataDirectoryNames.marker),
})
