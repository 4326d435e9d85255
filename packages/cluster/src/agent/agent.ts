import { endpointSlices, services, type Taint } from '@coracle/api'
import {
  type Client,
  ConnectionLink,
  createHttpClient,
  createInformer,
  type HttpClient,
  interceptClient,
  type TransportOptions,
} from '@coracle/client'
import type { Environment, MetricsRegistry, Timer } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import {
  type AgentMetrics,
  createKubelet,
  type DeadContainerLimits,
  factsOf,
  type HostImages,
  type Kubelet,
  nodePodsMax,
  type Runtime,
} from '@coracle/kubelet'
import { createKubeletServer, type KubeletServer } from '@coracle/kubelet/server'
import type { ServiceProxy } from '@coracle/proxy'
import { lockDirectory, makePrivateDirectory } from '@coracle/store'
import { adaptFrontends } from '../adapt-frontends.ts'
import { CertificateKeeper, endOf, isCurrent } from '../certificate-keeper.ts'
import type { ContainerRuntimeOptions } from '../cluster.ts'
import type { Stop, StopOptions } from '../component.ts'
import { HostNames, type ServiceCaches } from '../host-names.ts'
import { Names } from '../names.ts'
import { isolatedNodeOptions, measured, type RuntimeKind, rootDirectoryOf } from '../node-runtime.ts'
import { volumesOfNode } from '../volume-drivers.ts'
import { AgentFiles, type JoinedCluster } from './agent-files.ts'
import { openAgentRuntime } from './agent-runtime.ts'
import { agentVolumes } from './agent-volumes.ts'
import { followApiServers } from './api-servers.ts'
import { checkOrder, discoverCluster, JoinError, type JoinOrder } from './discover-cluster.ts'
import { hostAndPort } from './host-and-port.ts'
import { ownAddress } from './own-address.ts'
import { clientWish, requestCertificate, servingWish } from './request-certificate.ts'
import { ServerChoice } from './server-choice.ts'
import { coversHosts, servingHosts } from './serving-hosts.ts'

/** How long requests of a former connection may still take when another has taken its place. */
const formerConnectionMs = 60_000

export interface AgentOptions {
  readonly environment: Environment
  /** How to reach the API and as whom: as `system:node:NAME`. Undefined: by what `join` says, or as joined before. */
  readonly connection?: TransportOptions
  /** What there is to know to join a cluster, where it has not been joined before. */
  readonly join?: JoinOrder
  readonly nodeName: string
  /** Everything that is kept: certificates, and what the runtime needs. */
  readonly dataDir: string
  readonly runtime: RuntimeKind
  /** What images are on the process runtime. */
  readonly images?: HostImages
  /** The container runtime of this machine, where `runtime` is `cri` or `docker`, and nowhere else. */
  readonly containerRuntime?: ContainerRuntimeOptions
  /** The address of the node, as others reach it. Undefined: the one from which this machine reaches the server. */
  readonly nodeIp?: string
  /** Where the agent's server listens: the address of the node unless given. */
  readonly address?: string
  /** Port 0 takes a free one. */
  readonly port: number
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly podsMax?: number
  /** A manifest of a static pod, or a directory of such. */
  readonly manifestPath?: string
  readonly deadContainers?: DeadContainerLimits
  /** Whether services are reached on this machine by their addresses: one agent of a machine does that. */
  readonly proxiesServices: boolean
  /** Told when the agent looks after its machine, though its server may be away yet. */
  readonly onRunning?: () => void
  /** Told what a start is at, in words. */
  readonly onProgress?: (stage: string) => void
}

/** A node agent in a process of its own. */
export interface Agent {
  readonly nodeName: string
  /** `https://10.0.0.1:6443` */
  readonly server: string
  readonly address: string
  readonly port: number
  /** Stops it. Containers run on, for the next start to take up, or end as on a node that is switched off. */
  stop(options: StopOptions): Promise<void>
}

/**
 * Starts the agent of a node: joins the cluster where that is still to be done, registers the node, and runs its pods. Resolves when it
 * is at work; rejects, with all stopped again, where it cannot be. As long as the server does not answer it goes on trying, until the
 * signal is aborted; static pods run meanwhile.
 */
export async function startAgent(options: AgentOptions, signal: AbortSignal): Promise<Agent> {
  const agent = new RunningAgent(options)
  try {
    await agent.start(signal)
    return agent
  } catch (error) {
    await agent.stop({ containers: 'keep' })
    throw error
  }
}

