import type { Pod } from '@coracle/api'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import type { LogOptions } from '../log-options.ts'
import type { AgentMetricsSource } from '../metrics/agent-metrics.ts'
import type { NodeFacts } from '../node/node-facts.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { NodeUsage } from '../usage/node-usage.ts'
import type { ClaimedVolume } from '../volumes/claimed-volumes.ts'

/** A node as its agent's server shows it. */
export interface ServedNode {
  readonly nodeName: string
  /** The address of the node: that of its pods that are in the network of their host. */
  readonly nodeAddress: string
  readonly runtime: Runtime
  readonly usage: NodeUsage
  /** What the node has. */
  readonly facts: NodeFacts
  /** What its agent counts of itself. Absent: nothing. */
  readonly metrics?: AgentMetricsSource | undefined
  /** Its directories that are volumes. Absent: none are made there. */
  readonly volumes?: NodeVolumes
  /** The pods of the node as its agent knows them. */
  pods(): readonly Pod[]
  /** The volumes of its pods that are there by claims. Absent: none are. */
  claimedVolumes?(): readonly ClaimedVolume[]
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  portForward(pod: Pod): Promise<ForwardPort>
}

/** Directories of a node that are volumes, by the names of these. */
export interface NodeVolumes {
  /** Makes the directory of a volume, where it is not there yet, and gives its path. */
  create(volumeName: string): Promise<string>
  /** Removes it and all that is in it. That it is gone is fine. Rejects where `path` is not where that directory is. */
  remove(volumeName: string, path: string): Promise<void>
}
