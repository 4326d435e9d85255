import type { Node, Pod } from '@coracle/api'
import { NodeInfo } from './node-info.ts'

interface Placement {
  readonly pod: Pod
  readonly node: string
}

/**
 * Which pods are on which node, as far as the scheduler knows: what the API says, and what it has decided itself and
 * the API does not show yet (assumed pods). A change costs what changed.
 */
export class SchedulerCache {
  readonly #nodes = new Map<string, NodeInfo>()
  /** By uid of the pod. */
  readonly #placements = new Map<string, Placement>()
  /** Pods by node name, also of nodes that have not been seen yet. */
  readonly #podsByNode = new Map<string, Map<string, Pod>>()
  #list: readonly NodeInfo[] | undefined = []

  /** All nodes, in the order they came. */
  get nodes(): readonly NodeInfo[] {
    this.#list ??= [...this.#nodes.values()]
    return this.#list
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name)
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? ''
    const known = this.#nodes.get(name)
    if (known !== undefined) {
      known.setNode(node)
      return
    }
    const info = new NodeInfo(node)
    for (const pod of this.#podsByNode.get(name)?.values() ?? []) info.add(pod)
    this.#nodes.set(name, info)
    this.#list = undefined
  }

  removeNode(name: string): void {
    if (this.#nodes.delete(name)) this.#list = undefined
  }

  /** The pod is on the node: by the API's word, or assumed while the binding is under way. */
  place(pod: Pod, node: string): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.#placements.get(uid)
    // What a pod asks for hangs on its spec; a change of its status alone moves no sums.
    if (known !== undefined && known.node === node && known.pod.spec === pod.spec) return
    if (known !== undefined) this.remove(uid)
    this.#placements.set(uid, { pod, node })
    const pods = this.#podsByNode.get(node) ?? new Map<string, Pod>()
    this.#podsByNode.set(node, pods.set(uid, pod))
    this.#nodes.get(node)?.add(pod)
  }

  /** The pod is on no node any more, or never came there. Returns the name of the node it was on. */
  remove(uid: string): string | undefined {
    const known = this.#placements.get(uid)
    if (known === undefined) return undefined
    this.#placements.delete(uid)
    const pods = this.#podsByNode.get(known.node)
    pods?.delete(uid)
    if (pods?.size === 0) this.#podsByNode.delete(known.node)
    this.#nodes.get(known.node)?.remove(known.pod)
    return known.node
  }
}
