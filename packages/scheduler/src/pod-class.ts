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
  /** Made when the node is first a candidate. */
  scores: NodeScores | undefined
}

/** What the scorers say of a node. */
export interface NodeScores {
  /** The weighted sum of those whose scores are 0–100 already. */
  readonly sum: number
  /** The scores of those that compare nodes, in their order. */
  readonly compared: readonly number[]
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
  /** The scorers that compare nodes with each other. */
  readonly comparing: readonly WeightedScorer[]
  readonly #alone: readonly WeightedScorer[]
  readonly #verdicts = new Map<NodeInfo, Verdict>()

  /** `pod` stands for all of its class. */
  constructor(pod: Pod, plugins: readonly NodePlugin[]) {
    this.filters = plugins.flatMap((plugin) => {
      const filter = plugin.filter?.(pod)
      return filter === undefined ? [] : [{ plugin: plugin.name, filter }]
    })
    const scorers = plugins.flatMap((plugin) => {
      const scorer = plugin.scorer?.(pod)
      return scorer === undefined ? [] : [{ scorer, weight: plugin.weight ?? 1 }]
    })
    this.comparing = scorers.filter(({ scorer }) => scorer.normalize !== undefined)
    this.#alone = scorers.filter(({ scorer }) => scorer.normalize === undefined)
  }

  /** The first refusal of the node; undefined where it takes such pods. */
  refuse(node: NodeInfo): PluginRefusal | undefined {
    return this.#verdict(node).refusal
  }

  scores(node: NodeInfo): NodeScores {
    const verdict = this.#verdict(node)
    verdict.scores ??= {
      sum: this.#alone.reduce((sum, { scorer, weight }) => sum + weight * scorer.score(node), 0),
      compared: this.comparing.map(({ scorer }) => scorer.score(node)),
    }
    return verdict.scores
  }

  /** Forgets verdicts where there are many more than nodes: those of nodes that are gone. */
  trim(nodeCount: number): void {
    if (this.#verdicts.size > 2 * nodeCount) this.#verdicts.clear()
  }

  #verdict(node: NodeInfo): Verdict {
    const known = this.#verdicts.get(node)
    if (known !== undefined && known.version === node.version) return known
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
