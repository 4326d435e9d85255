import type { Node, NodeMetrics, Pod, PodMetrics } from '@coracle/api'
import type { Time } from '@coracle/environment'
import { metricsOfNode, metricsOfPod, type Usage, windowTargetMs } from '@coracle/kubelet'

/** What of a kubelet's `/stats/summary` the metrics API shows. */
export interface Summary {
  readonly node?: Stats
  readonly pods?: readonly {
    readonly podRef?: { readonly name?: string; readonly namespace?: string; readonly uid?: string }
    readonly containers?: readonly ({ readonly name?: string } & Stats)[]
  }[]
}

interface Stats {
  readonly cpu?: { readonly usageNanoCores?: number }
  readonly memory?: { readonly workingSetBytes?: number }
}

/** What these pods use, of those of which the summary tells: it is an agent's word, and may be anything. Pure. */
export function podMetricsOf(summary: Summary, pods: readonly Pod[], now: Time): readonly PodMetrics[] {
  const byUid = new Map(listOf(summary?.pods).map((each) => [each?.podRef?.uid, each]))
  return pods.flatMap((pod) => {
    const used = listOf(byUid.get(pod.metadata.uid)?.containers).flatMap((container): [string, Usage][] => {
      const usage = usageOf(container)
      return typeof container?.name !== 'string' || usage === undefined ? [] : [[container.name, usage]]
    })
    return used.length === 0 ? [] : [metricsOfPod(pod, new Map(used), now)]
  })
}

/** What a node uses by its summary; undefined where that does not tell. Pure. */
export function nodeMetricsOf(summary: Summary, node: Node, now: Time): NodeMetrics | undefined {
  const usage = usageOf(summary?.node)
  return usage === undefined ? undefined : metricsOfNode(node, usage, now)
}

const listOf = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : [])

/** Kubelets do not say what time their averages are over: metrics-server's is the usual one. */
function usageOf(stats: Stats | undefined): Usage | undefined {
  const { usageNanoCores } = stats?.cpu ?? {}
  const { workingSetBytes } = stats?.memory ?? {}
  if (!isAmount(usageNanoCores) || !isAmount(workingSetBytes)) return undefined
  return { cpuCores: usageNanoCores / 1e9, memoryBytes: workingSetBytes, windowMs: windowTargetMs }
}

const isAmount = (value: number | undefined): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value)
