import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { directoriesOf, prefixes } from './plugin-files.ts'

/**
 * `coracle plugin list`: prints the files on PATH that are named as plugins, in the order of PATH, with what keeps one from being run.
 * Rejects with a CliError where there is none, or there was such a warning, as kubectl does.
 */
export async function listPlugins(
  { variables, stdout, stderr }: Host,
  program: Command,
  { nameOnly = false }: { readonly nameOnly?: boolean },
): Promise<void> {
  const firstPaths = new Map<string, string>()
  let count = 0
  let warnings = 0
  for (const directory of new Set(directoriesOf(variables))) {
    for (const name of await pluginsIn(directory, (text) => stderr.write(text))) {
      const path = join(directory, name)
      if (count === 0) stdout.write('The following compatible plugins are available:\n\n')
      count += 1
      stdout.write(`${nameOnly ? name : path}\n`)
      for (const warning of await warningsOf(name, path, firstPaths.get(name), program)) {
        warnings += 1
        stderr.write(`  - warning: ${warning}\n`)
      }
      if (!firstPaths.has(name)) firstPaths.set(name, path)
    }
  }
  if (count === 0) throw new CliError('unable to find any kubectl plugins in your PATH')
  if (warnings === 1) throw new CliError('one plugin warning was found')
  if (warnings > 1) throw new CliError(`${warnings} plugin warnings were found`)
}

async function pluginsIn(directory: string, tell: (text: string) => void): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
    return files.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))).toSorted()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'no such file or directory' : message
    tell(
      `Unable to read directory ${JSON.stringify(directory)} from your PATH: open ${directory}: ${reason}. Skipping...\n`,
    )
    return []
  }
}

async function warningsOf(
  name: string,
  path: string,
  firstPath: string | undefined,
  program: Command,
): Promise<readonly string[]> {
  const isProgram = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
  const [own = '', ...words] = name.split('-')
  return [
    ...(namesCommand(program, words) ? [`${name} overwrites existing command: "${[own, ...words].join(' ')}"`] : []),
    ...(isProgram ? [] : [`${path} identified as a kubectl plugin, but it is not executable`]),
    ...(firstPath === undefined ? [] : [`${path} is overshadowed by a similarly named plugin: ${firstPath}`]),
  ]
}

/** Whether all of the words together name a command that there is. */
function namesCommand(program: Command, words: readonly string[]): boolean {
  let found: Command | undefined = program
  for (const word of words)
    found = found?.commands.find((command) => command.name() === word || command.aliases().includes(word))
  return found !== undefined
}
