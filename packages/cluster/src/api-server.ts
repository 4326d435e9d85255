import { hostname } from 'node:os'
import { builtinKinds, hasReason, type Node, nodes, type Resource, services, withFormerVersions } from '@coracle/api'
import {
  type ApiCore,
  type ApiCoreOptions,
  apiServerUser,
  type CausesPage,
  type CausesQuery,
  collectObjectCounts,
  collectStoreSize,
  countCertificateDurations,
  createApiCore,
  createTokenAuthenticator,
  frontProxyUser,
  type KeyPair,
  type NodeGateway,
  type OnUnexplained,
  type Pki,
  type SecretTokenSubject,
  type User,
} from '@coracle/apiserver'
import { type Client, ConnectionError, ConnectionLink, type DiscoveredResource, interceptClient } from '@coracle/client'
import type { Environment, HealthCheck } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { Started, Stop } from './component.ts'
import { identities } from './identities.ts'
import { type Listener, type ListenerOptions, listen, loadServingPki, shownCertificate, tokensOf } from './listener.ts'
import { stopAll } from './stop-all.ts'

export interface ApiServerOptions {
  readonly store: Store
  readonly nodes: NodeGateway
  /** A world of its own for each of its lives. */
  readonly environment: () => Environment
  readonly onFailure: ((error: Error) => void) | undefined
  readonly onUnexplained: OnUnexplained | undefined
  readonly enabledAdmission: readonly string[]
  readonly disabledAdmission: readonly string[]
  readonly authorizationModes: readonly string[] | undefined
  readonly requestsInFlightMax: number | undefined
  readonly formerVersions: readonly string[]
  /** The range of services in a new store; the usual one where it is undefined. */
  readonly serviceCidr: string | undefined
  /** Whether pods get the tokens of their accounts in a volume. */
  readonly mountsTokens: NonNullable<ApiCoreOptions['mountsTokens']>
  /** How the other parts are that this process is made of. */
  readonly components: () => readonly HealthCheck[]
  /** Where the API is served over HTTPS; undefined: nowhere. */
  readonly listen: Omit<ListenerOptions, 'environment' | 'core' | 'pki'> | undefined
}

const downMessage = 'the API server does not run'

/**
 * The API server of a cluster, which can be stopped and started over the same store. Clients in process outlive it: their calls
 * are refused while it does not run, and reach whichever runs after.
 */
export class ApiServer {
  /** The way of all clients in process to it: cut while it does not run. */
  readonly link = new ConnectionLink()
  readonly #options: ApiServerOptions
  readonly #onResourcesChange = new Set<() => void>()
  #core: ApiCore | undefined
  #pki: Pki | undefined
  /** What this server shows of itself, by the name that it has there. */
  readonly #shown = new Map<string, KeyPair>()
  /** Where pods find the API. */
  #serviceAddresses: readonly string[] = []
  /** The present one, or the last: address and keys stay. */
  #listener: Listener | undefined
  #resources: readonly Resource[] = []
  #allResources: readonly Resource[] = []

  constructor(options: ApiServerOptions) {
    this.#options = options
    this.link.cut(downMessage)
  }

  /** What it listens on; undefined where it serves nothing over HTTPS. */
  get listener(): Listener | undefined {
    return this.#listener
  }

