import { type FSWatcher, watch } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseTime } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import type { LogReadOptions } from '../../log-options.ts'
import { logFiles } from './log-files.ts'
import { fullTime, type LogEntry, parseEntry } from './log-format.ts'

/** How much is read at a time. */
const chunkBytes = 64 * 1024
/** An entry is no longer than this: runtimes cut lines at 16 KiB. What is longer is none. */
const entryBytesMax = 1024 * 1024
/** How often a log that is followed is looked at, and whether its container still runs, where the host tells nothing. */
const lookAgainMs = 1_000
const newline = 10

/** What tells when a log that is followed has come to its end. */
export interface LogWriter {
  /** Whether more may be written. */
  isRunning(): Promise<boolean>
  /** Calls back when that may have changed. Returns the way to end it. */
  onStop(listener: () => void): () => void
}

/**
 * A container's log in pieces, across the files that it has been put aside in. With `follow` it goes on until the container has stopped and all
 * is read.
 */
export async function* readCriLog(
  path: string,
  options: LogReadOptions,
  { clock, writer }: { readonly clock: Clock; readonly writer: LogWriter },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const output = new EntryWriter(options)
  const change = options.follow ? new Changes(path, clock, writer, signal) : undefined
  const tail = new LogTail()
  // Entries that come while the last ones are read are none of these.
  let left = options.follow ? Infinity : (options.tailLines ?? Infinity)
  if (left <= 0) return
  try {
    for (const [file, start] of await startOf(path, options.tailLines)) await tail.add(file, start)
    for (let isLast = change === undefined; ; ) {
      for await (const entry of tail.entries(path)) {
        const text = output.write(entry)
        if (text.length > 0) yield text
        left -= 1
        if (left <= 0 || output.isFull || signal.aborted) return
      }
      if (isLast || change === undefined) return
      await change.next()
      if (signal.aborted) return
      // What it has written to the end is there now.
      isLast = !(await writer.isRunning())
    }
  } finally {
    change?.end()
    await tail.close()
  }
}

/** The files that are to be read, and where in each to begin: at the last `lines` entries. */
async function startOf(path: string, lines: number | undefined): Promise<readonly (readonly [string, number])[]> {
  const files = await logFiles(path)
  if (lines === undefined) return files.map((file) => [file, 0])
  const found: [string, number][] = []
  let missing = lines
  for (const file of files.toReversed()) {
    const { start, left } = await tailStart(file, missing)
    found.unshift([file, start])
    missing = left
    if (missing <= 0) break
  }
  return found
}

/** Where the last `lines` entries of a file begin, and how many it has too few. */
async function tailStart(path: string, lines: number): Promise<{ readonly start: number; readonly left: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (lines <= 0) return { start: size, left: 0 }
    let missing = lines
    for (let to = size; to > 0; to -= chunkBytes) {
      const from = Math.max(0, to - chunkBytes)
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(to - from), 0, to - from, from)
      for (let index = bytesRead - 1; index >= 0; index -= 1) {
        if (buffer[index] !== newline || from + index === size - 1) continue
        missing -= 1
        if (missing === 0) return { start: from + index + 1, left: 0 }
      }
    }
    return { start: 0, left: size === 0 ? missing : missing - 1 }
  } finally {
    await file.close()
  }
}

/** The files of a log, one after the other. One that is put aside while it is read is read to its end before the next. */
class LogTail {
  readonly #waiting: (readonly [FileHandle, number])[] = []
  #position = 0
  #rest: Buffer = Buffer.alloc(0)

