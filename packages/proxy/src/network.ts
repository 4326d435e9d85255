import type { Duplex } from 'node:stream'
import type { Balancer } from './balancer.ts'
import type { ListenedTo, Listening } from './frontends.ts'

/**
 * Connects to a port of a pod of another machine through the agent of its node. Rejects where the agent is not reached, or the pod does
 * not accept. Each end of the connection can be ended for itself. Undefined where the node says of no agent: its pods may be reached directly.
 */
export type ConnectThroughNode = (nodeName: string, pod: PodPort, signal: AbortSignal) => Promise<Duplex | undefined>

/** Where a pod listens. */
export interface PodPort {
  readonly address: string
  readonly port: number
}

/** The way to clients and backends, as a proxy needs it. */
export interface Network {
  /** Listens, and carries what comes to the backends that the balancer gives, or answers it. Rejects with the system's error. */
  listen(frontend: ListenedTo, balancer: Balancer): Promise<Listening>
  /** Ends every connection. */
  close(): void
}

/** How many connections, and clients of UDP, a proxy carries at a time. Each takes two file descriptors. */
export const connectionsMax = 10_000

/** How many places there are for connections. */
export class Places {
  readonly max: number
  #free: number

  constructor(max = connectionsMax) {
    this.max = max
    this.#free = max
  }

  /** Whether there was a place. */
  take(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  giveBack(): void {
    this.#free += 1
  }
}
