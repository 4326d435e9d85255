import type { KubernetesObject, Resource } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Client } from './client.ts'
import { createInformer, type Informer, type InformerOptions } from './informer.ts'
import { NamespacesInformer } from './namespaces-informer.ts'
import { type Scope, scopeText } from './scope.ts'

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

/** What the caches of a resource hold, as far as whoever asks for one does not say it. What is absent does not restrict. */
export interface CacheOptions extends Omit<Scope, 'namespace'> {
  /** Only these, with a watch for each: for who may not read others. */
  readonly namespaces?: readonly string[]
  /** See `InformerOptions.transform`. */
  transform?(object: KubernetesObject): KubernetesObject
}

/** A factory without informers. `optionsOf` says what is kept of which resource. */
export function createInformerFactory(
  client: Client,
  environment: Environment,
  optionsOf: (resource: Resource) => CacheOptions | undefined = () => undefined,
): InformerFactory {
  // Stored under the base type; `informer` gives back under a key what it was made as.
  const byResource = new Map<string, Map<string, Informer<KubernetesObject>>>()
  const overNamespaces = new Map<string, Map<string, Informer<KubernetesObject>>>()
  const all = () => [...byResource.values()].flatMap((scopes) => [...scopes.values()])
  let isStarted = false

  const nameOf = ({ group, plural }: Resource): string => `${group}/${plural}`

  function scopesOf(
    resource: Resource,
    informers: Map<string, Map<string, Informer<KubernetesObject>>> = byResource,
  ): Map<string, Informer<KubernetesObject>> {
    const name = nameOf(resource)
    const existing = informers.get(name)
    if (existing !== undefined) return existing
    const scopes = new Map<string, Informer<KubernetesObject>>()
    informers.set(name, scopes)
    return scopes
  }

  function inScope<T extends KubernetesObject>(resource: Resource<T>, options: InformerOptions<T>): Informer<T> {
    const scopes = scopesOf(resource)
    const name = resource.version + scopeText(options)
    const existing = scopes.get(name) as Informer<T> | undefined
    if (existing !== undefined) return existing
    const { namespace, labelSelector, fieldSelector, transform } = options
    const parts = { namespace, labelSelector, fieldSelector, transform }
    const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
    const informer = createInformer<T>(client, resource, given, environment)
    scopes.set(name, informer as unknown as Informer<KubernetesObject>)
    if (isStarted) informer.start()
    return informer
  }

  /** One cache of several namespaces; each of them has its own, which others may ask for as well. */
  function inNamespaces<T extends KubernetesObject>(
    resource: Resource<T>,
    namespaces: readonly string[],
    options: InformerOptions<T>,
  ): Informer<T> {
    const scopes = scopesOf(resource, overNamespaces)
    const name = resource.version + scopeText(options)
    const existing = scopes.get(name) as Informer<T> | undefined
    if (existing !== undefined) return existing
    const each = namespaces.map((namespace) => [namespace, inScope(resource, { ...options, namespace })] as const)
    const informer = new NamespacesInformer(resource, options, new Map(each))
    scopes.set(name, informer as unknown as Informer<KubernetesObject>)
    return informer
  }

  return {
    informer<T extends KubernetesObject>(resource: Resource<T>, options: InformerOptions<T> = {}): Informer<T> {
      const { indexes = {}, aggregates = [], ...wanted } = options
      const { namespaces, ...defaults } = optionsOf(resource) ?? {}
      // What a resource's objects are transformed by takes objects of any kind.
      const scoped = { ...(defaults as InformerOptions<T>), ...wanted }
      const informer =
        namespaces !== undefined && resource.namespaced && scoped.namespace === undefined
          ? inNamespaces(resource, namespaces, scoped)
          : inScope(resource, scoped)
      for (const [name, valuesOf] of Object.entries(indexes)) informer.addIndex(name, valuesOf)
      for (const aggregate of aggregates) informer.addAggregate(aggregate)
      return informer
    },
    informersOf: (resource) => [...scopesOf(resource).values()],
    async remove(resource) {
      const scopes = byResource.get(nameOf(resource))
      byResource.delete(nameOf(resource))
      overNamespaces.delete(nameOf(resource))
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
