import type { Pod } from '@coracle/api'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import type { LogOptions } from '../log-options.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { NodeUsage } from '../usage/node-usage.ts'

/** A node as its agent's server shows it. */
export interface ServedNode {
  readonly nodeName: string
  readonly runtime: Runtime
  readonly usage: NodeUsage
  /** The pods of the node as its agent knows them. */
  pods(): readonly Pod[]
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  portForward(pod: Pod): Promise<ForwardPort>
}
