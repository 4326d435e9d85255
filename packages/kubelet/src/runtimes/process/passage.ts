import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { ContainerUser } from '../runtime.ts'

/** The right to pass of those who are not the owner, in its group or not. */
const others = 0o011

/** All rights of those who are neither the owner nor in its group. */
const anyOther = 0o007
/** A directory that its owner uses and its group may pass. */
const passableForGroup = 0o710

/** A directory on a way that one group alone may pass. */
export interface Gate {
  readonly directory: string
  readonly group: number
}

/**
 * Lets everybody pass through the directories from `top`, which is this process's own, down to `path`, but only its group through a gate. What is in
 * them keeps its own modes. It ends at what is a link or somebody else's: who may write there could have it lead anywhere.
 */
export function openPassage(top: string, path: string, gate?: Gate): void {
  const way = relative(top, path)
  if (way.startsWith('..')) return
  let directory = top
  for (const name of ['', ...way.split(sep)]) {
    directory = join(directory, name)
    if (!openOne(directory, directory === gate?.directory ? gate.group : undefined)) return
  }
}

function openOne(directory: string, group: number | undefined): boolean {
  let handle: number
  try {
    handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    return false
  }
  try {
    const { mode, uid } = fstatSync(handle)
    if (uid !== process.getuid?.()) return false
    if (group !== undefined && openToGroup(handle, mode, uid, group)) return true
    if ((mode & others) !== others) fchmodSync(handle, (mode & 0o7777) | others)
    return true
  } finally {
    closeSync(handle)
  }
}

/** A gate that stands open already stays so: it is an older version's, and processes may rely on it. False where the file system has no such groups. */
function openToGroup(handle: number, mode: number, uid: number, group: number): boolean {
  if ((mode & anyOther) !== 0) return false
  try {
    fchownSync(handle, uid, group)
    fchmodSync(handle, passableForGroup)
    return true
  } catch {
    return false
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
