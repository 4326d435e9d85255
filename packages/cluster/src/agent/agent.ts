import { endpointSlices, services, type Taint } from '@coracle/api'
import { type Client, ConnectionLink, createInformer, interceptClient, type TransportOptions } from '@coracle/client'
import type { Environment } from '@coracle/environment'
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
import type { ContainerRuntimeOptions } from '../cluster.ts'
import type { Stop, StopOptions } from '../component.ts'
import { HostNames, type ServiceCaches } from '../host-names.ts'
import { Names } from '../names.ts'
import { isolatedNodeOptions, measured, type RuntimeKind, rootDirectoryOf } from '../node-runtime.ts'
import { volumesOfNode } from '../volume-drivers.ts'
import { AgentConnection } from './agent-connection.ts'
import { AgentFiles } from './agent-files.ts'
import { openAgentRuntime } from './agent-runtime.ts'
import { agentVolumes } from './agent-volumes.ts'
import { measureCertificates } from './certificate-metrics.ts'
import { JoinError, type JoinOrder } from './discover-cluster.ts'
import { hostAndPort } from './host-and-port.ts'
import { joinCluster } from './join-cluster.ts'
import { kubeletConfiguration } from './kubelet-configuration.ts'
import { ownAddress } from './own-address.ts'
import { ServingCertificate } from './serving-certificate.ts'
import { servingHosts } from './serving-hosts.ts'
import { untilAborted } from './until-aborted.ts'

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
  address = ''
  port = 0
  readonly #options: AgentOptions
  readonly #files: AgentFiles
  /** In the order in which parts were started: each goes before what it stands on. */
  readonly #stops: Stop[] = []
  #connection: AgentConnection | undefined
  #serving: ServingCertificate | undefined
  #kubelet: Kubelet | undefined

  constructor(options: AgentOptions) {
    this.#options = options
    this.#files = new AgentFiles(options.dataDir)
    this.nodeName = options.nodeName
  }

  get server(): string {
    return this.#connection?.server ?? ''
  }

  async start(signal: AbortSignal): Promise<void> {
    const { environment, dataDir, nodeName, onProgress: tell = () => {} } = this.#options
    makePrivateDirectory(dataDir)
    const lock = lockDirectory(dataDir)
    this.#stops.push(() => lock.release())
    // A machine whose runtime does not answer joins nothing.
    const { runtime, metrics } = await measured(await this.#openRuntime(), environment.clock)
    measureCertificates(metrics.registry, environment.clock, {
      client: () => this.#connection?.transport?.cert,
      server: () => this.#serving?.present?.certificatePem,
    })
    const connection = new AgentConnection({ environment, nodeName, files: this.#files, metrics: metrics.registry })
    this.#connection = connection
    this.#stops.push(() => connection.close())
    await this.#connect(connection, signal)
    const client = interceptClient(() => connection.client(), new ConnectionLink())
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
    this.#stops.push(connection.followServers(client))
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

  async #connect(connection: AgentConnection, signal: AbortSignal): Promise<void> {
    const { environment, connection: given, join: order, nodeName, dataDir, onProgress = () => {} } = this.#options
    if (given !== undefined) return connection.use(given)
    connection.useCluster(
      await joinCluster({ environment, nodeName, dataDir, files: this.#files, order, onProgress }, signal),
    )
  }

  /** How the API is reached now. */
  #transport(): TransportOptions {
    const transport = this.#connection?.transport
    if (transport === undefined) throw new Error('the node agent has no connection')
    return transport
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
    const { environment, address = this.address, port, nodeName, dataDir, manifestPath } = this.#options
    const { podsMax = nodePodsMax, taints = [] } = this.#options
    const volumes = agentVolumes(nodeName, runtime.runsProcesses ? dataDir : undefined)
    const server = createKubeletServer({
      environment,
      client,
      caPem: await this.#caPem(),
      // Whatever name it is asked by: it is one node.
      nodeNamed: () => this.#kubelet && { ...this.#kubelet, runtime, volumes },
      certificateOf: () => this.#serving?.present,
      configuration: kubeletConfiguration({
        address,
        port,
        podsMax,
        taints,
        manifestPath,
        rotatesCertificates: this.#options.connection === undefined,
      }),
    })
    this.#stops.push(() => server.close())
    this.port = await server.listen({ host: address, port }).catch((error: NodeJS.ErrnoException) => {
      throw cannotListen(address, port, error)
    })
    return server
  }

  async #caPem(): Promise<string> {
    const { ca } = this.#transport()
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
      ...(runtime.runsProcesses
        ? volumesOfNode({ client, environment, nodeName, isolates: runtime.isolates === true, ...root })
        : {}),
      ...isolatedNodeOptions(containerRuntime, root),
    })
  }

  /** Shows the certificate there is, or gets one, and keeps it current. */
  async #keepServing(client: Client, server: KubeletServer, signal: AbortSignal): Promise<void> {
    const { environment, nodeName, onProgress = () => {} } = this.#options
    const serving = new ServingCertificate({
      environment,
      client,
      files: this.#files,
      nodeName,
      hosts: servingHosts(nodeName, this.address, this.server),
      onChange: () => server.renewCertificate(),
      onProgress,
    })
    this.#serving = serving
    this.#stops.push(() => serving.stop())
    await serving.start(signal)
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
      throughNode: podsElsewhere({ environment, connection: () => this.#transport() }),
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
}

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
