import type { Duplex, Readable, Writable } from 'node:stream'

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly width: number
  readonly height: number
}

/** What a command that runs elsewhere reads and writes; what is absent it does not have. */
export interface CommandStreams {
  readonly stdin?: Readable
  /** With a terminal: both outputs. */
  readonly stdout?: Writable
  readonly stderr?: Writable
  /** How large the terminal is, each time that changes. */
  readonly resizes?: AsyncIterable<TerminalSize>
}

/** A command to run in a container of a pod. */
export interface ExecOptions {
  readonly container: string
  readonly command: readonly string[]
  /** Whether it has a terminal. */
  readonly tty: boolean
}

/** A container whose own process is attached to. */
export interface AttachOptions {
  readonly container: string
}

/**
 * Runs a command with these streams, or attaches them to one that runs. Resolves with its exit code when it has ended and
 * all it wrote has been taken. Rejects where it cannot be run. Aborting the signal ends the command, or detaches.
 */
export type RunCommand = (streams: CommandStreams, signal: AbortSignal) => Promise<number>

/** Connects a stream to a port. Resolves when the connection has ended, and rejects where there cannot be one. */
export type ForwardPort = (port: number, stream: Duplex, signal: AbortSignal) => Promise<void>
