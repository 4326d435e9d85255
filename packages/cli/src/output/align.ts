export interface Alignment {
  /** Narrowest a column gets, with the space after it. */
  readonly widthMin?: number
  /** Spaces between a column and the next. */
  readonly padding: number
}

/** Describe's alignment, and that of tables: the settings kubectl gives Go's tabwriter. */
export const descriptionAlignment: Alignment = { padding: 2 }
export const tableAlignment: Alignment = { widthMin: 6, padding: 3 }

/**
 * Aligns cells that end in a tab, as Go's text/tabwriter: a column is a run of neighbouring lines that have a cell at
 * that place, and each such run is as wide as its widest cell. Text after a line's last tab belongs to no column.
 * `remembered`, where given, holds the width that each column has had so far, which it keeps at least.
 */
export function alignTabs(text: string, { widthMin = 0, padding }: Alignment, remembered?: number[]): string {
  const lines = text.split('\n').map((line) => line.split('\t'))
  const widths: number[][] = lines.map(() => [])
  const columnCount = lines.reduce((most, line) => Math.max(most, line.length - 1), 0)
  for (let column = 0; column < columnCount; column++) {
    for (let start = 0; start < lines.length; ) {
      const end = endOfRun(lines, start, column)
      if (end > start) {
        let width = remembered?.[column] ?? widthMin
        for (let line = start; line < end; line++) {
          width = Math.max(width, textWidth(lines[line]?.[column] ?? '') + padding)
        }
        for (let line = start; line < end; line++) widths[line]?.push(width)
        if (remembered !== undefined) remembered[column] = width
      }
      start = Math.max(end, start + 1)
    }
  }
  return lines.map((line, index) => joinCells(line, widths[index] ?? [])).join('\n')
}

/** Where the lines that have this column end; `start` itself where it lacks it. */
function endOfRun(lines: readonly (readonly string[])[], start: number, column: number): number {
  let end = start
  while (end < lines.length && column < (lines[end]?.length ?? 0) - 1) end++
  return end
}

function joinCells(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, column) => (column < cells.length - 1 ? padEnd(cell, widths[column] ?? 0) : cell)).join('')
}

/** Characters a text takes on screen, as far as counting code points can tell. */
export function textWidth(text: string): number {
  let width = 0
  for (const _ of text) width++
  return width
}

/** Spaces after a text up to a width. */
export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)))
