import { alignTabs, descriptionAlignment } from '../output/align.ts'
import { formatLocalTime } from './local-time.ts'

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
    this.#text += `${'  '.repeat(level)}${text}\n`
    return this
  }

  /** `Label:  first`, with the further ones below the first. `<none>` where there are none. */
  lines(level: number, label: string, values: readonly string[]): this {
    const [first = '<none>', ...others] = values
    this.field(level, label, first)
    for (const other of others) this.line(0, `\t${other}`)
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

  /** As it is before it is aligned: a tab after each cell. */
  withTabs(): string {
    return this.#text
  }

  toString(): string {
    return alignTabs(this.#text, descriptionAlignment)
  }
}
