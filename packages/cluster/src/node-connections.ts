import { ApiError, type KubernetesObject, type Pod } from '@coracle/api'
import type { LogOptions, NodeGateway } from '@coracle/apiserver'

/** What a node agent answers for its pods. */
export interface NodeConnection {
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
}
