import { alignTabs, descriptionAlignment } from '../output/align.ts'
import { escapeControls } from '../output/escape-controls.ts'
import { formatLocalTime, zeroTime } from './local-time.ts'

/** Text in labelled lines, indented by levels and aligned as kubectl describe does. */
export class Description {
  #text = ''

  /** `Label:  value` */
  field(level: number, label: string, value: string | number | boolean): this {
    return this.line(level, `${label}:\t${value}`)
  }

  /** `Label:`, above what belongs to it. */
  heading(level: number, label: string): this {
    return this.line(level, `${label}:`)
  }

  /** A line; tabs end its cells. */
  line(level: number, text: string): this {
    return this.part(`${'  '.repeat(level)}${text}\n`)
  }

  /** Text that no line ends after, where kubectl forgets that. */
  part(text: string): this {
    this.#text += escapeControls(text)
    return this
  }

  /** `Label:  first`, with the further ones below the first, after `indent`. `<none>` where there are none. */
  lines(level: number, label: string, values: readonly string[], indent = ''): this {
    const [first = '<none>', ...others] = values
    this.field(level, label, first)
    for (const other of others) this.line(0, `${indent}\t${other}`)
    return this
  }

  /** A table under a heading; `<none>` beside the heading where there are no rows. */
  table(level: number, label: string, headers: readonly string[], rows: readonly (readonly string[])[]): this {
    if (rows.length === 0) return this.field(level, label, '<none>')
    this.heading(level, label)
    const underlines = headers.map((header) => '-'.repeat(header.length))
    for (const cells of [headers, underlines, ...rows]) this.line(level + 1, cells.join('\t'))
    return this
  }

  time(level: number, label: string, time: string | undefined): this {
    return time === undefined ? this : this.field(level, label, formatLocalTime(time))
  }

  /** A time that is always shown: the first of the year 1 where it is not set, as Go has it. */
  timeOrZero(level: number, label: string, time: string | undefined): this {
    return this.field(level, label, formatLocalTime(time ?? zeroTime))
  }

  /** As it is before it is aligned: a tab after each cell. */
  withTabs(): string {
    return this.#text
  }

  toString(): string {
    return alignTabs(this.#text, descriptionAlignment)
  }
}
