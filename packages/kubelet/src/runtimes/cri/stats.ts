import type { Decoded } from '@coracle/environment/grpc'
import type { ContainerStats, InterfaceStats, PodSandboxStats, StallTimes } from '../runtime.ts'
import type { containerStats, interfaceUsage, podSandboxStats, psiStats } from './messages.ts'

const nanosPerMs = 1_000_000

type CriContainerStats = Decoded<typeof containerStats>

/** What a container uses; undefined where the runtime does not tell its CPU time and memory. */
export function containerStatsOf({
  cpu,
  memory,
  writableLayer,
  swap,
  io,
}: CriContainerStats): ContainerStats | undefined {
  if (cpu === undefined || memory === undefined) return undefined
  const { swapUsageBytes } = swap ?? {}
  return {
    ...withoutAbsent(usageOf({ cpu, memory })),
    cpuMs: (cpu.usageCoreNanoSeconds?.value ?? 0) / nanosPerMs,
    memoryBytes: memory.workingSetBytes?.value ?? 0,
    ...(swapUsageBytes === undefined ? {} : { memorySwapBytes: swapUsageBytes.value }),
    ...pressureOf({ cpu, memory, io }),
    ...(writableLayer?.usedBytes === undefined
      ? {}
      : {
          writableLayer: {
            mountpoint: writableLayer.fsId?.mountpoint ?? '',
            usedBytes: writableLayer.usedBytes.value,
            ...(writableLayer.inodesUsed === undefined ? {} : { inodesUsed: writableLayer.inodesUsed.value }),
          },
        }),
  }
}

/** What a sandbox uses. */
export function podSandboxStatsOf({ linux }: Decoded<typeof podSandboxStats>): PodSandboxStats {
  const { cpu, memory, network, process, io } = linux ?? {}
  const { defaultInterface, interfaces = [] } = network ?? {}
  const others = interfaces.filter(({ name }) => name !== defaultInterface?.name)
  return {
    ...withoutAbsent({ ...usageOf({ cpu, memory }), processes: process?.processCount?.value }),
    ...pressureOf({ cpu, memory, io }),
    ...(network === undefined
      ? {}
      : { interfaces: [...(defaultInterface === undefined ? [] : [defaultInterface]), ...others].map(interfaceOf) }),
  }
}

/** What tasks have waited for, as far as the runtime tells it. */
function pressureOf(usage: Pick<CriContainerStats, 'cpu' | 'memory' | 'io'>): Pick<ContainerStats, 'pressure'> {
  const told = Object.entries(usage).flatMap(([resource, each]) =>
    each?.psi === undefined ? [] : [[resource, { some: stallsOf(each.psi.some), full: stallsOf(each.psi.full) }]],
  )
  return told.length === 0 ? {} : { pressure: Object.fromEntries(told) }
}

function stallsOf(data: Decoded<typeof psiStats>['some']): StallTimes {
  const { total = 0, avg10 = 0, avg60 = 0, avg300 = 0 } = data ?? {}
  return { totalNs: total, avg10, avg60, avg300 }
}

const usageOf = ({ cpu, memory }: Pick<CriContainerStats, 'cpu' | 'memory'>) => ({
  cpuMs: cpu?.usageCoreNanoSeconds && cpu.usageCoreNanoSeconds.value / nanosPerMs,
  memoryBytes: memory?.workingSetBytes?.value,
  memoryUsageBytes: memory?.usageBytes?.value,
  memoryRssBytes: memory?.rssBytes?.value,
  pageFaults: memory?.pageFaults?.value,
  majorPageFaults: memory?.majorPageFaults?.value,
})

function interfaceOf({ name, rxBytes, rxErrors, txBytes, txErrors }: Decoded<typeof interfaceUsage>): InterfaceStats {
  return {
    name,
    received: { bytes: rxBytes?.value ?? 0, errors: rxErrors?.value ?? 0 },
    sent: { bytes: txBytes?.value ?? 0, errors: txErrors?.value ?? 0 },
  }
}

/** The fields that have a value. */
function withoutAbsent<T extends Readonly<Record<string, number | undefined>>>(
  fields: T,
): { readonly [K in keyof T]?: number } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof T]?: number
  }
}
