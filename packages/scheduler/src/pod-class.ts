import type { Pod } from '@coracle/api'
import type { NodeInfo } from './node-info.ts'
import type { NodeFilter, NodePlugin, NodeScorer, Refusal } from './plugins/plugin.ts'

/** A refusal, and the plugin that gave it. */
export interface PluginRefusal extends Refusal {
  readonly plugin: string
}

/** What node plugins say of a node, as long as it has this version. */
interface Verdict {
  readonly version: number
  readonly refusal: PluginRefusal | undefined
  /** In the order of the scorers; made when the node is first a candidate. */
  scores: readonly number[] | undefined
}

export interface WeightedScorer {
  readonly scorer: NodeScorer
  readonly weight: number
}

export interface NamedFilter<F extends NodeFilter = NodeFilter> {
  readonly plugin: string
  readonly filter: F
}

/**
 * Pods that node plugins cannot tell apart, such as those of one template. What the plugins say of a node is kept until the node
 * changes, so that the next pod costs what has changed since the last one.
 */
export class PodClass {
  readonly filters: readonly NamedFilter[]
  readonly scorers: readonly WeightedScorer[]
  readonly #verdicts = new WeakMap<NodeInfo, Verdict>()

  /** `pod` stands for all of its class. */
  constructor(pod: Pod, plugins: readonly NodePlugin[]) {
    this.filters = plugins.flatMap((plugin) => {
      const filter = plugin.filter?.(pod)
      return filter === undefined ? [] : [{ plugin: plugin.name, filter }]
    })
    this.scorers = plugins.flatMap((plugin) => {
      const scorer = plugin.scorer?.(pod)
      return scorer === undefined ? [] : [{ scorer, weight: plugin.weight ?? 1 }]
    })
  }

  /** The first refusal of the node; undefined where it takes such pods. */
  refuse(node: NodeInfo): PluginRefusal | undefined {
    return this.#verdict(node).refusal
  }

  /** What the scorers say of the node, in their order. */
  scores(node: NodeInfo): readonly number[] {
    const verdict = this.#verdict(node)
    verdict.scores ??= this.scorers.map(({ scorer }) => scorer.score(node))
    return verdict.scores
  }

  #verdict(node: NodeInfo): Verdict {
    const known = this.#verdicts.get(node)
    if (known?.version === node.version) return known
    const verdict: Verdict = { version: node.version, refusal: firstRefusal(this.filters, node), scores: undefined }
    this.#verdicts.set(node, verdict)
    return verdict
  }
}

/** The first refusal of the node; undefined where all filters take it. */
export function firstRefusal(filters: readonly NamedFilter[], node: NodeInfo): PluginRefusal | undefined {
  for (const { plugin, filter } of filters) {
    const refusal = filter.refuse(node)
    if (refusal !== undefined) return { ...refusal, plugin }
  }
  return undefined
}
