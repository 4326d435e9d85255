import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { ExitError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { directoriesOf, prefixes } from './plugin-files.ts'

/**
 * Runs the program on PATH that arguments name, `kubectl-foo-bar` for `foo bar`, with the rest of them, as kubectl does: the longest name
 * comes first, and a dash within a word is an underscore. Resolves to false where there is none; rejects with its exit code where it fails.
 */
export async function runPlugin(host: Host, args: readonly string[]): Promise<boolean> {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'))
  const words = firstFlag < 0 ? args : args.slice(0, firstFlag)
  for (let count = words.length; count > 0; count--) {
    const name = words
      .slice(0, count)
      .map((word) => word.replaceAll('-', '_'))
      .join('-')
    const path = await findProgram(host, name)
    if (path === undefined) continue
    const { code } = await host.runProgram(path, args.slice(count), false)
    if (code !== 0) throw new ExitError(code)
    return true
  }
  return false
}

async function findProgram({ variables }: Host, name: string): Promise<string | undefined> {
  // A name is one of a program, and no path to it.
  if (name.includes('/')) return undefined
  for (const directory of directoriesOf(variables)) {
    for (const prefix of prefixes) {
      const path = join(directory, `${prefix}${name}`)
      const isProgram = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isProgram) return path
    }
  }
  return undefined
}
