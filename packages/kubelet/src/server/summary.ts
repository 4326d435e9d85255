import { readFile } from 'node:fs/promises'
import {
  finderOf,
  formatTime,
  type Node,
  type NodeMetrics,
  type Pod,
  type PodMetrics,
  quantityToNumber,
  quantityValue,
} from '@coracle/api'
import type { Time } from '@coracle/environment'
import type { Supply } from '../eviction/plan-eviction.ts'
import { observeTasks } from '../eviction/supplies.ts'
import { withResourcesOfStatus } from '../pod/given-resources.ts'
import type {
  ContainerStats,
  InterfaceStats,
  PodSandboxStats,
  Pressure,
  Stalls,
  StallTimes,
} from '../runtimes/runtime.ts'
import type { Counters } from '../usage/host-counters.ts'
import { type Exchange, sendJson } from './exchange.ts'
import { Refusal } from './refusal.ts'
import type { ServedNode } from './served-node.ts'
import type { CountedContainer } from './usage-counters.ts'

/**
 * `/stats/summary` (upstream's stats/v1alpha1 Summary): what the node, its pods and their containers use of CPU, memory, swap and networks, what
 * containers have written beside volumes, how many processes there are, and what tasks have waited for. What is not told is left out, and so are
 * the file systems of the node and of volumes.
 */
export async function statsSummary(exchange: Exchange): Promise<void> {
  const { node, parts, environment } = exchange
  if (parts[1] !== 'summary' || parts.length > 2) throw new Refusal(404, `404: Page Not Found: ${exchange.path}`)
  const pods = node.pods()
  const named = { metadata: { name: node.nodeName } } as Node
  const [podUsage, nodeUsage, counted, sandboxes, host] = await Promise.all([
    node.usage.podMetrics(pods),
    node.usage.nodeMetrics(named, pods),
    exchange.counters.read(node),
    statsOfSandboxes(node),
    node.runtime.runsProcesses ? hostStats() : {},
  ])
  const now = environment.clock.now()
  const podOf = finderOf(pods, ({ metadata }) => `${metadata.namespace}/${metadata.name}`)
  const countedOf = Map.groupBy(counted.containers, ({ pod }) => pod)
  const summary = {
    node: { nodeName: node.nodeName, ...nodeStats(node, nodeUsage, { ...counted.host, ...host }, now) },
    pods: podUsage.flatMap((usage) => {
      const pod = podOf(`${usage.metadata.namespace}/${usage.metadata.name}`)
      const whole = sandboxes.get(pod?.metadata.uid ?? '') ?? {}
      return pod === undefined ? [] : [podStats(pod, usage, countedOf.get(pod) ?? [], whole, now)]
    }),
  }
  sendJson(exchange, exchange.query.get('only_cpu_and_memory') === 'true' ? withCpuAndMemoryOnly(summary) : summary)
}

interface Summary {
  readonly node: object
  readonly pods: readonly { readonly containers: readonly object[] }[]
}

/** For those who ask for no more, as metrics-server once did. */
const withCpuAndMemoryOnly = ({ node, pods }: Summary) => ({
  node: cpuAndMemoryOf(node),
  pods: pods.map((pod) => ({ ...cpuAndMemoryOf(pod), containers: pod.containers.map(cpuAndMemoryOf) })),
})

const asked: ReadonlySet<string> = new Set(['nodeName', 'podRef', 'name', 'startTime', 'cpu', 'memory', 'swap'])

const cpuAndMemoryOf = (stats: object) => Object.fromEntries(Object.entries(stats).filter(([key]) => asked.has(key)))

/** What is told of pods as a whole, by uid: not all of it follows from what is told of their containers. */
async function statsOfSandboxes({ runtime }: ServedNode): Promise<ReadonlyMap<string, PodSandboxStats>> {
  const stats = (await runtime.podSandboxStats?.()) ?? new Map<string, PodSandboxStats>()
  if (stats.size === 0) return new Map()
  const ready = (await runtime.listPodSandboxes()).filter((sandbox) => sandbox.ready)
  return new Map(ready.flatMap(({ id, podUid }) => [[podUid, stats.get(id)] as const].filter(isTold)))
}

const isTold = <K, V>(entry: readonly [K, V | undefined]): entry is readonly [K, V] => entry[1] !== undefined

interface HostStats {
  readonly memoryRssBytes?: number
  readonly tasks?: Supply
}

/** What only the kernel of this host tells. */
async function hostStats(): Promise<HostStats> {
  const tasks = await observeTasks()
  const meminfo = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const anonymous = /^AnonPages:\s*(\d+) kB$/m.exec(meminfo)?.[1]
  return {
    ...(anonymous === undefined ? {} : { memoryRssBytes: Number(anonymous) * 1024 }),
    ...(tasks === undefined ? {} : { tasks }),
  }
}

function nodeStats({ facts }: ServedNode, usage: NodeMetrics | undefined, host: Counted & HostStats, now: Time) {
  const { tasks } = host
  const rlimit = tasks && { time: formatTime(now), maxpid: tasks.capacity, curproc: tasks.capacity - tasks.available }
  return {
    ...(usage === undefined ? {} : statsOf(usage.usage ?? {}, host, now, quantityValue(facts.capacity.memory ?? '0'))),
    ...(rlimit === undefined ? {} : { rlimit }),
  }
}

