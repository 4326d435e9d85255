import type { KubernetesObject } from '@coracle/api'
import type { Identity } from './identity.ts'

/** Every object of a namespace that may be owned; of all namespaces, and of none, where it is empty. */
export type ObjectsIn = (namespace: string) => Promise<readonly KubernetesObject[]>

/** A search of one namespace. */
interface Search {
  /** The owners whose dependents are looked for. None is added once it has begun. */
  readonly uids: Set<string>
  /** What names each of them. */
  readonly found: Promise<ReadonlyMap<string, readonly KubernetesObject[]>>
}

/**
 * Asks the server for all that names an owner. That takes reading a whole namespace: owners that are asked about while a search is
 * under way share the next one. Every search begins after all who share it have asked, so that what was written before is found.
 */
export class DependentSearch {
  readonly #objectsIn: ObjectsIn
  /** By namespace, the searches that have yet to begin. */
  readonly #waiting = new Map<string, Search>()
  /** By namespace, the end of the last search that is to come or under way. */
  readonly #ends = new Map<string, Promise<void>>()

  constructor(objectsIn: ObjectsIn) {
    this.#objectsIn = objectsIn
  }

  /** The objects that name this owner now. Rejects where they cannot be read. */
  async dependentsOf({ namespace, uid }: Pick<Identity, 'namespace' | 'uid'>): Promise<readonly KubernetesObject[]> {
    const search = this.#waiting.get(namespace) ?? this.#plan(namespace)
    search.uids.add(uid)
    return (await search.found).get(uid) ?? []
  }

  #plan(namespace: string): Search {
    const uids = new Set<string>()
    const found = (this.#ends.get(namespace) ?? Promise.resolve()).then(() => {
      this.#waiting.delete(namespace)
      return this.#search(namespace, uids)
    })
    const search = { uids, found }
    this.#waiting.set(namespace, search)
    const isOver = (): void => {
      if (this.#ends.get(namespace) === end) this.#ends.delete(namespace)
    }
    // Whoever asked hears of a failure; the next search begins all the same.
    const end: Promise<void> = found.then(isOver, isOver)
    this.#ends.set(namespace, end)
    return search
  }

  async #search(
    namespace: string,
    uids: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly KubernetesObject[]>> {
    const found = new Map<string, KubernetesObject[]>()
    for (const object of await this.#objectsIn(namespace)) {
      const owners = new Set(object.metadata.ownerReferences?.map(({ uid }) => uid))
      for (const uid of owners) {
        if (!uids.has(uid)) continue
        const dependents = found.get(uid) ?? []
        found.set(uid, dependents)
        dependents.push(object)
      }
    }
    return found
  }
}
