import type { Duplex } from 'node:stream'
import {
  ApiError,
  badRequest,
  type KubernetesObject,
  type LogOptions,
  type Node,
  type NodeMetrics,
  type Pod,
  type PodMetrics,
} from '@coracle/api'
import type { ConnectToPod, NodeAgent, NodeGateway } from '@coracle/apiserver'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import { type Environment, LoadOnce } from '@coracle/environment'
import type { NodeUsage } from '@coracle/kubelet'
import type { LocalAgent, ServedNode } from '@coracle/kubelet/server'
import type { ConnectThroughNode } from '@coracle/proxy'
import type { NodeEndpoint } from './remote-nodes/node-endpoint.ts'
import type { RemoteNode } from './remote-nodes/remote-node.ts'
import type { RemoteNodes, RemoteNodesOptions } from './remote-nodes/remote-nodes.ts'

/** The port of kubelets, at which agents of this process do not listen. */
const kubeletPort = 10_250

/** What agents of this process show of how they were started. */
const configuration = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }

/** What a node agent answers for its pods. */
export interface NodeConnection {
  readonly usage: NodeUsage
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  portForward(pod: Pod): Promise<ForwardPort>
  /** The node as its agent shows it to whoever asks at the paths of kubelets. */
  served(): ServedNode
  readonly environment: Environment
  /** Connects to a port of a pod, `address:port`. Absent: its pods are nowhere. */
  connectToPod?(target: string): Promise<Duplex>
}

/** How the API server reaches node agents: those of this process by node name, others over the network. */
export class NodeConnections implements NodeGateway {
  readonly #byNode = new Map<string, NodeConnection>()
  /** The agents of this process that have been asked something by their paths. */
  readonly #agents = new Map<NodeConnection, Promise<LocalAgent>>()
  /** The way over the network is loaded when it is first needed. */
  readonly #remoteNodes: LoadOnce<RemoteNodes> | undefined

