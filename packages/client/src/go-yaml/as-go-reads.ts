import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'

/** What Go's reader says of a document that it does not take. */
export class GoYamlError extends Error {}

/** Told of a key that is in a map already: what it is in Go, and where its second value begins. */
export type ReportRepeated = (key: string, position: number) => void

/** More maps than these, each written into another, and a short text could take very long. */
const mergesMax = 10_000

/**
 * Makes of a parsed document what Go's reader (go-yaml v2, and JSON of that) makes of it: of two values of a key the later one counts, also where one of
 * them comes from a map that is merged (`<<`); numbers that are too great are texts, and there is none without end. Throws a GoYamlError.
 */
export function asGoReads(document: Document, report: ReportRepeated = () => {}): void {
  const { version, explicit } = document.directives?.yaml ?? {}
  if (explicit === true && version !== '1.1') throw new GoYamlError('yaml: found incompatible YAML document')
  new Reading(document, report).read(document.contents)
}

class Reading {
  readonly #document: Document
  readonly #report: ReportRepeated
  #merges = 0

  constructor(document: Document, report: ReportRepeated) {
    this.#document = document
    this.#report = report
  }

  /** What is merged is no map of its own: its keys are told of where it is written. */
  read(node: unknown, isMerged = false): void {
    if (isScalar(node)) checkNumber(node)
    if (!isCollection(node)) return
    if (!isMap(node)) {
      for (const item of node.items) this.read(item, isMerged)
      return
    }
    if (!isMerged) this.#write(node, new Set(), [])
    for (const pair of node.items) {
      const { key, value } = pair
      const resolved = isAlias(key) ? key.resolve(this.#document) : key
      if (isCollection(resolved)) throw new GoYamlError('yaml: invalid map key')
      if (isScalar(resolved) && resolved.value === null) throw new GoYamlError(noKey)
      this.read(value, isMerge(pair))
    }
    node.items = this.#lastOf(node)
  }

  /** Writes the members of a map one after another, as Go's strict reader does. */
  #write(map: YAMLMap, written: Set<string>, within: readonly YAMLMap[]): void {
    for (const pair of map.items) {
      if (isMerge(pair)) {
        for (const source of this.#sourcesOf(pair, [...within, map])) this.#write(source, written, [...within, map])
        continue
      }
      if (!isScalar(pair.key)) continue
      const key = goKey(pair.key)
      const value = pair.value as Node | null
      if (written.has(key)) this.#report(key, value?.range?.[0] ?? pair.key.range?.[0] ?? 0)
      else written.add(key)
    }
  }

  /** The members that are not written over by a map that is merged after them: the library takes those for the stronger ones. */
  #lastOf(map: YAMLMap): YAMLMap['items'] {
    const last = map.items.findLastIndex(isMerge)
    if (last <= 0) return map.items
    const later = new Set<string>()
    const kept: YAMLMap['items'] = []
    for (const pair of map.items.toReversed()) {
      if (isMerge(pair)) {
        for (const source of this.#sourcesOf(pair, [map])) this.#keysOf(source, later, [map])
      } else if (isScalar(pair.key) && later.has(goKey(pair.key))) continue
      kept.push(pair)
    }
    return kept.reverse()
  }

  #keysOf(map: YAMLMap, keys: Set<string>, within: readonly YAMLMap[]): void {
    for (const pair of map.items) {
      if (isScalar(pair.key) && !isMerge(pair)) keys.add(goKey(pair.key))
      if (!isMerge(pair)) continue
      for (const source of this.#sourcesOf(pair, [...within, map])) this.#keysOf(source, keys, [...within, map])
    }
  }

  /** The maps that a pair merges, in the order in which they are written: the first of a list is the last. */
  #sourcesOf({ value }: Pair, within: readonly YAMLMap[]): readonly YAMLMap[] {
    const resolved = isAlias(value) ? value.resolve(this.#document) : value
    const all = isCollection(resolved) && !isMap(resolved) && !isAlias(value) ? resolved.items.toReversed() : [resolved]
    return all.map((each) => {
      const source = isAlias(each) ? each.resolve(this.#document) : each
      if (!isMap(source)) throw new GoYamlError('yaml: map merge requires map or sequence of maps as the value')
      if (within.includes(source)) throw new GoYamlError('yaml: anchor value contains itself')
      this.#merges += 1
      if (this.#merges > mergesMax) throw new GoYamlError('yaml: document contains excessive aliasing')
      return source
    })
  }
}

const noKey = 'unsupported map key of type: %!s(<nil>), key: <nil>'

/** The library has a symbol for a key that merges: one in quotes is a text. */
const isMerge = ({ key }: Pair): boolean => isScalar(key) && typeof key.value === 'symbol'

/** A key as Go's `%#v` writes it. */
function goKey({ value }: Scalar): string {
  if (value === null) return '<nil>'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function checkNumber(node: Scalar): void {
  const { value, source = '' } = node
  if (typeof value !== 'number' || Number.isFinite(value)) return
  if (!/^[-+]?\.(inf|nan)$/i.test(source)) {
    node.value = source
    return
  }
  const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  throw new GoYamlError(`json: unsupported value: ${name}`)
}
