import type { Resource, StoredKind } from '@coracle/api'
import { type Client, type DiscoveredResource, discoverResources } from '@coracle/client'
import { type Environment, type HealthCheck, LoadOnce, type MetricsRegistry, nameAlphabet } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { AdmissionChain, type AdmissionPlugin } from './admission/admission.ts'
import { builtInAdmission } from './admission/built-in.ts'
import { certificateRequester } from './admission/certificates.ts'
import { pluginsInUse } from './admission/enabled-plugins.ts'
import { IsolatingNodes } from './admission/service-account/isolating-nodes.ts'
import type { TokenVolumes } from './admission/service-account/service-account.ts'
import { admissionWebhooks } from './admission/webhooks/admission-webhooks.ts'
import { Aggregator, type FrontProxy } from './aggregation/aggregator.ts'
import { LocalApiServices } from './aggregation/local-api-services.ts'
import { apiServerUser } from './api-server-user.ts'
import type { CausalRecord } from './causes/causal-record.ts'
import { CauseRecorder, type OnUnexplained } from './causes/cause-recorder.ts'
import { serveComponentStatuses, storeCheck } from './component-statuses/component-statuses.ts'
import { CustomKinds } from './custom-resources/custom-kinds.ts'
import { checkDeviceClaims } from './device-claims/claim-rights.ts'
import type { FlowControl } from './flow-control/flow-control.ts'
import { WatchCounts } from './flow-control/watch-counts.ts'
import { createFirstObjects } from './housekeeping/bootstrap.ts'
import { startCauseExpiry } from './housekeeping/cause-expiry.ts'
import { startCompaction } from './housekeeping/compaction.ts'
import { startEventExpiry } from './housekeeping/event-expiry.ts'
import { Discovery } from './http/discovery.ts'
import { createInProcessClient } from './in-process-client.ts'
import { KindServer } from './kind-server.ts'
import { keepIdentityLease } from './kubernetes-service/identity-lease.ts'
import { createKubernetesService, keepKubernetesService } from './kubernetes-service/keeper.ts'
import type { ServerAddress } from './kubernetes-service/plan.ts'
import { serveMetrics } from './metrics/metrics.ts'
import type { NodeGateway } from './node-gateway.ts'
import { Registries } from './registries.ts'
import { generatedSuffixLength } from './registry/object-metadata.ts'
import type { Authorizer, RequestAttributes, User } from './request.ts'
import { serveReviews } from './reviews/reviews.ts'
import type { ConfiguredAuthentication, TokenAuthenticator } from './security/authentication.ts'
import { createAuthorizer, defaultAuthorizationModes, takesAnonymous, unionOf } from './security/authorization.ts'
import { authorize } from './security/authorize.ts'
import { type BootstrapTokens, createBootstrapTokens } from './security/bootstrap-tokens.ts'
import { createNodeAuthorizer } from './security/node-authorizer.ts'
import { escalationCheck } from './security/rbac/escalation.ts'
import { createRbacAuthorizer } from './security/rbac/rbac-authorizer.ts'
import { ServiceAccountTokens } from './service-account-tokens/service-account-tokens.ts'
import { startAllocationRepair } from './services/repair.ts'
import { allocateServices } from './services/service-allocator.ts'
import { BindingRegistry } from './subresources/binding-registry.ts'
import type { Subresource } from './subresources/subresource.ts'
import { createSubresources } from './subresources/subresources.ts'
import { StoreFeed } from './watch-cache/store-feed.ts'
import { releaseHeldObjects } from './watch-cache/stored-object.ts'
import { WorkTurns } from './work-turns.ts'

