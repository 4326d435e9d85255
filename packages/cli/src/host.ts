import type { Readable } from 'node:stream'
import type { HttpClient, PluginPolicy } from '@coracle/client'
import type { TerminalSize } from '@coracle/client/streaming'
import type { Environment } from '@coracle/environment'
import type { ConnectionFlags } from './connection.ts'
import type { HostProcesses } from './host-processes.ts'

/** Where text goes. */
export interface Output {
  write(chunk: string | Uint8Array): void
  /** Resolves when the reader has kept up: to be waited for between pieces of an endless stream. */
  drained(): Promise<void>
  /** Whether a person looks at it: then, and only then, it may be coloured. */
  readonly isTerminal: boolean
}

/** Where input comes from, for commands that hand it on as it comes. */
export interface Input {
  /** Whether a person types it. */
  readonly isTerminal: boolean
  /** What comes. Until the returned function is called the process does not end while more may come. */
  open(): { readonly stream: Readable; readonly close: () => void }
  /** Hands on each key as it is typed, Ctrl-C too, until the returned function is called. Only for a terminal. */
  makeRaw(): () => void
  /**
   * Has a terminal in raw mode show what it is given as it is, until that is left. Programs that draw at places of their own, such as editors, move
   * down with a line feed and stay in their column.
   */
  showAsWritten(): void
  /** How large the terminal is that shows the output: now, and whenever that changes until the signal is aborted. */
  sizes(signal: AbortSignal): AsyncIterable<TerminalSize>
}

/** How another program has ended. */
export interface ProgramEnd {
  readonly code: number
  /** What it printed, where that was captured. */
  readonly stdout: string
  readonly stderr: string
}

/** This program, started once more to go on by itself. */
export interface DetachedProgram {
  readonly pid: number
  /** What it announces, or how it has ended before it did: its exit code, or null where a signal has ended it. */
  readonly outcome: Promise<{ readonly announced: unknown } | { readonly exitCode: number | null }>
}

/** What a command may touch of the process it runs in. */
export interface Host {
  readonly environment: Environment
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Relative paths start here. */
  readonly workingDirectory: string
  readonly homeDirectory: string
  readonly stdout: Output
  readonly stderr: Output
  /**
   * The server that commands talk to, whatever it is that their flags name: a copy on which a change is played. Absent: the one
   * that they name.
   */
  readonly connect?: (flags: ConnectionFlags) => Promise<{ readonly client: HttpClient; readonly namespace: string }>
  /** Which credential plugins of a kubeconfig may run. Absent: all. */
  readonly pluginPolicy?: PluginPolicy
  readStdin(): Promise<string>
  readonly input: Input
  /**
   * Runs another program to its end, with this process's input. What it prints goes to the terminal, or comes back where
   * `captured`. It has this process's environment, and `variables` in it. Rejects where it cannot be started.
   */
  runProgram(
    command: string,
    args: readonly string[],
    captured: boolean,
    variables?: Readonly<Record<string, string>>,
  ): Promise<ProgramEnd>
  /** Other processes of this machine. */
  readonly processes: HostProcesses
  /**
   * Starts this program with other arguments, in a session of its own that outlives the terminal. What it prints is added to
   * a file. This process may end once the outcome is known.
   */
  startDetached(args: readonly string[], outputFile: string): DetachedProgram
  /** Tells something to the program that has started this one detached; nothing where none has, or it has ended. */
  announce(message: object): void
  /**
   * Calls `handler` for each Ctrl-C (SIGINT), SIGTERM and SIGHUP, instead of ending the process; and, unless it was called
   * before, when nobody reads the output any more, and when the npm has ended that started the process. Returns what
   * undoes it.
   */
  onInterrupt(handler: () => void): () => void
  /** Keeps the code of what has run until now, for the next start of the program. To be called when everything is loaded, before `delayLastCompiler`. */
  keepCode(): void
  /**
   * Gives memory that a burst of work needed back to the system once the process is idle, until the returned function is called.
   * The program lets go of what it can do without then: `forget` before its garbage is collected, `release` after that.
   */
  returnMemoryWhenIdle(parts: { forget(): void; release(): Promise<void> }): () => void
  /** Spares a process that works in bursts the engine's last and slowest compiler, until the returned function is called. */
  delayLastCompiler(): Promise<() => void>
  /** Ends the process at once. */
  exit(code: number): void
}
