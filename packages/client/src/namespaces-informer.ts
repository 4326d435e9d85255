import type { KubernetesObject, Resource } from '@coracle/api'
import type { Aggregate, IndexFunction } from './indexed-store.ts'
import type { Informer, InformerHandler } from './informer.ts'
import { splitKey } from './object-key.ts'
import type { Scope } from './scope.ts'
import { compareVersions } from './versions.ts'

/** One cache of several namespaces, made of one for each: for who may read only these. */
export class NamespacesInformer<T extends KubernetesObject> implements Informer<T> {
  readonly resource: Resource<T>
  readonly scope: Scope
  readonly #byNamespace: ReadonlyMap<string, Informer<T>>

  constructor(resource: Resource<T>, scope: Scope, byNamespace: ReadonlyMap<string, Informer<T>>) {
    this.resource = resource
    this.scope = scope
    this.#byNamespace = byNamespace
  }

  get(key: string): T | undefined {
    return this.#of(key)?.get(key)
  }

  list(namespace?: string): readonly T[] {
    if (namespace !== undefined) return this.#byNamespace.get(namespace)?.list(namespace) ?? []
    return this.#all.flatMap((informer) => informer.list())
  }

  count(namespace?: string): number {
    if (namespace !== undefined) return this.#byNamespace.get(namespace)?.count(namespace) ?? 0
    return this.#all.reduce((sum, informer) => sum + informer.count(), 0)
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#all.flatMap((informer) => informer.byIndex(name, value))
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): () => void {
    return together(this.#all.map((informer) => informer.addIndex(name, valuesOf)))
  }

  addAggregate(aggregate: Aggregate<T>): () => void {
    return together(this.#all.map((informer) => informer.addAggregate(aggregate)))
  }

  addHandler(handler: InformerHandler<T>): () => void {
    return together(this.#all.map((informer) => informer.addHandler(handler)))
  }

  start(): void {
    for (const informer of this.#all) informer.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.stop()))
  }

  get hasSynced(): boolean {
    return this.#all.every((informer) => informer.hasSynced)
  }

  async waitForSync(signal?: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((informer) => informer.waitForSync(signal)))
  }

  /** The oldest of the namespaces': what every one of them has come to. */
  get resourceVersion(): string | undefined {
    const versions = this.#all.map((informer) => informer.resourceVersion)
    if (versions.includes(undefined)) return undefined
    return versions.reduce((oldest = '', version = '') => (compareVersions(oldest, version) <= 0 ? oldest : version))
  }

  covers(object: KubernetesObject): boolean {
    return this.#all.some((informer) => informer.covers(object))
  }

  hasReached(version: string): boolean {
    return this.#all.every((informer) => informer.hasReached(version))
  }

  whenReached(version: string, callback: () => void): void {
    let left = this.#all.length
    for (const informer of this.#all) {
      informer.whenReached(version, () => {
        left -= 1
        if (left === 0) callback()
      })
    }
  }

  hasSeenDeletion(key: string, uid: string): boolean {
    return this.#of(key)?.hasSeenDeletion(key, uid) ?? true
  }

  whenSeenDeletion(key: string, uid: string, callback: () => void): void {
    const informer = this.#of(key)
    if (informer === undefined) callback()
    else informer.whenSeenDeletion(key, uid, callback)
  }

  get #all(): readonly Informer<T>[] {
    return [...this.#byNamespace.values()]
  }

  #of(key: string): Informer<T> | undefined {
    return this.#byNamespace.get(splitKey(key).namespace ?? '')
  }
}

function together(calls: readonly (() => void)[]): () => void {
  return () => {
    for (const call of calls) call()
  }
}
