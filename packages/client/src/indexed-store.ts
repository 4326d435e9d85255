import { type KubernetesObject, lookedThroughMax } from '@coracle/api'
import { splitKey } from './object-key.ts'

/** The values under which an index files an object; none where it has no place in the index. Pure. */
export type IndexFunction<T extends KubernetesObject> = (object: T) => readonly string[]

/**
 * Something computed from the objects of a cache, such as a count, that is kept up to date with them: an object is added when
 * it comes into the cache and removed when it leaves; a change removes the old state and adds the new. Must not throw.
 */
export interface Aggregate<T extends KubernetesObject> {
  add(object: T): void
  remove(object: T): void
}

/** An object in a store, as it is now. */
export interface Entry<T extends KubernetesObject> {
  readonly object: T
}

interface MutableEntry<T extends KubernetesObject> {
  object: T
}

/**
 * Objects by namespace and name, and by any number of indexes. An object is looked up under its own name: a key made of namespace
 * and name would have to be hashed anew for each event. All maps share one entry for an object, so that a change which leaves it where
 * it is in the indexes writes to none of them.
 */
export class IndexedStore<T extends KubernetesObject> {
  readonly #byNamespace = new Map<string, Map<string, MutableEntry<T>>>()
  readonly #indexes = new Map<string, Index<T>>()
  readonly #aggregates = new Set<Aggregate<T>>()

  get(key: string): T | undefined {
    const { namespace = '', name } = splitKey(key)
    return this.#byNamespace.get(namespace)?.get(name)?.object
  }

  /** The entry of the object of the same namespace and name. */
  entryOf({ metadata: { namespace = '', name = '' } }: KubernetesObject): Entry<T> | undefined {
    return this.#byNamespace.get(namespace)?.get(name)
  }

  entries(): readonly Entry<T>[] {
    return [...this.#byNamespace.values()].flatMap((group) => [...group.values()])
  }

  /** The objects of a namespace, or all. */
  list(namespace?: string): readonly T[] {
    return objectsOf(namespace === undefined ? this.entries() : this.#byNamespace.get(namespace)?.values())
  }

  /** How many objects a namespace has, or there are: none is looked at. */
  count(namespace?: string): number {
    if (namespace !== undefined) return this.#byNamespace.get(namespace)?.size ?? 0
    return this.#byNamespace.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** The objects filed under `value`. Throws where there is no such index. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name)
    if (index === undefined)
      throw new Error(`there is no index "${name}"; there is ${[...this.#indexes.keys()].join(', ') || 'none'}`)
    return objectsOf(index.byValue.get(value))
  }

  /**
   * Adds an index over what is here and what will come, until the returned function is called by all who added it. Throws where
   * the name stands for another function.
   */
  addIndex(name: string, valuesOf: IndexFunction<T>): () => void {
    const existing = this.#indexes.get(name)
    if (existing !== undefined && existing.valuesOf !== valuesOf)
      throw new Error(`there is another index "${name}" already`)
    const index = existing ?? { valuesOf, byValue: new Map(), holders: 0 }
    if (existing === undefined) for (const entry of this.entries()) fileIn(index, entry)
    this.#indexes.set(name, index)
    index.holders += 1
    let isHeld = true
    return () => {
      if (isHeld && --index.holders === 0) this.#indexes.delete(name)
      isHeld = false
    }
  }

  /**
   * Adds an aggregate of what is here and what will come, until the returned function is called. Adding it twice does nothing.
   */
  addAggregate(aggregate: Aggregate<T>): () => void {
    if (!this.#aggregates.has(aggregate)) {
      this.#aggregates.add(aggregate)
      for (const object of this.list()) aggregate.add(object)
    }
    return () => void this.#aggregates.delete(aggregate)
  }

  /** Stores an object of which there is no entry yet. */
  add(object: T): Entry<T> {
    const { namespace = '', name = '' } = object.metadata
    const entry = { object }
    const group = this.#byNamespace.get(namespace)
    if (group === undefined) this.#byNamespace.set(namespace, new Map([[name, entry]]))
    else group.set(name, entry)
    for (const aggregate of this.#aggregates) aggregate.add(object)
    for (const index of this.#indexes.values()) fileIn(index, entry)
    return entry
  }

  /** Stores a later state of the object of an entry. */
  replace(entry: MutableEntry<T>, object: T): void {
    const old = entry.object
    entry.object = object
    for (const aggregate of this.#aggregates) {
      aggregate.remove(old)
      aggregate.add(object)
    }
    for (const index of this.#indexes.values()) refile(index, entry, old)
  }

  /** Removes the object of an entry. */
  delete(entry: Entry<T>): void {
    const { namespace = '', name = '' } = entry.object.metadata
    const group = this.#byNamespace.get(namespace)
    if (group?.delete(name) && group.size === 0) this.#byNamespace.delete(namespace)
    for (const aggregate of this.#aggregates) aggregate.remove(entry.object)
    for (const index of this.#indexes.values()) fileOut(index, entry)
  }
}

function objectsOf<T extends KubernetesObject>(entries: Iterable<Entry<T>> | undefined): readonly T[] {
  if (entries === undefined) return []
  const objects: T[] = []
  for (const { object } of entries) objects.push(object)
  return objects
}

interface Index<T extends KubernetesObject> {
  readonly valuesOf: IndexFunction<T>
  readonly byValue: Map<string, Set<Entry<T>>>
  /** How many need it. */
  holders: number
}

function fileIn<T extends KubernetesObject>({ valuesOf, byValue }: Index<T>, entry: Entry<T>): void {
  for (const value of valuesOf(entry.object)) enter(byValue, value, entry)
}

/** Most changes leave an object where it is: then nothing is looked up. */
function refile<T extends KubernetesObject>({ valuesOf, byValue }: Index<T>, entry: Entry<T>, old: T): void {
  const before = valuesOf(old)
  const values = valuesOf(entry.object)
  if (areSame(before, values)) return
  const [isKept, wasThere] = [membership(values), membership(before)]
  for (const value of before) if (!isKept(value)) removeFrom(byValue, value, entry)
  for (const value of values) if (!wasThere(value)) enter(byValue, value, entry)
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false
  return true
}

/** Tells whether a value is among others. */
function membership(values: readonly string[]): (value: string) => boolean {
  if (values.length <= lookedThroughMax) return (value) => values.includes(value)
  const all = new Set(values)
  return (value) => all.has(value)
}

function fileOut<T extends KubernetesObject>({ valuesOf, byValue }: Index<T>, entry: Entry<T>): void {
  for (const value of valuesOf(entry.object)) removeFrom(byValue, value, entry)
}

function enter<E>(groups: Map<string, Set<E>>, value: string, entry: E): void {
  const group = groups.get(value)
  if (group === undefined) groups.set(value, new Set([entry]))
  else group.add(entry)
}

function removeFrom<E>(groups: Map<string, Set<E>>, value: string, entry: E): void {
  const group = groups.get(value)
  if (group?.delete(entry) && group.size === 0) groups.delete(value)
}

/** The index of objects by the UID of the owner that controls them. */
export const controllerIndexName = 'controller'

/** Files an object under the UID of its controlling owner. */
export const byController: IndexFunction<KubernetesObject> = (object) => {
  const controller = object.metadata.ownerReferences?.find((owner) => owner.controller === true)
  return controller === undefined ? [] : [controller.uid]
}
