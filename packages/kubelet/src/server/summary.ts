import {
  finderOf,
  formatTime,
  type Node,
  type NodeMetrics,
  type Pod,
  type PodMetrics,
  quantityToNumber,
} from '@coracle/api'
import type { Time } from '@coracle/environment'
import type { ContainerStats, PodSandboxStats, Pressure, Stalls, StallTimes } from '../runtimes/runtime.ts'
import type { Counters } from '../usage/host-counters.ts'
import { type Exchange, sendJson } from './exchange.ts'
import { Refusal } from './refusal.ts'
import type { ServedNode } from './served-node.ts'
import type { CountedContainer } from './usage-counters.ts'

/**
 * `/stats/summary` (upstream's stats/v1alpha1 Summary): CPU and memory of the node and of each container, and what tasks have waited for, where
 * the kernel tells. Of file systems, networks and other things nothing is measured, so it says nothing.
 */
export async function statsSummary(exchange: Exchange): Promise<void> {
  const { node, parts, environment } = exchange
  if (parts[1] !== 'summary' || parts.length > 2) throw new Refusal(404, `404: Page Not Found: ${exchange.path}`)
  const pods = node.pods()
  const named = { metadata: { name: node.nodeName } } as Node
  const [podUsage, nodeUsage, counted, podPressures] = await Promise.all([
    node.usage.podMetrics(pods),
    node.usage.nodeMetrics(named, pods),
    exchange.counters.read(node),
    pressuresOfPods(node),
  ])
  const now = environment.clock.now()
  const podOf = finderOf(pods, ({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  const countedOf = Map.groupBy(counted.containers, ({ pod }) => pod)
  sendJson(exchange, {
    node: { nodeName: node.nodeName, ...nodeStats(nodeUsage, counted.host, now) },
    pods: podUsage.flatMap((usage) => {
      const pod = podOf(`${usage.metadata.namespace}/${usage.metadata.name}`)
      const pressure = podPressures.get(pod?.metadata.uid ?? '')
      return pod === undefined ? [] : [podStats(pod, usage, countedOf.get(pod) ?? [], pressure, now)]
    }),
  })
}

/** What the tasks of pods have waited for, by uid. That of a pod does not follow from that of its containers. */
async function pressuresOfPods({ runtime }: ServedNode): Promise<ReadonlyMap<string, Pressure>> {
  const stats = (await runtime.podSandboxStats?.()) ?? new Map<string, PodSandboxStats>()
  const told = [...stats].filter(([, { pressure }]) => pressure !== undefined)
  if (told.length === 0) return new Map()
  const uidOf = new Map((await runtime.listPodSandboxes()).map(({ id, podUid }) => [id, podUid]))
  return new Map(told.map(([id, { pressure = {} }]) => [uidOf.get(id) ?? '', pressure]))
}

function nodeStats(usage: NodeMetrics | undefined, host: Counted | undefined, now: Time) {
  return usage === undefined ? {} : statsOf(usage.usage ?? {}, host, now)
}

function podStats(
  pod: Pod,
  { containers = [] }: PodMetrics,
  counted: readonly CountedContainer[],
  pressure: Pressure | undefined,
  now: Time,
) {
  const { name, namespace, uid } = pod.metadata
  const countedAs = finderOf(counted, ({ run }) => run.name)
  const stats = containers.map((container) => {
    const found = countedAs(container.name)
    const started = found?.run.startedAtMs === undefined ? {} : { startTime: formatTime(found.run.startedAtMs) }
    return { name: container.name, ...started, ...statsOf(container.usage ?? {}, found?.stats, now) }
  })
  const sum = (value: (each: (typeof stats)[number]) => number) => stats.reduce((total, each) => total + value(each), 0)
  const time = formatTime(now)
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? null,
    containers: stats,
    cpu: { time, usageNanoCores: sum(({ cpu }) => cpu.usageNanoCores), ...psiOf(pressure?.cpu) },
    memory: { time, workingSetBytes: sum(({ memory }) => memory.workingSetBytes), ...psiOf(pressure?.memory) },
    ...ioOf(pressure, time),
  }
}

type Counted = Counters & Pick<ContainerStats, 'pressure'>

const psiOf = (stalls: Stalls | undefined) =>
  stalls === undefined ? {} : { psi: { full: psiData(stalls.full), some: psiData(stalls.some) } }

const psiData = ({ totalNs, avg10, avg60, avg300 }: StallTimes) => ({ total: totalNs, avg10, avg60, avg300 })

const ioOf = (pressure: Pressure | undefined, time: string) =>
  pressure?.io === undefined ? {} : { io: { time, ...psiOf(pressure.io) } }

function statsOf(usage: Readonly<Record<string, string>>, counters: Counted | undefined, now: Time) {
  const time = formatTime(now)
  const bytes = quantityToNumber(usage.memory ?? '0')
  return {
    cpu: {
      time,
      usageNanoCores: Math.round(quantityToNumber(usage.cpu ?? '0') * 1e9),
      ...(counters === undefined ? {} : { usageCoreNanoSeconds: Math.round(counters.cpuMs * 1e6) }),
      ...psiOf(counters?.pressure?.cpu),
    },
    memory: { time, usageBytes: bytes, workingSetBytes: bytes, ...psiOf(counters?.pressure?.memory) },
    ...ioOf(counters?.pressure, time),
  }
}
