import type { Lease, Node } from '@coracle/api'
import type { Aggregate } from '@coracle/client'
import type { Clock } from '@coracle/environment'

/** Where the agents of nodes renew a lease each, as a sign of life (KEP-589). */
export const nodeLeaseNamespace = 'kube-node-lease'

/** The name of the node that a lease is a sign of life of; undefined where it is another lease. */
export function nodeOfLease({ metadata: { namespace, name } }: Lease): string | undefined {
  return namespace === nodeLeaseNamespace ? name : undefined
}

interface Sign {
  /** When a lease was last renewed, and a report last made, as the node tells the time. */
  readonly renewed: string | undefined
  readonly reported: string | undefined
  readonly seenMs: number
}

/**
 * When each node was last heard of: when a renewal of its lease or a report of its own came into the caches. It is when it was
 * seen here that counts: clocks of nodes may be wrong. Kept up to date by the caches, so that no renewal needs a reconcile.
 */
export class SignsOfLife {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #byNode = new Map<string, Sign>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Takes in the leases of nodes. One that goes is no sign, and takes none away. */
  readonly leases: Aggregate<Lease> = {
    add: (lease) => {
      const name = nodeOfLease(lease)
      if (name !== undefined) this.#note(name, { renewed: lease.spec?.renewTime ?? '' })
    },
    remove: () => {},
  }

  /** Takes in what nodes report. */
  readonly nodes: Aggregate<Node> = {
    add: ({ metadata: { uid, name = '' }, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      this.#note(name, { reported: `${uid}|${ready?.lastHeartbeatTime ?? ''}` })
    },
    remove: () => {},
  }

  /** On the monotonic clock, so that a host that was asleep does not take its nodes for lost. A node unheard of is heard now. */
  seenMs(name: string): number {
    return this.#byNode.get(name)?.seenMs ?? this.hear(name)
  }

  /** Has a node count as heard of now, and returns the time. */
  hear(name: string): number {
    const seenMs = this.#clock.monotonicMs()
    this.#byNode.set(name, { renewed: undefined, reported: undefined, ...this.#byNode.get(name), seenMs })
    return seenMs
  }

  /** The node is gone. */
  forget(name: string): void {
    this.#byNode.delete(name)
  }

  #note(name: string, mark: Partial<Pick<Sign, 'renewed' | 'reported'>>): void {
    const { renewed, reported, seenMs } = this.#byNode.get(name) ?? {}
    const noted = { renewed, reported, ...mark }
    if (seenMs !== undefined && noted.renewed === renewed && noted.reported === reported) return
    this.#byNode.set(name, { ...noted, seenMs: this.#clock.monotonicMs() })
  }
}