function podStats(
  pod: Pod,
  { containers = [] }: PodMetrics,
  counted: readonly CountedContainer[],
  { pressure, processes, interfaces }: PodSandboxStats,
  now: Time,
) {
  const { name, namespace, uid } = pod.metadata
  const limitOf = memoryLimits(pod)
  const countedAs = finderOf(counted, ({ run }) => run.name)
  const stats = containers.map((container) => {
    const found = countedAs(container.name)
    const started = found?.run.startedAtMs === undefined ? {} : { startTime: formatTime(found.run.startedAtMs) }
    const used = statsOf(container.usage ?? {}, found?.stats, now, limitOf(container.name))
    return { name: container.name, ...started, ...used, ...rootfsOf(found?.stats.writableLayer, now) }
  })
  type Stats = (typeof stats)[number]
  const sum = (value: (each: Stats) => number) => stats.reduce((total, each) => total + value(each), 0)
  /** Of all containers, where it is told of each. */
  const whole = <K extends string>(key: K, value: (each: Stats) => number | undefined) =>
    stats.some((each) => value(each) === undefined) ? {} : { [key]: sum((each) => value(each) ?? 0) }
  const time = formatTime(now)
  const swap = whole('swapUsageBytes', (each) => each.swap?.swapUsageBytes)
  const count = processes ?? totalOf(counted.map((each) => each.stats.processes))
  return {
    podRef: { name, namespace, uid },
    startTime: pod.status?.startTime ?? null,
    containers: stats,
    cpu: { time, usageNanoCores: sum(({ cpu }) => cpu.usageNanoCores), ...psiOf(pressure?.cpu) },
    memory: {
      time,
      ...whole('availableBytes', ({ memory }) => memory.availableBytes),
      usageBytes: sum(({ memory }) => memory.usageBytes),
      workingSetBytes: sum(({ memory }) => memory.workingSetBytes),
      ...whole('rssBytes', ({ memory }) => memory.rssBytes),
      ...whole('pageFaults', ({ memory }) => memory.pageFaults),
      ...whole('majorPageFaults', ({ memory }) => memory.majorPageFaults),
      ...psiOf(pressure?.memory),
    },
    ...ioOf(pressure, time),
    ...(interfaces === undefined ? {} : { network: networkOf(interfaces, time) }),
    ...(count === undefined ? {} : { process_stats: { process_count: count } }),
    ...(Object.keys(swap).length === 0 ? {} : { swap: { time, ...swap } }),
  }
}

/** The most memory that each container of a pod may use, where it may not use all: its own limit, or else that of its pod. */
function memoryLimits(pod: Pod): (container: string) => number {
  const { containers, initContainers = [], resources } = withResourcesOfStatus(pod).spec
  const limitOf = (limits: Readonly<Record<string, string>> | undefined) => quantityValue(limits?.memory ?? '0')
  const found = finderOf([...containers, ...initContainers], ({ name }) => name)
  return (name) => limitOf(found(name)?.resources?.limits) || limitOf(resources?.limits)
}

/** Undefined where one of them is. */
const totalOf = (counts: readonly (number | undefined)[]): number | undefined =>
  counts.length === 0 ? undefined : counts.reduce((total, each) => each && total && total + each)

function rootfsOf(layer: ContainerStats['writableLayer'], now: Time) {
  if (layer === undefined) return {}
  const { usedBytes, inodesUsed } = layer
  return { rootfs: { time: formatTime(now), usedBytes, ...(inodesUsed === undefined ? {} : { inodesUsed }) } }
}

/** The first interface is the pod's own way out. */
function networkOf(interfaces: readonly InterfaceStats[], time: string) {
  const all = interfaces.map(({ name, received, sent }) => ({
    name,
    rxBytes: received.bytes,
    rxErrors: received.errors,
    txBytes: sent.bytes,
    txErrors: sent.errors,
  }))
  return { time, ...all[0], interfaces: all }
}

type Counted = Counters & Partial<ContainerStats>

const psiOf = (stalls: Stalls | undefined) =>
  stalls === undefined ? {} : { psi: { full: psiData(stalls.full), some: psiData(stalls.some) } }

const psiData = ({ totalNs, avg10, avg60, avg300 }: StallTimes) => ({ total: totalNs, avg10, avg60, avg300 })

const ioOf = (pressure: Pressure | undefined, time: string) =>
  pressure?.io === undefined ? {} : { io: { time, ...psiOf(pressure.io) } }

/** `memoryMax`: the most memory that there is for it; 0 where nothing limits it. */
function statsOf(usage: Readonly<Record<string, string>>, counters: Counted | undefined, now: Time, memoryMax: number) {
  const time = formatTime(now)
  const bytes = quantityToNumber(usage.memory ?? '0')
  const { memoryUsageBytes = bytes, memoryRssBytes, memorySwapBytes, pageFaults, majorPageFaults } = counters ?? {}
  const available = memoryMax === 0 ? {} : { availableBytes: Math.max(0, memoryMax - bytes) }
  return {
    cpu: {
      time,
      usageNanoCores: Math.round(quantityToNumber(usage.cpu ?? '0') * 1e9),
      ...(counters === undefined ? {} : { usageCoreNanoSeconds: Math.round(counters.cpuMs * 1e6) }),
      ...psiOf(counters?.pressure?.cpu),
    },
    memory: {
      time,
      ...available,
      usageBytes: memoryUsageBytes,
      workingSetBytes: bytes,
      ...(memoryRssBytes === undefined ? {} : { rssBytes: memoryRssBytes }),
      ...(pageFaults === undefined ? {} : { pageFaults }),
      ...(majorPageFaults === undefined ? {} : { majorPageFaults }),
      ...psiOf(counters?.pressure?.memory),
    },
    ...ioOf(counters?.pressure, time),
    ...(memorySwapBytes === undefined ? {} : { swap: { time, swapUsageBytes: memorySwapBytes } }),
  }
}
