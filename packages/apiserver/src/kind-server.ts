import { apiVersionOf, deepEqual, type ResourceDefinition, type StoredKind } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { AdmissionChain } from './admission/admission.ts'
import type { CauseRecorder } from './causes/cause-recorder.ts'
import type { Registries, ServedKind } from './registries.ts'
import { KindStorage } from './registry/kind-storage.ts'
import { ObjectWriter } from './registry/object-writer.ts'
import { ResourceRegistry } from './registry/resource-registry.ts'
import type { RequestAttributes, User } from './request.ts'
import { ConvertedView, lateHubView } from './versions/converted-view.ts'
import { FormCache } from './versions/form-cache.ts'
import { hubView, type VersionView } from './versions/version-view.ts'
import type { StoreFeed } from './watch-cache/store-feed.ts'
import { WatchCache } from './watch-cache/watch-cache.ts'
import type { WorkTurns } from './work-turns.ts'

export interface KindServerParts {
  readonly registries: Registries
  readonly feed: StoreFeed
  readonly store: Store
  readonly causes: CauseRecorder
  readonly environment: Environment
  readonly turns: WorkTurns
  readonly admission: AdmissionChain
  /** Throws Forbidden where somebody may not do something. */
  authorize(user: User, attributes: RequestAttributes): void
  readonly historyEventsMax?: number | undefined
}

/** Makes kinds served, changes them, and takes them away, before and while the server serves. */
export class KindServer {
  readonly #parts: KindServerParts
  readonly #forms = new FormCache()

  constructor(parts: KindServerParts) {
    this.#parts = parts
  }

  /** Serves a kind whose objects are still to be read: for the start, before anybody asks. */
  announce(kind: StoredKind): void {
    this.#parts.registries.set(this.#serve(kind, this.#storageOf(kind)))
  }

  /** Reads what is stored of all kinds announced. Rejects with an UnreadableValueError where some of it cannot be read. */
  async fill(): Promise<void> {
    await Promise.all([...this.#parts.registries.kinds()].map(({ storage }) => this.#parts.feed.attach(storage.cache)))
  }

  /**
   * Serves a kind. Resolves when what is stored of it has been read and requests find it; what was stored under its key when
   * it was last served is there again; what of that cannot be read does not keep the rest from being served. Throws where another
   * kind has the key.
   */
  async add(kind: StoredKind): Promise<void> {
    const { feed, registries } = this.#parts
    const storage = this.#storageOf(kind)
    storage.cache.refusesUnreadable = false
    await feed.attach(storage.cache)
    registries.set(this.#serve(kind, storage))
  }

  /**
   * Changes a kind that is served: its versions, its schemas, its rules. Objects stay, and watches go on through versions that
   * are as they were. Where the form that objects are stored in changes, all is read again and all watches end. Throws where
   * the kind is not served. Where the store cannot be read it rejects, and the kind is as it was.
   */
  async change(kind: StoredKind): Promise<void> {
    const { feed, registries } = this.#parts
    const served = registries.byStorageKey(kind.storageKey)
    if (served === undefined) throw new Error(`no kind is served under ${kind.storageKey}`)
    const { storage } = served
    if (!storesAlike(kind, storage.kind)) {
      this.remove(kind.storageKey)
      return this.add(kind)
    }
    const before = storage.kind
    const rereads = !deepEqual(kind.custom?.schemas, before.custom?.schemas)
    const set = (now: StoredKind): void => {
      storage.kind = now
      storage.hub = this.#hubOf(now)
      storage.cache.kind = now
    }
    set(kind)
    if (rereads) {
      await feed.reread(storage.cache).catch((error: unknown) => {
        set(before)
        throw error
      })
    }
    const next = this.#serve(kind, storage, served)
    registries.set(next)
    for (const registry of served.registries) if (!next.registries.includes(registry)) registry.close()
  }

  /** Serves a kind no more: its watches end. What is stored stays in the store. */
  remove(storageKey: string): void {
    const { feed, registries } = this.#parts
    const served = registries.byStorageKey(storageKey)
    if (served === undefined) return
    registries.delete(storageKey)
    feed.detach(served.storage.cache)
    for (const registry of served.registries) registry.close()
    served.storage.cache.close()
  }

  /** Ends all watches. */
  close(): void {
    for (const { storage } of this.#parts.registries.kinds()) storage.cache.close()
  }

  #storageOf(kind: StoredKind): KindStorage {
    const { environment, feed, store, causes, historyEventsMax } = this.#parts
    const cache = new WatchCache(kind, environment, feed, historyEventsMax)
    return new KindStorage(kind, this.#hubOf(kind), cache, new ObjectWriter(cache, feed, store, causes))
  }

  #hubOf(kind: StoredKind): VersionView {
    return kind.custom?.fromStored === undefined ? hubView(kind) : lateHubView(kind, this.#forms)
  }

  /** The registries of a kind. Those of `before` that would be the same are kept. */
  #serve(kind: StoredKind, storage: KindStorage, before?: ServedKind): ServedKind {
    const { feed, environment, turns, admission, registries, authorize } = this.#parts
    const candidates = before !== undefined && sameRules(kind, before.kind) ? before.registries : []
    const registryOf = (view: VersionView) =>
      candidates.find(({ definition }) =>
        view.isHub ? isOf(definition, kind) : deepEqual(definition, view.definition),
      ) ?? new ResourceRegistry({ storage, view, feed, environment, turns, admission, registries, authorize })
    const hub = kind.served ? [registryOf(storage.hub)] : []
    const others = kind.versions.map((version) => registryOf(new ConvertedView(kind, version, this.#forms)))
    return { kind, storage, registries: [...hub, ...others] }
  }
}

/** Whether objects of both are the same in the store and in the cache. */
function storesAlike(a: StoredKind, b: StoredKind): boolean {
  return (
    isOf(a, b) &&
    a.kind === b.kind &&
    a.namespaced === b.namespaced &&
    deepEqual(a.selectableFields, b.selectableFields) &&
    (a.custom?.fromStored === undefined) === (b.custom?.fromStored === undefined)
  )
}

/**
 * Whether two kinds differ in nothing but which versions they are served in, and in their strategy, which each write reads
 * from the storage: watches go on where a definition is being deleted and nothing may be created any more.
 */
function sameRules(a: StoredKind, b: StoredKind): boolean {
  const { strategy } = b
  return deepEqual({ ...a, served: true, versions: [], strategy }, { ...b, served: true, versions: [] })
}

const isOf = (definition: ResourceDefinition, hub: StoredKind): boolean =>
  apiVersionOf(definition) === apiVersionOf(hub)
