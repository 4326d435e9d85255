import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type Environment, realEnvironment } from '@coracle/environment'
import type { Host } from '../host.ts'
import { type HostProcesses, hostProcesses } from '../host-processes.ts'
import { run } from '../program.ts'

/** A host for tests: records what is written, and is interrupted by hand. */
export interface RecordingHost extends Host {
  readonly written: { stdout: string; stderr: string }
  readonly exits: readonly number[]
  /** What it has told to whoever has started it. */
  readonly announcements: readonly object[]
  /** What a Ctrl-C does. */
  interrupt(): void
}

export interface RecordingOptions {
  readonly environment?: Environment
  readonly workingDirectory?: string
  readonly homeDirectory?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** What stands for other programs; unless given, none can be run. */
  readonly runProgram?: Host['runProgram']
  /** The real ones unless given. */
  readonly processes?: HostProcesses
  /** What stands for this program, started once more; unless given, it cannot be. */
  readonly startDetached?: Host['startDetached']
  /** Whether standard output is a terminal; false unless said. */
  readonly isTerminal?: boolean
  /** Called after each write to standard output, with all of it. */
  readonly onOutput?: (stdout: string) => void
}

export function recordingHost(options: RecordingOptions = {}): RecordingHost {
  const written = { stdout: '', stderr: '' }
  const exits: number[] = []
  const announcements: object[] = []
  const handlers = new Set<() => void>()
  const output = (stream: 'stdout' | 'stderr') => ({
    write(chunk: string | Uint8Array) {
      written[stream] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      if (stream === 'stdout') options.onOutput?.(written.stdout)
    },
    drained: () => Promise.resolve(),
    isTerminal: options.isTerminal === true,
  })
  return {
    written,
    exits,
    announcements,
    environment: options.environment ?? realEnvironment(),
    variables: options.variables ?? {},
    workingDirectory: options.workingDirectory ?? '/nowhere',
    homeDirectory: options.homeDirectory ?? '/nowhere',
    stdout: output('stdout'),
    stderr: output('stderr'),
    runProgram: options.runProgram ?? ((command) => Promise.reject(new Error(`this test has no program ${command}`))),
    processes: options.processes ?? hostProcesses,
    startDetached: options.startDetached ?? (() => assert.fail('this test starts no program')),
    announce: (message) => announcements.push(message),
    readStdin: () => Promise.resolve(options.stdin ?? ''),
    input: {
      isTerminal: false,
      open: () => ({ stream: Readable.from([Buffer.from(options.stdin ?? '')]), close: () => {} }),
      makeRaw: () => () => {},
      showAsWritten() {},
      sizes: async function* () {},
    },
    onInterrupt(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
    keepCode() {},
    returnMemoryWhenIdle: () => () => {},
    delayLastCompiler: async () => () => {},
    exit: (code) => exits.push(code),
    interrupt() {
      for (const handler of handlers) handler()
    },
  }
}

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end. */
export async function runCommand(args: readonly string[], options: RecordingOptions = {}): Promise<CommandResult> {
  const host = recordingHost(options)
  const code = await run(args, host)
  return { code, ...host.written }
}
