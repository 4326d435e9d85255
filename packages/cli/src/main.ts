import { processHost } from './process-host.ts'
import { run } from './program.ts'

/** Runs the command the process was started with, and sets its exit code. */
export async function runMain(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), processHost())
}
