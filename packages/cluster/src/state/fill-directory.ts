import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { KubernetesObject } from '@coracle/api'
import { type StateReport, StateWriter } from '@coracle/apiserver'
import type { Environment } from '@coracle/environment'
import {
  dataDirectoryNames,
  holdsLmdbStore,
  lockDirectory,
  makePrivateDirectory,
  openLmdbStore,
  replaceStore,
  restoredRevisionsSkipped,
  type SoleWriterStore,
  settleStore,
} from '@coracle/store'

/** The directory has a store already, and nobody has said that it may go. */
export class StorePresentError extends Error {
  override readonly name = 'StorePresentError'
  constructor(directory: string) {
    super(`${directory} has objects of a cluster already`)
  }
}

export interface FillOptions {
  readonly environment: Environment
  /** Made where it is missing. */
  readonly dataDir: string
  /** Whether objects that are there already go. */
  readonly overwrite?: boolean
  /** Called when all objects are written aside, before they take their place; what it throws leaves the directory as it was. */
  readonly beforeReplacing?: () => void
}

/**
 * Puts objects into the data directory of a cluster that does not run, as they are (see `StateWriter`): a cluster that is started
 * on it goes on from there, under the keys it has. The directory has all of them or what it had before, whatever happens
 * meanwhile: objects are written aside, and take their place when `pages` has ended well. Rejects with a `DirectoryInUseError`
 * where the cluster runs, with a `StorePresentError` where it has objects and these may not go.
 */
export async function fillDirectory(
  { environment, dataDir, overwrite = false, beforeReplacing }: FillOptions,
  pages: AsyncIterable<readonly KubernetesObject[]>,
): Promise<StateReport> {
  const directory = resolve(dataDir)
  const store = join(directory, dataDirectoryNames.store)
  const aside = `${store}.filling`
  makePrivateDirectory(directory)
  const lock = lockDirectory(directory)
  try {
    settleStore(directory)
    if (holdsLmdbStore(store) && !overwrite) throw new StorePresentError(directory)
    rmSync(aside, { recursive: true, force: true })
    const report = await fillStore(aside, environment, pages)
    beforeReplacing?.()
    replaceStore(directory, aside)
    return report
  } finally {
    rmSync(aside, { recursive: true, force: true })
    lock.release()
  }
}

async function fillStore(
  directory: string,
  environment: Environment,
  pages: AsyncIterable<readonly KubernetesObject[]>,
): Promise<StateReport> {
  let filling: Filling | undefined
  try {
    for await (const page of pages) {
      if (page.length === 0) continue
      filling ??= await beginFilling(directory, environment, page)
      await filling.writer.write(page)
    }
    filling ??= await beginFilling(directory, environment, [])
    await filling.writer.finish()
    return filling.writer.report
  } finally {
    await filling?.store.close()
  }
}

interface Filling {
  readonly store: SoleWriterStore
  readonly writer: StateWriter
}

/** Opens a store whose revisions are all later than what anybody has seen of the cluster that the objects are of. */
async function beginFilling(
  directory: string,
  environment: Environment,
  firstPage: readonly KubernetesObject[],
): Promise<Filling> {
  const seen = firstPage.map(({ metadata }) => Number(metadata.resourceVersion)).filter(Number.isSafeInteger)
  const firstAfter = seen.reduce((newest, each) => Math.max(newest, each), 0) + restoredRevisionsSkipped
  const store = await openLmdbStore({ directory, environment, firstAfter })
  return { store, writer: new StateWriter(store, environment) }
}
