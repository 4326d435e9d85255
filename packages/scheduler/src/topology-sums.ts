import type { NodeIndex } from './node-indexes.ts'
import type { NodeInfo } from './node-info.ts'

/** A place, such as a zone, and what a node contributes to its sum. */
export type Contribution = readonly [place: string, amount: number]

interface Place {
  readonly name: string
  /** Contributions to it, also those of nothing. */
  contributions: number
  sum: number
}

/** What a node has contributed to a place. */
interface Part {
  readonly place: Place
  readonly amount: number
}

/**
 * Sums over the places that nodes are in, such as the pods in each zone. What each node contributes is kept, so that a change of
 * a node costs what it contributes. A place is there as long as a node contributes to it, be it nothing.
 */
export class TopologySums implements NodeIndex {
  readonly #contributionsOf: (node: NodeInfo) => readonly Contribution[]
  readonly #byNode = new Map<string, readonly Part[]>()
  readonly #places = new Map<string, Place>()
  /** How many places have each sum. */
  readonly #bySum = new Map<number, number>()

  constructor(contributionsOf: (node: NodeInfo) => readonly Contribution[]) {
    this.#contributionsOf = contributionsOf
  }

  put(node: NodeInfo): void {
    const { name } = node
    const contributions = this.#contributionsOf(node)
    const before = this.#byNode.get(name) ?? []
    if (contributions.length > 0) {
      const parts = contributions.map(([place, amount]) => ({ place: this.#change(place, amount, 1), amount }))
      this.#byNode.set(name, parts)
    } else if (before.length > 0) this.#byNode.delete(name)
    for (const { place, amount } of before) this.#change(place.name, -amount, -1)
  }

  remove(name: string): void {
    for (const { place, amount } of this.#byNode.get(name) ?? []) this.#change(place.name, -amount, -1)
    this.#byNode.delete(name)
  }

  /** Adds to the sum of a place for the time being: whoever does takes it back. */
  adjust(place: string, amount: number): void {
    this.#change(place, amount, 0)
  }

  /** The sum of a place, 0 where it is not there. */
  get(place: string): number {
    return this.#places.get(place)?.sum ?? 0
  }

  /** The sum of the first place that the node contributes to; undefined where there is none. */
  at(node: NodeInfo): number | undefined {
    return this.#byNode.get(node.name)?.[0]?.place.sum
  }

  /** How many places there are. */
  get size(): number {
    return this.#places.size
  }

  /** The smallest sum of a place; Infinity where there is none. */
  get minimum(): number {
    return Math.min(...this.#bySum.keys())
  }

  /** Whether the sum of a place is anything but 0. */
  get hasAny(): boolean {
    return this.#bySum.size > (this.#bySum.has(0) ? 1 : 0)
  }

  #change(name: string, amount: number, contributions: number): Place {
    const known = this.#places.get(name)
    const place = known ?? { name, contributions: 0, sum: 0 }
    if (known === undefined) this.#places.set(name, place)
    else if (amount === 0 && contributions === 0) return place
    else this.#countSum(place.sum, -1)
    place.sum += amount
    place.contributions += contributions
    if (place.contributions === 0 && place.sum === 0) this.#places.delete(name)
    else this.#countSum(place.sum, 1)
    return place
  }

  #countSum(sum: number, change: 1 | -1): void {
    const count = (this.#bySum.get(sum) ?? 0) + change
    if (count === 0) this.#bySum.delete(sum)
    else this.#bySum.set(sum, count)
  }
}
