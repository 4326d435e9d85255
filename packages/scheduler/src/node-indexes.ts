import { BoundedMap } from '@coracle/client'
import type { NodeInfo } from './node-info.ts'

/** Indexes that are kept up to date; the least recently used gives way. */
export const nodeIndexesMax = 64

/** Changes of nodes that are remembered. An index that has missed more is made anew. */
export const nodeChangesMax = 8192

/** Something found out about all nodes that follows their changes one by one. */
export interface NodeIndex {
  /** The node is new, or it or its pods have changed. */
  put(node: NodeInfo): void
  /** The node is gone. It may never have been put. */
  remove(name: string): void
}

interface Kept {
  readonly index: NodeIndex
  /** How many of all changes it has seen. */
  seen: number
}

/** Indexes over nodes, each brought up to date when it is asked for: that costs what has changed in between. */
export class NodeIndexes {
  readonly #nodes: ReadonlyMap<string, NodeInfo>
  readonly #kept = new BoundedMap<string, Kept>(nodeIndexesMax)
  /** Names of changed nodes, the oldest first, and how many went before them. */
  readonly #changes: string[] = []
  #forgotten = 0

  constructor(nodes: ReadonlyMap<string, NodeInfo>) {
    this.#nodes = nodes
  }

  /** The node has come, changed or gone. */
  changed(name: string): void {
    this.#changes.push(name)
    if (this.#changes.length <= nodeChangesMax) return
    this.#forgotten += this.#changes.splice(0, nodeChangesMax / 2).length
  }

  get<I extends NodeIndex>(key: string, create: () => I): I {
    const kept = this.#kept.get(key)
    if (kept === undefined || kept.seen < this.#forgotten) return this.#make(key, create)
    for (; kept.seen < this.#forgotten + this.#changes.length; kept.seen++) {
      const name = this.#changes[kept.seen - this.#forgotten] as string
      const node = this.#nodes.get(name)
      if (node === undefined) kept.index.remove(name)
      else kept.index.put(node)
    }
    return kept.index as I
  }

  #make<I extends NodeIndex>(key: string, create: () => I): I {
    const index = create()
    for (const node of this.#nodes.values()) index.put(node)
    this.#kept.set(key, { index, seen: this.#forgotten + this.#changes.length })
    return index
  }
}
