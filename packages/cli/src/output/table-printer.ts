import { type Cell, formatLabels, goNumber, type Table, type TableColumnDefinition, type TableRow } from '@coracle/api'
import { alignTabs, tableAlignment } from './align.ts'
import { escapeControls } from './escape-controls.ts'

/** Longest cell that is shown whole; what a server sends beyond is cut, so that one annotation does not fill the screen. */
export const cellLengthMax = 1024 * 16

export interface TableStyle {
  /** Shows the columns the server marks as less important. */
  readonly wide: boolean
  readonly headers: boolean
  /** A first column with what kind of change a row shows. */
  readonly events?: boolean
  /** A first column with namespaces, after that. */
  readonly namespaces: boolean
  /** A last column with all labels. */
  readonly labels: boolean
  /** A column for each of these labels. */
  readonly labelColumns: readonly string[]
  /** Set before names, as in `pod/web`, where tables of several kinds follow each other. */
  readonly namePrefix?: string
}

/** The longest of ADDED, MODIFIED, DELETED and ERROR: each takes as much, so that the first rows line up with those to come. */
const eventWidth = 'MODIFIED'.length

/** A table as it was drawn. */
type Drawn = Pick<Table, 'columnDefinitions' | 'rows'>

/** Prints the rows of tables. Widths are remembered: rows that come later line up with those before. */
export class TablePrinter {
  readonly #style: TableStyle
  readonly #widths: number[] = []
  /** The names of the columns that were last printed. */
  #columns: string | undefined

  constructor(style: TableStyle) {
    this.#style = style
  }

  /**
   * The lines of tables, headers before the first and where columns are others than before; nothing of those without rows. `event` is the
   * kind of change they show.
   */
  print(tables: Drawn | readonly Drawn[], event = ''): string {
    const lines = [tables].flat().flatMap((table) => this.#linesOf(table, event))
    return alignTabs(lines.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment, this.#widths)
  }

  #linesOf(table: Drawn, event: string): readonly (readonly string[])[] {
    if (table.rows.length === 0) return []
    const columns = table.columnDefinitions.flatMap((definition, index) =>
      this.#style.wide || definition.priority === 0 ? [{ definition, index }] : [],
    )
    const lines: (readonly string[])[] = table.rows.map((row) => [
      ...(this.#style.events === true ? [event.padEnd(eventWidth)] : []),
      ...this.#cellsOf(row, columns),
    ])
    const names = columns.map(({ definition }) => definition.name).join('\t')
    if (names !== this.#columns && this.#style.headers)
      lines.unshift(this.#headers(columns.map(({ definition }) => definition)))
    this.#columns = names
    return lines
  }

  #headers(columns: readonly TableColumnDefinition[]): readonly string[] {
    return [
      ...(this.#style.events === true ? ['EVENT'] : []),
      ...(this.#style.namespaces ? ['NAMESPACE'] : []),
      ...columns.map(({ name }) => escapeControls(name.toUpperCase())),
      ...this.#style.labelColumns.map(labelHeader),
      ...(this.#style.labels ? ['LABELS'] : []),
    ]
  }

  #cellsOf(row: TableRow, columns: readonly { definition: TableColumnDefinition; index: number }[]): readonly string[] {
    const metadata = row.object?.metadata
    const { namePrefix, namespaces, labels, labelColumns } = this.#style
    const nameIndex = columns.find(({ definition }) => definition.format === 'name')?.index
    const cell = (index: number): string => {
      const text = cellText(row.cells[index] ?? null)
      return namePrefix !== undefined && index === nameIndex ? `${namePrefix}/${text}` : text
    }
    return [
      ...(namespaces ? [escapeControls(metadata?.namespace ?? '')] : []),
      ...columns.map(({ index }) => cell(index)),
      ...labelColumns.map((key) => escapeControls(labelOf(metadata?.labels, key))),
      ...(labels ? [escapeControls(formatLabels(metadata?.labels))] : []),
    ]
  }
}

/** One line of text, whatever the server sent: a line break would spoil the table, an escape sequence the terminal. */
function cellText(cell: Cell): string {
  if (cell === null) return ''
  const text = (typeof cell === 'number' ? goNumber(cell) : String(cell)).slice(0, cellLengthMax)
  const end = text.search(/[\f\n\r]/)
  return escapeControls(end < 0 ? text : `${text.slice(0, end)}...`)
}

const labelOf = (labels: Readonly<Record<string, string>> = {}, key: string): string =>
  Object.hasOwn(labels, key) ? (labels[key] ?? '') : ''

/** `example.com/tier` heads its column as TIER. */
const labelHeader = (key: string): string => key.slice(key.lastIndexOf('/') + 1).toUpperCase()
