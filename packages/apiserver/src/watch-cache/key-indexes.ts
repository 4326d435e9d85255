import type { FieldReader, KubernetesObject, StoredKind } from '@coracle/api'
import type { Selection } from './selection.ts'

/** Most indexes per resource. When another one is wanted the one unused for longest goes. */
export const indexesMax = 16

/** Below this many objects looking at each is as cheap as an index. */
export const indexedObjectsMin = 64

/**
 * So many terms of a selector are looked up in indexes; one is enough to leave most objects out. Each takes an index that has to be made of
 * all objects where there is none, and a selector may have a hundred thousand terms.
 */
export const indexedTermsMax = 4

/** Reads the value an index files an object under; undefined keeps it out. */
type ValueReader = (object: KubernetesObject) => string | undefined

/**
 * Indexes of a resource's keys by label value and by field value. One comes into being when a selector first asks for it:
 * most labels are never selected by, and an index on each would cost more memory than the objects' own labels.
 */
export class KeyIndexes {
  readonly #fields: Readonly<Record<string, FieldReader<KubernetesObject>>>
  /** In the order of their last use. */
  readonly #indexes = new Map<string, KeyIndex>()

  constructor(definition: StoredKind) {
    this.#fields = definition.selectableFields
  }

  /** Notes a change. Costs nothing per object that did not change. */
  update(key: string, object: KubernetesObject | undefined, previous: KubernetesObject | undefined): void {
    for (const index of this.#indexes.values()) {
      const value = object === undefined ? undefined : index.read(object)
      const before = previous === undefined ? undefined : index.read(previous)
      if (value === before) continue
      if (before !== undefined) index.remove(key, before)
      if (value !== undefined) index.add(key, value)
    }
  }

  /**
   * The keys of all objects a selection can match and perhaps some more; undefined where no index helps. `objects` gives
   * what an index starts from.
   */
  candidates(
    selection: Selection,
    objects: () => Iterable<readonly [string, KubernetesObject]>,
  ): Iterable<string> | undefined {
    let best: ReadonlySet<string> | undefined
    for (const { id, read, value } of this.#equalities(selection).slice(0, indexedTermsMax)) {
      const keys = this.#indexOf(id, read, objects).get(selection.namespace, value)
      if (best === undefined || keys.size < best.size) best = keys
    }
    return best
  }

  #equalities(selection: Selection): { readonly id: string; readonly read: ValueReader; readonly value: string }[] {
    const equalities = []
    for (const { field, operator, value } of selection.fieldTerms) {
      const read = this.#fields[field]
      if (operator === '=' && read !== undefined) equalities.push({ id: `field ${field}`, read, value })
    }
    for (const { key, operator, values } of selection.labelRequirements) {
      const [value] = values
      if (value === undefined || values.length !== 1) continue
      if (operator !== '=' && operator !== '==' && operator !== 'in') continue
      equalities.push({ id: `label ${key}`, read: labelReader(key), value })
    }
    return equalities
  }

  #indexOf(id: string, read: ValueReader, objects: () => Iterable<readonly [string, KubernetesObject]>): KeyIndex {
    let index = this.#indexes.get(id)
    this.#indexes.delete(id)
    if (index === undefined) {
      index = new KeyIndex(read)
      for (const [key, object] of objects()) {
        const value = read(object)
        if (value !== undefined) index.add(key, value)
      }
    }
    this.#indexes.set(id, index)
    if (this.#indexes.size > indexesMax) {
      for (const oldest of this.#indexes.keys()) {
        this.#indexes.delete(oldest)
        break
      }
    }
    return index
  }
}

const noKeys: ReadonlySet<string> = new Set()

/** Keys by value, and by value and namespace. */
class KeyIndex {
  readonly read: ValueReader
  readonly #keys = new Map<string, Set<string>>()

  constructor(read: ValueReader) {
    this.read = read
  }

  get(namespace: string, value: string): ReadonlySet<string> {
    return this.#keys.get(slot(namespace, value)) ?? noKeys
  }

  add(key: string, value: string): void {
    for (const each of slotsOf(key, value)) {
      const keys = this.#keys.get(each)
      if (keys === undefined) this.#keys.set(each, new Set([key]))
      else keys.add(key)
    }
  }

  remove(key: string, value: string): void {
    for (const each of slotsOf(key, value)) {
      const keys = this.#keys.get(each)
      keys?.delete(key)
      if (keys?.size === 0) this.#keys.delete(each)
    }
  }
}

/** The empty namespace stands for all of them. */
const slot = (namespace: string, value: string): string => `${namespace}/${value}`

function slotsOf(key: string, value: string): readonly string[] {
  const slash = key.indexOf('/')
  return slash < 0 ? [slot('', value)] : [slot('', value), slot(key.slice(0, slash), value)]
}

function labelReader(label: string): ValueReader {
  return ({ metadata: { labels } }) =>
    labels !== undefined && Object.hasOwn(labels, label) ? labels[label] : undefined
}
