import type { Pod, PodSpec } from '@coracle/api'
import { BoundedMap } from '@coracle/client'
import type { Cluster } from './cluster.ts'
import type { ClusterEvent } from './cluster-event.ts'
import type { NodeInfo } from './node-info.ts'
import type { ClusterPlugin, NodePlugin, Plugin } from './plugins/plugin.ts'
import { PodClass } from './pod-class.ts'
import { PreparedPod } from './prepared-pod.ts'

/** Classes of pods whose verdicts are kept; the least recently used gives way. */
export const podClassesMax = 64

/** Asks the plugins. */
export class Framework {
  readonly #nodePlugins: readonly NodePlugin[]
  readonly #clusterPlugins: readonly ClusterPlugin[]
  readonly #classes = new BoundedMap<string, PodClass>(podClassesMax)
  /** What node plugins go by of the pod prepared last: pods of one template share their spec, and mostly come together. */
  #latest: { readonly spec: PodSpec; readonly signature: string } | undefined

  /** Plugins are asked in this order, those that see only the node before those that see the cluster. */
  constructor(plugins: readonly Plugin[]) {
    this.#nodePlugins = plugins.filter((plugin) => plugin.scope === 'node')
    this.#clusterPlugins = plugins.filter((plugin) => plugin.scope === 'cluster')
  }

  /** Prepares all plugins for one attempt to find a node for the pod. */
  prepare(pod: Pod, cluster: Cluster): PreparedPod {
    const nodeSignature = this.#nodeSignatureOf(pod.spec)
    const podClass = this.#classOf(pod, nodeSignature)
    podClass.trim(cluster.nodeCount)
    return new PreparedPod(pod, cluster, nodeSignature, podClass, this.#clusterPlugins)
  }

  /** Whether one of these plugins, which kept the pod from nodes, says that the event helps it. */
  isHelpedBy(pod: Pod, event: ClusterEvent, cluster: Cluster, plugins: ReadonlySet<string>): boolean {
    return this.#clusterPlugins.some((plugin) => plugins.has(plugin.name) && plugin.isHelpedBy?.(pod, event, cluster))
  }

  /** What the plugins that kept the pod from nodes do for it; undefined where none of them can do anything. */
  postFilter(pod: Pod, plugins: ReadonlySet<string>): ReturnType<NonNullable<ClusterPlugin['postFilter']>> {
    for (const plugin of this.#clusterPlugins) {
      const help = plugins.has(plugin.name) ? plugin.postFilter?.(pod) : undefined
      if (help !== undefined) return help
    }
    return undefined
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

  /** Rejects where a plugin fails. `begins` is called, and waited for, once there turns out to be something to do. */
  async preBind(pod: Pod, node: NodeInfo, begins: () => Promise<void>): Promise<void> {
    let told: Promise<void> | undefined
    for (const plugin of this.#clusterPlugins) {
      const work = plugin.preBind?.(pod, node)
      if (work === undefined) continue
      told ??= begins()
      await Promise.all([naming(`running PreBind plugin "${plugin.name}"`, work), told])
    }
  }

  #nodeSignatureOf(spec: PodSpec): string {
    if (this.#latest?.spec === spec) return this.#latest.signature
    const signature = JSON.stringify(this.#nodePlugins.map((plugin) => plugin.signature(spec)))
    // What is not frozen may change.
    if (Object.isFrozen(spec)) this.#latest = { spec, signature }
    return signature
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
