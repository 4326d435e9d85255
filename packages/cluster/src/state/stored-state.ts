import { join, resolve } from 'node:path'
import type { KubernetesObject } from '@coracle/api'
import { storedObjects } from '@coracle/apiserver'
import type { Environment } from '@coracle/environment'
import { dataDirectoryNames, holdsLmdbStore, lockDirectory, openLmdbStore, settleStore } from '@coracle/store'

export interface StoredState {
  /** The revision of everything. */
  readonly revision: string
  readonly pages: AsyncIterable<readonly KubernetesObject[]>
}

/**
 * Gives what the data directory of a cluster that does not run has on disk to `use`, and keeps others away meanwhile. No object is
 * changed. Rejects with a `DirectoryInUseError` where the cluster runs, with a `StoreDamagedError` where the store is not whole.
 */
export async function readStoredState<R>(
  environment: Environment,
  dataDir: string,
  use: (state: StoredState) => Promise<R>,
): Promise<R> {
  const directory = resolve(dataDir)
  const storeDirectory = join(directory, dataDirectoryNames.store)
  const places = [storeDirectory, join(directory, dataDirectoryNames.formerStore)]
  if (!places.some(holdsLmdbStore)) throw new Error(`${directory} has no objects on disk`)
  const lock = lockDirectory(directory)
  try {
    settleStore(directory)
    const store = await openLmdbStore({
      directory: storeDirectory,
      identityFile: join(directory, dataDirectoryNames.marker),
      environment,
    })
    try {
      return await use({ revision: String(await store.latest()), pages: storedObjects(store) })
    } finally {
      await store.close()
    }
  } finally {
    lock.release()
  }
}
