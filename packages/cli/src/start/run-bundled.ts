import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { type RunScript, runKeptScript } from './kept-script.ts'

/** The commands that run a cluster or read a data directory: they need the whole program. */
export const wholeCommands: readonly string[] = ['up', 'agent', 'plan', 'snapshot', 'import']

/**
 * How much WebAssembly runs before V8 compiles it for speed, in its own unit: 75 times as much as without this. The parser of answers would
 * get there with the first kilobytes, and to compile it takes more than all that a command asks for.
 */
const tieringBudget = 1_000_000_000

/** What either script of the bundle exports. */
interface Program {
  runMain(options: { readonly keepCode: () => void }): Promise<void>
}

/**
 * Runs the bundled program, which is in `directory` as scripts: `program.cjs` can all, with those beside it, and `client.cjs` has what the commands
 * need that ask a server. Code is kept for each command by itself: the more of it there is, the longer it takes to load.
 */
export async function runBundled(directory: string, args: readonly string[]): Promise<void> {
  // What is loaded beside the scripts is compiled once and kept by Node, which also says where.
  enableCompileCache()
  const isWhole = args.some((arg) => wholeCommands.includes(arg))
  if (!isWhole) setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`)
  const scripts: RunScript[] = []
  const runPart = (name: string): unknown => {
    const script = runKeptScript(join(directory, name), getCompileCacheDir(), useOf(args), runPart)
    scripts.push(script)
    return script.exports
  }
  const { runMain } = runPart(isWhole ? 'program.cjs' : 'client.cjs') as Program
  const keepCode = (): void => {
    for (const script of scripts) script.keep()
  }
  await runMain({ keepCode })
}

/** What code is kept for: a command; help, of whichever, since it runs nothing of what the command does. */
function useOf(args: readonly string[]): string {
  const [command = ''] = args
  if (args.some((arg) => ['--help', '-h'].includes(arg))) return 'help'
  return /^[a-z-]{1,30}$/.test(command) ? command : 'none'
}
