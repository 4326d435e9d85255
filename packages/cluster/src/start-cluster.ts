import { hostname } from 'node:os'
import { serviceCidrs } from '@coracle/api'
import { type ConfiguredAuthentication, createToken, loadOrCreateToken, type User } from '@coracle/apiserver'
import type { Client, ConnectionLink } from '@coracle/client'
import {
  assert,
  collectProcessMetrics,
  consoleLogger,
  createMetricsRegistry,
  type Environment,
  type HealthCheck,
  type MetricsRegistry,
  realClock,
  realEnvironment,
  VirtualClock,
} from '@coracle/environment'
import { deadContainerLimits } from '@coracle/kubelet'
import { createScheduler } from '@coracle/scheduler'
import { type EtcdStoreOptions, openEtcdStore, openLmdbStore, type Store } from '@coracle/store'
import { ApiServer } from './api-server.ts'
import type { Cluster, ClusterOptions, ComponentName } from './cluster.ts'
import { RestartableComponent, type StartComponent, type Started, type Stop, type StopOptions } from './component.ts'
import { Controllers } from './controllers.ts'
import { createNodes } from './create-nodes.ts'
import { type DataDirectory, openDataDirectory } from './data-directory.ts'
import { defaultNodePrefix } from './default-node-prefix.ts'
import { drive, drivesOf } from './drive.ts'
import { externalAddress } from './external-address.ts'
import { identities } from './identities.ts'
import { runWhileLeading } from './leadership.ts'
import { NodeConnections } from './node-connections.ts'
import type { RuntimeKind } from './node-runtime.ts'
import type { NodesOptions } from './nodes.ts'
import { stopAll } from './stop-all.ts'
import { createWorlds, type Worlds } from './worlds.ts'

