import { open } from 'node:fs/promises'
import type { LogReadOptions } from '../../log-options.ts'
import { type LogSegment, logSegments } from './log-segments.ts'
import type { LogWatcher } from './log-watcher.ts'
import { offsetSince, readTimeIndex } from './time-index.ts'

/** How much is read, and given to the caller, at a time. */
const chunkBytes = 64 * 1024

const newline = 10

export interface LogPosition {
  /** Where to begin, in bytes since the container started; what is asked for may begin later. */
  readonly from?: number
  /** Called with the end of what was read, when the log has been read to its end. */
  readonly onRead?: (end: number) => void
}

/**
 * The log at `path` in pieces. With `follow` and a watcher it goes on until the watcher is closed; a position in it
 * stays valid while the log is rotated, unless that has already been dropped: then it goes on where the log now begins.
 */
export async function* readLog(
  path: string,
  options: LogReadOptions & LogPosition,
  watcher: LogWatcher | undefined,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const change = watcher === undefined || !options.follow ? undefined : changes(watcher, signal)
  try {
    // Lines are as old as the watcher says, and what it has not seen yet would have no age at all.
    watcher?.observe()
    const limit = new ByteLimit(options.limitBytes)
    const stamp = options.timestamps ? new (await import('./line-stamper.ts')).LineStamper(path) : undefined
    const { start, end } = await rangeOf(path, options)
    let position = start
    while (!signal.aborted && !limit.reached && position < end) {
      const piece = await readAt(path, position)
      if (piece !== undefined) {
        position = piece.start + piece.bytes.length
        const bytes = piece.bytes.subarray(0, Math.max(0, end - piece.start))
        yield limit.take(stamp === undefined ? bytes : stamp.apply(bytes, piece.start))
      } else if (change === undefined || !(await change.next())) return options.onRead?.(position)
    }
  } finally {
    change?.end()
  }
}

/** A part of a log, in bytes since the container started. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Where the lines asked for are. The last ones end where the log does now: what comes while they are read is none of these. */
async function rangeOf(
  path: string,
  { follow, tailLines, sinceTimeMs, from = 0 }: LogReadOptions & LogPosition,
): Promise<Range> {
  const first = logSegments(path)[0]?.start ?? 0
  const bySince = sinceTimeMs === undefined ? first : offsetSince(readTimeIndex(`${path}.times`), sinceTimeMs)
  const tail = tailLines === undefined ? { start: first, end: Infinity } : await tailOf(path, tailLines)
  const start = Math.max(first, from, tail.start)
  return {
    start: bySince <= start ? start : await startOfNextLine(path, bySince),
    end: follow ? Infinity : tail.end,
  }
}

/** The last `lines` lines. A last line without its newline counts. */
async function tailOf(path: string, lines: number): Promise<Range> {
  const segments = logSegments(path)
  const last = segments.at(-1)
  const end = last === undefined ? 0 : last.start + last.bytes
  if (lines <= 0) return { start: end, end }
  let missing = lines
  for (const segment of segments.toReversed()) {
    for (let to = segment.bytes; to > 0; to -= chunkBytes) {
      const from = Math.max(0, to - chunkBytes)
      const bytes = await readSegment(segment, from, to - from)
      for (let index = bytes.length - 1; index >= 0; index -= 1) {
        const offset = segment.start + from + index
        if (bytes[index] !== newline || offset === end - 1) continue
        missing -= 1
        if (missing === 0) return { start: offset + 1, end }
      }
    }
  }
  return { start: segments[0]?.start ?? 0, end }
}

/** The first beginning of a line at or after `offset`. */
async function startOfNextLine(path: string, offset: number): Promise<number> {
  for (let position = offset - 1; ; ) {
    const piece = await readAt(path, position)
    if (piece === undefined) return position
    const index = piece.bytes.indexOf(newline)
    if (index >= 0) return piece.start + index + 1
    position = piece.start + piece.bytes.length
  }
}

/** What stands at `position`; where the log no longer reaches back so far, what it begins with. */
async function readAt(
  path: string,
  position: number,
): Promise<{ readonly start: number; readonly bytes: Buffer } | undefined> {
  for (;;) {
    const segments = logSegments(path)
    const segment = segments.find((candidate) => position < candidate.start + candidate.bytes)
    if (segment === undefined) return undefined
    const start = Math.max(position, segment.start)
    const bytes = await readSegment(segment, start - segment.start, chunkBytes)
    // A rotation while the file was being read has put other content into it.
    if (logSegments(path).at(-1)?.start !== segments.at(-1)?.start) continue
    return bytes.length === 0 ? undefined : { start, bytes }
  }
}

/** Empty where the file is gone: a rotation has just dropped it. */
async function readSegment(segment: LogSegment, from: number, length: number): Promise<Buffer> {
  const file = await open(segment.path, 'r').catch(() => undefined)
  if (file === undefined) return Buffer.alloc(0)
  try {
    const wanted = Buffer.allocUnsafe(Math.max(0, Math.min(length, segment.bytes - from)))
    const { buffer, bytesRead } = await file.read(wanted, 0, wanted.length, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

class ByteLimit {
  #left: number

  constructor(limit: number | undefined) {
    this.#left = limit ?? Number.POSITIVE_INFINITY
  }

  get reached(): boolean {
    return this.#left <= 0
  }

  take(bytes: Buffer): Buffer {
    const taken = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left)
    this.#left -= taken.length
    return taken
  }
}

interface Changes {
  /** True when there may be more to read; false when nothing more will come. */
  next(): Promise<boolean>
  end(): void
}

/** Remembers a change that comes while nobody waits, and lets what was written before the end be read once more. */
function changes(watcher: LogWatcher, signal: AbortSignal): Changes {
  let pending = false
  let ended = watcher.closed
  let lastLook = false
  let wake: (() => void) | undefined
  const notify = () => {
    pending = true
    ended = ended || watcher.closed || signal.aborted
    wake?.()
  }
  const unsubscribe = watcher.subscribe(notify)
  signal.addEventListener('abort', notify, { once: true })
  return {
    async next() {
      if (!pending && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
      pending = false
      if (!ended) return true
      const first = !lastLook
      lastLook = true
      return first
    },
    end() {
      unsubscribe()
      signal.removeEventListener('abort', notify)
    },
  }
}
