import { join, resolve } from 'node:path'
import type { Environment, Timer } from '@coracle/environment'
import {
  dataDirectoryNames,
  fileIdentity,
  holdsLmdbStore,
  lockDirectory,
  makePrivateDirectory,
  settleStore,
} from '@coracle/store'

/** The directory of a cluster, which nobody else uses as long as it is open. */
export interface DataDirectory {
  /** Where its store is, or is to be made. Throws a `StoreMissingError` when there was one and it is gone. */
  storeDirectory(): string
  /** The file that remembers which store is the directory's: with it the directory is not taken for a new one again. */
  readonly storeMarker: string
  /** Says that the store is open: from now on it is watched whether it is in place. */
  storeOpened(): void
  close(): void
}

/** The directory was removed, or another is in its place: what is written would be lost. */
export class DataDirectoryLostError extends Error {
  override readonly name = 'DataDirectoryLostError'
  constructor(directory: string) {
    super(`${directory} was removed or replaced while it was in use: nothing more can be kept there`)
  }
}

/** The directory is that of a cluster whose state was kept on disk, and the state is gone. */
export class StoreMissingError extends Error {
  override readonly name = 'StoreMissingError'
  constructor(directory: string) {
    super(
      `the store of the cluster in ${directory} is missing: restore ${join(directory, storeName)} from a backup, ` +
        `or remove ${join(directory, markerName)} to go on with an empty one under the same keys, ` +
        `or ${directory} to start afresh`,
    )
  }
}

const { store: storeName, marker: markerName } = dataDirectoryNames
/** How soon it is noticed that the directory is gone. */
const checkEveryMs = 1_000

/**
 * Opens the directory that a cluster keeps everything in, and makes it where it is missing. Throws a
 * `DirectoryInUseError` when a living process has it, whatever that one keeps there. Calls `onLost` once should the
 * directory be removed or replaced before it is closed.
 */
export function openDataDirectory(
  { clock, logger }: Environment,
  dataDir: string,
  onLost: (error: DataDirectoryLostError) => void,
): DataDirectory {
  const directory = resolve(dataDir)
  const store = join(directory, storeName)
  makePrivateDirectory(directory)
  const lock = lockDirectory(directory)
  if (lock.takenOver) logger.warn('took the data directory over from a process that died', { directory })
  settleStore(directory)
  let openedStore: string | undefined
  let timer: Timer
  const checkLater = () => {
    timer = clock.setTimer(checkEveryMs, check, { housekeeping: true })
  }
  const check = () => {
    const isInPlace = lock.isInPlace() && (openedStore === undefined || fileIdentity(store) === openedStore)
    if (isInPlace) checkLater()
    else onLost(new DataDirectoryLostError(directory))
  }
  checkLater()
  return {
    storeDirectory() {
      if (fileIdentity(join(directory, markerName)) !== undefined && !holdsLmdbStore(store)) {
        throw new StoreMissingError(directory)
      }
      return store
    },
    storeMarker: join(directory, markerName),
    storeOpened() {
      openedStore = fileIdentity(store)
    },
    close() {
      timer.cancel()
      lock.release()
    },
  }
}