/**
 * Starts a cluster: store, API server, controllers, scheduler and nodes, all in this process. Resolves when every part
 * is at work; rejects, with everything stopped again, when one cannot start.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const environment = options.environment ?? realEnvironment(consoleLogger({ level: 'error' }))
  const runtime = options.runtime ?? 'simulated'
  const isVirtual = environment.clock instanceof VirtualClock
  assert(
    !isVirtual || runtime === 'simulated',
    'real processes do not run on a virtual clock: use the simulated runtime',
  )
  assert(
    (runtime === 'cri' || runtime === 'docker') === (options.containerRuntime !== undefined),
    "the runtimes 'cri' and 'docker' need a containerRuntime, and no other has one",
  )
  const stops: Stop[] = []
  // Before time may be driven, which knows nothing of what is loaded.
  const runsController = await wantedControllers(options.builtinControllers)
  const { stop: driveStop } = drivesOf(environment, hasSockets(options))
  const stop = onlyOnce((stopOptions: StopOptions) => driveStop(stopAll(stops, stopOptions)))
  try {
    return await drive(environment, start({ ...options, environment, runtime, runsController }, stops, stop))
  } catch (error) {
    await stop({ containers: 'terminate' })
    throw error
  }
}

async function start(
  options: ClusterOptions & {
    readonly environment: Environment
    readonly runtime: RuntimeKind
    readonly runsController: (name: string) => boolean
  },
  stops: Stop[],
  stop: (options: StopOptions) => Promise<void>,
): Promise<Cluster> {
  const { environment, dataDir, runtime } = options
  const directory =
    dataDir === undefined
      ? undefined
      : openDataDirectory(environment, dataDir, (error) => {
          environment.logger.error(error.message)
          options.onFailure?.(error)
        })
  if (directory !== undefined) stops.push(() => directory.close())
  const tell = (stage: string): void => options.onStartProgress?.(stage)
  tell('opening the store')
  const { store, close: closeStore } = await openStore(options, directory)
  stops.push(closeStore)
  const token = dataDir === undefined ? createToken() : await loadOrCreateToken(dataDir)
  const address = listenAddress(options)
  const metrics = createMetricsRegistry()
  collectProcessMetrics(metrics)
  const followed = await followConfiguredAuthentication(options, metrics)
  const { issuers: configuredAuthentication, close: stopFollowing } = followed
  stops.push(async () => stopFollowing())
  const connections = new NodeConnections(
    address && {
      environment,
      nodeNamed: (name) => server.nodeNamed(name),
      credentials: () => server.agentCredentials(),
    },
  )
  const worlds: Worlds = createWorlds(environment, () => server, options.seams)
  const server: ApiServer = new ApiServer({
    store,
    nodes: connections,
    environment: () => worlds.environmentOf('apiserver'),
    onFailure: options.onFailure,
    onUnexplained: options.onUnexplained,
    enabledAdmission: options.enabledAdmission ?? [],
    disabledAdmission: options.disabledAdmission ?? [],
    mountsTokens: mountsTokens(options),
    authorizationModes: options.authorizationModes,
    requestsInFlightMax: options.requestsInFlightMax,
    formerVersions: options.formerVersions ?? [],
    serviceCidr: options.serviceCidr ?? (await reachableServiceCidr(options)),
    components: () => [
      checkOf('controller-manager', 'kube-controller-manager'),
      checkOf('scheduler', 'kube-scheduler'),
    ],
    listen: address && {
      token,
      staticTokens: options.tokens ?? [],
      clientCaPem: options.clientCaPem ?? '',
      configuredAuthentication,
      dataDir,
      metrics,
      flags: options.flags,
      connectToPod: connections.connectToPod,
      clusterName: options.name,
      onKubeconfigRenewed: options.onKubeconfigRenewed,
      ...address,
    },
  })

  const { storedNodes = false, behaviour } = options
  assert(
    !storedNodes || (runtime === 'simulated' && options.agents !== 'separate'),
    'nodes of the store are simulated, by one agent that they share',
  )
  const { nodes: count = storedNodes ? 0 : 1, nodePrefix: namePrefix = defaultNodePrefix(store.shared, hostname()) } =
    options
  const { leaderElection: times } = options
  /** With one server there is nobody to agree with: nothing is elected, nothing waits. */
  const once = (name: string, user: User, start: StartComponent): StartComponent => {
    if (!store.shared) return start
    return (link) => {
      const client = worlds.clientOf(name, user, link)
      const environment = worlds.environmentOf(name)
      const stop = runWhileLeading({ environment, client, name, times, start: () => start(link) })
      return { atWork: Promise.resolve(), stop }
    }
  }
  const drives = drivesOf(environment, hasSockets(options))
  const component = (start: StartComponent) => new RestartableComponent(start, () => server.link, drives)
  const { agents = 'shared' } = options
  const wantedNodes: NodesOptions = {
    worlds,
    connections,
    count,
    stored: storedNodes,
    behaviour,
    namePrefix,
    runtime,
    images: options.images,
    containerRuntime: options.containerRuntime,
    manifestPath: options.manifestPath,
    deadContainers: options.deadContainers && { ...deadContainerLimits, ...options.deadContainers },
    agents,
    dataDir,
    proxyAddress: address?.host ?? '127.0.0.1',
    externalAddress: address && externalAddress(address.host),
    apiUrl: () => server.listener?.url,
    drives,
  }
  const nodes = await createNodes(wantedNodes, environment.clock)
  const controllers = new Controllers({
    worlds,
    server,
    drives,
    metrics,
    load: options.load ?? 'measured',
    loadBalancerAddresses: options.loadBalancerAddresses === 'nodes' ? 'nodes' : undefined,
    isWanted: options.runsController,
    // Nodes of a copied cluster say where agents are that are not to be asked.
    agents: connections.reachesAgents && !storedNodes ? connections : undefined,
  })
  const components: Readonly<Record<ComponentName, RestartableComponent>> = {
    apiserver: component(() => server.start()),
    'kube-controller-manager': component(
      once('kube-controller-manager', identities.controllerManager, (link) => controllers.start(link)),
    ),
    'kube-scheduler': component(
      once('kube-scheduler', identities.scheduler, (link) => startScheduler(worlds, link, metrics)),
    ),
    nodes: component((link) => nodes.start(link)),
  }
  /** Upstream's older names for them. */
  const checkOf = (name: string, component: ComponentName): HealthCheck => ({
    name,
    check: () => (components[component].isStarted ? undefined : `${component} does not run in this process`),
  })
  for (const each of Object.values(components)) stops.push((stopOptions) => each.close(stopOptions))
  const { apiserver, ...others } = components
  tell('starting the API server')
  await apiserver.startNow()
  const client = server.client(identities.admin, server.link.branch())
  if (options.serviceCidr !== undefined) await tellOfOtherRange(client, options.serviceCidr, environment)
  tell(
    count === 1 ? 'starting controllers, scheduler and the node' : `starting controllers, scheduler and ${count} nodes`,
  )
  const { 'kube-scheduler': scheduler, ...always } = others
  const started = options.scheduler === false ? Object.values(always) : [...Object.values(always), scheduler]
  await Promise.all(started.map((each) => each.startNow()))
  const { listener } = server

  return {
    client,
    environment,
    discover: () => server.discover(),
    causes: (query) => server.causes(identities.admin, query),
    nodePrefix: namePrefix,
    url: listener?.url,
    get kubeconfig() {
      return server.listener?.kubeconfig
    },
    kubeconfigPath: listener?.kubeconfigPath,
    token,
    components,
    controller: (name) => controllers.group.component(name),
    node: (name) => nodes.node(name),
    forgetHistory: () => server.forgetHistory(),
    releaseMemory: async () => store.releaseMemory?.(),
    stop: ({ containers = 'terminate' } = {}) => stop({ containers }),
    [Symbol.asyncDispose]: () => stop({ containers: 'terminate' }),
  }
}

interface OpenedStore {
  readonly store: Store
  readonly close: () => Promise<void>
}

async function openStore(
  options: ClusterOptions & { readonly environment: Environment },
  directory: DataDirectory | undefined,
): Promise<OpenedStore> {
  const { store: wanted } = options
  // The caller's, who may go on with it.
  if (typeof wanted === 'object' && 'commit' in wanted) return { store: wanted, close: async () => {} }
  const { environment } = options
  const store =
    typeof wanted === 'function' ? await wanted(environment) : await openOwnStore(wanted, environment, directory)
  return { store, close: () => store.close() }
}

