import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ExitError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { kubeconfigFiles } from '../kubeconfig/kubeconfig-files.ts'
import { directoriesOf, prefixes } from './plugin-files.ts'

/**
 * Runs the program on PATH that arguments name, `kubectl-foo-bar` for `foo bar`, with the rest of them, as kubectl does: the longest name
 * comes first, and a dash within a word is an underscore. Its name has at least `wordsMin` words. Resolves to false where there is none;
 * rejects with its exit code where it fails.
 */
export async function runPlugin(host: Host, args: readonly string[], wordsMin = 1): Promise<boolean> {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'))
  const words = firstFlag < 0 ? args : args.slice(0, firstFlag)
  for (let count = words.length; count >= wordsMin; count--) {
    const name = words
      .slice(0, count)
      .map((word) => word.replaceAll('-', '_'))
      .join('-')
    const path = await findProgram(host, name)
    if (path === undefined) continue
    const { code } = await host.runProgram(path, args.slice(count), false, await pluginVariables(host))
    if (code !== 0) throw new ExitError(code)
    return true
  }
  return false
}

/** What tells a plugin of the cluster that this program would talk to, which may be one of this directory that other programs do not know. */
async function pluginVariables(host: Host): Promise<Readonly<Record<string, string>>> {
  if ((host.variables.KUBECONFIG ?? '') !== '') return {}
  const { paths } = await kubeconfigFiles(host, undefined)
  return { KUBECONFIG: paths.join(delimiter) }
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
