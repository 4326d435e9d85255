import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs'

/** A handle to what is at a path, whatever that is, without opening it (Linux; Node has no name for it). */
export const O_PATH = 0x200000

/**
 * A handle to what is at a path without links. Each step goes by the handle of the one before, so that nobody can have it lead elsewhere
 * meanwhile: throws where a link stands in the way.
 */
export function openExactly(path: string): number {
  return openBelow(openSync('/', O_PATH | constants.O_DIRECTORY), namesOf(path))
}

/**
 * Makes a directory or an empty file in another, with all that leads to it, unless it is there. Directories that are made have the mode, whatever the
 * umask. Follows no link that is in that directory.
 */
export function makeWithin(directory: string, way: string, kind: 'directory' | 'file', mode = 0o755): void {
  const names = namesOf(way)
  let handle = openExactly(directory)
  try {
    for (const [index, name] of names.entries()) {
      const path = childOf(handle, name)
      const isDirectory = kind === 'directory' || index < names.length - 1
      const isNew = isDirectory
        ? unlessThere(() => mkdirSync(path, { mode: 0o700 }))
        : unlessThere(() => closeSync(openSync(path, 'wx', 0o644)))
      const inner = openNext(handle, name)
      if (isNew && isDirectory) chmodSync(`/proc/self/fd/${inner}`, mode)
      closeSync(handle)
      handle = inner
    }
  } finally {
    closeSync(handle)
  }
}

function openBelow(start: number, names: readonly string[]): number {
  let handle = start
  for (const name of names) {
    const outer = handle
    try {
      handle = openNext(outer, name)
    } finally {
      closeSync(outer)
    }
  }
  return handle
}

/** Throws where it is a link: a handle to a link would be of no use. */
function openNext(directory: number, name: string): number {
  const path = childOf(directory, name)
  const handle = openSync(path, O_PATH | constants.O_NOFOLLOW)
  if (!fstatSync(handle).isSymbolicLink()) return handle
  closeSync(handle)
  throw new Error(`${name} is a link`)
}

const childOf = (directory: number, name: string): string => `/proc/self/fd/${directory}/${name}`

const namesOf = (path: string): readonly string[] => path.split('/').filter(Boolean)

/** Whether it was made. */
function unlessThere(make: () => void): boolean {
  try {
    make()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}
