import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the objects of a data directory come from that were imported. */
export interface ImportRecord {
  /** Address of the server. */
  readonly source: string
  /** RFC 3339. */
  readonly importedAt: string
}

const recordPath = (directory: string): string => join(directory, 'imported.json')

/** Undefined where the objects were not imported. */
export function readImportRecord(directory: string): ImportRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordPath(directory), 'utf8')) as ImportRecord
  } catch {
    return undefined
  }
}

export function writeImportRecord(directory: string, record: ImportRecord): void {
  writeFileSync(recordPath(directory), `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

/** The objects are others now. */
export const removeImportRecord = (directory: string): void => rmSync(recordPath(directory), { force: true })
