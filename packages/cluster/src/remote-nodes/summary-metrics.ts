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

/** What these pods use, of those of which the summary tells. Pure. */
export function podMetricsOf(summary: Summary, pods: readonly Pod[], now: Time): readonly PodMetrics[] {
  const byUid = new Map(summary.pods?.map((each) => [each.podRef?.uid, each]))
  return pods.flatMap((pod) => {
    const { containers = [] } = byUid.get(pod.metadata.uid) ?? {}
    const used = containers.flatMap(({ name, ...stats }): [string, Usage][] => {
      const usage = usageOf(stats)
      return name === undefined || usage === undefined ? [] : [[name, usage]]
    })
    return used.length === 0 ? [] : [metricsOfPod(pod, new Map(used), now)]
  })
}

/** What a node uses by its summary; undefined where that does not tell. Pure. */
export function nodeMetricsOf(summary: Summary, node: Node, now: Time): NodeMetrics | undefined {
  const usage = usageOf(summary.node ?? {})
  return usage === undefined ? undefined : metricsOfNode(node, usage, now)
}

/** Kubelets do not say what time their averages are over: metrics-server's is the usual one. */
function usageOf({ cpu, memory }: Stats): Usage | undefined {
  if (cpu?.usageNanoCores === undefined || memory?.workingSetBytes === undefined) return undefined
  return { cpuCores: cpu.usageNanoCores / 1e9, memoryBytes: memory.workingSetBytes, windowMs: windowTargetMs }
}
