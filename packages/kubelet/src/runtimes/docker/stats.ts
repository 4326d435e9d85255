import type { CriAnswer } from '../cri/calls.ts'
import type { StatsAnswer } from './answers.ts'

/** What an engine tells of a container that it knows by this id. */
export interface OwnStats {
  readonly id: string
  readonly answer: StatsAnswer
}

type ContainerUsage = NonNullable<CriAnswer<'listContainerStats'>['stats']>[number]
type SandboxUsage = NonNullable<CriAnswer<'listPodSandboxStats'>['stats']>[number]

/** What a container uses. Of one that has just ended nothing is known. */
export function containerUsage({ id, answer: { cpu_stats, memory_stats } }: OwnStats): ContainerUsage {
  const { stats } = memory_stats ?? {}
  const usage = memory_stats?.usage ?? 0
  const inactive = stats?.total_inactive_file ?? stats?.inactive_file ?? 0
  const rss = stats?.total_rss ?? stats?.anon
  const cpu = cpu_stats?.cpu_usage?.total_usage
  if (cpu === undefined || cpu === null || usage === 0) return { attributes: { id } }
  return {
    attributes: { id },
    cpu: { usageCoreNanoSeconds: { value: cpu } },
    memory: {
      workingSetBytes: { value: Math.max(0, usage - inactive) },
      usageBytes: { value: usage },
      ...(rss === undefined ? {} : { rssBytes: { value: rss } }),
    },
  }
}

/** What has gone through the network of a sandbox. Its containers are no part of what the engine counts for it. */
export function sandboxUsage({ id, answer: { networks } }: OwnStats): SandboxUsage {
  if (networks === undefined || networks === null) return { attributes: { id } }
  const interfaces = Object.entries(networks).map(([name, counted]) => ({
    name,
    rxBytes: { value: counted?.rx_bytes ?? 0 },
    rxErrors: { value: counted?.rx_errors ?? 0 },
    txBytes: { value: counted?.tx_bytes ?? 0 },
    txErrors: { value: counted?.tx_errors ?? 0 },
  }))
  return { attributes: { id }, linux: { network: { interfaces } } }
}
