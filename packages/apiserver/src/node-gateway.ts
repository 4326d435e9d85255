import type { Duplex } from 'node:stream'
import type { KubernetesObject, LogOptions, Node, NodeMetrics, Pod, PodMetrics } from '@coracle/api'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'

/** The agent of a node as a server that speaks HTTP, at the paths of kubelets. */
export interface NodeAgent {
  /** `10.0.0.2:10250` */
  readonly host: string
  /** A connection to it; at the other end of one that leaves this process somebody has proved to be that node. Rejects in Go's words where there is none. */
  connect(signal: AbortSignal): Promise<Duplex>
}

/**
 * How the API server reaches the node agents, for what only a node knows and does: `pods/log`, what is used of it, exec,
 * attach and port-forward. Agents in this process are called; others are asked over the network.
 */
export interface NodeGateway {
  /** The agent of a node; undefined where it is in this process, or there is none that says where it is. */
  remoteAgent(nodeName: string): Promise<NodeAgent | undefined>
  /** The agent of a node in this process; undefined where there is none. */
  ownAgent(nodeName: string): NodeAgent | undefined
  /**
   * The log of a container in pieces as they come; ends at its end, or with `follow` when the container has stopped for
   * good. Rejects with an ApiError in upstream's words (container not found, waiting to start, previous not found).
   */
  logs(pod: KubernetesObject, options: LogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /**
   * Finds the container, and gives what runs the command there. Rejects with an Error in upstream's words where none of that
   * name runs.
   */
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  /** As `exec`, for the container's own process: ends with it. */
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  /** What connects streams to ports of a pod. Rejects where the pod does not run. */
  portForward(pod: Pod): Promise<ForwardPort>
  /** What these pods of a node use; those that do not run, and those of nodes that cannot be reached, are left out. */
  podMetrics(nodeName: string, pods: readonly Pod[]): Promise<readonly PodMetrics[]>
  /** What a node that has these pods uses; undefined where it cannot be reached, or does not know. */
  nodeMetrics(node: Node, pods: readonly Pod[]): Promise<NodeMetrics | undefined>
}
