import type { KubernetesObject } from '@coracle/api'

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

/** Objects by key, by namespace and by any number of indexes. Every change costs as much as the object has index values. */
export class IndexedStore<T extends KubernetesObject> {
  readonly #objects = new Map<string, T>()
  /** Filed from when somebody asks for a namespace: most caches are asked for keys, indexes or everything. */
  #byNamespace: Map<string, Map<string, T>> | undefined
  readonly #indexes = new Map<string, Index<T>>()
  readonly #aggregates = new Set<Aggregate<T>>()

  get size(): number {
    return this.#objects.size
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()]
  }

  /** The objects of a namespace, or all. */
  list(namespace?: string): readonly T[] {
    if (namespace === undefined) return [...this.#objects.values()]
    this.#byNamespace ??= this.#filedByNamespace()
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])]
  }

  /** The objects filed under `value`. Throws where there is no such index. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name)
    if (index === undefined)
      throw new Error(`there is no index "${name}"; there is ${[...this.#indexes.keys()].join(', ') || 'none'}`)
    return [...(index.byValue.get(value)?.values() ?? [])]
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
    if (existing === undefined) for (const [key, object] of this.#objects) fileIn(index, key, object)
    this.#indexes.set(name, index)
    index.holders += 1
    return onlyOnce(() => {
      index.holders -= 1
      if (index.holders === 0) this.#indexes.delete(name)
    })
  }

  /**
   * Adds an aggregate of what is here and what will come, until the returned function is called. Adding it twice does nothing.
   */
  addAggregate(aggregate: Aggregate<T>): () => void {
    if (!this.#aggregates.has(aggregate)) {
      this.#aggregates.add(aggregate)
      for (const object of this.#objects.values()) aggregate.add(object)
    }
    return () => void this.#aggregates.delete(aggregate)
  }

  /** Stores an object, whose key is `key`, and returns the one it replaces. */
  set(key: string, object: T): T | undefined {
    const old = this.#objects.get(key)
    this.replace(key, old, object)
    return old
  }

  /** Stores an object over `old`, which is what `get` gives: undefined where there is none. */
  replace(key: string, old: T | undefined, object: T): void {
    this.#objects.set(key, object)
    for (const aggregate of this.#aggregates) {
      if (old !== undefined) aggregate.remove(old)
      aggregate.add(object)
    }
    if (this.#byNamespace !== undefined) memberOf(this.#byNamespace, namespaceOf(object)).set(key, object)
    for (const index of this.#indexes.values()) {
      if (old === undefined) fileIn(index, key, object)
      else refile(index, key, old, object)
    }
  }

  /** Removes an object and returns it. */
  delete(key: string): T | undefined {
    const old = this.#objects.get(key)
    if (old === undefined) return undefined
    this.#objects.delete(key)
    for (const aggregate of this.#aggregates) aggregate.remove(old)
    if (this.#byNamespace !== undefined) removeFrom(this.#byNamespace, namespaceOf(old), key)
    for (const index of this.#indexes.values()) fileOut(index, key, old)
    return old
  }

  #filedByNamespace(): Map<string, Map<string, T>> {
    const filed = new Map<string, Map<string, T>>()
    for (const [key, object] of this.#objects) memberOf(filed, namespaceOf(object)).set(key, object)
    return filed
  }
}

const namespaceOf = ({ metadata }: KubernetesObject): string => metadata.namespace ?? ''

interface Index<T extends KubernetesObject> {
  readonly valuesOf: IndexFunction<T>
  readonly byValue: Map<string, Map<string, T>>
  /** How many need it. */
  holders: number
}

function onlyOnce(call: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) call()
    isDone = true
  }
}

function fileIn<T extends KubernetesObject>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) memberOf(index.byValue, value).set(key, object)
}

/** Most changes leave an object where it is: taking it out and putting it in again costs several times as much. */
function refile<T extends KubernetesObject>(index: Index<T>, key: string, old: T, object: T): void {
  const values = index.valuesOf(object)
  for (const value of index.valuesOf(old)) if (!values.includes(value)) removeFrom(index.byValue, value, key)
  for (const value of values) memberOf(index.byValue, value).set(key, object)
}

function fileOut<T extends KubernetesObject>(index: Index<T>, key: string, object: T): void {
  for (const value of index.valuesOf(object)) removeFrom(index.byValue, value, key)
}

function memberOf<T>(groups: Map<string, Map<string, T>>, value: string): Map<string, T> {
  const existing = groups.get(value)
  if (existing !== undefined) return existing
  const group = new Map<string, T>()
  groups.set(value, group)
  return group
}

function removeFrom<T>(groups: Map<string, Map<string, T>>, value: string, key: string): void {
  const group = groups.get(value)
  if (group?.delete(key) && group.size === 0) groups.delete(value)
}

/** The index of objects by the UID of the owner that controls them. */
export const controllerIndexName = 'controller'

/** Files an object under the UID of its controlling owner. */
export const byController: IndexFunction<KubernetesObject> = (object) => {
  const controller = object.metadata.ownerReferences?.find((owner) => owner.controller === true)
  return controller === undefined ? [] : [controller.uid]
}
