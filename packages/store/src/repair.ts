import { join, resolve } from 'node:path'
import { lockDirectory } from './directory-lock.ts'
import { hostFiles } from './durable-files.ts'
import { StoreDamagedError } from './errors.ts'
import { Journal } from './journal.ts'
import { inspectJournal, type JournalInspection, journalFileNames, journalMarkName } from './journal-inspection.ts'
import { batchOfRecord } from './journaled-batch.ts'
import { repairedRevisionsSkipped } from './limits.ts'
import { holdsLmdbStore } from './lmdb-store.ts'
import { LmdbTables } from './lmdb-tables.ts'
import type { Revision } from './store.ts'
import type { StoreIdentity } from './store-identity.ts'
import { codeOf } from './system-errors.ts'

/** What a look at every part of a store has found. */
export interface StoreReport {
  /** What is damaged, a sentence each; empty when the store is whole. */
  readonly problems: readonly string[]
  /** Everything that was written up to this revision is there, other than what `problems` names by its key. */
  readonly safeRevision: Revision
  /** Whether anything was, or may have been, written after `safeRevision`: it is lost. */
  readonly isEndLost: boolean
  /** The highest revision there is a trace of. */
  readonly highestRevision: Revision
}

/**
 * Reads all of the store in a directory that no process uses, and changes nothing. Rejects with a `StoreDamagedError` when
 * there is none, or one that nothing can be told of: only a backup helps then.
 */
export function examineStore(directory: string): Promise<StoreReport> {
  return withStore(directory, (store) => store.report)
}

/**
 * Goes on without what is damaged, and says what that was. What is whole in the journal goes to the tables; values that are not as
 * they were written are removed with their keys, and so are notes; all history is forgotten. Revisions go on `repairedRevisionsSkipped` after
 * the highest there is a trace of: none is given twice, and whoever watched has to list again. A damaged journal
 * is left beside the new one, as `journal-….damaged`. Does nothing to a store that is whole.
 */
export function repairStore(directory: string): Promise<StoreReport> {
  return withStore(directory, async ({ path, identity, tables, journal, report, damagedKeys }) => {
    if (report.problems.length === 0) return report
    if (journal.records.length > 0) {
      await tables.write(journal.records.map((record) => batchOfRecord(record, identity)))
    }
    const position = { sequence: tables.sequence, revision: report.highestRevision + repairedRevisionsSkipped }
    const written = new Set(
      journal.records.flatMap((record) => batchOfRecord(record, identity).events.map(({ key }) => key)),
    )
    const gone = damagedKeys.filter((key) => !written.has(Buffer.from(key).toString()))
    await tables.forget(gone, position)
    if (journal.damage !== undefined) {
      for (const name of [...journalFileNames, journalMarkName]) await setAside(join(path, name))
      await Journal.create({ files: hostFiles, directory: path, identity }, position)
    }
    return report
  })
}

interface OpenStore {
  readonly path: string
  readonly identity: StoreIdentity
  readonly tables: LmdbTables
  readonly journal: JournalInspection
  readonly damagedKeys: readonly Uint8Array[]
  readonly report: StoreReport
}

async function withStore<T>(directory: string, action: (store: OpenStore) => T | Promise<T>): Promise<T> {
  const path = resolve(directory)
  if (!holdsLmdbStore(path)) throw new StoreDamagedError(path, 'it is missing')
  const lock = lockDirectory(path)
  try {
    const tables = await LmdbTables.open(path)
    try {
      const { identity } = tables
      if (identity === undefined) throw new StoreDamagedError(path, 'its tables are empty')
      const journal = await inspectJournal(hostFiles, path, identity, tables)
      const damagedKeys = tables.damagedKeys()
      return await action({
        path,
        identity,
        tables,
        journal,
        damagedKeys,
        report: reportOf(tables, journal, damagedKeys),
      })
    } finally {
      await tables.close()
    }
  } finally {
    lock.release()
  }
}

function reportOf(tables: LmdbTables, journal: JournalInspection, damagedKeys: readonly Uint8Array[]): StoreReport {
  const problems = damagedKeys.map((key) => {
    return `the value of ${JSON.stringify(Buffer.from(key).toString())} is not as it was written`
  })
  if (!tables.isHistoryWhole())
    problems.push('a part of the history, which watches may ask for, is not as it was written')
  if (tables.damagedNotes().length > 0) problems.push('a part of the notes of transactions is not as it was written')
  if (journal.damage !== undefined) problems.push(journal.damage)
  const safeRevision = journal.records.at(-1)?.revision ?? tables.revision
  return { problems, safeRevision, isEndLost: journal.damage !== undefined, highestRevision: journal.highestRevision }
}

async function setAside(path: string): Promise<void> {
  try {
    await hostFiles.rename(path, `${path}.damaged`)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
