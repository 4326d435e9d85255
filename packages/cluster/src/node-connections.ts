import {
  ApiError,
  type KubernetesObject,
  type LogOptions,
  type Node,
  type NodeMetrics,
  type Pod,
  type PodMetrics,
} from '@coracle/api'
import type { NodeGateway } from '@coracle/apiserver'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import type { NodeUsage } from '@coracle/kubelet'

/** What a node agent answers for its pods. */
export interface NodeConnection {
  readonly usage: NodeUsage
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  portForward(pod: Pod): Promise<ForwardPort>
}

/** The node agents of this process by node name: how the API server reaches them. */
export class NodeConnections implements NodeGateway {
  readonly #byNode = new Map<string, NodeConnection>()

  add(nodeName: string, connection: NodeConnection): void {
    this.#byNode.set(nodeName, connection)
  }

  remove(nodeName: string): void {
    this.#byNode.delete(nodeName)
  }

  isConnected(nodeName: string): boolean {
    return this.#byNode.has(nodeName)
  }

  async logs(pod: KubernetesObject, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#of(pod as Pod).logs(pod as Pod, options, signal)
  }

  async exec(pod: Pod, options: ExecOptions): Promise<RunCommand> {
    return this.#of(pod).exec(pod, options)
  }

  async attach(pod: Pod, options: AttachOptions): Promise<RunCommand> {
    return this.#of(pod).attach(pod, options)
  }

  async portForward(pod: Pod): Promise<ForwardPort> {
    return this.#of(pod).portForward(pod)
  }

  async podMetrics(nodeName: string, pods: readonly Pod[]): Promise<readonly PodMetrics[]> {
    return (await this.#byNode.get(nodeName)?.usage.podMetrics(pods)) ?? []
  }

  async nodeMetrics(node: Node, pods: readonly Pod[]): Promise<NodeMetrics | undefined> {
    return this.#byNode.get(node.metadata.name ?? '')?.usage.nodeMetrics(node, pods)
  }

  #of({ spec }: Pod): NodeConnection {
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
