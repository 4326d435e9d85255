import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { runKeptScript } from './kept-script.ts'

/** The commands that run a cluster or read a data directory: they need the whole program. */
export const wholeCommands: readonly string[] = ['up', 'agent', 'plan', 'snapshot', 'import']

/** What either script of the bundle exports. */
interface Program {
  runMain(options: { readonly keepCode: () => void }): Promise<void>
}

/**
 * Runs the bundled program, which is in `directory` as two scripts: `program.cjs` has all of it, and `client.cjs` what the commands need
 * that ask a server. Code is kept for each command by itself: the more of it there is, the longer it takes to load.
 */
export async function runBundled(directory: string, args: readonly string[]): Promise<void> {
  // What is loaded beside the scripts is compiled once and kept by Node, which also says where.
  enableCompileCache()
  const isWhole = args.some((arg) => wholeCommands.includes(arg))
  const file = join(directory, isWhole ? 'program.cjs' : 'client.cjs')
  const { exports, keep } = runKeptScript(file, getCompileCacheDir(), useOf(args))
  await (exports as Program).runMain({ keepCode: keep })
}

/** What code is kept for: a command; help, of whichever, since it runs nothing of what the command does. */
function useOf(args: readonly string[]): string {
  const [command = ''] = args
  if (args.some((arg) => ['--help', '-h'].includes(arg))) return 'help'
  return /^[a-z-]{1,30}$/.test(command) ? command : 'none'
}
