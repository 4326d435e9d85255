import type { Pod } from '@coracle/api'
import type { NodeInfo } from './node-info.ts'
import type { ClusterFilter } from './plugins/plugin.ts'
import { firstRefusal, type NamedFilter, type PluginRefusal } from './pod-class.ts'

/** A node as it would be with other pods: what is changed here changes nothing, once the trial is ended. */
export class NodeTrial {
  readonly #node: NodeInfo
  readonly #nodeFilters: readonly NamedFilter[]
  readonly #clusterFilters: readonly NamedFilter<ClusterFilter>[]
  readonly #nominated: readonly Pod[]
  /** What `end` takes back, by uid. */
  readonly #changes = new Map<string, { readonly pod: Pod; readonly isRemoved: boolean }>()

  /** `nominated` are pods to come there, beside which the pod has to fit. */
  constructor(
    node: NodeInfo,
    nodeFilters: readonly NamedFilter[],
    clusterFilters: readonly NamedFilter<ClusterFilter>[],
    nominated: readonly Pod[],
  ) {
    this.#node = node.clone()
    this.#nodeFilters = nodeFilters
    this.#clusterFilters = clusterFilters
    this.#nominated = nominated
  }

  add(pod: Pod): void {
    this.#node.add(pod)
    for (const { filter } of this.#clusterFilters) filter.add(pod, this.#node)
    this.#changed(pod, false)
  }

  remove(pod: Pod): void {
    this.#node.remove(pod)
    for (const { filter } of this.#clusterFilters) filter.remove(pod, this.#node)
    this.#changed(pod, true)
  }

  /** The first refusal, with the pods that are nominated, and then without them. */
  refuse(): PluginRefusal | undefined {
    for (const pod of this.#nominated) this.add(pod)
    const beside = this.#nominated.length === 0 ? undefined : this.#ask()
    for (const pod of this.#nominated) this.remove(pod)
    return beside ?? this.#ask()
  }

  /** Takes everything back. */
  end(): void {
    for (const { pod, isRemoved } of [...this.#changes.values()]) {
      if (isRemoved) this.add(pod)
      else this.remove(pod)
    }
  }

  #ask(): PluginRefusal | undefined {
    return firstRefusal(this.#nodeFilters, this.#node) ?? firstRefusal(this.#clusterFilters, this.#node)
  }

  #changed(pod: Pod, isRemoved: boolean): void {
    const uid = pod.metadata.uid ?? ''
    if (!this.#changes.delete(uid)) this.#changes.set(uid, { pod, isRemoved })
  }
}
