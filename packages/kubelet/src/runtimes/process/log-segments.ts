import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A log is rotated when its file has grown past this: upstream's containerLogMaxSize. */
export const logFileBytesMax = 10 * 1024 * 1024
/** Files of one log, the one being written to included: upstream's containerLogMaxFiles. */
export const logFilesMax = 5

/** A container that writes faster than its log is copied loses lines at a rotation rather than holding up the agent. */
const copyRoundsMax = 16

/** A file of a log and where in the log, counted from its very beginning, it starts. */
export interface LogSegment {
  readonly path: string
  readonly start: number
  readonly bytes: number
}

/**
 * The files of a log, oldest first; the last is the one being written to. Older ones are named after where they start,
 * so that positions in a log mean the same before and after a rotation and a restart.
 */
export function logSegments(path: string): readonly LogSegment[] {
  const rotated = rotatedSegments(path)
  const last = rotated.at(-1)
  return [
    ...rotated,
    {
      path,
      start: last === undefined ? 0 : last.start + last.bytes,
      bytes: sizeOf(path),
    },
  ]
}

/** Where a log ends. */
export function logEnd(path: string): number {
  const last = logSegments(path).at(-1)
  return last === undefined ? 0 : last.start + last.bytes
}

/**
 * Puts what is in the file aside and empties it. The container keeps writing to the same file, so the file is copied
 * and cut, as logrotate's copytruncate does: what is written between the last look at its length and the cut is lost.
 * Returns where the log now begins.
 */
export function rotateLog(path: string): number {
  const current = logSegments(path).at(-1)
  if (current === undefined) return 0
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  copyRest(path, copy)
  // Only a whole copy may count as a part of the log: positions in it follow from its length.
  renameSync(copy, `${path}.${String(current.start).padStart(15, '0')}`)
  truncateSync(path, 0)
  const surplus = rotatedSegments(path).slice(0, -(logFilesMax - 1))
  for (const segment of surplus) rmSync(segment.path, { force: true })
  return rotatedSegments(path)[0]?.start ?? 0
}

/** Adds what was written while the copy was made, and while that was added, a bounded number of times. */
function copyRest(path: string, copy: string): void {
  for (let round = 0; round < copyRoundsMax; round += 1) {
    const [from, to] = [sizeOf(copy), sizeOf(path)]
    if (from >= to) return
    const source = openSync(path, 'r')
    try {
      const rest = Buffer.alloc(to - from)
      appendFileSync(copy, rest.subarray(0, readSync(source, rest, 0, rest.length, from)))
    } finally {
      closeSync(source)
    }
  }
}

/** Removes all files of a log. */
export function removeLog(path: string): void {
  for (const segment of logSegments(path)) rmSync(segment.path, { force: true })
}

function rotatedSegments(path: string): readonly LogSegment[] {
  const prefix = `${basename(path)}.`
  let names: readonly string[]
  try {
    names = readdirSync(dirname(path))
  } catch {
    return []
  }
  return names
    .filter((name) => name.startsWith(prefix) && /^\d{15}$/.test(name.slice(prefix.length)))
    .sort()
    .map((name) => {
      const file = join(dirname(path), name)
      return {
        path: file,
        start: Number(name.slice(prefix.length)),
        bytes: sizeOf(file),
      }
    })
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