/** How long a commit may wait for those of writers that have just been answered. */
const commitGatherMs = 1

async function openOwnStore(
  wanted: 'memory' | 'disk' | { readonly etcd: Omit<EtcdStoreOptions, 'environment'> } | undefined,
  environment: Environment,
  directory: DataDirectory | undefined,
): Promise<Store> {
  if (typeof wanted === 'object') return openEtcdStore({ ...wanted.etcd, environment })
  if (wanted === 'memory' || directory === undefined) {
    assert(wanted !== 'disk', 'a store on disk needs a dataDir')
    const { clock } = environment
    const { createMemoryStore } = await clock.hold(import('@coracle/store/memory'))
    return createMemoryStore(clock instanceof VirtualClock ? {} : { defer: (call) => clock.defer(call) })
  }
  const store = await openLmdbStore({
    directory: directory.storeDirectory(),
    identityFile: directory.storeMarker,
    environment,
    // Whoever holds a virtual clock may wait for a commit without letting time pass.
    ...(environment.clock instanceof VirtualClock ? {} : { gatherMs: commitGatherMs }),
  })
  directory.storeOpened()
  return store
}

/** Which controllers start: all unless a list says otherwise. */
async function wantedControllers(list: readonly string[] | undefined): Promise<(name: string) => boolean> {
  if (list === undefined) return () => true
  const { controllersOf } = await import('@coracle/controllers/names')
  return controllersOf(list)
}

function listenAddress({ listen: wanted, environment }: ClusterOptions): { host: string; port: number } | undefined {
  if (wanted === false) return undefined
  if (wanted === undefined && environment?.clock instanceof VirtualClock) return undefined
  return { host: wanted?.host ?? '127.0.0.1', port: wanted?.port ?? 0 }
}

/**
 * Which pods get tokens in a volume: all where containers are those of a container runtime, those that have a use for it where programs reach
 * the API and nodes of other machines can join. A cluster that was copied stays as it was.
 */
function mountsTokens(options: ClusterOptions): boolean | 'whereOfUse' {
  if (options.containerRuntime !== undefined) return true
  return listenAddress(options) !== undefined && options.storedNodes !== true ? 'whereOfUse' : false
}

/** Where services are reached that have processes of this host behind them. */
async function reachableServiceCidr({ runtime, dataDir, environment }: ClusterOptions): Promise<string | undefined> {
  if (runtime !== 'process') return undefined
  const { hostServiceCidr } = await import('@coracle/kubelet/process')
  return hostServiceCidr(dataDir ?? environment?.random.uuid() ?? '')
}

/** A cluster that has a range keeps it: whoever asks for another is told so. */
async function tellOfOtherRange(client: Client, wanted: string, { logger }: Environment): Promise<void> {
  const { items } = await client.list(serviceCidrs)
  const ranges = items.flatMap(({ spec }) => spec?.cidrs ?? [])
  if (ranges.length === 0 || ranges.includes(wanted)) return
  logger.warn('services keep the ranges that there are: another is for new clusters, or is added as a ServiceCIDR', {
    ranges: ranges.join(', '),
    wanted,
  })
}

function startScheduler(worlds: Worlds, link: ConnectionLink, metrics: MetricsRegistry): Started {
  const name = 'kube-scheduler'
  const client = worlds.clientOf(name, identities.scheduler, link)
  const scheduler = createScheduler({ client, environment: worlds.environmentOf(name), metrics })
  return { atWork: scheduler.start(), stop: () => scheduler.stop() }
}

/** Whether anything of the cluster goes over a network, which a virtual clock knows nothing of. */
function hasSockets(options: ClusterOptions): boolean {
  const { store } = options
  return listenAddress(options) !== undefined || (typeof store === 'object' && 'etcd' in store)
}

function onlyOnce<A, R>(action: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let result: Promise<R> | undefined
  return (argument) => {
    result ??= action(argument)
    return result
  }
}

/** Who is let in by the configuration that is named, and what ends looking at it. */
async function followConfiguredAuthentication(
  options: Pick<ClusterOptions, 'authenticationConfig' | 'authentication'> & { readonly environment: Environment },
  registry: MetricsRegistry,
): Promise<{
  readonly issuers: ConfiguredAuthentication | undefined
  close(): void
}> {
  const { authenticationConfig, authentication, environment } = options
  if (authenticationConfig === undefined && authentication === undefined) return { issuers: undefined, close() {} }
  const issuers = await import('@coracle/apiserver/trusted-issuers')
  const { clock, logger } = environment
  const metrics = new issuers.AuthenticationMetrics(registry, realClock, hostname())
  const parts = { clock, hostClock: realClock, logger, metrics }
  if (authenticationConfig !== undefined) return issuers.followAuthenticationConfiguration(authenticationConfig, parts)
  const { configuration = '', signingAlgorithms } = authentication ?? {}
  const checked = issuers.parseAuthenticationConfiguration(configuration)
  return { issuers: new issuers.TrustedIssuers(checked, { ...parts, signingAlgorithms }), close() {} }
}
