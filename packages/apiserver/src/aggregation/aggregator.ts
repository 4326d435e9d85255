import type { IncomingMessage } from 'node:http'
import { type ApiService, apiServices, compareText, endpointSlices, type Resource, services } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { Switched } from '../proxy/switched-protocols.ts'
import type { Registries } from '../registries.ts'
import type { User } from '../request.ts'
import type { KeyPair } from '../security/certificates.ts'
import { AvailabilityChecks } from './availability.ts'
import type { OpenApiParts } from './merged-open-api.ts'
import { remoteText } from './remote-answer.ts'
import { acceptAggregated, discoveryPath, type RemoteDocument, remoteDocument } from './remote-discovery.ts'
import { openApiPath, type RemoteOpenApi, remoteOpenApi, remoteOpenApiBytesMax } from './remote-open-api.ts'
import { legacyResources, type RemoteResource } from './remote-resources.ts'
import { remoteSchemas, schemasIndexPath } from './remote-schemas.ts'
import type { RemoteAddress, RemoteRequest, RemoteServer } from './remote-server.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'
import { ServiceResolver } from './service-resolver.ts'

/** What this server shows to those behind it: a client certificate of the authority that they believe. */
export type FrontProxy = () => Promise<KeyPair>

/** A server behind this one, by what it was last reached with. */
interface KnownServer {
  readonly spec: ApiService['spec']
  readonly client: KeyPair
  readonly server: RemoteServer
}

export interface AggregatorParts {
  readonly registries: Registries
  readonly environment: Environment
  /** Absent: nothing is put behind this server. */
  readonly frontProxy: FrontProxy | undefined
}

/** A server behind this one cannot be reached: 503, in words of its own. */
export class RemoteUnavailableError extends Error {
  override readonly name = 'RemoteUnavailableError'
}

/** A version of a group that another server serves. */
export interface RemoteGroupVersion {
  readonly group: string
  readonly version: string
  /** As its APIService says: where it stands among others in discovery. */
  readonly groupPriority: number
  readonly versionPriority: number
  /** As it last told them; undefined where it could not be asked then. */
  readonly resources: readonly RemoteResource[] | undefined
  /** Where its schemas are, relative to the server, with a hash; undefined where it has none. */
  readonly schemas: string | undefined
}

/** What a server told of a version of a group when it was last looked at. */
interface Told {
  readonly resources: readonly RemoteResource[] | undefined
  readonly schemas: string | undefined
}

/**
 * Other servers behind this one: what APIServices with a service say goes there, for the user who asks, and discovery shows it.
 * Where there are none this is a look at an empty map.
 */
export class Aggregator {
  readonly #parts: AggregatorParts
  readonly #resolver: ServiceResolver
  readonly #checks: AvailabilityChecks
  /** By `group/version`. */
  readonly #remotes = new Map<string, ApiService>()
  readonly #servers = new Map<string, KnownServer>()
  /** Those whose APIService has changed or gone, while something is still asked of them. */
  readonly #retired = new Set<RemoteServer>()
  readonly #told = new Map<string, Told>()
  /** The resources that were told last, by `group/version`: who is away for a moment has them still. */
  readonly #lastResources = new Map<string, readonly RemoteResource[]>()
  readonly #onResourcesChange = new Set<() => void>()
  readonly #openApis = new Map<string, RemoteOpenApi>()
  /** By the service that leads there: many versions of groups may have one server. */
  readonly #documents = new Map<string, RemoteDocument>()
  #generation = 0
  #closed = false

