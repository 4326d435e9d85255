import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/** Entries an index may hold; past that every second one is dropped, and times become half as exact. */
export const timeIndexEntriesMax = 65_536

/** Up to the byte `end` of a log, counted from its beginning, everything had been written at `timeMs`. */
export interface TimeEntry {
  readonly end: number
  readonly timeMs: number
}

/** Of one entry in the file. */
export const entryBytes = 16

/**
 * When which part of a log was written. Containers write to their log themselves, so that they need nobody to carry
 * their output and lose none when the node agent dies; the node agent notes how long the log was when. The time of a
 * line is thus the moment it was seen, usually milliseconds after it was written.
 *
 * The file is a row of pairs of 64-bit floats: end and time.
 */
export class TimeIndex {
  readonly #path: string
  #count: number
  #last: TimeEntry | undefined

  constructor(path: string) {
    this.#path = path
    const entries = readTimeIndex(path)
    this.#count = entries.length
    this.#last = entries.at(-1)
  }

  get last(): TimeEntry | undefined {
    return this.#last
  }

  /** Notes that the log had grown to `end` at `timeMs`. */
  add(entry: TimeEntry): void {
    if (this.#last !== undefined && entry.end <= this.#last.end) return
    appendFileSync(this.#path, encode([entry]))
    this.#last = entry
    this.#count += 1
    if (this.#count > timeIndexEntriesMax) this.#rewrite((entries) => entries.filter((_, index) => index % 2 === 1))
  }

  /** Forgets what lies wholly before `start`. */
  trim(start: number): void {
    this.#rewrite((entries) => entries.filter(({ end }) => end > start))
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }

  #rewrite(change: (entries: readonly TimeEntry[]) => readonly TimeEntry[]): void {
    const entries = change(readTimeIndex(this.#path))
    writeFileSync(`${this.#path}.new`, encode(entries))
    renameSync(`${this.#path}.new`, this.#path)
    this.#count = entries.length
  }
}

/** The whole index; empty where there is none. */
export function readTimeIndex(path: string): readonly TimeEntry[] {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    return []
  }
  return decodeEntries(bytes)
}

/** When the byte at `offset` was seen; undefined past the end of the index. */
export function timeAt(entries: readonly TimeEntry[], offset: number): number | undefined {
  return entries[firstEndingAfter(entries, offset)]?.timeMs
}

/** Where what was seen at `timeMs` or later begins. */
export function offsetSince(entries: readonly TimeEntry[], timeMs: number): number {
  return entries.findLast((entry) => entry.timeMs < timeMs)?.end ?? 0
}

function firstEndingAfter(entries: readonly TimeEntry[], offset: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entries[middle]?.end ?? 0) > offset) high = middle
    else low = middle + 1
  }
  return low
}

/** The entries that are in these bytes of an index. */
export function decodeEntries(bytes: Buffer): readonly TimeEntry[] {
  return Array.from({ length: Math.floor(bytes.length / entryBytes) }, (_, index) => ({
    end: bytes.readDoubleLE(index * entryBytes),
    timeMs: bytes.readDoubleLE(index * entryBytes + 8),
  }))
}

function encode(entries: readonly TimeEntry[]): Buffer {
  const bytes = Buffer.alloc(entries.length * entryBytes)
  for (const [index, { end, timeMs }] of entries.entries()) {
    bytes.writeDoubleLE(end, index * entryBytes)
    bytes.writeDoubleLE(timeMs, index * entryBytes + 8)
  }
  return bytes
}