export interface ApiCoreOptions {
  readonly environment: Environment
  /** Stays the caller's: closing the core does not close it. */
  readonly store: Store
  /** The kinds served from the start. */
  readonly kinds: readonly StoredKind[]
  /** What decides who may do what; `defaultAuthorizationModes` unless given. Throws an UnknownAuthorizationModeError for others. */
  readonly authorizationModes?: readonly string[]
  /** Decides in place of those modes, after the Node authorizer. There are no default roles and bindings then. */
  readonly authorizer?: Authorizer
  /** Absent: nothing that only a node knows, such as logs, can be had. */
  readonly nodes?: NodeGateway
  /** Whose bearer tokens are, for TokenReviews. Absent: none is good. */
  readonly authenticateToken?: TokenAuthenticator
  /** Whose tokens of other issuers are, for TokenReviews. Absent: none is good. */
  readonly configuredAuthentication?: ConfiguredAuthentication
  /** The private key, as PEM, that signs tokens of service accounts. Absent: there are none. */
  readonly serviceAccountKey?: () => Promise<string>
  /** The other parts of the cluster that this process knows of: for `componentstatuses`. */
  readonly components?: () => readonly HealthCheck[]
  /** What the server shows to others that are put behind it. Absent: none can be. */
  readonly frontProxy?: FrontProxy
  /** Requests that are answered at a time, of those that flow control divides them among; 600 unless set. */
  readonly requestsInFlightMax?: number
  /** Names of built-in admission plugins to use beside those that are on by default. Throws an UnknownAdmissionPluginError for others. */
  readonly enabledAdmission?: readonly string[]
  /** Names of built-in admission plugins to do without. Throws an UnknownAdmissionPluginError for others. */
  readonly disabledAdmission?: readonly string[]
  /** The range that services get addresses of in a store that has none yet, such as `10.96.0.0/12`, which it is unless set. */
  readonly serviceCidr?: string
  /**
   * Whether each pod gets a volume with a token of its account, where client libraries look for it. With `whereOfUse` all do while there is a
   * node whose containers have file systems of their own, and otherwise those that name another account than `default`, or ask for it. False
   * unless set.
   */
  readonly mountsTokens?: boolean | 'whereOfUse'
  /** Further admission, after what is built in. */
  readonly admission?: readonly AdmissionPlugin[]
  /** Where admission counts what it has judged. Absent: nowhere. */
  readonly metrics?: MetricsRegistry
  /** Called when the store has failed. Reads are stale from then on and writes fail: the process should end. */
  readonly onFailure?: (error: Error) => void
  /** Most events kept per resource for watches to resume from; `historyEventsMax` unless given. */
  readonly historyEventsMax?: number
  /** Told of every write by a component of the cluster that does not say why: what a test of components holds them to. */
  readonly onUnexplained?: OnUnexplained
}

/**
 * The API server without a network: registries over a store, admission, authorization, and clients in process. What serves
 * HTTP stands on it and adds nothing to what a request may do.
 */
export interface ApiCore {
  readonly environment: Environment
  readonly registries: Registries
  /** Spreads work over turns of the event loop. */
  readonly turns: WorkTurns
  /** Decides when requests are answered that have to wait for others. Loaded when it is asked for first. */
  flowControl(): Promise<FlowControl>
  /** What clients watch over HTTP. */
  readonly clientWatches: WatchCounts
  /** Adds, changes and removes kinds. */
  readonly kinds: KindServer
  /** The servers behind this one. */
  readonly aggregator: Aggregator
  /**
   * Resolves when the kinds served are those of all definitions acknowledged before the call, by whatever server; undefined
   * where they are already. Where the store does not say what is acknowledged they are those this server knows of.
   */
  kindsSettled(): Promise<void> | undefined
  /** Resolves when every kind is read from the store and the first namespaces exist; rejects if that fails. */
  readonly ready: Promise<void>
  /** Whether others may write to the store, so that this server depends on something else. */
  readonly sharesStore: boolean
  /**
   * Says where this server is reached: it is behind the Service `kubernetes`, and has a Lease under the name of its host, until
   * the returned function is called. Wait for `ready` before.
   */
  advertise(address: ServerAddress, hostname: string): () => Promise<void>
  /**
   * Calls once there is a node whose containers have file systems of their own: now, or when it comes, unless the returned function is called
   * before. Wait for `ready` before.
   */
  whenNodesIsolate(call: () => void): () => void
  /** Resolves once the store has answered a question about its latest state; rejects where it cannot. */
  askStore(): Promise<void>
  /** Whether requests without credentials are taken at all. */
  readonly takesAnonymous: boolean
  /** Throws upstream's 403 unless the user may do this. */
  authorize(user: User, attributes: RequestAttributes): void
  /** What is behind a subresource other than `status`; undefined where there is nothing. */
  subresource(resource: Resource, name: string): Subresource | undefined
  /** Tokens of service accounts; undefined where there is no key for them. */
  readonly serviceAccountTokens: ServiceAccountTokens | undefined
  /** Tokens with which machines join the cluster. */
  readonly bootstrapTokens: BootstrapTokens
  /** Why objects are as they are; loaded when somebody asks. */
  causes(): Promise<CausalRecord>
  /** Everything that is served, in all versions, as a client discovers it. */
  discover(): Promise<readonly DiscoveredResource[]>
  /** A client with the rights of `user`. */
  client(user: User): Client
  /**
   * Forgets what it can read from the store, or make, again: the history that watches resume from, and bytes of objects. For a program at rest;
   * of 8,000 pods it is 1.3 kB each.
   */
  forgetHistory(): void
  /** Ends watches and timers. The store stays open. */
  close(): Promise<void>
}

