import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { CliError } from './cli-error.ts'
import type { ProgramEnd } from './host.ts'

/** More than this is not kept of what a program prints. */
const outputBytesMax = 64 * 1024 * 1024

/** Runs a program to its end, as `Host.runProgram` promises. */
export async function runProgram(
  command: string,
  args: readonly string[],
  captured: boolean,
  variables: Readonly<Record<string, string>> = {},
): Promise<ProgramEnd> {
  const output = captured ? 'pipe' : 'inherit'
  const child = spawn(command, args, { stdio: ['inherit', output, output], env: { ...process.env, ...variables } })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (texts[name].length < outputBytesMax) texts[name] += text
    })
  }
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw new CliError(`cannot run ${command}: ${error instanceof Error ? error.message : error}`)
  })) as [number | null]
  return { code: code ?? 1, ...texts }
}
