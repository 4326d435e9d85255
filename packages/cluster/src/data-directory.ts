import { resolve } from 'node:path'
import type { Environment } from '@coracle/environment'
import { lockDirectory, makePrivateDirectory } from '@coracle/store'

/** The directory of a cluster, which nobody else uses as long as it is open. */
export interface DataDirectory {
  close(): void
}

/**
 * Opens the directory that a cluster keeps everything in, and makes it where it is missing. Throws a
 * `DirectoryInUseError` when a living process has it, whatever that one keeps there.
 */
export function openDataDirectory({ logger }: Environment, dataDir: string): DataDirectory {
  const directory = resolve(dataDir)
  makePrivateDirectory(directory)
  const lock = lockDirectory(directory)
  if (lock.takenOver) logger.warn('took the data directory over from a process that died', { directory })
  return { close: () => lock.release() }
}
