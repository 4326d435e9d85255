import { copyFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Host, Output } from '../host.ts'

/** The log of a detached server is put aside at this size; the one that was aside before is gone then. */
export const serverLogBytesMax = 10 * 1024 * 1024

/** Where a detached server of a data directory writes what it has to tell. */
export const serverLogPath = (directory: string): string => join(directory, 'server.log')

/** What was there before the log was put aside last. */
export const serverLogAsidePath = (directory: string): string => `${serverLogPath(directory)}.1`

/**
 * The same host, whose output goes to a log already and is kept from growing for ever. The file is emptied in place: whoever
 * writes to its end, the runtime with its last words too, goes on there.
 */
export function withBoundedLog(host: Host, directory: string, bytesMax: number = serverLogBytesMax): Host {
  const [path, aside] = [serverLogPath(directory), serverLogAsidePath(directory)]
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const bounded = (output: Output): Output => ({
    write(chunk) {
      output.write(chunk)
      bytes += Buffer.byteLength(chunk)
      if (bytes <= bytesMax) return
      try {
        copyFileSync(path, aside)
        truncateSync(path)
      } catch {
        // The directory is gone, or the disk is full: that is told elsewhere, and no reason to end.
      }
      bytes = 0
    },
    drained: () => output.drained(),
    isTerminal: output.isTerminal,
  })
  return { ...host, stdout: bounded(host.stdout), stderr: bounded(host.stderr) }
}
