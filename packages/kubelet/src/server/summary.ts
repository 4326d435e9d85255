import { formatTime, type Node, type NodeMetrics, type Pod, type PodMetrics, quantityToNumber } from '@coracle/api'
import type { Time } from '@coracle/environment'
import type { ContainerStats } from '../runtimes/runtime.ts'
import { type Counters, hostCounters } from '../usage/host-counters.ts'
import { type Exchange, sendJson } from './exchange.ts'
import { Refusal } from './refusal.ts'
import type { ServedNode } from './served-node.ts'

/** What a container of a pod has used until now. */
export interface CountedContainer {
  readonly pod: Pod
  readonly name: string
  readonly startedAtMs: Time
  readonly stats: ContainerStats
}

/** The running containers of a node that its runtime counts something of. */
export async function countedContainers({ runtime, pods }: ServedNode): Promise<readonly CountedContainer[]> {
  const running = (await runtime.listContainers()).filter(({ state }) => state === 'running')
  const stats = await runtime.containerStats(running.map(({ id }) => id))
  const podOf = new Map(pods().map((pod) => [pod.metadata.uid, pod]))
  return running.flatMap(({ id, name, podUid, startedAtMs = 0 }) => {
    const [pod, counted] = [podOf.get(podUid), stats.get(id)]
    return pod === undefined || counted === undefined ? [] : [{ pod, name, startedAtMs, stats: counted }]
  })
}

/** What the host of a node has used, where the node is one of real processes. */
export const countedHost = ({ runtime }: ServedNode): Counters | undefined =>
  runtime.runsProcesses ? hostCounters() : undefined

/**
 * `/stats/summary` (upstream's stats/v1alpha1 Summary): CPU and memory of the node and of each container. Of file systems, networks and
 * other things nothing is measured, so it says nothing.
 */
export async function statsSummary(exchange: Exchange): Promise<void> {
  const { node, parts, environment } = exchange
  if (parts[1] !== 'summary' || parts.length > 2) throw new Refusal(404, `404: Page Not Found: ${exchange.path}`)
  const pods = node.pods()
  const named = { metadata: { name: node.nodeName } } as Node
  const [podUsage, nodeUsage, counted] = await Promise.all([
    node.usage.podMetrics(pods),
    node.usage.nodeMetrics(named, pods),
    countedContainers(node),
  ])
  const now = environment.clock.now()
  sendJson(exchange, {
    node: { nodeName: node.nodeName, ...nodeStats(nodeUsage, countedHost(node), now) },
    pods: podUsage.flatMap((usage) => {
      const pod = pods.find(
        ({ metadata }) => metadata.name === usage.metadata.name && metadata.namespace === usage.metadata.namespace,
      )
      return pod === undefined ? [] : [podStats(pod, usage, counted, now)]
    }),
  })
}

function nodeStats(usage: NodeMetrics | undefined, host: Counters | undefined, now: Time) {
  return usage === undefined ? {} : statsOf(usage.usage ?? {}, host, now)
}

function podStats(pod: Pod, { containers = [] }: PodMetrics, counted: readonly CountedContainer[], now: Time) {
  const { name, namespace, uid } = pod.metadata
  const stats = containers.map((container) => {
    const found = counted.find((each) => each.pod === pod && each.name === container.name)
    const started = found === undefined ? {} : { startTime: formatTime(found.startedAtMs) }
    return { name: container.name, ...started, ...statsOf(container.usage ?? {}, found?.stats, now) }
  })
  const sum = (value: (each: (typeof stats)[number]) => number) => stats.reduce((total, each) => total + value(each), 0)
  const time = formatTime(now)
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? null,
    containers: stats,
    cpu: { time, usageNanoCores: sum(({ cpu }) => cpu.usageNanoCores) },
    memory: { time, workingSetBytes: sum(({ memory }) => memory.workingSetBytes) },
  }
}

function statsOf(usage: Readonly<Record<string, string>>, counters: Counters | undefined, now: Time) {
  const time = formatTime(now)
  const bytes = quantityToNumber(usage.memory ?? '0')
  return {
    cpu: {
      time,
      usageNanoCores: Math.round(quantityToNumber(usage.cpu ?? '0') * 1e9),
      ...(counters === undefined ? {} : { usageCoreNanoSeconds: Math.round(counters.cpuMs * 1e6) }),
    },
    memory: { time, usageBytes: bytes, workingSetBytes: bytes },
  }
}
