import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseTime } from '@coracle/api'
import { logFiles } from '../cri/log-files.ts'
import { parseEntry } from '../cri/log-format.ts'
import type { TimedEntry } from './log-entries.ts'

/** How much of the end of a log is looked at for what was written last. */
const tailBytesMax = 1024 * 1024

/** How far a log has been written. */
export interface LogPosition {
  /** Of the last entry, in nanoseconds; undefined where there is none. */
  readonly time: bigint | undefined
  /** How many entries have that time. */
  readonly count: number
}

/** Nanoseconds since 1970 of an RFC 3339 time. Throws for anything else. */
export function nanosOf(time: string): bigint {
  const [, seconds = time, digits = '', zone = ''] = /^([^.Z+]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? []
  return BigInt(parseTime(seconds + zone)) * 1_000_000n + BigInt(digits.padEnd(9, '0').slice(0, 9))
}

/** An entry as it is in the log files of containers. */
export const logLine = ({ time, stream, isPartial, content }: TimedEntry): Buffer =>
  Buffer.concat([Buffer.from(`${time} ${stream} ${isPartial ? 'P' : 'F'} `), content, newline])

const newline = Buffer.from('\n')

/** A log that is written by the node agent, in the format of container runtimes. */
export class LogFile {
  readonly path: string
  #file: FileHandle | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.path = path
  }

  /** How far it was written, by an earlier life too. What that has left unfinished at the end is cut off. */
  async position(): Promise<LogPosition> {
    return this.#inTurn(async () => {
      const file = await this.#opened()
      const { size } = await file.stat()
      const tail = await tailOf(file, size)
      const whole = tail.lastIndexOf(0x0a) + 1
      if (whole < tail.length) await file.truncate(size - (tail.length - whole))
      const own = positionIn(tail.subarray(0, whole))
      if (own.time !== undefined) return own
      // It has just been begun: the one before says how far it goes.
      const before = (await logFiles(this.path)).findLast((each) => each !== this.path)
      return before === undefined ? own : await positionOf(before)
    })
  }

  async append(lines: readonly Buffer[]): Promise<void> {
    await this.#inTurn(async () => (await this.#opened()).appendFile(Buffer.concat(lines)))
  }

  /** Begins the file anew, where it has been put aside. */
  async reopen(): Promise<void> {
    await this.close()
    await this.#inTurn(() => this.#opened())
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#file?.close()
      this.#file = undefined
    })
  }

  async #opened(): Promise<FileHandle> {
    if (this.#file === undefined) {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o755 })
      this.#file = await open(this.path, 'a+', 0o640)
    }
    return this.#file
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }
}

async function positionOf(path: string): Promise<LogPosition> {
  const file = await open(path, 'r')
  try {
    return positionIn(await tailOf(file, (await file.stat()).size))
  } finally {
    await file.close()
  }
}

async function tailOf(file: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.min(size, tailBytesMax))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
  return buffer.subarray(0, bytesRead)
}

function positionIn(tail: Buffer): LogPosition {
  const times = tail
    .toString('latin1')
    .split('\n')
    .flatMap((line) => parseEntry(Buffer.from(line, 'latin1'))?.time ?? [])
  const last = times.at(-1)
  if (last === undefined) return { time: undefined, count: 0 }
  return { time: nanosOf(last), count: times.length - 1 - times.findLastIndex((time) => time !== last) }
}
