import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from './system-errors.ts'

/**
 * Makes a directory, with whatever leads to it, for its owner alone and durably. One that exists is left as it is: it is
 * not ours to change who may enter it.
 */
export function makePrivateDirectory(path: string): void {
  if (isDirectory(path)) return
  try {
    // Not `recursive`: Node.js never returns from that below a directory that takes none, as /proc.
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) === 'EEXIST' && isDirectory(path)) return
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error
    makePrivateDirectory(parent)
    mkdirSync(path, { mode: 0o700 })
  }
  // The umask may have taken rights from the owner too.
  chmodSync(path, 0o700)
  syncParent(path)
}

/** Which file or directory a path leads to, whatever its name; undefined when it leads to none. */
export function fileIdentity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** How many bytes the files of a directory take on the disk. What goes meanwhile takes none. */
export async function allocatedBytes(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(
    names.map(async (name) => {
      try {
        const { blocks, size } = await stat(join(directory, name))
        // Windows tells no blocks.
        return process.platform === 'win32' ? size : blocks * blockBytes
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return 0
        throw error
      }
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** What `stat` counts in, whatever a file system does (POSIX leaves it open; all that are used do so). */
const blockBytes = 512

/** Makes the names in a directory durable: a file's data is once it is synced, its name only when the directory is. */
export function syncDirectory(directory: string): void {
  // Windows has no such thing as opening a directory to sync it.
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function syncParent(path: string): void {
  try {
    syncDirectory(dirname(path))
  } catch (error) {
    // Who may write to a directory need not be allowed to read it, and without reading it cannot be synced.
    if (codeOf(error) !== 'EACCES') throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
