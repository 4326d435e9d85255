import type { Node } from '@coracle/api'
import { EvictionLimiter } from './eviction-limiter.ts'
import { readyStatus } from './ready.ts'
import { type EvictionTaint, isTaintedForEviction } from './taints.ts'
import { evictionRatePerSecond, Zones, zoneOf } from './zones.ts'

/**
 * How long a node has to be known as not ready before its pods are made to leave (upstream's node-monitor-period). Nodes
 * that are lost together are not noticed in one instant: in this time it turns out how many they are.
 */
export const evictionDelayMs = 5000

/** Decides which lost nodes are emptied when: few at a time, and none while it looks as if we were the ones cut off. */
export class NodeEvictions {
  readonly #zones = new Zones()
  readonly #limiters = new Map<string, EvictionLimiter>()
  #hasBegun = false

  /** Takes in all nodes at first: of a part of them it would look as if the rest were lost. Later calls do not even ask. */
  begin(allNodes: () => readonly Node[]): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    for (const node of allNodes()) this.#zones.set(node, readyStatus(node) === 'True')
  }

  forget(name: string): void {
    this.#zones.remove(name)
  }

  /** What may be done with the evicting taint of a node that is not ready since a time; undefined: it is ready. */
  decide(node: Node, unreadySinceMs: number | undefined, nowMs: number): EvictionTaint {
    this.#zones.set(node, unreadySinceMs === undefined && readyStatus(node) === 'True')
    if (unreadySinceMs === undefined) return 'remove'
    const zone = zoneOf(node)
    if (this.#zones.isLostWithAll(zone)) return 'remove'
    const limiter = this.#limiters.get(zone) ?? new EvictionLimiter(evictionRatePerSecond)
    this.#limiters.set(zone, limiter)
    limiter.setRate(this.#zones.evictionRate(zone), nowMs)
    if (isTaintedForEviction(node) || nowMs < unreadySinceMs + evictionDelayMs) return 'keep'
    return limiter.tryTake(nowMs) ? 'add' : 'keep'
  }
}
