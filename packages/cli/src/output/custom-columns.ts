import { goText } from '@coracle/api'
import { findJsonPath, parseJsonPath, type Template } from '@coracle/api/jsonpath'
import { CliError, PrintError } from '../cli-error.ts'
import { alignTabs, tableAlignment } from './align.ts'
import { escapeControls } from './escape-controls.ts'

/** A column of `-o custom-columns`. */
export interface Column {
  readonly header: string
  readonly template: Template
}

/** `NAME:.metadata.name,NODE:.spec.nodeName`. Throws a CliError that says what is wrong. */
export function parseColumns(text: string): readonly Column[] {
  return text.split(',').map((part) => {
    const colon = part.indexOf(':')
    if (colon < 0) throw new CliError(`unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`)
    return { header: part.slice(0, colon), template: parseColumnPath(part.slice(colon + 1)) }
  })
}

/** A line of headers, and a line of paths below it. Throws a CliError that says what is wrong. */
export function parseColumnsFile(text: string): readonly Column[] {
  const [headers, paths] = text.split('\n').map((line) => line.split(/\s+/).filter((word) => word !== ''))
  if (headers === undefined || paths === undefined || paths.length === 0) {
    throw new CliError(
      'invalid template, missing spec line. Expected format is one line of space separated headers, one line of space separated column specs.',
    )
  }
  if (headers.length !== paths.length) {
    throw new CliError(`number of headers (${headers.length}) and field specifications (${paths.length}) don't match`)
  }
  return headers.map((header, index) => ({ header, template: parseColumnPath(paths[index] ?? '') }))
}

/** A path with or without its first dot and its braces, as columns and `--sort-by` have it, in full: `{.metadata.name}`. */
export function completePath(text: string): string {
  const [, plain, braced] = /^(?:\{?\.?([^{}]+)\}?|\{\.?([^{}]+)\})$/.exec(text) ?? []
  const isBalanced = text.startsWith('{') === text.endsWith('}')
  if ((plain ?? braced) === undefined || !isBalanced) {
    throw new CliError(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    )
  }
  return `{.${plain ?? braced}}`
}

function parseColumnPath(text: string): Template {
  return text === '' ? [] : parseJsonPath(completePath(text))
}

/**
 * The lines of some objects, headers first where wanted, at least as wide as those before by which `remembered` was filled. Throws a
 * PrintError, with the lines before it, where an object has no such cells.
 */
export function printColumns(
  columns: readonly Column[],
  objects: readonly unknown[],
  headers: boolean,
  remembered: number[] = [],
): string {
  const lines = headers ? [columns.map(({ header }) => header)] : []
  const text = () => alignTabs(lines.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment, remembered)
  for (const object of objects) {
    try {
      lines.push(columns.map(({ template }) => cellText(template, object)))
    } catch (error) {
      throw new PrintError(error instanceof Error ? error.message : String(error), text())
    }
  }
  return text()
}

function cellText(template: Template, object: unknown): string {
  const found = findJsonPath(template, object).flat()
  return found.length === 0 ? '<none>' : escapeControls(found.map(goText).join(','))
}
