import type { KubernetesObject, Resource } from '@coracle/api'
import type { Informer, InformerFactory } from '@coracle/client'
import type { Logger } from '@coracle/environment'
import type { ChangingSources } from './controller.ts'
import { type WiredSource, wire } from './wired-source.ts'

interface Followed extends WiredSource {
  detach(): void
}

/** Keeps listening to the sources of a feed as they come and go. */
export class SourceFollower {
  readonly #sources: ChangingSources
  readonly #informers: InformerFactory
  readonly #logger: Logger
  readonly #followed = new Map<string, Followed>()

  constructor(sources: ChangingSources, informers: InformerFactory, logger: Logger) {
    this.#sources = sources
    this.#informers = informers
    this.#logger = logger
  }

  /** Listens to every source there is and will be, until the returned function is called. */
  follow(listen: (wired: WiredSource) => () => void): () => void {
    const { resources, onResourcesChange } = this.#sources.feed
    const update = () => this.#update(resources(), listen)
    const unfollow = onResourcesChange?.(update)
    update()
    return () => {
      unfollow?.()
      for (const { detach } of this.#followed.values()) detach()
      this.#followed.clear()
    }
  }

  /** The cache of a resource that is a source now. */
  informer(resource: Resource): Informer<KubernetesObject> | undefined {
    return this.#followed.get(nameOf(resource))?.informer
  }

  #update(resources: readonly Resource[], listen: (wired: WiredSource) => () => void): void {
    const names = new Set(resources.map(nameOf))
    for (const [name, { source, detach }] of this.#followed) {
      if (names.has(name)) continue
      this.#followed.delete(name)
      detach()
      this.#informers.remove(source.resource).catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error)
        this.#logger.warn('informer not stopped', { resource: name, error: text })
      })
    }
    for (const resource of resources) {
      if (this.#followed.has(nameOf(resource))) continue
      const source = this.#sources.sourceOf(resource)
      if (source === undefined) continue
      const wired = wire(source, this.#informers)
      // Known before it is listened to: its objects are told of at once.
      const followed = { ...wired, detach: () => {} }
      this.#followed.set(nameOf(resource), followed)
      const detach = listen(wired)
      followed.detach = () => {
        detach()
        wired.release()
      }
    }
  }
}

/** One version of a resource is served at a time; another is another source. */
const nameOf = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`