/** Starts the core. Wait for `ready` before serving. */
export function createApiCore(options: ApiCoreOptions): ApiCore {
  const { environment, store } = options
  const registries = new Registries()
  const rbac = createRbacAuthorizer(registries)
  const authorizer =
    options.authorizer === undefined
      ? createAuthorizer(registries, rbac, options.authorizationModes ?? defaultAuthorizationModes)
      : unionOf([createNodeAuthorizer(registries), options.authorizer])
  const feed = new StoreFeed(store, environment, (error) => {
    environment.logger.error('the store has ended', { error: error.message })
    customKinds.close()
    kinds.close()
    options.onFailure?.(error)
  })
  const turns = new WorkTurns(environment.clock)
  const webhooks = admissionWebhooks(registries, environment, authorizer, turns)
  const isolatingNodes = new IsolatingNodes(registries)
  const tokenVolumes = tokenVolumesOf(options.mountsTokens ?? false, isolatingNodes, environment)
  const { clock } = environment
  const builtIn = builtInAdmission(registries, authorizer, webhooks, clock, turns, tokenVolumes, options.metrics)
  const admission = new AdmissionChain([
    // Approvers go by it: it is no plugin that somebody may leave out.
    certificateRequester,
    ...pluginsInUse(builtIn, {
      enabled: options.enabledAdmission,
      disabled: options.disabledAdmission,
    }),
    ...(options.admission ?? []),
    escalationCheck(rbac, authorizer),
  ])
  const { historyEventsMax, onUnexplained } = options
  const causes = new CauseRecorder(environment.clock, onUnexplained)
  const kinds = new KindServer({
    registries,
    feed,
    store,
    causes,
    environment,
    turns,
    admission,
    authorize: (user, attributes) => authorize(authorizer, user, attributes),
    historyEventsMax,
  })
  for (const kind of options.kinds) kinds.announce(kind)
  allocateServices(registries, environment)
  checkDeviceClaims(registries, authorizer)
  if (options.nodes !== undefined) serveMetrics(registries, options.nodes)
  const tokens =
    options.serviceAccountKey && new ServiceAccountTokens(registries, environment, options.serviceAccountKey)
  const bootstrapTokens = createBootstrapTokens(registries, environment.clock)
  serveReviews(admission, {
    registries,
    authorizer,
    clock: environment.clock,
    tokens: {
      known: (token) => options.authenticateToken?.(token) ?? bootstrapTokens(token),
      issued: tokens,
      configuredAuthentication: options.configuredAuthentication,
    },
  })
  serveComponentStatuses(registries, () => [...(options.components?.() ?? []), storeCheck(store)])
  registries.addComputed(new BindingRegistry(registries, environment))
  const aggregator = new Aggregator({ registries, environment, frontProxy: options.frontProxy })
  const localApiServices = new LocalApiServices(registries, (error) =>
    environment.logger.warn('API services were not brought up to date', { error: String(error) }),
  )
  const customKinds = new CustomKinds({ registries, kinds, environment })
  const subresources = createSubresources(registries, environment, options.nodes, tokens)
  const clientWatches = new WatchCounts()
  const stops: (() => void)[] = []
  const flowControl = new LoadOnce(async () => {
    const { FlowControl } = await import('./flow-control/flow-control.ts')
    return new FlowControl(registries, clientWatches, options.requestsInFlightMax)
  })
  let closed = false

  const kubernetesParts = () => ({
    registries,
    store,
    environment,
    client: core.client(apiServerUser),
    serviceCidr: options.serviceCidr,
  })

  const start = async (): Promise<void> => {
    await feed.start()
    await kinds.fill()
    const loading = import('./flow-control/required-configuration.ts')
    const { ensureConfiguration, keepConfiguration } = await environment.clock.hold(loading)
    await Promise.all([
      createFirstObjects(registries, options.serviceCidr),
      ensureConfiguration(registries, environment),
      customKinds.start(),
    ])
    if (options.authorizer === undefined) {
      const { reconcileDefaultPolicy } = await import('./security/rbac/reconcile-policy.ts')
      await reconcileDefaultPolicy(registries, environment)
    }
    await createKubernetesService(kubernetesParts())
    await localApiServices.start()
    const tracking = tokens && (await import('./service-account-tokens/token-tracking.ts'))
    if (closed) return
    if (tracking !== undefined) stops.push(tracking.keepTokenTracking(registries, environment))
    aggregator.start()
    stops.push(
      startCompaction(environment, store, feed, registries),
      startEventExpiry(environment, registries),
      startCauseExpiry(environment, store),
      keepConfiguration(registries, environment),
      startAllocationRepair({ ...kubernetesParts(), feed }),
    )
  }

  const core: ApiCore = {
    environment,
    registries,
    turns,
    flowControl: () => flowControl.get(),
    clientWatches,
    kinds,
    aggregator,
    kindsSettled: () => {
      const settled = () => customKinds.settled
      return feed.catchUp()?.then(settled, settled) ?? settled()
    },
    ready: start(),
    sharesStore: store.shared,
    advertise: (address, hostname) => {
      const stopLease = keepIdentityLease(kubernetesParts(), { hostname, port: address.port })
      const stopService = keepKubernetesService(kubernetesParts(), address)
      return () => {
        stopLease()
        return stopService()
      }
    },
    whenNodesIsolate: (call) => isolatingNodes.whenOneExists(call),
    askStore: async () => {
      await store.latest()
    },
    takesAnonymous: takesAnonymous(options.authorizationModes ?? defaultAuthorizationModes),
    authorize: (user, attributes) => authorize(authorizer, user, attributes),
    subresource: (resource, name) => subresources.get(resource, name),
    serviceAccountTokens: tokens,
    bootstrapTokens,
    causes: async () => {
      const { CausalRecord } = await import('./causes/causal-record.ts')
      return new CausalRecord({ store, registries, authorizer, turns })
    },
    discover: () => discoverResources(async (path) => new Discovery(registries, aggregator).aggregated(path)),
    client: (user) => createInProcessClient(core, user),
    forgetHistory: () => {
      for (const { storage } of registries.kinds()) storage.cache.forgetHistory()
      store.dropCaches?.()
      releaseHeldObjects()
    },
    close: async () => {
      closed = true
      for (const stop of stops) stop()
      customKinds.close()
      localApiServices.close()
      aggregator.close()
      webhooks.close()
      feed.close()
      kinds.close()
    },
  }
  // Whoever awaits `ready` hears of a failure; that nobody does must not end the process.
  core.ready.catch((error: unknown) => environment.logger.error('the API could not start', { error: String(error) }))
  return core
}

/** The volumes with tokens that pods get without naming them; undefined where none ever does. */
function tokenVolumesOf(
  wanted: boolean | 'whereOfUse',
  isolatingNodes: IsolatingNodes,
  { random }: Environment,
): TokenVolumes | undefined {
  if (wanted === false) return undefined
  return {
    areForAll: () => wanted === true || isolatingNodes.exist(),
    newSuffix: () => random.string(generatedSuffixLength, nameAlphabet),
  }
}
