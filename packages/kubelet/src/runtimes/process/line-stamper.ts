import { formatTime } from '@coracle/api'
import { type TimeEntry, timeAt } from './time-index.ts'
import { TimeIndexReader } from './time-index-reader.ts'

const newline = 10

/** Puts the time before each line. */
export class LineStamper {
  readonly #index: TimeIndexReader
  #entries: readonly TimeEntry[] = []
  #atLineStart = true

  constructor(path: string) {
    this.#index = new TimeIndexReader(`${path}.times`)
  }

  apply(bytes: Buffer, start: number): Buffer {
    if ((this.#entries.at(-1)?.end ?? 0) < start + bytes.length) this.#entries = this.#index.read()
    const entries = this.#entries
    const lastMs = entries.at(-1)?.timeMs ?? 0
    const parts: Buffer[] = []
    for (let from = 0; from < bytes.length; ) {
      const index = bytes.indexOf(newline, from)
      const to = index < 0 ? bytes.length : index + 1
      if (this.#atLineStart) parts.push(Buffer.from(`${stampText(timeAt(entries, start + from) ?? lastMs)} `))
      parts.push(bytes.subarray(from, to))
      this.#atLineStart = index >= 0
      from = to
    }
    return Buffer.concat(parts)
  }
}

/** Nine digits of seconds, as container runtimes write them. */
function stampText(timeMs: number): string {
  const micros = Math.round((timeMs - Math.floor(timeMs / 1000) * 1000) * 1000)
  return `${formatTime(timeMs).slice(0, -1)}.${String(Math.min(micros, 999_999)).padStart(6, '0')}000Z`
}
