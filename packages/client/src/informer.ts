import type { KubernetesObject, Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { CacheProgress } from './cache-progress.ts'
import type { Client } from './client.ts'
import { type Aggregate, type Entry, IndexedStore, type IndexFunction } from './indexed-store.ts'
import { keyOf } from './object-key.ts'
import { Reflector } from './reflector.ts'
import { type Scope, scopeMatcher } from './scope.ts'
import { compareVersions, isComparableVersion, isOlderVersion } from './versions.ts'

/**
 * What an informer calls when its cache changes; the cache already shows the change. Handlers run one after another
 * and must be quick: queue a key and return. One that throws is logged and the others still run.
 */
export interface InformerHandler<T extends KubernetesObject> {
  /** `isInitial`: the object was there when the cache was filled or the handler added; nobody has just made it. */
  add?(object: T, isInitial: boolean): void
  update?(old: T, object: T): void
  /** `object` is the last state known, which may be older than the last there was. */
  delete?(object: T): void
}

export interface InformerOptions<T extends KubernetesObject> extends Scope {
  /** Indexes by name, for `byIndex`. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>
  /** Kept up to date with the cache, from the start. */
  readonly aggregates?: readonly Aggregate<T>[]
  /**
   * What is kept of each object, such as one without its managedFields: memory that nobody reads is saved. Its identity and version must
   * stay. What was left out is missing for whoever reads the cache: never update an object from there.
   */
  transform?(object: T): T
}

/**
 * A cache of the objects of one resource that keeps itself up to date by a list and a watch. Reads are synchronous and
 * give the frozen objects themselves, in no particular order.
 *
 * The cache is as old as the last event that has come. Whoever has written and must not read an older state asks
 * `hasReached` and `hasSeenDeletion`.
 */
export interface Informer<T extends KubernetesObject> {
  readonly resource: Resource<T>
  readonly scope: Scope
  /** The object under `namespace/name`, or `name` where the kind has no namespaces. */
  get(key: string): T | undefined
  list(namespace?: string): readonly T[]
  /** How many objects `list` would give. However many they are, it costs the same. */
  count(namespace?: string): number
  /** The objects filed under a value of an index. Throws where there is no such index. */
  byIndex(name: string, value: string): readonly T[]
  /**
   * Adds an index. The same function under the same name may be added again; another throws. Returns a function that gives the
   * index up: it goes when all who added it have.
   */
  addIndex(name: string, valuesOf: IndexFunction<T>): () => void
  /**
   * Keeps an aggregate up to date, which takes in what is in the cache at once. Handlers find it up to date. Returns a function
   * that ends it.
   */
  addAggregate(aggregate: Aggregate<T>): () => void
  /** Adds a handler, which is told of what is in the cache at once. Returns a function that removes it. */
  addHandler(handler: InformerHandler<T>): () => void
  /** Starts to list and watch. Starting twice does nothing. */
  start(): void
  /** Stops for good, and resolves when nothing more will change. What is cached stays readable. */
  stop(): Promise<void>
  /** Whether the first list is in the cache. */
  readonly hasSynced: boolean
  /** Resolves once the first list is in the cache; rejects with the signal's reason. */
  waitForSync(signal?: AbortSignal): Promise<void>
  /** The version the cache has come to; undefined before the first list. */
  readonly resourceVersion: string | undefined
  /** Whether an object belongs in this cache, by its namespace and the selectors. */
  covers(object: KubernetesObject): boolean
  /** Whether the cache shows everything up to this resourceVersion of this resource. */
  hasReached(version: string): boolean
  /**
   * Calls back once, as soon as `hasReached` holds: now, if it does already. Also where the server was restored from an earlier state, which
   * may never come that far.
   */
  whenReached(version: string, callback: () => void): void
  /** Whether the cache shows the object of this identity as gone or being deleted. */
  hasSeenDeletion(key: string, uid: string): boolean
  /** Calls back once, as soon as `hasSeenDeletion` holds: now, if it does already. Also where the server was restored. */
  whenSeenDeletion(key: string, uid: string, callback: () => void): void
}

/** An informer that has yet to be started. Throws a BadRequest on a malformed selector. */
export function createInformer<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  options: InformerOptions<T>,
  environment: Environment,
): Informer<T> {
  return new CachingInformer(client, resource, options, environment)
}

class CachingInformer<T extends KubernetesObject> implements Informer<T> {
  readonly resource: Resource<T>
  readonly scope: Scope
  readonly covers: (object: KubernetesObject) => boolean
  readonly #environment: Environment
  readonly #store = new IndexedStore<T>()
  readonly #progress = new CacheProgress()
  readonly #handlers = new Set<InformerHandler<T>>()
  readonly #reflector: Reflector<T>
  #syncWaits: (() => void)[] = []

