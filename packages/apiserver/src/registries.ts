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
  readonly #byResource = new ResourceMap<ResourceRegistry>()
  readonly #byKind = new Map<string, ResourceRegistry>()
  readonly #computed = new ResourceMap<Registry>()
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
      this.#byResource.set(definition, registry)
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
    this.#computed.set(registry.definition, registry)
    this.#generation += 1
  }

  /** What is behind `/apis/<group>/<version>/<plural>`, stored or computed; undefined where there is nothing. */
  served(group: string, version: string, plural: string): Registry | undefined {
    return this.#byResource.get(group, version, plural) ?? this.#computed.get(group, version, plural)
  }

  /** The registry of stored objects behind `/apis/<group>/<version>/<plural>`; undefined where there is none. */
  byResource(group: string, version: string, plural: string): ResourceRegistry | undefined {
    return this.#byResource.get(group, version, plural)
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
    this.#byResource.delete(definition)
    this.#byKind.delete(`${apiVersionOf(definition)} ${definition.kind}`)
  }

  #tell(change: KindChange): void {
    this.#generation += 1
    for (const listener of [...this.#listeners]) listener(change)
  }
}

/** What belongs to resources, in the order they were set. Every request looks here several times: no text is put together for it. */
class ResourceMap<V> {
  readonly #values = new Map<string, V>()
  /** By plural, version and group. */
  readonly #byPlural = new Map<string, Map<string, Map<string, V>>>()

  get(group: string, version: string, plural: string): V | undefined {
    return this.#byPlural.get(plural)?.get(version)?.get(group)
  }

  set({ group, version, plural }: Resource, value: V): void {
    this.#values.set(resourceKey(group, version, plural), value)
    const byVersion = memberOf(this.#byPlural, plural)
    memberOf(byVersion, version).set(group, value)
  }

  delete({ group, version, plural }: Resource): void {
    this.#values.delete(resourceKey(group, version, plural))
    const byVersion = this.#byPlural.get(plural)
    const byGroup = byVersion?.get(version)
    byGroup?.delete(group)
    if (byGroup?.size === 0) byVersion?.delete(version)
    if (byVersion?.size === 0) this.#byPlural.delete(plural)
  }

  values(): Iterable<V> {
    return this.#values.values()
  }
}

/** The map below another, made where there is none yet. */
function memberOf<V>(maps: Map<string, Map<string, V>>, name: string): Map<string, V> {
  const known = maps.get(name)
  if (known !== undefined) return known
  const made = new Map<string, V>()
  maps.set(name, made)
  return made
}

const resourceKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`
