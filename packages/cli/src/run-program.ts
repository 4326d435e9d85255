import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { CliError } from './cli-error.ts'
import type { ProgramEnd } from './host.ts'

/** More than this is not kept of what a program prints. */
const outputBytesMax = 64 * 1024 * 1024

/** Runs a program to its end, as `Host.runProgram` promises. One that has the terminal decides what Ctrl-C does. */
export async function runProgram(
  command: string,
  args: readonly string[],
  captured: boolean,
  variables: Readonly<Record<string, string>> = {},
): Promise<ProgramEnd> {
  // Before it is there: it may be quick.
  const leaving = captured ? undefined : new LeftSignals()
  try {
    const output = captured ? 'pipe' : 'inherit'
    const child = spawn(command, args, { stdio: ['inherit', output, output], env: { ...process.env, ...variables } })
    if (leaving !== undefined) leaving.child = child
    return await endOf(child, command)
  } finally {
    leaving?.end()
  }
}

async function endOf(child: ChildProcess, command: string): Promise<ProgramEnd> {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      if (texts[name].length < outputBytesMax) texts[name] += text
    })
  }
  const [code, signal] = (await once(child, 'close').catch((error: unknown) => {
    throw new CliError(`cannot run ${command}: ${error instanceof Error ? error.message : error}`)
  })) as [number | null, NodeJS.Signals | null]
  return { code: code ?? codeOf(signal), ...texts }
}

/** As shells tell that a program was ended by a signal. */
const codeOf = (signal: NodeJS.Signals | null): number => (signal === null ? 1 : 128 + constants.signals[signal])

/** Signals that a terminal sends to all that run in it: the program has them already. */
const keys = ['SIGINT', 'SIGQUIT'] as const
/** Signals that are sent to this process alone. */
const requests = ['SIGTERM', 'SIGHUP'] as const

/** Has a program go on until it ends by itself, or is asked to, and this process with it. */
class LeftSignals {
  child: ChildProcess | undefined

  readonly #ignore = (): void => {}
  readonly #pass = (signal: NodeJS.Signals): void => void this.child?.kill(signal)

  constructor() {
    for (const signal of keys) process.on(signal, this.#ignore)
    for (const signal of requests) process.on(signal, this.#pass)
  }

  end(): void {
    for (const signal of keys) process.off(signal, this.#ignore)
    for (const signal of requests) process.off(signal, this.#pass)
  }
}
