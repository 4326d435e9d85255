import { type Node, quantityValue } from '@coracle/api'

/** How soon the next pod may be made to leave a node that has made as many leave as it may at once. */
export const departureIntervalMs = 100

/** How many pods a node counts for at least, as one that does not say how many it takes (upstream's default). */
export const nodePodsMin = 110

interface Allowance {
  readonly left: number
  readonly atMs: number
}

/**
 * How many pods may be made to leave a node because of its taints: as many as it takes at once, then one in a tenth of a second. Who
 * makes them anew and who puts them there may not have heard of the taint yet, while others have, and goes no faster than this
 * (upstream's taint eviction controller is held by the rate of its requests, of all nodes together). Times are milliseconds of one
 * clock.
 */
export class Departures {
  readonly #allowances = new Map<string, Allowance>()

  /** How many pods may leave a node now. */
  left(node: Node, nowMs: number): number {
    const burst = Math.max(nodePodsMin, quantityValue(node.status?.allocatable?.pods ?? '0'))
    const known = this.#allowances.get(node.metadata.name ?? '')
    if (known === undefined) return burst
    return Math.min(burst, known.left + Math.floor((nowMs - known.atMs) / departureIntervalMs))
  }

  /** So many have left it. */
  note({ metadata: { name = '' } }: Node, left: number, nowMs: number): void {
    this.#allowances.set(name, { left, atMs: nowMs })
  }

  forget(name: string): void {
    this.#allowances.delete(name)
  }
}
