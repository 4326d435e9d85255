import { type Node, nodes } from '@coracle/api'
import type { Registries } from '../../registries.ts'
import type { WatchCache } from '../../watch-cache/watch-cache.ts'
import { storedObjects } from '../stored-objects.ts'

/** The runtimes of this program whose containers have no file system of their own, as nodes name them. */
const sharedFileSystems: ReadonlySet<string> = new Set(['process', 'simulated'])

/** Whether containers of a node have file systems of their own, by what it says of its runtime: `containerd://2.0.0`. */
function isolates({ status }: Node): boolean {
  const [scheme = ''] = (status?.nodeInfo?.containerRuntimeVersion ?? '').split('://')
  return scheme !== '' && !sharedFileSystems.has(scheme)
}

/** Knows whether a pod may come to a node whose containers have file systems of their own. */
export class IsolatingNodes {
  readonly #registries: Registries
  /** The keys of those there are. */
  readonly #keys = new Set<string>()
  /** The cache that tells of nodes. */
  #listensTo: WatchCache | undefined
  readonly #calls = new Set<() => void>()

  constructor(registries: Registries) {
    this.#registries = registries
  }

  /** Whether there is one, as far as this server knows. */
  exist(): boolean {
    const cache = this.#registries.of(nodes)?.storage.cache
    if (cache !== undefined && cache !== this.#listensTo) this.#listenTo(cache)
    return this.#keys.size > 0
  }

  /** Calls once there is one: now, or when it comes, unless the returned function is called before. */
  whenOneExists(call: () => void): () => void {
    if (this.exist()) call()
    else this.#calls.add(call)
    return () => this.#calls.delete(call)
  }

  /** Once for a cache: it lasts as long as the kind is served. */
  #listenTo(cache: WatchCache): void {
    this.#listensTo = cache
    this.#keys.clear()
    for (const node of storedObjects(this.#registries, nodes)) {
      if (isolates(node)) this.#keys.add(cache.keyOf('', node.metadata.name ?? ''))
    }
    cache.onChange(({ type, key, stored }) => {
      if (type === 'DELETED' || !isolates(stored.object as Node)) {
        this.#keys.delete(key)
        return
      }
      this.#keys.add(key)
      const calls = [...this.#calls]
      this.#calls.clear()
      for (const call of calls) call()
    })
  }
}
