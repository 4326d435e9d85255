import { compareQuantity, compareText, isQuantity } from '@coracle/api'
import { findJsonPath, parseJsonPath } from '@coracle/api/jsonpath'
import { CliError } from '../cli-error.ts'
import { completePath } from './custom-columns.ts'

/** What a field has is of a kind without an order. */
export class UnsortableError extends CliError {}

/**
 * Objects in order of a field, by kubectl's rules for `--sort-by`: numbers and quantities by size, texts by their
 * characters, what lacks the field first. Throws a CliError where all lack it, an UnsortableError where it has no order.
 */
export function sortObjects<T>(items: readonly T[], path: string, objectOf: (item: T) => unknown): readonly T[] {
  if (items.length === 0) return items
  const complete = completePath(path)
  const template = parse(complete)
  const keyed = items.map((item) => ({ item, key: findJsonPath(template, objectOf(item)).flat()[0] }))
  if (keyed.every(({ key }) => key === undefined)) {
    throw new CliError(`couldn't find any field with path "${complete}" in the list of objects`)
  }
  return keyed.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ item }) => item)
}

function parse(path: string) {
  try {
    return parseJsonPath(path)
  } catch (error) {
    throw new CliError(`sorting error: ${error instanceof Error ? error.message : error}`)
  }
}

/** Rows of a table in order of a field. A row that stands alone is not looked at, as by kubectl, whatever the field is. */
export function sortRows<T>(rows: readonly T[], path: string, objectOf: (row: T) => unknown): readonly T[] {
  return rows.length > 1 ? sortObjects(rows, path, objectOf) : rows
}

/** Quantities compare by what they amount to, all else by its characters. */
function compareTexts(a: string, b: string): number {
  return isQuantity(a) && isQuantity(b) ? compareQuantity(a, b) : compareText(a, b)
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

function compareKeys(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.min(a.length, b.length); index++) {
      const order = compareKeys(a[index], b[index])
      if (order !== 0) return order
    }
    return 0
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  throw new UnsortableError(`objects cannot be sorted by a field of type ${Array.isArray(a) ? 'list' : typeof a}`)
}
