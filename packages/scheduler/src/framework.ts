import type { Pod } from '@coracle/api'
import { BoundedMap } from '@coracle/client'
import type { Cluster } from './cluster.ts'
import type { ClusterEvent } from './cluster-event.ts'
import type { NodeInfo } from './node-info.ts'
import type { ClusterFilter, ClusterPlugin, NodePlugin, Plugin } from './plugins/plugin.ts'
import { firstRefusal, type NamedFilter, type PluginRefusal, PodClass } from './pod-class.ts'

/** Classes of pods whose verdicts are kept; the least recently used gives way. */
export const podClassesMax = 64

/** Asks the plugins. */
export class Framework {
  readonly #nodePlugins: readonly NodePlugin[]
  readonly #clusterPlugins: readonly ClusterPlugin[]
  readonly #classes = new BoundedMap<string, PodClass>(podClassesMax)

  /** Plugins are asked in this order, those that see only the node before those that see the cluster. */
  constructor(plugins: readonly Plugin[]) {
    this.#nodePlugins = plugins.filter((plugin) => plugin.scope === 'node')
    this.#clusterPlugins = plugins.filter((plugin) => plugin.scope === 'cluster')
  }

  /** Prepares all plugins for one attempt to find a node for the pod. */
  prepare(pod: Pod, cluster: Cluster): PreparedPod {
    const nodeSignature = JSON.stringify(this.#nodePlugins.map((plugin) => plugin.signature(pod)))
    return new PreparedPod(pod, cluster, nodeSignature, this.#classOf(pod, nodeSignature), this.#clusterPlugins)
  }

  /** Whether one of these plugins, which kept the pod from nodes, says that the event helps it. */
  isHelpedBy(pod: Pod, event: ClusterEvent, cluster: Cluster, plugins: ReadonlySet<string>): boolean {
    return this.#clusterPlugins.some((plugin) => plugins.has(plugin.name) && plugin.isHelpedBy?.(pod, event, cluster))
  }

  /** Reserves with every plugin, until one cannot: then its reason is returned, and `unreserve` takes back what was reserved. */
  reserve(pod: Pod, node: NodeInfo): string | undefined {
    for (const plugin of this.#clusterPlugins) {
      const reason = plugin.reserve?.(pod, node)
      if (reason !== undefined) return `running Reserve plugin "${plugin.name}": ${reason}`
    }
    return undefined
  }

  /** The last is told first. */
  unreserve(pod: Pod, node: NodeInfo): void {
    for (const plugin of this.#clusterPlugins.toReversed()) plugin.unreserve?.(pod, node)
  }

  /** Rejects where a plugin fails. */
  async preBind(pod: Pod, node: NodeInfo): Promise<void> {
    for (const plugin of this.#clusterPlugins) {
      const work = plugin.preBind?.(pod, node)
      if (work !== undefined) await naming(`running PreBind plugin "${plugin.name}"`, work)
    }
  }

  #classOf(pod: Pod, signature: string): PodClass {
    const known = this.#classes.get(signature)
    if (known !== undefined) return known
    const made = new PodClass(pod, this.#nodePlugins)
    this.#classes.set(signature, made)
    return made
  }
}

/** The work, where it fails with an error that says what was done; the error itself is its cause. */
export async function naming(what: string, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** What the plugins say about one pod, in one attempt to find a node for it. */
export class PreparedPod {
  readonly pod: Pod
  readonly #cluster: Cluster
  readonly #nodeSignature: string
  readonly #class: PodClass
  readonly #plugins: readonly ClusterPlugin[]
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
    this.#filters = plugins.flatMap((plugin) => {
      const filter = plugin.filter?.(pod, cluster)
      return filter === undefined ? [] : [{ plugin: plugin.name, filter }]
    })
  }

  /** Equal for pods that no plugin tells apart. */
  get signature(): string {
    return JSON.stringify([this.#nodeSignature, ...this.#plugins.map((plugin) => plugin.signature(this.pod))])
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

  /** The first refusal of a node of the cluster; undefined where it takes the pod. */
  refuse(node: NodeInfo): PluginRefusal | undefined {
    return this.#class.refuse(node) ?? firstRefusal(this.#filters, node)
  }

  /** The sums of all scores of the candidates, in their order. */
  rank(candidates: readonly NodeInfo[]): Float64Array {
    const totals = new Float64Array(candidates.length)
    const scores = new Float64Array(candidates.length)
    const addUp = (weight: number) => {
      for (let index = 0; index < totals.length; index++) {
        totals[index] = (totals[index] as number) + weight * (scores[index] as number)
      }
    }
    const kept = candidates.map((node) => this.#class.scores(node))
    for (const [which, { scorer, weight }] of this.#class.scorers.entries()) {
      for (let index = 0; index < scores.length; index++) scores[index] = kept[index]?.[which] as number
      scorer.normalize?.(scores, candidates)
      addUp(weight)
    }
    for (const plugin of this.#plugins) {
      const scorer = plugin.scorer?.(this.pod, this.#cluster, candidates)
      if (scorer === undefined) continue
      for (let index = 0; index < scores.length; index++) scores[index] = scorer.score(candidates[index] as NodeInfo)
      scorer.normalize?.(scores, candidates)
      addUp(plugin.weight ?? 1)
    }
    return totals
  }
}