/** The service proxy of this machine. */
type OwnProxy = ServiceCaches & Pick<ServiceProxy, 'start'>

class RunningAgent implements Agent {
  readonly nodeName: string
  server = ''
  address = ''
  port = 0
  readonly #options: AgentOptions
  readonly #files: AgentFiles
  /** In the order in which parts were started: each goes before what it stands on. */
  readonly #stops: Stop[] = []
  #connection: TransportOptions | undefined
  #client: HttpClient | undefined
  /** Clients of former connections, until they are closed. */
  readonly #former = new Map<HttpClient, Timer>()
  /** The cluster that was joined, with the certificate of this moment; undefined where a connection is given. */
  #joined: JoinedCluster | undefined
  #choice: ServerChoice | undefined
  /** A client that goes on with another server where the present one is gone. */
  #choosing: Client | undefined
  #serving: KeyPair | undefined
  /** What `/metrics` shows of this agent's work. */
  #metrics: MetricsRegistry | undefined
  #kubelet: Kubelet | undefined

  constructor(options: AgentOptions) {
    this.#options = options
    this.#files = new AgentFiles(options.dataDir)
    this.nodeName = options.nodeName
  }

  async start(signal: AbortSignal): Promise<void> {
    const { environment, dataDir, nodeName, onProgress: tell = () => {} } = this.#options
    makePrivateDirectory(dataDir)
    const lock = lockDirectory(dataDir)
    this.#stops.push(() => lock.release())
    // A machine whose runtime does not answer joins nothing.
    const { runtime, metrics } = await measured(await this.#openRuntime(), environment.clock)
    this.#metrics = metrics.registry
    this.#tellCertificates(metrics.registry)
    await this.#connect(signal)
    this.#stops.push(() => this.#closeConnections())
    const client = interceptClient(() => this.#chosen(), new ConnectionLink())
    tell('finding the address of the node')
    this.address = this.#options.nodeIp ?? (await ownAddress(this.server, environment, signal))
    this.#stops.push((stopOptions) => this.#kubelet?.stop(stopOptions))
    const server = await this.#listen(client, runtime)
    const proxy = await this.#createProxy(client, runtime.isolates === true)
    const names = this.#createNames(client, proxy)
    const kubelet = this.#createKubelet(client, runtime, metrics, names)
    this.#kubelet = kubelet
    tell('registering the node')
    this.#options.onRunning?.()
    await untilAborted(kubelet.start(), signal)
    this.#followServers(client)
    tell('waiting for the certificate of its server')
    await this.#keepServing(client, server, signal)
    await proxy?.start()
    environment.logger.debug('the node agent is at work', { node: nodeName })
  }

  async stop(options: StopOptions): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop(options)
      } catch (error) {
        this.#options.environment.logger.warn('a part of the node agent did not stop in order', { error })
      }
    }
  }

  /** The client of this moment: certificates are renewed, and each has a client of its own. */
  #present(): Client {
    if (this.#client === undefined) throw new Error('the node agent has no connection')
    return this.#client
  }

  #chosen(): Client {
    return this.#choosing ?? this.#present()
  }

  #presentConnection(): TransportOptions {
    if (this.#connection === undefined) throw new Error('the node agent has no connection')
    return this.#connection
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { connection } = this.#options
    if (connection !== undefined) {
      this.#use(connection)
      return
    }
    const joined = await this.#join(signal)
    this.#goOnAs(joined, joined.server)
    const { environment, nodeName } = this.#options
    const choice = new ServerChoice(joined.server, [joined.server, ...joined.servers], {
      environment,
      isReady: (server, stopping) => this.#isReady(connectionOf(this.#joined ?? joined, server), stopping),
      use: (server) => this.#goOnAs(this.#joined ?? joined, server, 0),
    })
    this.#choice = choice
    this.#choosing = interceptClient(() => this.#present(), choice)
    this.#stops.push(() => choice.stop())
    const keeper = new CertificateKeeper({
      environment,
      holder: 'the node',
      renew: (stopping) => requestCertificate(this.#chosen(), environment, clientWish(nodeName), stopping),
      onRenewed: async (pair) => {
        await this.#files.keepPair('kubelet-client', pair)
        this.#goOnAs({ ...joined, client: pair }, this.server)
      },
    })
    keeper.keep(joined.client)
    this.#stops.push(() => keeper.stop())
  }

  /** `formerMs`: how long requests of the former connection may still take. */
  #goOnAs(joined: JoinedCluster, server: string, formerMs?: number): void {
    this.#joined = joined
    this.#use(connectionOf(joined, server), formerMs)
  }

  async #isReady(connection: TransportOptions, signal: AbortSignal): Promise<boolean> {
    const client = createHttpClient({ ...connection, ...this.#options.environment })
    try {
      return (await client.rawGet('/readyz', signal)) === 'ok'
    } finally {
      await client.close()
    }
  }

  /** Learns of the other servers of the cluster, and remembers them for the next start. */
  #followServers(client: Client): void {
    const [joined, choice] = [this.#joined, this.#choice]
    if (joined === undefined || choice === undefined) return
    const { environment } = this.#options
    let kept: Promise<void> = Promise.resolve()
    const stop = followApiServers(client, environment, (servers) => {
      if (servers.length === 0 || !choice.learn([joined.server, ...servers])) return
      const keep = () => this.#files.keepServers({ ...joined, servers })
      kept = kept.then(keep).catch((error) => {
        environment.logger.warn('the servers of the cluster could not be noted', { error })
      })
    })
    this.#stops.push(async () => {
      await stop()
      await kept
    })
  }

  #use(connection: TransportOptions, formerMs = formerConnectionMs): void {
    const { environment } = this.#options
    const former = this.#client
    this.#connection = connection
    this.server = connection.server
    this.#client = createHttpClient({
      userAgent: 'coracle-agent',
      ...connection,
      ...environment,
      ...(this.#metrics === undefined ? {} : { metrics: this.#metrics }),
    })
    if (former === undefined) return
    // Watches end then, and go on over the new connection where they were.
    const close = (): void => {
      this.#former.delete(former)
      void former.close()
    }
    this.#former.set(former, environment.clock.setTimer(formerMs, close))
  }

  async #closeConnections(): Promise<void> {
    for (const timer of this.#former.values()) timer.cancel()
    await Promise.all([this.#client, ...this.#former.keys()].map((client) => client?.close()))
  }

  /** The cluster that was joined before, or is now. */
  async #join(signal: AbortSignal): Promise<JoinedCluster> {
    const { environment, join: order, nodeName, onProgress: tell = () => {} } = this.#options
    const before = await this.#files.joined()
    if (before !== undefined && before.nodeName !== nodeName) {
      throw new JoinError(
        `${this.#options.dataDir} is that of node ${before.nodeName}: give --hostname-override ${before.nodeName}, or another --data-dir for ${nodeName}`,
      )
    }
    const isGood = before !== undefined && isCurrent(before.client, environment.clock.now())
    if (before !== undefined && isGood) {
      return { ...before, server: order?.server ?? before.server }
    }
    if (order === undefined) {
      throw new JoinError(
        before === undefined
          ? 'this machine has joined no cluster yet: give --token and --discovery-token-ca-cert-hash, or --kubeconfig'
          : 'the certificate of this node has ended: give a --token to join again',
      )
    }
    checkOrder(order)
    tell(`asking ${order.server} which cluster it is`)
    const caPem = await discoverCluster(order, environment, signal)
    tell('asking for a certificate')
    const bootstrap = createHttpClient({ server: order.server, ca: caPem, token: order.token, ...environment })
    try {
      const client = await requestCertificate(bootstrap, environment, clientWish(nodeName), signal, (name) =>
        tell(waitsForApproval(name)),
      )
      const joined = { server: order.server, servers: [], caPem, nodeName, client }
      await this.#files.keepJoined(joined)
      return joined
    } finally {
      await bootstrap.close()
    }
  }

  /** For how long the certificates of the node are still good. */
  #tellCertificates(metrics: MetricsRegistry): void {
    const { clock } = this.#options.environment
    const gauge = (side: string, help: string) =>
      metrics.gauge({ name: `kubelet_certificate_manager_${side}_ttl_seconds`, help }).with({})
    const client = gauge(
      'client',
      'For how many seconds the certificate that the node shows is still good: +Inf where it has none.',
    )
    const server = gauge(
      'server',
      'For how many seconds the certificate that the node serves with is still good: +Inf where it has none.',
    )
    const secondsLeft = (certificatePem: string | undefined): number =>
      certificatePem === undefined ? Number.POSITIVE_INFINITY : (endOf(certificatePem) - clock.now()) / 1000
    metrics.onCollect(() => {
      const { cert } = this.#connection ?? {}
      client.set(secondsLeft(cert))
      server.set(secondsLeft(this.#serving?.certificatePem))
    })
  }

  async #openRuntime(): Promise<Runtime> {
    const { environment, runtime: name, dataDir, nodeName, images, containerRuntime } = this.#options
    const runtime = await openAgentRuntime({
      runtime: name,
      environment,
      dataDirectory: dataDir,
      nodeName,
      images,
      containerRuntime,
    })
    this.#stops.push(() => runtime.close())
    return runtime
  }

  /** Listens, so that the node can say where; nobody is answered before there is a certificate. */
  async #listen(client: Client, runtime: Runtime): Promise<KubeletServer> {
    const { environment, address = this.address, port, nodeName, dataDir } = this.#options
    const volumes = agentVolumes(nodeName, runtime.runsProcesses ? dataDir : undefined)
    const server = createKubeletServer({
      environment,
      client,
      caPem: await this.#caPem(),
      // Whatever name it is asked by: it is one node.
      nodeNamed: () => this.#kubelet && { ...this.#kubelet, runtime, volumes },
      certificateOf: () => this.#serving,
      configuration: this.#configuration(),
    })
    this.#stops.push(() => server.close())
    this.port = await server.listen({ host: address, port }).catch((error: NodeJS.ErrnoException) => {
      throw cannotListen(address, port, error)
    })
    return server
  }

  async #caPem(): Promise<string> {
    const { ca } = this.#connection ?? {}
    if (ca === undefined)
      throw new JoinError('the kubeconfig names no certificate authority: it must, to know who asks')
    return ca
  }

  #createKubelet(client: Client, runtime: Runtime, metrics: AgentMetrics, names: HostNames): Kubelet {
    const {
      environment,
      nodeName,
      labels,
      taints,
      manifestPath,
      podsMax = nodePodsMax,
      deadContainers,
      dataDir,
      containerRuntime,
    } = this.#options
    const facts = factsOf(runtime, nodeName)
    const root = rootDirectoryOf(dataDir, nodeName, containerRuntime)
    return createKubelet({
      client,
      environment,
      nodeName,
      runtime,
      nodeAddress: this.address,
      port: this.port,
      metrics: () => metrics,
      openServiceNames: names.open,
      facts: { ...facts, capacity: { ...facts.capacity, pods: String(podsMax) } },
      ...(labels === undefined ? {} : { labels }),
      ...(taints === undefined ? {} : { taints }),
      ...(manifestPath === undefined ? {} : { manifestPath }),
      ...(deadContainers === undefined ? {} : { deadContainers }),
      ...(runtime.isolates === true ? {} : { apiServer: () => hostAndPort(this.server) }),
      ...(runtime.runsProcesses ? volumesOfNode({ client, environment, nodeName, isolates: runtime.isolates === true, ...root }) : {}),
      ...isolatedNodeOptions(containerRuntime, root),
    })
  }

  /** Shows the certificate there is, or gets one, and keeps it current. */
  async #keepServing(client: Client, server: KubeletServer, signal: AbortSignal): Promise<void> {
    const { environment, nodeName, onProgress: tell = () => {} } = this.#options
    const hosts = servingHosts(nodeName, this.address, this.server)
    const take = async (pair: KeyPair): Promise<void> => {
      this.#serving = pair
      server.renewCertificate()
    }
    const ask = (stopping: AbortSignal) =>
      requestCertificate(client, environment, servingWish(nodeName, hosts), stopping, (name) => {
        // What is renewed later is still good for long.
        if (this.#serving === undefined) tell(waitsForApproval(name))
      })
    const keeper = new CertificateKeeper({
      environment,
      holder: 'the node',
      renew: ask,
      onRenewed: async (pair) => {
        await this.#files.keepPair('kubelet-serving', pair)
        await take(pair)
        first.resolve()
      },
    })
    const first = Promise.withResolvers<void>()
    this.#stops.push(() => keeper.stop())
    const kept = await this.#files.pair('kubelet-serving')
    const isGood = kept !== undefined && isCurrent(kept, environment.clock.now()) && coversHosts(kept, hosts)
    if (isGood) await take(kept)
    keeper.keep(isGood ? kept : undefined)
    if (!isGood) await untilAborted(first.promise, signal)
  }

  /** The service proxy of this machine, which has yet to be started. Undefined where another one is. */
  async #createProxy(client: Client, isolates: boolean): Promise<OwnProxy | undefined> {
    const { environment, proxiesServices, runtime, nodeName, dataDir, containerRuntime } = this.#options
    if (!proxiesServices || runtime === 'simulated') return undefined
    const [{ createServiceProxy }, { ServiceRoutes }, { podsElsewhere }] = await Promise.all([
      import('@coracle/proxy'),
      import('../service-routes.ts'),
      import('./pods-elsewhere.ts'),
    ])
    const routes = new ServiceRoutes({ client, environment, dataDirectory: dataDir, isolates })
    this.#stops.push(() => routes.stop())
    const names = containerRuntime && new Names(client, environment, containerRuntime)
    this.#stops.push(() => names?.stop())
    const proxy: ServiceProxy = createServiceProxy({
      client,
      environment,
      isOwnNode: (name) => name === nodeName,
      nodeName,
      nodeAddresses: [this.address],
      adapt: adaptFrontends({
        // The addresses that servers are told to have need not be reached from this machine.
        leadsToApi: isolates && (() => hostAndPort(this.server)),
        ...(names === undefined ? {} : { answerNames: names.answer }),
      }),
      throughNode: podsElsewhere({ environment, connection: () => this.#presentConnection() }),
    })
    this.#stops.push(() => proxy.stop())
    const { services, slices } = proxy
    return {
      ...{ services, slices },
      async start() {
        await routes.start()
        await proxy.start()
      },
    }
  }

  /** The names of services for processes of this machine. Where another service proxy is, nothing follows services for both. */
  #createNames(client: Client, proxy: OwnProxy | undefined): HostNames {
    const { environment, nodeName } = this.#options
    const names = new HostNames({
      environment,
      isOwnNode: (name) => name === nodeName,
      caches: () => proxy ?? this.#ownCaches(client),
    })
    this.#stops.push(() => names.stop())
    return names
  }

  #ownCaches(client: Client): ServiceCaches {
    const { environment } = this.#options
    const caches = {
      services: createInformer(client, services, {}, environment),
      slices: createInformer(client, endpointSlices, {}, environment),
    }
    for (const informer of Object.values(caches)) this.#stops.push(() => informer.stop())
    return caches
  }

  /** What `/configz` shows, under upstream's names (kubelet.config.k8s.io/v1beta1). */
  #configuration(): Readonly<Record<string, unknown>> {
    const { address = this.address, port, podsMax = nodePodsMax, taints = [] } = this.#options
    return {
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      address,
      port,
      maxPods: podsMax,
      ...(this.#options.manifestPath === undefined ? {} : { staticPodPath: this.#options.manifestPath }),
      registerWithTaints: taints,
      serverTLSBootstrap: true,
      rotateCertificates: this.#options.connection === undefined,
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '2m0s' } },
      authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '5m0s', cacheUnauthorizedTTL: '30s' } },
      streamingConnectionIdleTimeout: '4h0m0s',
    }
  }
}

/** As `work`, until the signal is aborted. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}

/** A name that the certificates of API servers have, and those of nodes never. */
const apiServerName = 'kubernetes.default.svc'

/**
 * How a server of a cluster that was joined is reached. Where others are is said in slices of endpoints, which some may write who are no server: that one
 * has the address is not enough.
 */
const connectionOf = (joined: JoinedCluster, server: string): TransportOptions => ({
  server,
  ca: joined.caPem,
  cert: joined.client.certificatePem,
  key: joined.client.keyPem,
  ...(server === joined.server ? {} : { serverName: apiServerName }),
})

/** Why the server of a node agent cannot listen, and what to do. */
function cannotListen(address: string, port: number, error: NodeJS.ErrnoException): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new JoinError(
        `another program listens at ${address}:${port}, an agent perhaps: stop it, or choose another --port`,
      )
    case 'EADDRNOTAVAIL':
      return new JoinError(`${address} is no address of this machine: choose another with --address`)
    case 'EACCES':
      return new JoinError(`port ${port} is for root: choose another --port`)
    default:
      return error
  }
}

const waitsForApproval = (request: string): string =>
  `waiting for somebody to approve it: coracle certificate approve ${request}`