  /** Without `remote` there are no agents but those of this process. */
  constructor(remote?: RemoteNodesOptions) {
    if (remote === undefined) return
    this.#remoteNodes = new LoadOnce(async () => {
      const { RemoteNodes } = await import('./remote-nodes/remote-nodes.ts')
      return new RemoteNodes(remote)
    })
  }

  add(nodeName: string, connection: NodeConnection): void {
    this.#byNode.set(nodeName, connection)
  }

  remove(nodeName: string): void {
    const connection = this.#byNode.get(nodeName)
    this.#byNode.delete(nodeName)
    if (connection === undefined) return
    const agent = this.#agents.get(connection)
    this.#agents.delete(connection)
    void agent?.then(({ close }) => close())
  }

  async remoteAgent(nodeName: string): Promise<NodeAgent | undefined> {
    return this.#byNode.has(nodeName) ? undefined : this.#remote(nodeName)
  }

  ownAgent(nodeName: string): NodeAgent | undefined {
    const connection = this.#byNode.get(nodeName)
    if (connection === undefined) return undefined
    return { host: `${nodeName}:${kubeletPort}`, connect: async () => (await this.#agentOf(connection)).connect() }
  }

  isConnected(nodeName: string): boolean {
    return this.#byNode.has(nodeName)
  }

  async logs(pod: KubernetesObject, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return (await this.#of(pod as Pod)).logs(pod as Pod, options, signal)
  }

  async exec(pod: Pod, options: ExecOptions): Promise<RunCommand> {
    return this.#inProcess(pod).exec(pod, options)
  }

  async attach(pod: Pod, options: AttachOptions): Promise<RunCommand> {
    return this.#inProcess(pod).attach(pod, options)
  }

  async portForward(pod: Pod): Promise<ForwardPort> {
    return (await this.#of(pod)).portForward(pod)
  }

  /** As `ConnectToPod`: to pods of this process's nodes, and through their agents to those of others. */
  readonly connectToPod: ConnectToPod = async (nodeName, target, signal) => {
    const own = this.#byNode.get(nodeName)
    if (own?.connectToPod !== undefined) return own.connectToPod(target)
    const node = own === undefined ? await this.#remote(nodeName) : undefined
    if (node === undefined) throw new ApiError(404, 'NotFound', `no agent of node "${nodeName}" is known`)
    return node.connectToPod(endpointOf(target), signal)
  }

  /** The way to pods of nodes whose agents are elsewhere. */
  readonly connectThroughNode: ConnectThroughNode = async (nodeName, { address: host, port }, signal) => {
    const node = await this.#remote(nodeName)
    return node?.connectToPod({ host, port }, signal)
  }

  async podMetrics(nodeName: string, pods: readonly Pod[]): Promise<readonly PodMetrics[]> {
    const connection = this.#byNode.get(nodeName)
    if (connection !== undefined) return connection.usage.podMetrics(pods).catch(untold(connection, nodeName, []))
    return (await (await this.#remoteNodes?.get())?.podMetrics(nodeName, pods)) ?? []
  }

  async nodeMetrics(node: Node, pods: readonly Pod[]): Promise<NodeMetrics | undefined> {
    const { name = '' } = node.metadata
    const connection = this.#byNode.get(name)
    if (connection !== undefined)
      return connection.usage.nodeMetrics(node, pods).catch(untold(connection, name, undefined))
    return (await this.#remoteNodes?.get())?.nodeMetrics(node)
  }

  /** Whether agents of other machines can be reached at all. */
  get reachesAgents(): boolean {
    return this.#remoteNodes !== undefined
  }

  /** Makes the directory of a volume on the node of an agent elsewhere, and gives its path there. */
  async createVolume(nodeName: string, volumeName: string): Promise<string> {
    return (await this.#agentsElsewhere()).createVolume(nodeName, volumeName)
  }

  /** Removes it and all that is in it. Rejects where `path` is not where it is. */
  async removeVolume(nodeName: string, volumeName: string, path: string): Promise<void> {
    await (await this.#agentsElsewhere()).removeVolume(nodeName, volumeName, path)
  }

  /** What answers at the paths of kubelets is loaded with the first request. */
  #agentOf(connection: NodeConnection): Promise<LocalAgent> {
    const known = this.#agents.get(connection)
    if (known !== undefined) return known
    const { environment } = connection
    const agent = import('@coracle/kubelet/server').then(({ createLocalAgent }) =>
      createLocalAgent({ environment, node: connection.served(), configuration }),
    )
    this.#agents.set(connection, agent)
    return agent
  }

  async #agentsElsewhere(): Promise<RemoteNodes> {
    const remotes = await this.#remoteNodes?.get()
    if (remotes === undefined) throw new Error('agents of other machines cannot be reached')
    return remotes
  }

  async #of(pod: Pod): Promise<NodeConnection | RemoteNode> {
    const nodeName = pod.spec.nodeName ?? ''
    return this.#byNode.get(nodeName) ?? (await this.#remote(nodeName)) ?? this.#inProcess(pod)
  }

  async #remote(nodeName: string): Promise<RemoteNode | undefined> {
    return (await this.#remoteNodes?.get())?.of(nodeName)
  }

  #inProcess({ spec }: Pod): NodeConnection {
    const nodeName = spec?.nodeName ?? ''
    const connection = this.#byNode.get(nodeName)
    if (connection !== undefined) return connection
    throw new ApiError(
      500,
      'InternalError',
      `Internal error occurred: node "${nodeName}" is not connected to this server`,
    )
  }
}

/** What is shown of a node that cannot tell now what is used, as without its container runtime: it must not hide the others. */
const untold =
  <T>({ environment }: NodeConnection, node: string, nothing: T) =>
  (error: unknown): T => {
    environment.logger.debug('a node does not tell what is used', { node, error })
    return nothing
  }

/** Of `address:port`. Throws a BadRequest where it is none. */
function endpointOf(target: string): NodeEndpoint {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(target) ?? []
  if (host === undefined) throw badRequest(`${JSON.stringify(target)} is no address and port`)
  return { host, port: Number(port) }
}