  constructor(client: Client, resource: Resource<T>, options: InformerOptions<T>, environment: Environment) {
    const { indexes = {}, aggregates = [], transform = (object) => object, ...scope } = options
    this.resource = resource
    this.scope = scope
    this.covers = scopeMatcher(scope)
    this.#environment = environment
    for (const [name, valuesOf] of Object.entries(indexes)) this.#store.addIndex(name, valuesOf)
    for (const aggregate of aggregates) this.#store.addAggregate(aggregate)
    this.#reflector = new Reflector(client, resource, scope, environment, {
      replace: (objects, version) => this.#replace(objects.map(transform), version),
      put: (object) => void this.#put(transform(object)),
      remove: (object) => this.#remove(transform(object)),
      advance: (version) => this.#progress.advance(version),
    })
  }

  get(key: string): T | undefined {
    return this.#store.get(key)
  }

  list(namespace?: string): readonly T[] {
    return this.#store.list(namespace)
  }

  count(namespace?: string): number {
    return this.#store.count(namespace)
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#store.byIndex(name, value)
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): () => void {
    return this.#store.addIndex(name, valuesOf)
  }

  addAggregate(aggregate: Aggregate<T>): () => void {
    return this.#store.addAggregate(aggregate)
  }

  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler)
    for (const object of this.#store.list()) {
      try {
        handler.add?.(object, true)
      } catch (error) {
        this.#tellFailure(error, object)
      }
    }
    return () => this.#handlers.delete(handler)
  }

  start(): void {
    this.#reflector.start()
  }

  stop(): Promise<void> {
    return this.#reflector.stop()
  }

  get hasSynced(): boolean {
    return this.#progress.version !== undefined
  }

  waitForSync(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.hasSynced) return resolve()
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#syncWaits.push(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
    })
  }

  get resourceVersion(): string | undefined {
    return this.#progress.version
  }

  hasReached(version: string): boolean {
    return this.#progress.hasReached(version)
  }

  whenReached(version: string, callback: () => void): void {
    if (this.hasReached(version)) callback()
    else this.#progress.whenReached(version, callback)
  }

  hasSeenDeletion(key: string, uid: string): boolean {
    const object = this.#store.get(key)
    return object === undefined || object.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined
  }

  whenSeenDeletion(key: string, uid: string, callback: () => void): void {
    if (this.hasSeenDeletion(key, uid)) callback()
    else this.#progress.whenDeleted(key, uid, callback)
  }

  /** The whole state at `version`: what is missing from it was deleted while nobody watched. */
  #replace(objects: readonly T[], version: string): void {
    // A server that was restored from a backup has older states, and they are what there is.
    const isRestored = isOlderVersion(version, this.#progress.version)
    const present = new Set(objects.map((object) => this.#put(object, isRestored)))
    for (const entry of this.#store.entries()) if (!present.has(entry)) this.#removeEntry(entry, entry.object)
    if (isRestored) this.#progress.restored(version)
    else this.#progress.advance(version)
    for (const synced of this.#syncWaits.splice(0)) synced()
  }

  #put(object: T, mayBeOlder = false): Entry<T> {
    const entry = this.#store.entryOf(object)
    if (entry === undefined) return this.#add(object)
    const old = entry.object
    if (old.metadata.uid !== object.metadata.uid) {
      this.#removeEntry(entry, old)
      return this.#add(object)
    }
    if (!mayBeOlder && !isNewer(object, old)) return entry
    this.#store.replace(entry, object)
    this.#tell('update', object, old)
    return entry
  }

  #add(object: T): Entry<T> {
    const entry = this.#store.add(object)
    this.#tell('add', object)
    return entry
  }

  #remove(object: T): void {
    const entry = this.#store.entryOf(object)
    if (entry !== undefined && entry.object.metadata.uid === object.metadata.uid) this.#removeEntry(entry, object)
  }

  /** Removes an object, whose final state is one that the cache need not have seen. */
  #removeEntry(entry: Entry<T>, final: T): void {
    this.#store.delete(entry)
    this.#tell('delete', final)
  }

  /** Tells of a change, which the cache shows. `old` is what an update replaces. */
  #tell(type: 'add' | 'update' | 'delete', object: T, old: T = object): void {
    const isInitial = !this.hasSynced
    for (const handler of this.#handlers) {
      try {
        if (type === 'update') handler.update?.(old, object)
        else if (type === 'add') handler.add?.(object, isInitial)
        else handler.delete?.(object)
      } catch (error) {
        this.#tellFailure(error, object)
      }
    }
    if (!this.#progress.awaitsDeletions) return
    const key = keyOf(object)
    this.#progress.changed(key, (uid) => this.hasSeenDeletion(key, uid))
  }

  /** A handler has thrown: the others still run. */
  #tellFailure(error: unknown, object: T): void {
    const fields = { resource: this.resource.plural, key: keyOf(object), error }
    this.#environment.logger.error('informer handler failed', fields)
  }
}

/** A list or a resumed watch may bring a state that the cache has already. */
function isNewer(object: KubernetesObject, old: KubernetesObject): boolean {
  const version = object.metadata.resourceVersion
  const oldVersion = old.metadata.resourceVersion
  if (version === undefined || oldVersion === undefined) return true
  if (!isComparableVersion(version) || !isComparableVersion(oldVersion)) return version !== oldVersion
  return compareVersions(version, oldVersion) > 0
}
