import { join } from 'node:path'
import type { DurableFiles } from './durable-files.ts'
import {
  decodeFileHeader,
  decodeMark,
  fileHeaderBytes,
  findRecords,
  type JournalPosition,
  type JournalRecord,
} from './journal-format.ts'
import type { Revision } from './store.ts'
import type { StoreIdentity } from './store-identity.ts'
import { codeOf } from './system-errors.ts'

export const journalFileNames = ['journal-0', 'journal-1'] as const
export const journalMarkName = 'journal-mark'

/** What the files of a journal hold. */
export interface JournalInspection {
  /** The records after the position asked for, in order and without a gap, as far as they go. */
  readonly records: readonly JournalRecord[]
  /** Why more than `records` was, or may have been, acknowledged; as the end of a sentence. Undefined when all is well. */
  readonly damage: string | undefined
  /** The highest revision there is a trace of. */
  readonly highestRevision: Revision
  /** The file, as index in `journalFileNames`, that holds the newest record; the second when there is none. */
  readonly newestFile: 0 | 1
  readonly sizes: readonly number[]
}

/**
 * Reads a journal without changing it. `after` is the position that is safe elsewhere, which the journal must reach.
 *
 * A last record that is not whole was cut off, and nobody was told of it, if no later record is there and none was
 * acknowledged. Anything else that is missing is damage.
 */
export async function inspectJournal(
  files: DurableFiles,
  directory: string,
  identity: StoreIdentity,
  after: JournalPosition,
): Promise<JournalInspection> {
  const contents = await Promise.all(journalFileNames.map((name) => readIfThere(files, join(directory, name))))
  const markContent = await readIfThere(files, join(directory, journalMarkName))
  const [first, second] = contents.map((bytes) => findRecords(identity, bytes ?? Buffer.alloc(0), after.sequence))
  const found = [...(first?.records ?? []), ...(second?.records ?? [])].sort((a, b) => a.sequence - b.sequence)
  const firstMissing = found.findIndex(({ sequence }, index) => sequence !== after.sequence + 1 + index)
  const records = firstMissing < 0 ? found : found.slice(0, firstMissing)

  const mark = markContent && decodeMark(identity, markContent)
  const headers = contents.map((bytes) => bytes && decodeFileHeader(bytes))
  const positions = [...headers.map((header) => header?.position), mark, first?.newest, second?.newest].filter(
    (position) => position !== undefined,
  )
  const damage =
    journalFileNames
      .map((name, index) => damageOfFile(name, contents[index], identity))
      .find((what) => what !== undefined) ??
    damageOfMark(markContent, mark) ??
    damageOfRecords(found, records, after) ??
    damageOfReach(positions, mark, records.at(-1) ?? after, after)
  return {
    records,
    damage,
    highestRevision: Math.max(after.revision, ...positions.map(({ revision }) => revision)),
    newestFile: (first?.newest.sequence ?? 0) > (second?.newest.sequence ?? 0) ? 0 : 1,
    sizes: contents.map((bytes) => bytes?.length ?? 0),
  }
}

/** Whether a record was ever written to a journal in `directory`, whichever store's. */
export async function hasJournalRecords(files: DurableFiles, directory: string): Promise<boolean> {
  const contents = await Promise.all(journalFileNames.map((name) => readIfThere(files, join(directory, name))))
  return contents.some((bytes) => bytes !== undefined && bytes.length > fileHeaderBytes)
}

function damageOfFile(name: string, bytes: Buffer | undefined, identity: StoreIdentity): string | undefined {
  if (bytes === undefined) return `${name} is missing`
  const header = decodeFileHeader(bytes)
  if (header === undefined) return `${name} does not begin as a journal does`
  return header.identity.equals(identity) ? undefined : `${name} belongs to another store`
}

function damageOfMark(bytes: Buffer | undefined, mark: JournalPosition | undefined): string | undefined {
  if (bytes === undefined) return `${journalMarkName} is missing`
  return mark === undefined ? `${journalMarkName} does not say how far the journal goes` : undefined
}

function damageOfRecords(
  found: readonly JournalRecord[],
  records: readonly JournalRecord[],
  after: JournalPosition,
): string | undefined {
  const next = found[records.length]
  if (next === undefined) return undefined
  const missing = after.sequence + 1 + records.length
  return `its journal goes on with record ${next.sequence} where ${missing} should be`
}

function damageOfReach(
  positions: readonly JournalPosition[],
  mark: JournalPosition | undefined,
  last: JournalPosition,
  after: JournalPosition,
): string | undefined {
  if (mark !== undefined && mark.sequence > last.sequence) {
    return `its journal ends with record ${last.sequence}, and record ${mark.sequence} was acknowledged`
  }
  const reach = Math.max(...positions.map(({ sequence }) => sequence))
  return reach < after.sequence
    ? `its journal ends with record ${reach}, and record ${after.sequence} is in the tables already`
    : undefined
}

async function readIfThere(files: DurableFiles, path: string): Promise<Buffer | undefined> {
  try {
    const file = await files.open(path, { create: false, synced: false })
    try {
      return await file.read()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
