import {
  apiVersionOf,
  type KubernetesObject,
  type Resource,
  type ResourceDefinition,
  type StoredKind,
} from '@coracle/api'
import type { KindStorage } from './registry/kind-storage.ts'
import type { ResourceRegistry } from './registry/resource-registry.ts'
import type { Registry } from './registry-contract.ts'

/** A kind that is served: what is stored of it, and a registry for each version clients may use. */
export interface ServedKind {
  readonly kind: StoredKind
  readonly storage: KindStorage
  readonly registries: readonly ResourceRegistry[]
}

/** Kinds come and go while the server serves. `previous` is what a changed kind was. */
export type KindChange =
  | { readonly type: 'added' | 'removed'; readonly kind: StoredKind }
  | { readonly type: 'changed'; readonly kind: StoredKind; readonly previous: StoredKind }

/**
 * The registries of a server, by what names them in paths and in objects. Whoever depends on which kinds there are asks each
 * time, keeps something by `generation`, or listens; nobody holds a list.
 */
export class Registries {
  readonly #kinds = new Map<string, ServedKind>()
  readonly #byResource = new Map<string, ResourceRegistry>()
  readonly #byKind = new Map<string, ResourceRegistry>()
  readonly #computed = new Map<string, Registry>()
  readonly #listeners = new Set<(change: KindChange) => void>()
  #generation = 0

  /** Rises whenever a kind or a version comes, changes or goes. */
  get generation(): number {
    return this.#generation
  }

  /** Every stored kind once, in the order they were added. */
  kinds(): Iterable<ServedKind> {
    return this.#kinds.values()
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: (change: KindChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The kind that is stored under this key. */
  byStorageKey(storageKey: string): ServedKind | undefined {
    return this.#kinds.get(storageKey)
  }

  /** Serves a kind, in place of what was served under its storage key. */
  set(served: ServedKind): void {
    const { kind } = served
    const previous = this.#kinds.get(kind.storageKey)
    for (const registry of previous?.registries ?? []) this.#forget(registry)
    this.#kinds.set(kind.storageKey, served)
    for (const registry of served.registries) {
      const { definition } = registry
      this.#byResource.set(resourceKey(definition.group, definition.version, definition.plural), registry)
      this.#byKind.set(`${apiVersionOf(definition)} ${definition.kind}`, registry)
    }
    this.#tell(previous === undefined ? { type: 'added', kind } : { type: 'changed', kind, previous: previous.kind })
  }

  /** Serves a kind no more. */
  delete(storageKey: string): void {
    const served = this.#kinds.get(storageKey)
    if (served === undefined) return
    this.#kinds.delete(storageKey)
    for (const registry of served.registries) this.#forget(registry)
    this.#tell({ type: 'removed', kind: served.kind })
  }

  /** Serves objects that are made when somebody asks for them: they are stored nowhere, and have no kind in the store. */
  addComputed(registry: Registry): void {
    const { group, version, plural } = registry.definition
    this.#computed.set(resourceKey(group, version, plural), registry)
    this.#generation += 1
  }

  /** What is behind `/apis/<group>/<version>/<plural>`, stored or computed; undefined where there is nothing. */
  served(group: string, version: string, plural: string): Registry | undefined {
    const key = resourceKey(group, version, plural)
    return this.#byResource.get(key) ?? this.#computed.get(key)
  }

  /** The registry of stored objects behind `/apis/<group>/<version>/<plural>`; undefined where there is none. */
  byResource(group: string, version: string, plural: string): ResourceRegistry | undefined {
    return this.#byResource.get(resourceKey(group, version, plural))
  }

  /** The registry of objects with this `apiVersion` and `kind`. */
  byKind(apiVersion: string, kind: string): ResourceRegistry | undefined {
    return this.#byKind.get(`${apiVersion} ${kind}`)
  }

  /** The registry of a resource that a client names. */
  of<T extends KubernetesObject>({ group, version, plural }: Resource<T>): ResourceRegistry | undefined {
    return this.byResource(group, version, plural)
  }

  /** All versions of all kinds, stored or computed. */
  definitions(): readonly ResourceDefinition[] {
    return [...this.#byResource.values(), ...this.#computed.values()].map(({ definition }) => definition)
  }

  /** One version of each kind that can be listed, watched and deleted: for whoever looks after objects of every kind. */
  resources(): readonly ResourceDefinition[] {
    return [...this.#kinds.values()].flatMap(({ registries: [first] }) => {
      const verbs = first?.definition.verbs ?? []
      return first !== undefined && (['list', 'watch', 'delete'] as const).every((verb) => verbs.includes(verb))
        ? [first.definition]
        : []
    })
  }

  #forget({ definition }: ResourceRegistry): void {
    this.#byResource.delete(resourceKey(definition.group, definition.version, definition.plural))
    this.#byKind.delete(`${apiVersionOf(definition)} ${definition.kind}`)
  }

  #tell(change: KindChange): void {
    this.#generation += 1
    for (const listener of [...this.#listeners]) listener(change)
  }
}

const resourceKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`
