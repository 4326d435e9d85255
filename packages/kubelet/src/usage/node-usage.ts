import {
  apiVersionOf,
  durationText,
  formatTime,
  type Node,
  type NodeMetrics,
  nodeMetrics,
  type Pod,
  type PodMetrics,
  podMetrics,
  simulatedUsageOf,
} from '@coracle/api'
import type { Clock, Time } from '@coracle/environment'
import type { Runtime } from '../runtimes/runtime.ts'
import { hostCounters } from './host-counters.ts'
import { type Usage, UsageMeter, windowTargetMs } from './usage-meter.ts'

/** What the pods of nodes use, and the nodes: found out when somebody asks. */
export interface NodeUsage {
  /** Of these pods, which are on nodes of this agent; those that do not run are left out. */
  podMetrics(pods: readonly Pod[]): Promise<readonly PodMetrics[]>
  /** Of a node of this agent that has these pods; undefined where it cannot be told. */
  nodeMetrics(node: Node, pods: readonly Pod[]): Promise<NodeMetrics | undefined>
}

/** What the containers of a runtime use: real ones what the system counts, simulated ones what their pods say. */
export function createNodeUsage(runtime: Runtime, clock: Clock): NodeUsage {
  return runtime.runsProcesses ? measuredUsage(runtime, clock) : simulatedUsage(runtime, clock)
}

function measuredUsage(runtime: Runtime, clock: Clock): NodeUsage {
  const containers = new UsageMeter(clock, (ids) => runtime.containerStats(ids))
  const host = new UsageMeter(clock, async () => new Map([[hostKey, hostCounters()]]))
  return {
    async podMetrics(pods) {
      // A pod of which the runtime tells nothing now is as one that does not run: it must not hide the others.
      const runs = await Promise.all(pods.map((pod) => runningContainers(runtime, pod).catch(() => noContainers)))
      const usage = await containers.measure(runs.flatMap((each) => [...each.values()]))
      return pods.flatMap((pod, index) => {
        const used = [...(runs[index] ?? [])].flatMap(([name, id]) => {
          const found = usage.get(id)
          return found === undefined ? [] : [[name, found] as const]
        })
        return used.length === 0 ? [] : [metricsOfPod(pod, new Map(used), clock.now())]
      })
    },
    async nodeMetrics(node) {
      const usage = (await host.measure([hostKey])).get(hostKey)
      return usage === undefined ? undefined : metricsOfNode(node, usage, clock.now())
    },
  }
}

function simulatedUsage(runtime: Runtime, clock: Clock): NodeUsage {
  const usageOf = async (pod: Pod): Promise<ReadonlyMap<string, Usage>> => {
    const said = simulatedUsageOf(pod.metadata, [...(await runningContainers(runtime, pod)).keys()])
    return new Map(
      [...said].map(([name, { cpu, memory }]) => [
        name,
        { cpuCores: cpu, memoryBytes: memory, windowMs: windowTargetMs },
      ]),
    )
  }
  return {
    async podMetrics(pods) {
      const usage = await Promise.all(pods.map(usageOf))
      return pods.flatMap((pod, index) => {
        const used = usage[index]
        return used === undefined || used.size === 0 ? [] : [metricsOfPod(pod, used, clock.now())]
      })
    },
    async nodeMetrics(node, pods) {
      const used = (await Promise.all(pods.map(usageOf))).flatMap((each) => [...each.values()])
      const sum = (field: 'cpuCores' | 'memoryBytes'): number => used.reduce((total, each) => total + each[field], 0)
      const usage = { cpuCores: sum('cpuCores'), memoryBytes: sum('memoryBytes'), windowMs: windowTargetMs }
      return metricsOfNode(node, usage, clock.now())
    },
  }
}

/** The ids of the containers of a pod that run, by name. */
async function runningContainers(runtime: Runtime, { metadata }: Pod): Promise<ReadonlyMap<string, string>> {
  const containers = await runtime.listContainers(metadata.uid ?? '')
  return new Map(containers.filter(({ state }) => state === 'running').map(({ name, id }) => [name, id]))
}

const noContainers: ReadonlyMap<string, string> = new Map()

const hostKey = 'host'

/** What the containers of a pod use, as the metrics API shows it. */
export function metricsOfPod({ metadata }: Pod, containers: ReadonlyMap<string, Usage>, now: Time): PodMetrics {
  const { name, namespace, labels } = metadata
  const windowMs = Math.max(...[...containers.values()].map((each) => each.windowMs))
  return {
    kind: podMetrics.kind,
    apiVersion: apiVersionOf(podMetrics),
    metadata: { name, namespace, creationTimestamp: formatTime(now), labels },
    timestamp: formatTime(now),
    window: durationText(windowMs),
    containers: [...containers].map(([container, usage]) => ({ name: container, usage: resourceListOf(usage) })),
  }
}

/** What a node uses, as the metrics API shows it. */
export function metricsOfNode({ metadata: { name, labels } }: Node, usage: Usage, now: Time): NodeMetrics {
  return {
    kind: nodeMetrics.kind,
    apiVersion: apiVersionOf(nodeMetrics),
    metadata: { name, creationTimestamp: formatTime(now), labels },
    timestamp: formatTime(now),
    window: durationText(usage.windowMs),
    usage: resourceListOf(usage),
  }
}

/** In the units of metrics-server: billionths of a core, and KiB. */
function resourceListOf({ cpuCores, memoryBytes }: Usage): Readonly<Record<string, string>> {
  const nanocores = Math.round(cpuCores * 1e9)
  const kibibytes = Math.ceil(memoryBytes / 1024)
  return { cpu: nanocores === 0 ? '0' : `${nanocores}n`, memory: kibibytes === 0 ? '0' : `${kibibytes}Ki` }
}
