import type { Pod } from '@coracle/api'

const none: readonly Pod[] = []

/** Which pods are to come to which nodes, when others have left to make room for them. */
export class Nominations {
  readonly #nodes = new Map<string, string>()
  readonly #pods = new Map<string, Map<string, Pod>>()

  /** The pod is to come to the node, and to no other. */
  set(pod: Pod, node: string): void {
    const uid = pod.metadata.uid ?? ''
    this.remove(uid)
    this.#nodes.set(uid, node)
    const pods = this.#pods.get(node) ?? new Map<string, Pod>()
    this.#pods.set(node, pods.set(uid, pod))
  }

  /** Returns where the pod was to come. */
  remove(uid: string): string | undefined {
    const node = this.#nodes.get(uid)
    if (node === undefined) return undefined
    this.#nodes.delete(uid)
    const pods = this.#pods.get(node)
    pods?.delete(uid)
    if (pods?.size === 0) this.#pods.delete(node)
    return node
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  podsOf(node: string): readonly Pod[] {
    const pods = this.#pods.get(node)
    return pods === undefined ? none : [...pods.values()]
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid)
  }
}
