import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A log is rotated when its file has grown past this: upstream's containerLogMaxSize. */
export const logFileBytesMax = 10 * 1024 * 1024
/** Files of one log, the one being written to included: upstream's containerLogMaxFiles. */
export const logFilesMax = 5

/** How much of what is written while a rotation is under way is still kept. */
const latecomerBytesMax = 1024 * 1024
const chunkBytes = 1024 * 1024

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

/**
 * Puts what is in the file aside and empties it. The container keeps writing to the same file, so the file is copied
 * and cut, as logrotate's copytruncate does: what is written between the last look at its length and the cut is lost.
 * Of a file that has grown far beyond its size only the end is kept, so that a container that writes without restraint
 * takes a bounded time of the agent, and loses what nobody could have read. Returns where the log now begins.
 */
export function rotateLog(path: string): number {
  const current = logSegments(path).at(-1)
  if (current === undefined) return 0
  const copy = `${path}.copy`
  const from = Math.max(0, current.bytes - logFileBytesMax - observedOvershootBytes)
  copyRange(path, copy, from)
  // Only a whole copy may count as a part of the log: positions in it follow from its length.
  renameSync(copy, `${path}.${String(current.start + from).padStart(15, '0')}`)
  truncateSync(path, 0)
  const surplus = rotatedSegments(path).slice(0, -(logFilesMax - 1))
  for (const segment of surplus) rmSync(segment.path, { force: true })
  return rotatedSegments(path)[0]?.start ?? 0
}

/** A file is seen to be too large only some time after it has become so: that much more is kept of it. */
const observedOvershootBytes = logFileBytesMax

/** Copies a file from a position to its end, and a bounded part of what is written to it in the meantime. */
function copyRange(path: string, copy: string, from: number): void {
  const [source, target] = [openSync(path, 'r'), openSync(copy, 'w', 0o600)]
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    const end = sizeOf(path) + latecomerBytesMax
    for (let position = from; position < end; ) {
      const bytes = readSync(source, buffer, 0, Math.min(buffer.length, end - position), position)
      if (bytes === 0) return
      writeSync(target, buffer, 0, bytes)
      position += bytes
    }
  } finally {
    closeSync(source)
    closeSync(target)
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