  /** What this server is known by to node agents, which are not in its process. */
  async agentCredentials(): Promise<{ readonly caPem: string; readonly client: KeyPair }> {
    const core = this.#core
    if (core === undefined) throw new ConnectionError(downMessage, { refused: true })
    const { ca } = await this.#loadPki(core.environment)
    return { caPem: ca.certificatePem, client: await this.#shownAs(identities.kubeletClient.name, core.environment) }
  }

  /** A token of a service account for a Secret to keep. Rejects while the server is down. */
  async issueSecretToken(subject: SecretTokenSubject): Promise<string> {
    const tokens = this.#core?.serviceAccountTokens
    if (tokens === undefined) throw new ConnectionError(downMessage, { refused: true })
    return tokens.issueForSecret(subject)
  }

  start(): Started {
    const {
      store,
      nodes: gateway,
      onFailure,
      onUnexplained,
      listen,
      components,
      enabledAdmission,
      disabledAdmission,
      authorizationModes,
      requestsInFlightMax,
      formerVersions,
      serviceCidr,
      mountsTokens,
    } = this.#options
    const environment = this.#options.environment()
    const core = createApiCore({
      environment,
      store,
      kinds: withFormerVersions(builtinKinds, formerVersions),
      nodes: gateway,
      ...(listen === undefined
        ? {}
        : {
            authenticateToken: createTokenAuthenticator(tokensOf(listen), environment.clock),
            metrics: listen.metrics,
          }),
      ...(listen?.configuredAuthentication === undefined
        ? {}
        : { configuredAuthentication: listen.configuredAuthentication }),
      components,
      enabledAdmission,
      disabledAdmission,
      mountsTokens,
      ...(authorizationModes === undefined ? {} : { authorizationModes }),
      ...(requestsInFlightMax === undefined ? {} : { requestsInFlightMax }),
      ...(serviceCidr === undefined ? {} : { serviceCidr }),
      serviceAccountKey: async () => (await this.#loadPki(core.environment)).serviceAccountKeyPem,
      frontProxy: () => this.#shownAs(frontProxyUser, core.environment),
      ...(onFailure === undefined ? {} : { onFailure }),
      ...(onUnexplained === undefined ? {} : { onUnexplained }),
    })
    const stops: Stop[] = [() => core.close()]
    let isStopped = false
    const serve = async (): Promise<void> => {
      await core.ready
      this.#serviceAddresses = await serviceAddresses(core)
      const listener = await this.#listen(core)
      if (listener !== undefined) stops.push(() => listener.close(), core.advertise(listener.advertised, hostname()))
      if (listen !== undefined) {
        const { metrics } = listen
        stops.push(
          collectObjectCounts(metrics, core.registries),
          collectStoreSize(metrics, store, environment.clock),
          countCertificateDurations(metrics, core.registries),
        )
      }
      if (isStopped) return
      const changed = (): void => this.#resourcesHaveChanged()
      stops.push(core.registries.onChange(changed), core.aggregator.onResourcesChange(changed))
      this.#core = core
      this.#resourcesHaveChanged()
      this.link.restore()
      if (mountsTokens !== false) stops.push(keepDnsService(core))
    }
    const atWork = serve()
    return {
      atWork,
      stop: async (options) => {
        isStopped = true
        this.link.cut(downMessage)
        this.#core = undefined
        await atWork.catch(() => {})
        await stopAll(stops, options)
      },
    }
  }

  /** A client in process with the rights of `user`, over a branch of `link`. */
  client(user: User, link: ConnectionLink): Client {
    let last: { readonly core: ApiCore; readonly client: Client } | undefined
    const present = (): Client => {
      const core = this.#core
      if (core === undefined) throw new ConnectionError(downMessage, { refused: true })
      if (last?.core !== core) last = { core, client: core.client(user) }
      return last.client
    }
    return interceptClient(present, link)
  }

  /** A node as the store has it; undefined where there is none of that name. */
  async nodeNamed(name: string): Promise<Node | undefined> {
    if (this.#core === undefined) throw new ConnectionError(downMessage, { refused: true })
    return this.#core
      .client(apiServerUser)
      .get(nodes, { name })
      .catch((error: unknown) => {
        if (hasReason(error, 'NotFound')) return undefined
        throw error
      })
  }

  /** The causal record, with the rights of `user`. */
  async causes(user: User, query: CausesQuery = {}): Promise<CausesPage> {
    if (this.#core === undefined) throw new ConnectionError(downMessage, { refused: true })
    const causes = await this.#core.causes()
    return causes.list(user, query)
  }

  forgetHistory(): void {
    this.#core?.forgetHistory()
  }

  async discover(): Promise<readonly DiscoveredResource[]> {
    if (this.#core === undefined) throw new ConnectionError(downMessage, { refused: true })
    return this.#core.discover()
  }

  /** What it serves itself, or served last, that can be listed, watched and deleted: one version of each. */
  resources(): readonly Resource[] {
    return this.#resources
  }

  /** The same with what servers behind it serve, as far as it knows. */
  allResources(): readonly Resource[] {
    return this.#allResources
  }

  /** Calls `listener` after `resources` or `allResources` may have changed, until the returned function is called. */
  onResourcesChange(listener: () => void): () => void {
    this.#onResourcesChange.add(listener)
    return () => this.#onResourcesChange.delete(listener)
  }

  async #listen(core: ApiCore): Promise<Listener | undefined> {
    const { listen: wanted } = this.#options
    if (wanted === undefined) return undefined
    const { environment } = core
    const pki = await this.#loadPki(environment)
    const port = this.#listener?.port ?? wanted.port
    this.#listener = await listen({ ...wanted, port, environment, core, pki }, (renewed) => {
      this.#pki = renewed
    })
    return this.#listener
  }

  /** Keys that are made once; a server that does not listen has some as well, for those behind it. */
  async #loadPki(environment: Environment): Promise<Pki> {
    const { host = '127.0.0.1', dataDir } = this.#options.listen ?? {}
    this.#pki ??= await loadServingPki(environment, host, dataDir, this.#serviceAddresses)
    return this.#pki
  }

  async #shownAs(user: string, environment: Environment): Promise<KeyPair> {
    const pki = await this.#loadPki(environment)
    const pair = shownCertificate(environment, pki, user, this.#shown.get(user))
    this.#shown.set(user, pair)
    return pair
  }

  #resourcesHaveChanged(): void {
    if (this.#core !== undefined) {
      this.#resources = this.#core.registries.resources()
      this.#allResources = servedBy(this.#core)
    }
    for (const listener of [...this.#onResourcesChange]) listener()
  }
}

function servedBy({ registries, aggregator }: ApiCore): readonly Resource[] {
  const own = registries.resources().filter(({ group, version }) => !aggregator.isRemote(group, version))
  return [...own, ...aggregator.resources()]
}

/** Has the Service by which pods look names up be there as soon as a node has such pods, until the returned function is called. */
function keepDnsService(core: ApiCore): Stop {
  const stopping = new AbortController()
  const make = async (): Promise<void> => {
    const { environment } = core
    const { makeDnsService } = await environment.clock.hold(import('@coracle/dns/service'))
    await makeDnsService(core.client(apiServerUser), environment, stopping.signal)
  }
  const forget = core.whenNodesIsolate(() => void make())
  return () => {
    forget()
    stopping.abort(new Error('the server is stopped'))
  }
}

/** The addresses of the Service by which pods find the API: its certificate has to name them. */
async function serviceAddresses(core: ApiCore): Promise<readonly string[]> {
  try {
    const key = { namespace: 'default', name: 'kubernetes' }
    const { spec } = await core.client(apiServerUser).get(services, key)
    return spec.clusterIPs ?? []
  } catch (error) {
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}
