import type { Node } from '@coracle/api'

/** Nodes made to evict per second and zone while it is well, or wholly lost (upstream's node-eviction-rate). */
export const evictionRatePerSecond = 0.1

/** The same in a large zone of which much is lost (upstream's secondary-node-eviction-rate). */
export const reducedEvictionRatePerSecond = 0.01

/** From this share of nodes that are not ready a zone counts as partially disrupted, but not for one or two nodes. */
export const unhealthyZoneThreshold = 0.55
const unhealthyNodesMin = 3

/** A zone of more nodes than this still evicts while it is partially disrupted; a smaller one waits. */
export const largeZoneNodes = 50

/** Nodes with this label say nothing about how their zone is. */
const excludedLabel = 'node.kubernetes.io/exclude-disruption'

/** How much of a zone is lost. */
export type Disruption = 'none' | 'partial' | 'full'

/** The zone of a node, region included; the empty text for nodes that name neither. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const zone = labels['failure-domain.beta.kubernetes.io/zone'] ?? labels['topology.kubernetes.io/zone'] ?? ''
  const region = labels['failure-domain.beta.kubernetes.io/region'] ?? labels['topology.kubernetes.io/region'] ?? ''
  return region === '' && zone === '' ? '' : `${region}/${zone}`
}

/** How much of a zone with so many nodes is lost. Pure. */
export function disruptionOf({ ready, unready }: { readonly ready: number; readonly unready: number }): Disruption {
  if (unready === 0) return 'none'
  if (ready === 0) return 'full'
  const isPartial = unready >= unhealthyNodesMin && unready / (ready + unready) >= unhealthyZoneThreshold
  return isPartial ? 'partial' : 'none'
}

interface NodeHealth {
  readonly zone: string
  readonly isReady: boolean
}

/**
 * How the nodes of each zone are, and with it how fast its lost nodes may be emptied
 * (https://kubernetes.io/docs/concepts/architecture/nodes/#rate-limits-on-eviction). When much is lost at once it is likely
 * the connection, not the nodes, and what is evicted would only have to go somewhere. A change costs the same in a
 * cluster of any size.
 */
export class Zones {
  readonly #nodes = new Map<string, NodeHealth>()
  readonly #counts = new Map<string, { ready: number; unready: number }>()

  /** A node is ready, or is not; it may have moved to another zone since it was last heard of. */
  set(node: Node, isReady: boolean): void {
    const { name = '', labels } = node.metadata
    const zone = zoneOf(node)
    const known = this.#nodes.get(name)
    const isCounted = labels?.[excludedLabel] === undefined
    if (known !== undefined && isCounted && known.zone === zone && known.isReady === isReady) return
    this.remove(name)
    if (!isCounted) return
    this.#nodes.set(name, { zone, isReady })
    this.#count(zone, isReady, 1)
  }

  remove(name: string): void {
    const known = this.#nodes.get(name)
    if (known === undefined) return
    this.#nodes.delete(name)
    this.#count(known.zone, known.isReady, -1)
  }

  /**
   * Whether a zone is lost with all others: then nothing is evicted there, and what was begun is taken back. Never true of a zone
   * all of whose nodes are left out of the counts (`node.kubernetes.io/exclude-disruption`).
   */
  isLostWithAll(zone: string): boolean {
    return this.#counts.has(zone) && this.#counts.values().every((counts) => disruptionOf(counts) === 'full')
  }

  /** Nodes of the zone that may be made to evict, per second. */
  evictionRate(zone: string): number {
    const counts = this.#counts.get(zone)
    if (counts === undefined) return evictionRatePerSecond
    if (this.isLostWithAll(zone)) return 0
    if (disruptionOf(counts) !== 'partial') return evictionRatePerSecond
    return counts.ready + counts.unready > largeZoneNodes ? reducedEvictionRatePerSecond : 0
  }

  #count(zone: string, isReady: boolean, change: 1 | -1): void {
    const counts = this.#counts.get(zone) ?? { ready: 0, unready: 0 }
    counts[isReady ? 'ready' : 'unready'] += change
    if (counts.ready + counts.unready === 0) this.#counts.delete(zone)
    else this.#counts.set(zone, counts)
  }
}
