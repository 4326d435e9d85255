import { FrameReader } from './log-frames.ts'

/** An entry of a log: at most `entryBytesMax` of a line. */
export interface TimedEntry {
  /** As the engine writes it, RFC 3339. */
  readonly time: string
  readonly stream: 'stdout' | 'stderr'
  /** Whether its line goes on, or has no end yet. */
  readonly isPartial: boolean
  /** Without the end of its line. */
  readonly content: Buffer
}

/** How much of a line an entry has at most: engines cut lines there. */
export const entryBytesMax = 16 * 1024

const space = 0x20
const newline = 0x0a
/** Longer than any time with nine digits and a zone. */
const timeBytesMax = 64
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/**
 * Reads the log of a container, with times, as it comes from the engine. It keeps one entry at most. Frames of containers without a terminal
 * each have a time; what a terminal shows comes as it is, with a time at the start of each line, and of each piece of one that is too long.
 */
export class EntryReader {
  readonly #frames = new FrameReader()
  readonly #isTerminal: boolean
  readonly #streams = { stdout: new LineReader('stdout'), stderr: new LineReader('stderr') }

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal
  }

  *read(bytes: Buffer): Generator<TimedEntry> {
    if (this.#isTerminal) {
      yield* this.#streams.stdout.read(bytes)
      return
    }
    for (const piece of this.#frames.read(bytes)) {
      const reader = this.#streams[piece.stream]
      yield* reader.read(piece.bytes)
      if (piece.isLast) yield* reader.end()
    }
  }

  /** What is left when the log has ended. */
  *end(): Generator<TimedEntry> {
    for (const reader of Object.values(this.#streams)) yield* reader.end()
  }
}

/** Lines that begin with a time. */
class LineReader {
  readonly #stream: 'stdout' | 'stderr'
  #time: string | undefined
  /** Of the line before, where it was cut: an engine may go on with it without a time. */
  #lastTime = ''
  #held: Buffer = Buffer.alloc(0)

  constructor(stream: 'stdout' | 'stderr') {
    this.#stream = stream
  }

  *read(bytes: Buffer): Generator<TimedEntry> {
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    while (rest.length > 0) {
      if (this.#time === undefined) {
        const end = rest.subarray(0, timeBytesMax).indexOf(space)
        if (end < 0 && rest.length < timeBytesMax && !rest.includes(newline)) break
        const time = end < 0 ? '' : rest.toString('latin1', 0, end)
        const isTime = timePattern.test(time)
        this.#time = isTime ? time : this.#lastTime
        this.#lastTime = this.#time
        if (isTime) rest = rest.subarray(end + 1)
        continue
      }
      const end = rest.subarray(0, entryBytesMax + 1).indexOf(newline)
      if (end < 0 && rest.length < entryBytesMax) break
      yield this.#entry(rest.subarray(0, end < 0 ? entryBytesMax : end), end < 0)
      rest = rest.subarray(end < 0 ? entryBytesMax : end + 1)
    }
    // A copy: what it is a part of is not held.
    this.#held = Buffer.from(rest)
  }

  /** What of a line has no end. */
  *end(): Generator<TimedEntry> {
    const rest = this.#held
    this.#held = Buffer.alloc(0)
    if ((this.#time ?? this.#lastTime) !== '' && rest.length > 0) yield this.#entry(rest, true)
    this.#time = undefined
  }

  #entry(content: Buffer, isPartial: boolean): TimedEntry {
    const time = this.#time ?? this.#lastTime
    this.#time = undefined
    return { time, stream: this.#stream, isPartial, content: Buffer.from(content) }
  }
}
