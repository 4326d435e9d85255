import type { Pod } from '@coracle/api'
import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import { NodeTrial } from './node-trial.ts'
import type { ClusterFilter, ClusterPlugin } from './plugins/plugin.ts'
import { firstRefusal, type NamedFilter, type PluginRefusal, type PodClass, type WeightedScorer } from './pod-class.ts'
import { priorityOf } from './priority.ts'

/** What the plugins say about one pod, in one attempt to find a node for it. */
export class PreparedPod {
  readonly pod: Pod
  readonly #cluster: Cluster
  readonly #nodeSignature: string
  readonly #class: PodClass
  readonly #plugins: readonly ClusterPlugin[]
  /** Those of them that have something to say. */
  readonly #asked: readonly ClusterPlugin[]
  readonly #filters: readonly NamedFilter<ClusterFilter>[]

  constructor(
    pod: Pod,
    cluster: Cluster,
    nodeSignature: string,
    podClass: PodClass,
    plugins: readonly ClusterPlugin[],
  ) {
    this.pod = pod
    this.#cluster = cluster
    this.#nodeSignature = nodeSignature
    this.#class = podClass
    this.#plugins = plugins
    const asked: ClusterPlugin[] = []
    const filters: NamedFilter<ClusterFilter>[] = []
    for (const plugin of plugins) {
      const filter = plugin.filter?.(pod, cluster)
      if (filter === undefined) continue
      asked.push(plugin)
      filters.push({ plugin: plugin.name, filter })
    }
    this.#asked = asked
    this.#filters = filters
  }

  /** Equal for pods that nothing tells apart: neither a plugin that has something to say about them, nor their priority. */
  get signature(): string {
    const signatures = this.#asked.map((plugin) => [plugin.name, plugin.signature(this.pod)])
    return `${priorityOf(this.pod)} ${this.#nodeSignature} ${JSON.stringify(signatures)}`
  }

  /** Why no node takes the pod, whichever it is. */
  get rejection(): PluginRefusal | undefined {
    for (const { plugin, filter } of this.#filters) {
      if (filter.rejection !== undefined) return { ...filter.rejection, plugin }
    }
    return undefined
  }

  /** The only nodes that can be meant, and the plugins that say so; undefined where all can. */
  get named(): { readonly nodeNames: ReadonlySet<string>; readonly plugins: readonly string[] } | undefined {
    const lists = [...this.#class.filters, ...this.#filters].flatMap(({ plugin, filter: { nodeNames } }) =>
      nodeNames === undefined ? [] : [{ plugin, nodeNames }],
    )
    const [first, ...others] = lists.map(({ nodeNames }) => nodeNames)
    if (first === undefined) return undefined
    const nodeNames = new Set([...first].filter((name) => others.every((names) => names.has(name))))
    return { nodeNames, plugins: lists.map(({ plugin }) => plugin) }
  }

  /**
   * The first refusal of a node of the cluster; undefined where it takes the pod, be it that those come which are to come there and
   * are no less important, or not.
   */
  refuse(node: NodeInfo): PluginRefusal | undefined {
    return (
      this.rejection ??
      this.#refuseBesideNominated(node) ??
      this.#class.refuse(node) ??
      firstRefusal(this.#filters, node)
    )
  }

  /** The node as it may be changed to see whether it would take the pod then. It has to be ended before anything else is asked. */
  tryOn(node: NodeInfo): NodeTrial {
    return new NodeTrial(node, this.#class.filters, this.#filters, this.#nominatedTo(node))
  }

  /** Other pods that are to come to the node, and may not lose their place to this one. */
  #nominatedTo(node: NodeInfo): readonly Pod[] {
    const { uid } = this.pod.metadata
    const priority = priorityOf(this.pod)
    return this.#cluster
      .nominatedPods(node.name)
      .filter((other) => other.metadata.uid !== uid && priorityOf(other) >= priority)
  }

  #refuseBesideNominated(node: NodeInfo): PluginRefusal | undefined {
    if (!this.#cluster.hasNominatedPods || this.#nominatedTo(node).length === 0) return undefined
    const trial = this.tryOn(node)
    try {
      return trial.refuse()
    } finally {
      trial.end()
    }
  }

  /** The sums of all scores of the candidates, in their order, but for what is the same for all of them. */
  rank(candidates: readonly NodeInfo[]): Float64Array {
    const kept = candidates.map((node) => this.#class.scores(node))
    const totals = new Float64Array(candidates.length)
    // Not `Float64Array.from`: that took half of the time of a whole decision among a thousand nodes.
    for (let index = 0; index < totals.length; index++) totals[index] = kept[index]?.sum ?? 0
    const scores = new Float64Array(candidates.length)
    for (const [which, weighted] of this.#class.comparing.entries()) {
      addScores(totals, scores, weighted, candidates, (index) => kept[index]?.compared[which] ?? 0)
    }
    for (const plugin of this.#plugins) {
      const scorer = plugin.scorer?.(this.pod, this.#cluster, candidates)
      if (scorer === undefined) continue
      const weighted = { scorer, weight: plugin.weight ?? 1 }
      addScores(totals, scores, weighted, candidates, (index) => scorer.score(candidates[index] as NodeInfo))
    }
    return totals
  }
}

/** Adds what a scorer says to the totals. `scores` is room to work in. */
function addScores(
  totals: Float64Array,
  scores: Float64Array,
  { scorer, weight }: WeightedScorer,
  candidates: readonly NodeInfo[],
  scoreAt: (index: number) => number,
): void {
  let areEqual = true
  for (let index = 0; index < scores.length; index++) {
    const score = scoreAt(index)
    scores[index] = score
    if (score !== scores[0]) areEqual = false
  }
  // Equal scores stay equal when they are brought to 0–100, and decide nothing.
  if (areEqual) return
  scorer.normalize?.(scores, candidates)
  for (let index = 0; index < totals.length; index++) {
    totals[index] = (totals[index] as number) + weight * (scores[index] as number)
  }
}
