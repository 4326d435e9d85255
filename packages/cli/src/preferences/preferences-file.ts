import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type Preference, type ReadPreference, readPreference } from './preference.ts'

/** The file that preferences stand in. */
export interface PreferencesFile {
  /** As it was named, for messages. */
  readonly named: string
  readonly path: string
  /** It was named, and has to be there. */
  readonly isExplicit: boolean
}

/** The file that `--kuberc` or KUBERC names, or else `~/.kube/kuberc`; undefined where `KUBERC=off` turns preferences off. */
export function preferencesFile(host: Host, flag: string | undefined): PreferencesFile | undefined {
  const variable = host.variables.KUBERC ?? ''
  if (variable === 'off') {
    if (!flag) return undefined
    throw new CliError('disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive')
  }
  const named = flag || variable
  if (named !== '') return { named, path: resolve(host.workingDirectory, named), isExplicit: true }
  const path = join(host.homeDirectory, '.kube', 'kuberc')
  return { named: path, path, isExplicit: false }
}

/** What is noted of a file while it is read, at a level that `-v` asks for. */
export type Note = (text: string) => void

/**
 * The first preference of a file that can be read; undefined where there is none. What its version does not know is told on standard
 * error. A file that was named has to hold one, or nothing at all; of the other it is told that it does not.
 */
export async function loadPreference(host: Host, file: PreferencesFile, note: Note): Promise<Preference | undefined> {
  try {
    const read = await firstPreference(file, note)
    if (read === undefined) return undefined
    if (read.unknown.length > 0) {
      const fields = read.unknown.map((path) => `unknown field ${JSON.stringify(path)}`)
      host.stderr.write(
        `kuberc: ignoring strict decoding error in ${file.named}: strict decoding error: ${fields.join(', ')}`,
      )
    }
    return read.preference
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (file.isExplicit) throw new CliError(`kuberc: ${error.message}`)
    if (!isMissing(error)) host.stderr.write(`kuberc: no preferences loaded from ${file.named}: ${error.message}`)
    return undefined
  }
}

async function firstPreference({ named, path }: PreferencesFile, note: Note): Promise<ReadPreference | undefined> {
  const text = await readPreferences(path, named)
  const { parseAllDocuments } = await import('yaml')
  const documents = parseAllDocuments(text, { uniqueKeys: false })
  let entries = 0
  for (const document of Array.isArray(documents) ? documents : []) {
    if (document.contents === null) continue
    entries++
    try {
      const [fault] = document.errors
      if (fault !== undefined) throw fault
      return readPreference(document.toJS())
    } catch (error) {
      const why = error instanceof Error ? error.message : error
      note(`kuberc: strict decoding error for entry ${entries} in ${named}: ${why}`)
    }
  }
  if (entries > 0) throw new Error(`no valid preferences found in ${named}, use --v=5 to see details`)
  note(`kuberc: no preferences found in ${named}`)
  return undefined
}

/** The text of the file. Rejects with an Error in Go's words, which `isMissing` knows where there is no file. */
export async function readPreferences(path: string, named: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw new Error(`open ${named}: no such file or directory`, { cause })
    if (cause.code === 'EISDIR') throw new Error(`read ${named}: is a directory`, { cause })
    throw new Error(`open ${named}: ${cause.message}`, { cause })
  })
}

/** Whether a file could not be read because there is none. */
export const isMissing = ({ cause }: Error): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
