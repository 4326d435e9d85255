import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

/**
 * Makes pipes with names. What Node.js itself gives a child for a pipe is a socket, and that cannot be opened again by name:
 * `echo >/dev/stderr` would fail.
 */
export async function makePipes(paths: readonly string[]): Promise<void> {
  await promisify(execFile)('mkfifo', ['-m', '600', ...paths])
}

/** Pipes for whoever needs one, made several at a time: what takes time is to start the program that makes them. */
export class PipeSupply {
  readonly #directory: string
  readonly #paths: string[] = []
  #count = 0

  /** They are in this directory, and are their takers' to remove. */
  constructor(directory: string) {
    this.#directory = directory
  }

  async take(): Promise<string> {
    for (;;) {
      const path = this.#paths.pop()
      if (path !== undefined) return path
      const made = Array.from({ length: suppliedAtOnce }, (_, index) =>
        join(this.#directory, `pipe-${this.#count + index}`),
      )
      this.#count += suppliedAtOnce
      await makePipes(made)
      this.#paths.push(...made)
    }
  }
}

const suppliedAtOnce = 16

/** One end of a pipe for this process, and the descriptor of the other for a child. */
export interface PipeEnds {
  readonly own: Socket
  readonly childFd: number
}

/** A pipe that a child reads. */
export function openForChildToRead(path: string): PipeEnds {
  // Whoever opens one end waits for the other, unless it is there.
  const both = openSync(path, O_RDWR | O_NONBLOCK)
  try {
    const childFd = openSync(path, O_RDONLY)
    return { own: writerOf(openSync(path, O_WRONLY | O_NONBLOCK)), childFd }
  } finally {
    closeSync(both)
  }
}

/** A pipe that a child writes. */
export function openForChildToWrite(path: string): PipeEnds {
  const ownFd = openSync(path, O_RDONLY | O_NONBLOCK)
  const childFd = openSync(path, O_WRONLY)
  return { own: new Socket({ fd: ownFd, readable: true, writable: false }).on('error', () => {}), childFd }
}

/** Reads a pipe that others open later: it does not end in between. */
export function openForLater(path: string): Socket {
  return new Socket({ fd: openSync(path, O_RDWR | O_NONBLOCK), readable: true, writable: false }).on('error', () => {})
}

/** Writes to a pipe that somebody reads. Throws where nobody does. */
export function openToWrite(path: string): Socket {
  return writerOf(openSync(path, O_WRONLY | O_NONBLOCK))
}

/** Both ends of a pipe, so that it neither ends nor blocks whoever opens it. */
export const openBothEnds = (path: string): number => openSync(path, O_RDWR)

/** The reading end of a pipe of which the other is open already. */
export const openToRead = (path: string): number => openSync(path, O_RDONLY)

/** That a reader has gone shows at the next write, and is for nobody to know. */
const writerOf = (fd: number): Socket => new Socket({ fd, readable: false, writable: true }).on('error', () => {})
