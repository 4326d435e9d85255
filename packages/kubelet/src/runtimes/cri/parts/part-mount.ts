import { closeSync, fstatSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { lstat, rmdir, stat, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isMountPoint, problemOfMount } from '@coracle/environment/mounts'
import { openExactly } from '../../../volumes/exact-path.ts'
import type { Mount } from '../../runtime.ts'

/** A mount that shows a part of a volume. */
export type PartOfVolume = Mount & Required<Pick<Mount, 'hostPath' | 'volumePath'>>

export const isPart = (mount: Mount): mount is PartOfVolume =>
  mount.hostPath !== undefined && mount.volumePath !== undefined

/**
 * A handle to a part of a volume. Links of the volume have been followed when its path was found: throws where there is one now, or where what was opened
 * is not in its place.
 */
export function openPart({ hostPath, volumePath }: PartOfVolume): number {
  const path = join(realpathSync(volumePath), relative(volumePath, hostPath))
  const handle = openExactly(path)
  try {
    checkPlace(handle, path)
    return handle
  } catch (error) {
    closeSync(handle)
    throw error
  }
}

/** Throws where what is open is at another path: it was moved while it was opened, perhaps out of its volume. */
export function checkPlace(handle: number, path: string): void {
  if (readlinkSync(`/proc/self/fd/${handle}`) !== path) throw new Error(`${path} has been moved`)
}

/** Mounts what is open, with all that is mounted in it, at a new path, whatever has become of its own. Rejects in the words of the program `mount`. */
export async function mountOpened(handle: number, target: string, program: string): Promise<void> {
  if (fstatSync(handle).isDirectory()) mkdirSync(target, { mode: 0o700 })
  else writeFileSync(target, '', { flag: 'wx', mode: 0o600 })
  // No name is to be looked up anew (`-c`).
  const problem = await problemOfMount(program, ['-c', '--rbind', `/proc/${process.pid}/fd/${handle}`, target])
  if (problem !== undefined) throw new Error(problem)
}

/** Whether a path leads to what is open. */
export async function leadsTo(handle: number, path: string): Promise<boolean> {
  const opened = fstatSync(handle, { bigint: true })
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  return found?.ino === opened.ino && found.dev === opened.dev
}

/**
 * Unmounts what `mountOpened` has mounted, and removes its place, in which nothing else is. What is mounted in the volume itself stays: mounts below
 * are first kept apart from those that they are copies of.
 */
export async function unmountPart(target: string, program: string): Promise<void> {
  const isThere = await lstat(target).catch(() => undefined)
  if (isThere === undefined) return
  if (await isMountPoint(target)) {
    const problem =
      (await problemOfMount(program, ['-c', '--make-rprivate', target])) ??
      (await problemOfMount('umount', ['-l', target]))
    if (problem !== undefined) throw new Error(problem)
  }
  if ((await lstat(target)).isDirectory()) await rmdir(target)
  else await unlink(target)
}
