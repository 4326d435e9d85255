import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { decodeEntries, entryBytes, type TimeEntry } from './time-index.ts'

/** Reads an index again and again: what has been added since the last time, and all of it where it was written anew. */
export class TimeIndexReader {
  readonly #path: string
  #inode: number | undefined
  #entries: TimeEntry[] = []

  constructor(path: string) {
    this.#path = path
  }

  /** Empty where there is none. */
  read(): readonly TimeEntry[] {
    let file: number
    try {
      file = openSync(this.#path, 'r')
    } catch {
      return []
    }
    try {
      const { ino, size } = fstatSync(file)
      const last = this.#entries.at(-1)
      // The last entry is read once more: another file may have got the number of one that has gone.
      const from = ino === this.#inode && last !== undefined ? (this.#entries.length - 1) * entryBytes : 0
      const added = entriesFrom(file, from, size)
      const isSame = from > 0 && added[0]?.end === last?.end && added[0]?.timeMs === last?.timeMs
      if (isSame) for (const entry of added.slice(1)) this.#entries.push(entry)
      else this.#entries = from === 0 ? [...added] : [...entriesFrom(file, 0, size)]
      this.#inode = ino
      return this.#entries
    } finally {
      closeSync(file)
    }
  }
}

function entriesFrom(file: number, from: number, size: number): readonly TimeEntry[] {
  const bytes = Buffer.alloc(Math.max(0, size - from))
  return decodeEntries(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)))
}
