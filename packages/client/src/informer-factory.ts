import type { KubernetesObject, Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Client } from './client.ts'
import { createInformer, type Informer, type InformerOptions } from './informer.ts'
import { scopeText } from './scope.ts'

/** Informers that everyone in a process shares: one for each resource and scope. */
export interface InformerFactory {
  /** The informer of a resource and scope, made at the first call. Indexes are added to those it has. */
  informer<T extends KubernetesObject>(resource: Resource<T>, options?: InformerOptions<T>): Informer<T>
  /** The informers there are of a resource, in whatever version and scope. */
  informersOf(resource: Resource): readonly Informer<KubernetesObject>[]
  /** Stops the informers of a resource that is served no more, and forgets them. One asked for later is made anew. */
  remove(resource: Resource): Promise<void>
  /** Starts all informers, and from now on every new one at once. */
  start(): void
  /** Whether every informer there is has synced. */
  readonly hasSynced: boolean
  /** Resolves once every informer there is has synced; rejects with the signal's reason. */
  waitForSync(signal?: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** A factory without informers. */
export function createInformerFactory(client: Client, environment: Environment): InformerFactory {
  // Stored under the base type; `informer` gives back under a key what it was made as.
  const byResource = new Map<string, Map<string, Informer<KubernetesObject>>>()
  const all = () => [...byResource.values()].flatMap((scopes) => [...scopes.values()])
  let isStarted = false

  const nameOf = ({ group, plural }: Resource): string => `${group}/${plural}`

  function scopesOf(resource: Resource): Map<string, Informer<KubernetesObject>> {
    const name = nameOf(resource)
    const existing = byResource.get(name)
    if (existing !== undefined) return existing
    const scopes = new Map<string, Informer<KubernetesObject>>()
    byResource.set(name, scopes)
    return scopes
  }

  return {
    informer<T extends KubernetesObject>(resource: Resource<T>, options: InformerOptions<T> = {}): Informer<T> {
      const scopes = scopesOf(resource)
      const name = resource.version + scopeText(options)
      const existing = scopes.get(name) as Informer<T> | undefined
      if (existing !== undefined) {
        for (const [name, valuesOf] of Object.entries(options.indexes ?? {})) existing.addIndex(name, valuesOf)
        for (const aggregate of options.aggregates ?? []) existing.addAggregate(aggregate)
        return existing
      }
      const informer = createInformer(client, resource, options, environment)
      scopes.set(name, informer as unknown as Informer<KubernetesObject>)
      if (isStarted) informer.start()
      return informer
    },
    informersOf: (resource) => [...scopesOf(resource).values()],
    async remove(resource) {
      const scopes = byResource.get(nameOf(resource))
      byResource.delete(nameOf(resource))
      await Promise.all([...(scopes?.values() ?? [])].map((informer) => informer.stop()))
    },
    start() {
      isStarted = true
      for (const informer of all()) informer.start()
    },
    get hasSynced() {
      return all().every((informer) => informer.hasSynced)
    },
    async waitForSync(signal) {
      await Promise.all(all().map((informer) => informer.waitForSync(signal)))
    },
    async stop() {
      await Promise.all(all().map((informer) => informer.stop()))
    },
  }
}
