import { asGoReads, GoYamlError, goTags, withExactIntegers } from '@coracle/client/go-yaml'
import { LineCounter, parseAllDocuments, type Tags } from 'yaml'

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
    return unread(problemOf(error as Error))
  }
}

const unread = (problem: string): YamlText => ({ value: undefined, duplicates: [], problem })

function problemOf(error: Error): string {
  if (error instanceof GoYamlError) return error.message
  // The parser recurses as deep as the text nests.
  return error instanceof RangeError ? 'exceeded max depth' : `yaml: ${error.message}`
}

/** What Go's reader takes for no part of any text. */
const control = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u

function parse(text: string, isExact: boolean): YamlText {
  if (control.test(text)) return unread('yaml: control characters are not allowed')
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The library compares each key with all before it.
    uniqueKeys: false,
    version: '1.1',
    customTags: (tags: Tags) => (isExact ? withExactIntegers(goTags(tags)) : goTags(tags)),
  })
  const [document] = Array.isArray(documents) ? documents : []
  if (document === undefined) return { value: null, duplicates: [] }
  const [error] = document.errors
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0])
    const deep = /call stack/.test(error.message)
    return unread(deep ? 'exceeded max depth' : `yaml: line ${line}: ${error.message}`)
  }
  const duplicates: string[] = []
  asGoReads(document, (key, position) => {
    if (duplicates.length < duplicateKeysMax) {
      duplicates.push(`line ${lines.linePos(position).line}: key ${key} already set in map`)
    }
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
