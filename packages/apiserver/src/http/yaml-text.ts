import { withExactIntegers, withGoNumbers } from '@coracle/client/go-yaml'
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Tags,
} from 'yaml'

/** What a YAML text says, and what is odd about it. */
export interface YamlText {
  /** The first document's value, as JSON has it. */
  readonly value: unknown
  /** Keys that occur twice in one map, in the words of Go's reader: `line 4: key "a" already set in map`. */
  readonly duplicates: readonly string[]
  /** Why it could not be read. */
  readonly problem?: string
}

/** More than these are not reported: nobody reads them. */
export const duplicateKeysMax = 100

/** More uses of anchors than these, and a short text could stand for a huge value. */
const aliasesMax = 100

/**
 * Reads the first document as Go's reader does. With `isExact` whole numbers are as they are written, as in `parseExactJson`. The time it
 * takes may grow with the square of the text's length: texts of some size are read in a thread (yaml-thread.ts).
 */
export function parseYamlText(text: string, isExact = false): YamlText {
  try {
    return parse(text, isExact)
  } catch (error) {
    // The parser recurses as deep as the text nests.
    const problem = error instanceof RangeError ? 'exceeded max depth' : `yaml: ${(error as Error).message}`
    return { value: undefined, duplicates: [], problem }
  }
}

function parse(text: string, isExact: boolean): YamlText {
  const withNumbers = (tags: Tags): Tags => (isExact ? withExactIntegers(withGoNumbers(tags)) : withGoNumbers(tags))
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The library compares each key with all before it.
    uniqueKeys: false,
    // Go's reader takes `yes` and `0755` as YAML 1.1 does, but neither times nor numbers to the base of 60.
    version: '1.1',
    customTags: (tags) => withNumbers(tags).filter((tag) => typeof tag === 'string' || !isForeign(tag)),
  })
  const [document] = Array.isArray(documents) ? documents : []
  if (document === undefined) return { value: null, duplicates: [] }
  const [error] = document.errors
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0])
    const deep = /call stack/.test(error.message)
    const problem = deep ? 'exceeded max depth' : `yaml: line ${line}: ${error.message}`
    return { value: undefined, duplicates: [], problem }
  }
  const duplicates: string[] = []
  findDuplicates(document, document.contents, (key, position) => {
    if (duplicates.length === duplicateKeysMax) return
    const { line } = lines.linePos(position)
    duplicates.push(`line ${line}: key ${JSON.stringify(key)} already set in map`)
  })
  return { value: inKeyOrder(document.toJS({ maxAliasCount: aliasesMax }), new Map()), duplicates }
}

/**
 * A value with the keys of all maps in order, as upstream has it when it has made JSON of the text: unknown fields are told in that order.
 * What the text shares by anchors stays shared.
 */
function inKeyOrder(value: unknown, known: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const before = known.get(value)
  if (before !== undefined) return before
  // Noted first: a value may hold itself, which is for others to refuse.
  if (Array.isArray(value)) {
    const list: unknown[] = []
    known.set(value, list)
    for (const item of value) list.push(inKeyOrder(item, known))
    return list
  }
  const map = {}
  known.set(value, map)
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const own = { value: inKeyOrder(member, known), enumerable: true, configurable: true, writable: true }
    // A key may be `__proto__`.
    Object.defineProperty(map, key, own)
  }
  return map
}

/**
 * Reports keys that occur twice in one map. Throws for a key that is a map or a list, as Go's reader does: the library would write a text
 * of each, the keys of which are texts of others, and take minutes for a thousand characters.
 */
function findDuplicates(document: Document, node: Node | null, report: (key: string, position: number) => void): void {
  if (node === null || isAlias(node) || !isCollection(node)) return
  if (!isMap(node)) {
    for (const item of node.items) findDuplicates(document, item as Node | null, report)
    return
  }
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    if (isCollection(isAlias(key) ? key.resolve(document) : key)) throw new Error('invalid map key')
    findDuplicates(document, value as Node | null, report)
    if (!isScalar(key)) continue
    const name = String(key.value)
    if (seen.has(name) && name !== '<<') report(name, key.range?.[0] ?? 0)
    seen.add(name)
  }
}

/** YAML 1.1 types that JSON has no place for: their texts stay texts. */
const isForeign = (tag: { readonly tag: string; readonly format?: string | undefined }): boolean =>
  /:(timestamp|binary|omap|pairs|set)$/.test(tag.tag) || tag.format === 'TIME'
