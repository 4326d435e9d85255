import { statfsSync } from 'node:fs'
import { roomMinBytes } from './limits.ts'

/**
 * Throws an error with the code ENOSPC when the disk of a directory is full. LMDB writes its locks through memory: the
 * first page that the disk has no room for would end the process without a word.
 */
export function checkRoom(directory: string): void {
  const { bavail, bsize } = statfsSync(directory)
  // Some file systems, such as those of a network, do not tell.
  if (bavail * bsize >= roomMinBytes || bsize === 0) return
  const message = `ENOSPC: ${directory} has ${bavail * bsize} bytes left, and a store needs ${roomMinBytes} to start`
  throw Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'statfs', path: directory })
}
