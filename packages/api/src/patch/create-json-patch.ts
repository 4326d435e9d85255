import { deepEqual } from '../equality.ts'
import { isJsonObject, member } from '../json.ts'
import type { JsonPatchOperation } from './json-patch.ts'

/**
 * The JSON patch that turns `from` into `to`; empty where they are equal. Lists of the same length are compared element by element,
 * others are replaced as a whole. What is undefined counts as absent.
 */
export function createJsonPatch(from: unknown, to: unknown): readonly JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  compare(from, to, '', operations)
  return operations
}

function compare(from: unknown, to: unknown, path: string, operations: JsonPatchOperation[]): void {
  if (deepEqual(from, to)) return
  if (isJsonObject(from) && isJsonObject(to)) {
    for (const key of Object.keys(from)) {
      if (member(from, key) !== undefined && member(to, key) === undefined)
        operations.push({ op: 'remove', path: `${path}/${escaped(key)}` })
    }
    for (const [key, after] of Object.entries(to)) {
      const before = member(from, key)
      const at = `${path}/${escaped(key)}`
      if (after === undefined) continue
      if (before === undefined) operations.push({ op: 'add', path: at, value: after })
      else compare(before, after, at, operations)
    }
  } else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [index, after] of to.entries()) compare(from[index], after, `${path}/${index}`, operations)
  } else operations.push({ op: 'replace', path, value: to })
}

/** A key as part of a JSON pointer (RFC 6901). */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
