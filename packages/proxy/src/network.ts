import type { Balancer } from './balancer.ts'
import type { Frontend } from './frontends.ts'

/** What there is to know of a frontend to listen for it. */
export type ListenedTo = Pick<Frontend, 'protocol' | 'address' | 'port' | 'healthOf'>

/** A frontend that is listened to. */
export interface Listening {
  /** Takes no new connections from now on, and gives the address back. Those there are go on. */
  close(): void
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
  #free: number

  constructor(max = connectionsMax) {
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
