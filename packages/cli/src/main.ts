import { processHost } from './process-host.ts'
import { run } from './program.ts'

export interface MainOptions {
  /** Keeps the code of what has run until now, for the next start. */
  readonly keepCode?: () => void
}

/** Runs the command the process was started with, and sets its exit code. The code of one that has done what it was to do is kept. */
export async function runMain({ keepCode = () => {} }: MainOptions = {}): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), processHost(keepCode))
  if (process.exitCode === 0) keepCode()
}
