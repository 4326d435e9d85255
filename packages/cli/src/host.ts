import type { Environment } from '@coracle/environment'

/** Where text goes. */
export interface Output {
  write(chunk: string | Uint8Array): void
  /** Resolves when the reader has kept up: to be waited for between pieces of an endless stream. */
  drained(): Promise<void>
  /** Whether a person looks at it: then, and only then, it may be coloured. */
  readonly isTerminal: boolean
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
  readStdin(): Promise<string>
  /**
   * Calls `handler` for each Ctrl-C (SIGINT), SIGTERM and SIGHUP, instead of ending the process; and, unless it was called
   * before, when nobody reads the output any more, and when the npm has ended that started the process. Returns what
   * undoes it.
   */
  onInterrupt(handler: () => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
}
