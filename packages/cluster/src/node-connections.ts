import { ApiError, type KubernetesObject, type Node, type NodeMetrics, type Pod, type PodMetrics } from '@coracle/api'
import type { LogOptions, NodeGateway } from '@coracle/apiserver'
import type { NodeUsage } from '@coracle/kubelet'

/** What a node agent answers for its pods. */
export interface NodeConnection {
  readonly usage: NodeUsage
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
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

  async logs(pod: KubernetesObject, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const nodeName = (pod as Pod).spec?.nodeName ?? ''
    const connection = this.#byNode.get(nodeName)
    if (connection === undefined) {
      throw new ApiError(
        500,
        'InternalError',
        `Internal error occurred: node "${nodeName}" is not connected to this server`,
      )
    }
    return connection.logs(pod as Pod, options, signal)
  }

  async podMetrics(nodeName: string, pods: readonly Pod[]): Promise<readonly PodMetrics[]> {
    return (await this.#byNode.get(nodeName)?.usage.podMetrics(pods)) ?? []
  }

  async nodeMetrics(node: Node, pods: readonly Pod[]): Promise<NodeMetrics | undefined> {
    return this.#byNode.get(node.metadata.name ?? '')?.usage.nodeMetrics(node, pods)
  }
}
