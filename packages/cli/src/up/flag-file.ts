import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CliError } from '../cli-error.ts'

/** The content of the file that `flag` names. Throws a CliError where it cannot be read. */
export function flagFile(workingDirectory: string, path: string, flag: string): Buffer {
  try {
    return readFileSync(resolve(workingDirectory, path))
  } catch (error) {
    throw new CliError(`${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
