import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { launch } from './launch.ts'
import { tellingIdentity } from './shim.ts'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

/** What writes the output of a container to its log. */
export interface LogWriter {
  /** For the container to write to. */
  readonly outputFd: number
  /** Resolves when all that was written is in the log, and nobody is left to write more. */
  readonly end: Promise<void>
}

/**
 * Has all that comes to the named pipe at `path`, which then has no name any more, be written to an open log. A container that had the log itself
 * for its output would empty it by opening that again, as `echo >/dev/stderr` does. The writer is a process in a session of its own, which
 * outlives the node agent as the container does, and ends when nobody has the other end of the pipe. Which process it is, it writes to a file: it is
 * killed when its log is removed, whoever has the pipe by then. Throws where it cannot be started.
 */
export function startLogWriter(path: string, log: number, identityPath: string): LogWriter {
  // Whoever opens one end waits for the other, unless it is there.
  const both = openSync(path, O_RDWR | O_NONBLOCK)
  const inputFd = openSync(path, O_RDONLY)
  const outputFd = openSync(path, O_WRONLY)
  closeSync(both)
  unlinkSync(path)
  try {
    const argv = ['/bin/sh', '-c', writing, 'coracle-log', identityPath]
    const writer = launch({ argv, env: {}, directory: '/' }, [inputFd, log, 'ignore'])
    const end = new Promise<void>((resolve) => void writer.once('exit', () => resolve()).once('error', () => resolve()))
    writer.unref()
    if (writer.pid !== undefined) return { outputFd, end }
    throw new Error('failed to start container: this host starts no more processes or has no more descriptors')
  } catch (error) {
    closeSync(outputFd)
    throw error
  } finally {
    closeSync(inputFd)
  }
}

/** What cannot be written, as on a full disk, is passed over a piece at a time: a container neither ends nor waits for its log. */
const writing = `${tellingIdentity}
until cat; do head -c 1000000 >/dev/null; done`
