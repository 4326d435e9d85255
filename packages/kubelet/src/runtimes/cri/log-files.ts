import { readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { formatTime } from '@coracle/api'

/** How large a log may get before another is begun, and how many there are: upstream's containerLogMaxSize and containerLogMaxFiles. */
export const logBytesMax = 10 * 1024 * 1024
export const logFilesMax = 5

/** What follows the name of a log that has been put aside: the time of that. */
const asidePattern = /^\d{8}-\d{6}$/

/** The files of a log, the oldest first; the last is the one that is written to. */
export async function logFiles(path: string): Promise<readonly string[]> {
  const [directory, name] = [dirname(path), basename(path)]
  const names: readonly string[] = await readdir(directory).catch(() => [])
  const aside = names.filter((each) => each.startsWith(`${name}.`) && asidePattern.test(each.slice(name.length + 1)))
  const paths = aside.sort().map((each) => join(directory, each))
  return names.includes(name) ? [...paths, path] : paths
}

/**
 * Puts a log aside that has grown too large, and removes the oldest of those that are too many. `reopen` has the runtime begin another;
 * where it fails the log stays as it was. Gives whether it has done so.
 */
export async function rotateLog(path: string, nowMs: number, reopen: () => Promise<void>): Promise<boolean> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size < logBytesMax) return false
  const files = await logFiles(path)
  const stale = files.slice(0, Math.max(0, files.length - logFilesMax + 1))
  await Promise.all(stale.filter((file) => file !== path).map((file) => rm(file, { force: true })))
  const aside = `${path}.${stampOf(nowMs)}`
  await rename(path, aside)
  try {
    await reopen()
    return true
  } catch (error) {
    await rename(aside, path)
    throw error
  }
}

export async function removeLog(path: string): Promise<void> {
  if (path === '') return
  await Promise.all((await logFiles(path)).map((file) => rm(file, { force: true })))
}

/** `20060102-150405`, in the time of the world. */
function stampOf(timeMs: number): string {
  const [, year, month, day, hour, minute, second] =
    /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/.exec(formatTime(timeMs)) ?? []
  return `${year}${month}${day}-${hour}${minute}${second}`
}
