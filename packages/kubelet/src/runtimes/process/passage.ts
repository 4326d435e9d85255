import { closeSync, constants, fchmodSync, fstatSync, openSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { ContainerUser } from '../runtime.ts'

/** The right to pass of those who are not the owner, in its group or not. */
const others = 0o011

/**
 * Lets everybody pass through the directories from `top`, which is this process's own, down to `path`. What is in them keeps its own modes. It
 * ends at what is a link or somebody else's: who may write there could have it lead anywhere.
 */
export function openPassage(top: string, path: string): void {
  const way = relative(top, path)
  if (way.startsWith('..')) return
  let directory = top
  for (const name of ['', ...way.split(sep)]) {
    directory = join(directory, name)
    if (!openOne(directory)) return
  }
}

function openOne(directory: string): boolean {
  let handle: number
  try {
    handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    return false
  }
  try {
    const { mode, uid } = fstatSync(handle)
    if (uid !== process.getuid?.()) return false
    if ((mode & others) !== others) fchmodSync(handle, (mode & 0o7777) | others)
    return true
  } finally {
    closeSync(handle)
  }
}

/** The directory nearest to the root, of `path` and those that lead to it, that a user may not pass; undefined where there is none. */
export function closedDirectory(path: string, user: ContainerUser): string | undefined {
  const parent = dirname(path)
  const before = parent === path ? undefined : closedDirectory(parent, user)
  return before ?? (mayPass(path, user) ? undefined : path)
}

function mayPass(path: string, { uid, gid, supplementalGroups }: ContainerUser): boolean {
  if (uid === 0) return true
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return true
  if (stat.uid === uid) return (stat.mode & 0o100) !== 0
  if (stat.gid === gid || supplementalGroups.includes(stat.gid)) return (stat.mode & 0o010) !== 0
  return (stat.mode & 0o001) !== 0
}