  constructor(parts: AggregatorParts) {
    this.#parts = parts
    this.#resolver = new ServiceResolver(parts.registries)
    this.#checks = new AvailabilityChecks(parts, {
      remotes: () => [...this.#remotes.values()],
      endpoint: (apiService) => this.#endpoint(apiService),
      discover: (apiService, signal) => this.#discover(apiService, signal),
      lost: (apiService) => this.#keep(apiService, { resources: undefined }),
    })
  }

  /** Begins to follow APIServices, once they are read from the store. */
  start(): void {
    const { registries } = this.#parts
    const cache = registries.of(apiServices)?.storage.cache
    if (cache === undefined) return
    for (const { object } of cache.values()) this.#set(object as ApiService)
    cache.onChange(({ type, stored }) => {
      if (type === 'DELETED') this.#delete(stored.object as ApiService)
      else this.#set(stored.object as ApiService)
    })
    for (const storage of [registries.of(services)?.storage, registries.of(endpointSlices)?.storage]) {
      storage?.cache.onChange(() => this.#checks.somethingChanged())
    }
    this.#checks.somethingChanged()
  }

  /** Rises whenever discovery shows something else. */
  get generation(): number {
    return this.#generation
  }

  /** Whether another server serves this version of a group. */
  isRemote(group: string, version: string): boolean {
    return this.#remotes.size > 0 && this.#remotes.has(`${group}/${version}`)
  }

  /** What other servers serve. */
  groupVersions(): readonly RemoteGroupVersion[] {
    return [...this.#remotes.entries()].map(([key, { spec }]) => ({
      group: spec?.group ?? '',
      version: spec?.version ?? '',
      groupPriority: spec?.groupPriorityMinimum ?? 0,
      versionPriority: spec?.versionPriority ?? 0,
      resources: this.#told.get(key)?.resources,
      schemas: this.#told.get(key)?.schemas,
    }))
  }

  /**
   * What other servers serve, as far as it is known, that can be listed, watched and deleted: the preferred version of each. One that does not
   * answer for a moment serves it still.
   */
  resources(): readonly Resource[] {
    const found = new Map<string, Resource>()
    const byPriority = (a: ApiService, b: ApiService): number =>
      (b.spec?.versionPriority ?? 0) - (a.spec?.versionPriority ?? 0) || compareText(keyOf(a), keyOf(b))
    for (const apiService of [...this.#remotes.values()].sort(byPriority)) {
      const { group = '', version = '' } = apiService.spec ?? {}
      for (const each of this.#lastResources.get(keyOf(apiService)) ?? []) {
        const { resource: plural, scope, responseKind, verbs } = each
        const key = `${group}/${plural}`
        if (found.has(key) || !lookedAfter.every((verb) => verbs.includes(verb))) continue
        found.set(key, { group, version, kind: responseKind?.kind ?? '', plural, namespaced: scope === 'Namespaced' })
      }
    }
    return [...found.values()]
  }

  /** Calls `listener` after `resources` may have changed, until the returned function is called. */
  onResourcesChange(listener: () => void): () => void {
    this.#onResourcesChange.add(listener)
    return () => this.#onResourcesChange.delete(listener)
  }

  /** What other servers say of what they serve, by their names: as `/openapi/v2` has it. */
  openApis(): readonly OpenApiParts[] {
    return [...this.#openApis].sort(([a], [b]) => compareText(a, b)).map(([, { parts }]) => parts)
  }

  /**
   * Sends a request to the server behind a version of a group, for a user who may make it, and gives the answer as it comes.
   * Rejects with a RemoteUnavailableError where it cannot be reached.
   */
  forward(group: string, version: string, user: User, request: RemoteRequest): Promise<IncomingMessage> {
    return this.#ask(group, version, request.signal, (server, endpoint) => server.send(endpoint, user, request))
  }

  /** The same for a request that asks for another protocol. */
  switchProtocols(
    group: string,
    version: string,
    user: User,
    request: RemoteRequest,
  ): Promise<Switched | IncomingMessage> {
    return this.#ask(group, version, request.signal, (server, endpoint) =>
      server.switchProtocols(endpoint, user, request),
    )
  }

  async #ask<T>(
    group: string,
    version: string,
    signal: AbortSignal,
    act: (server: RemoteServer, endpoint: RemoteAddress) => Promise<T>,
  ): Promise<T> {
    const apiService = this.#remotes.get(`${group}/${version}`)
    const endpoint = apiService === undefined ? undefined : this.#endpoint(apiService)
    if (apiService === undefined || endpoint === undefined || 'reason' in endpoint || isUnavailable(apiService)) {
      throw new RemoteUnavailableError('service unavailable')
    }
    const server = await this.#serverOf(apiService)
    try {
      return await act(server, endpoint)
    } catch (error) {
      signal.throwIfAborted()
      throw new RemoteUnavailableError(`error trying to reach service: ${(error as Error).message}`)
    }
  }

  close(): void {
    this.#closed = true
    this.#checks.close()
    for (const { server } of this.#servers.values()) server.close()
    for (const server of this.#retired) server.close()
    this.#servers.clear()
    this.#retired.clear()
  }

  #set(apiService: ApiService): void {
    const key = keyOf(apiService)
    const before = this.#remotes.get(key)
    if (apiService.spec?.service === undefined) {
      if (before !== undefined) this.#delete(apiService)
      return
    }
    this.#remotes.set(key, apiService)
    if (before?.spec === apiService.spec) return
    this.#generation += 1
    this.#retire(key)
    this.#checks.somethingChanged()
  }

  #delete(apiService: ApiService): void {
    const key = keyOf(apiService)
    if (!this.#remotes.delete(key)) return
    this.#generation += 1
    this.#retire(key)
  }

  #retire(key: string): void {
    this.#told.delete(key)
    this.#keepResources(key, undefined)
    this.#openApis.delete(key)
    this.#retireServer(this.#servers.get(key)?.server)
    this.#servers.delete(key)
    const services = new Set([...this.#remotes.values()].map(serviceKeyOf))
    for (const service of this.#documents.keys()) if (!services.has(service)) this.#documents.delete(service)
  }

  /** What is asked of a server goes on, though its APIService has changed: only new requests go elsewhere. */
  #retireServer(server: RemoteServer | undefined): void {
    for (const retired of this.#retired) if (!retired.isUsed) this.#retired.delete(retired)
    if (server === undefined) return
    server.retire()
    if (server.isUsed) this.#retired.add(server)
  }

  #endpoint({ spec }: ApiService): ServiceEndpoint {
    const { namespace = '', name = '', port = 443 } = spec?.service ?? {}
    return this.#resolver.resolve({ namespace, name, port })
  }

  async #serverOf(apiService: ApiService): Promise<RemoteServer> {
    const { frontProxy } = this.#parts
    const key = keyOf(apiService)
    const { spec } = apiService
    if (frontProxy === undefined || spec === undefined) throw new RemoteUnavailableError('service unavailable')
    // It is renewed from time to time.
    const client = await frontProxy()
    const known = (): RemoteServer | undefined => {
      const last = this.#servers.get(key)
      return last?.spec === spec && last.client === client ? last.server : undefined
    }
    const before = known()
    if (before !== undefined) return before
    const loaded = await import('./remote-server.ts')
    const others = known()
    if (others !== undefined) return others
    if (this.#closed) throw new RemoteUnavailableError('the server is closing')
    this.#retireServer(this.#servers.get(key)?.server)
    const server = new loaded.RemoteServer(spec, client)
    this.#servers.set(key, { spec, client, server })
    return server
  }

  /**
   * Looks whether a server answers for a version of a group, and takes in what it says of it. Undefined where it answers, or why it is
   * taken not to. One that answers, and tells nothing that can be read, is shown as stale.
   */
  async #discover(apiService: ApiService, signal: AbortSignal): Promise<string | undefined> {
    const endpoint = this.#endpoint(apiService)
    if ('reason' in endpoint) return endpoint.message
    const { group = '', version = '' } = apiService.spec ?? {}
    const path = `/apis/${group}/${version}`
    const url = `https://${endpoint.host}:${endpoint.port}${path}`
    try {
      const server = await this.#serverOf(apiService)
      const headers = { Accept: 'application/json' }
      const ask: Ask = (path, more = {}) =>
        server.send(endpoint, aggregatorUser, { method: 'GET', path, headers: { ...headers, ...more }, signal })
      const legacy = await remoteText(await ask(path))
      const resources = await this.#resourcesOf(apiService, legacy, ask).catch(() => undefined)
      // A server without schemas is as good as any: it is only not explained.
      const schemas = await ask(schemasIndexPath)
        .then((answer) => remoteSchemas(answer, group, version))
        .catch(() => undefined)
      this.#keep(apiService, { resources, schemas })
      await this.#readOpenApi(apiService, ask)
      return undefined
    } catch (error) {
      return `failing or missing response from ${url}: ${(error as Error).message}`
    }
  }

  /**
   * What a server serves in a version of a group: from what it tells of all of them at once, or from its list of that one where it knows no
   * aggregated discovery.
   */
  async #resourcesOf(apiService: ApiService, legacy: string, ask: Ask): Promise<readonly RemoteResource[]> {
    const service = serviceKeyOf(apiService)
    const known = this.#documents.get(service)
    const conditional = known?.etag === undefined ? {} : { 'If-None-Match': known.etag }
    const document = await remoteDocument(await ask(discoveryPath, { Accept: acceptAggregated, ...conditional }), known)
    if (document === undefined) {
      this.#documents.delete(service)
      return legacyResources(JSON.parse(legacy))
    }
    this.#documents.set(service, document)
    return document.resources.get(keyOf(apiService)) ?? []
  }

  /** Reads what a server says in OpenAPI's second version. What cannot be read changes nothing. */
  async #readOpenApi(apiService: ApiService, ask: Ask): Promise<void> {
    const key = keyOf(apiService)
    const { group = '', version = '' } = apiService.spec ?? {}
    const known = this.#openApis.get(key)
    const told = await ask(openApiPath, known?.etag === undefined ? {} : { 'If-None-Match': known.etag })
      .then((answer) => remoteOpenApi(answer, group, version, known))
      .catch(() => known)
    if (told === known || this.#remotes.get(key)?.spec !== apiService.spec) return
    const others = [...this.#openApis].reduce((sum, [each, { text }]) => (each === key ? sum : sum + text.length), 0)
    if (told === undefined || others + told.text.length > remoteOpenApiBytesMax) this.#openApis.delete(key)
    else this.#openApis.set(key, told)
    this.#generation += 1
  }

  /** Notes what is told of a version of a group; what is not told anew stays as it was. */
  #keep(apiService: ApiService, told: Pick<Told, 'resources'> & Partial<Told>): void {
    const key = keyOf(apiService)
    if (this.#remotes.get(key)?.spec !== apiService.spec) return
    const before = this.#told.get(key)
    const now = { schemas: before?.schemas, ...told }
    if (JSON.stringify(before) === JSON.stringify(now)) return
    this.#told.set(key, now)
    this.#generation += 1
    if (now.resources !== undefined) this.#keepResources(key, now.resources)
  }

  #keepResources(key: string, resources: readonly RemoteResource[] | undefined): void {
    if (resources === undefined) this.#lastResources.delete(key)
    else this.#lastResources.set(key, resources)
    for (const listener of [...this.#onResourcesChange]) listener()
  }
}

/** Asks a server for something, with more headers than are needed to ask. */
type Ask = (path: string, headers?: Readonly<Record<string, string | undefined>>) => Promise<IncomingMessage>

/** What can be done with resources for controllers to look after objects of whatever kind. */
const lookedAfter = ['list', 'watch', 'delete'] as const

/** As whom other servers are asked what they serve. */
const aggregatorUser: User = { name: 'system:kube-aggregator', groups: ['system:masters'] }

const keyOf = ({ spec }: ApiService): string => `${spec?.group ?? ''}/${spec?.version ?? ''}`

const serviceKeyOf = ({ spec }: ApiService): string => {
  const { namespace = '', name = '', port = 443 } = spec?.service ?? {}
  return `${namespace}/${name}:${port}`
}

/** Until it has been looked at, a server is tried. */
const isUnavailable = ({ status }: ApiService): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'False') === true