  async add(path: string, start: number): Promise<void> {
    this.#waiting.push([await open(path, 'r'), start])
    if (this.#waiting.length === 1) this.#position = start
  }

  /** The entries that are there and have not been read. `path` is where the next file will be. */
  async *entries(path: string): AsyncGenerator<LogEntry> {
    for (let isAside = false; ; ) {
      const [current] = this.#waiting
      if (current === undefined) {
        if (!(await this.#begin(path))) return
        continue
      }
      const [file] = current
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, this.#position)
      if (bytesRead === 0) {
        if (this.#waiting.length > 1 || isAside) {
          isAside = false
          await this.#next(path)
          continue
        }
        if (!(await this.#isAside(file, path))) return
        // It may have been written to between the two looks, and is not any more.
        isAside = true
        continue
      }
      this.#position += bytesRead
      yield* this.#split(buffer.subarray(0, bytesRead))
    }
  }

  async close(): Promise<void> {
    for (const [file] of this.#waiting.splice(0)) await file.close()
  }

  async #begin(path: string): Promise<boolean> {
    try {
      await this.add(path, 0)
      return true
    } catch {
      return false
    }
  }

  /** Whether another file is in the place of the one that is read, to which nothing more is written. */
  async #isAside(file: FileHandle, path: string): Promise<boolean> {
    const now = await stat(path).catch(() => undefined)
    return now !== undefined && now.ino !== (await file.stat()).ino
  }

  async #next(path: string): Promise<void> {
    const [ended] = this.#waiting.splice(0, 1)
    this.#rest = Buffer.alloc(0)
    this.#position = this.#waiting[0]?.[1] ?? 0
    try {
      if (ended !== undefined && this.#waiting.length === 0) await this.#beginAfter(ended[0], path)
    } finally {
      await ended?.[0].close()
    }
  }

  /** The file that came after one which was put aside: another that has been by now, where it took long to read that, or else the one at `path`. */
  async #beginAfter(file: FileHandle, path: string): Promise<void> {
    const { ino } = await file.stat()
    const before = await asideAfter(ino, path)
    if (before !== undefined) return void (await this.#begin(before))
    await this.#begin(path)
    // What was at the path may have been put aside before it was opened: then that comes first.
    const between = await asideAfter(ino, path)
    if (between === undefined) return
    await this.close()
    await this.#begin(between)
  }

  *#split(bytes: Buffer): Generator<LogEntry> {
    let from = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      const piece = bytes.subarray(from, end)
      const entry = parseEntry(this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]))
      this.#rest = Buffer.alloc(0)
      from = end + 1
      if (entry !== undefined) yield entry
    }
    const rest = bytes.subarray(from)
    this.#rest = this.#rest.length + rest.length > entryBytesMax ? Buffer.alloc(0) : Buffer.concat([this.#rest, rest])
  }
}

/** Of the files that a log was put aside in, the one after that with this number; the first where it has been removed, since it was older than all of them. */
async function asideAfter(inode: number, path: string): Promise<string | undefined> {
  const files = (await logFiles(path)).filter((file) => file !== path)
  const inodes = await Promise.all(
    files.map((file) =>
      stat(file).then(
        ({ ino }) => ino,
        () => undefined,
      ),
    ),
  )
  return files[inodes.indexOf(inode) + 1]
}

/** Makes of entries what clients see. */
class EntryWriter {
  readonly #options: LogReadOptions
  #left: number
  /** Whether the line of each stream goes on. */
  #isMidLine = false

  constructor(options: LogReadOptions) {
    this.#options = options
    this.#left = options.limitBytes ?? Infinity
  }

  get isFull(): boolean {
    return this.#left <= 0
  }

  write({ time, content, isPartial }: LogEntry): Uint8Array {
    const { timestamps, sinceTimeMs } = this.#options
    if (sinceTimeMs !== undefined && timeOf(time) < sinceTimeMs) return new Uint8Array()
    const head = timestamps && !this.#isMidLine ? `${fullTime(time)} ` : ''
    this.#isMidLine = isPartial
    const text = Buffer.concat([Buffer.from(head), content, Buffer.from(isPartial ? '' : '\n')])
    const taken = text.length > this.#left ? text.subarray(0, this.#left) : text
    this.#left -= taken.length
    return taken
  }
}

/** What has an odd time is as old as can be. */
function timeOf(text: string): number {
  try {
    return parseTime(text)
  } catch {
    return 0
  }
}

/** Tells when a log that is followed may have more. */
class Changes {
  readonly #clock: Clock
  readonly #endings: (() => void)[] = []
  #watcher: FSWatcher | undefined
  #timer: Timer | undefined
  #happened = false
  #wake: (() => void) | undefined

  constructor(path: string, clock: Clock, writer: LogWriter, signal: AbortSignal) {
    this.#clock = clock
    const note = () => this.#note()
    this.#endings.push(writer.onStop(note))
    signal.addEventListener('abort', note, { once: true })
    this.#endings.push(() => signal.removeEventListener('abort', note))
    try {
      this.#watcher = watch(dirname(path), { persistent: false }, note)
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // It is looked at from time to time.
    }
  }

  /** Resolves when there may be more than when it resolved last. */
  async next(): Promise<void> {
    if (!this.#happened) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#timer = this.#clock.setTimer(lookAgainMs, resolve)
      })
      this.#timer?.cancel()
      this.#wake = undefined
    }
    this.#happened = false
  }

  end(): void {
    this.#watcher?.close()
    this.#timer?.cancel()
    for (const end of this.#endings) end()
  }

  #note(): void {
    this.#happened = true
    this.#wake?.()
  }
}
