import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { CommandStreams } from '@coracle/client/streaming'
import type { ContainerConfig } from '../runtime.ts'
import { openBothEnds, openToRead, openToWrite } from './pipes.ts'
import { parseTerminal, resizeTerminal } from './terminal.ts'

/** The input of a container that may have one. */
export interface ContainerInput {
  /** For the container's process. */
  readonly childFd: number
  /** Keeps the input open until it is closed; undefined where it never ends. */
  readonly holderFd: number | undefined
}

/** Whether a container has an input that is made for it; others have none. */
export const hasInput = ({ stdin, tty }: ContainerConfig): boolean => stdin === true || tty === true

/**
 * Opens the input of a container, a pipe. With `stdinOnce` the node agent holds it open until it goes itself or, where there is
 * no terminal, the first client has gone; without, the container's own process does, since its input is never to end.
 */
export function openInput(path: string, { stdin, stdinOnce }: ContainerConfig): ContainerInput {
  if (stdin !== true || stdinOnce !== true) return { childFd: openBothEnds(path), holderFd: undefined }
  const holderFd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  return { holderFd, childFd: openToRead(path) }
}

export interface AttachedContainer {
  readonly config: ContainerConfig
  readonly inputPath: string
  readonly terminalPath: string
  /** What it writes, until it has ended. */
  readonly output: AsyncIterable<Uint8Array>
  /** Called when the client sends nothing more. */
  readonly onInputEnd: () => void
}

/** Connects streams to a container's own process, until that has ended. Aborting the signal ends the output. */
export async function attachStreams(
  { config, inputPath, terminalPath, output, onInputEnd }: AttachedContainer,
  { stdin, stdout, resizes }: CommandStreams,
): Promise<void> {
  const input = config.stdin === true && stdin !== undefined ? openToWrite(inputPath) : undefined
  if (input !== undefined) {
    stdin?.pipe(input)
    if (stdin?.readableEnded === true) input.end()
    input.once('close', onInputEnd)
  }
  if (config.tty === true && resizes !== undefined) void follow(terminalPath, resizes)
  try {
    for await (const piece of output) if (stdout !== undefined) await write(stdout, piece)
  } finally {
    stdin?.unpipe()
    input?.destroy()
  }
}

async function follow(terminalPath: string, resizes: NonNullable<CommandStreams['resizes']>): Promise<void> {
  try {
    for await (const size of resizes) {
      const terminal = parseTerminal(readFileSync(terminalPath, 'utf8'))
      if (terminal !== undefined) await resizeTerminal(terminal, size)
    }
  } catch {
    // The client has gone, or the container has.
  }
}

/** Writes as fast as the reader takes it; nothing where it has gone. */
function write(stream: Writable, piece: Uint8Array): Promise<void> | void {
  if (!stream.writable || stream.write(piece)) return
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle)
      resolve()
    }
    stream.on('drain', settle).on('close', settle)
  })
}

/** Lets a container's input come to its end. */
export function closeInput(holderFd: number | undefined): void {
  if (holderFd !== undefined) closeSync(holderFd)
}
