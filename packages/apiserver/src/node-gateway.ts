import type { KubernetesObject } from '@coracle/api'

export interface LogOptions {
  /** Empty: the pod's only container. */
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  /** Undefined: all lines. */
  readonly tailLines?: number
  readonly sinceSeconds?: number
  /** Epoch milliseconds. */
  readonly sinceTimeMs?: number
  readonly limitBytes?: number
}

/**
 * How the API server reaches the node agents, for what only a node knows: `pods/log` now, exec, attach and
 * port-forward through the same seam. In one process it is a map of kubelets by node name.
 */
export interface NodeGateway {
  /**
   * The log of a container in pieces as they come; ends at its end, or with `follow` when the container has stopped for
   * good. Rejects with an ApiError in upstream's words (container not found, waiting to start, previous not found).
   */
  logs(pod: KubernetesObject, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}
