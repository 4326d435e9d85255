import { readFile } from 'node:fs/promises'
import { readPressure } from '../../usage/pressure.ts'
import type { ContainerStats, DiskStats } from '../runtime.ts'
import type { CriCalls } from './calls.ts'

/** What control groups count of a container that no runtime tells. */
export type ControlGroupStats = Pick<
  ContainerStats,
  | 'memoryCacheBytes'
  | 'memoryMappedBytes'
  | 'memoryActiveFileBytes'
  | 'memoryInactiveFileBytes'
  | 'memoryKernelBytes'
  | 'memoryPeakBytes'
  | 'memoryLimitHits'
  | 'pageFaults'
  | 'majorPageFaults'
  | 'oomKills'
  | 'cpuPeriods'
  | 'cpuThrottledPeriods'
  | 'cpuThrottledMs'
  | 'pressure'
  | 'disks'
>

/** Where the kernel shows what it has counted. */
export interface KernelFiles {
  readonly processes: string
  readonly controlGroups: string
}

const thisKernel: KernelFiles = { processes: '/proc', controlGroups: '/sys/fs/cgroup' }

/**
 * What the control groups of containers have counted, where they are those of this machine's kernel, in version 2. Runtimes tell the process of
 * a container to those who want to know all.
 */
export class ControlGroups {
  readonly #calls: Pick<CriCalls, 'containerStatus'>
  readonly #files: KernelFiles
  /** Of containers, as long as they are there; undefined where it is not told. */
  readonly #pids = new Map<string, number | undefined>()

  constructor(calls: Pick<CriCalls, 'containerStatus'>, files = thisKernel) {
    this.#calls = calls
    this.#files = files
  }

  /** What is not told is absent. */
  async statsOf(containerId: string): Promise<ControlGroupStats> {
    try {
      const pid = await this.#pidOf(containerId)
      if (pid === undefined) return {}
      const path = /^0::(.+)$/m.exec(await readFile(`${this.#files.processes}/${pid}/cgroup`, 'utf8'))?.[1]
      // The number is that of another process where the runtime is elsewhere, or the container has just ended.
      if (path?.includes(containerId) !== true) return {}
      const directory = this.#files.controlGroups + path
      const read = (name: string) => readFile(`${directory}/${name}`, 'utf8').catch(() => '')
      const pressure = await readPressure((resource) => `${directory}/${resource}.pressure`)
      const disks = diskStats(await read('io.stat'))
      return {
        ...controlGroupStats(await read('cpu.stat'), await read('memory.stat'), await read('memory.events')),
        ...peakOf(await read('memory.peak')),
        ...(pressure === undefined ? {} : { pressure }),
        ...(disks.length === 0 ? {} : { disks }),
      }
    } catch {
      return {}
    }
  }

  forget(containerId: string): void {
    this.#pids.delete(containerId)
  }

  async #pidOf(containerId: string): Promise<number | undefined> {
    if (this.#pids.has(containerId)) return this.#pids.get(containerId)
    const { info } = await this.#calls.containerStatus({ containerId, verbose: true })
    const { pid }: { readonly pid?: unknown } = JSON.parse(info?.info ?? '{}')
    const known = typeof pid === 'number' && pid > 1 ? pid : undefined
    this.#pids.set(containerId, known)
    return known
  }
}

/** Of `cpu.stat`, `memory.stat` and `memory.events` of a control group (kernel.org, cgroup-v2). */
export function controlGroupStats(cpu: string, memory: string, events: string): ControlGroupStats {
  const [ofCpu, ofMemory, ofEvents] = [countsIn(cpu), countsIn(memory), countsIn(events)]
  const throttledMicros = ofCpu.get('throttled_usec')
  const found = {
    memoryCacheBytes: ofMemory.get('file'),
    memoryMappedBytes: ofMemory.get('file_mapped'),
    memoryActiveFileBytes: ofMemory.get('active_file'),
    memoryInactiveFileBytes: ofMemory.get('inactive_file'),
    memoryKernelBytes: ofMemory.get('kernel'),
    memoryLimitHits: ofEvents.get('max'),
    pageFaults: ofMemory.get('pgfault'),
    majorPageFaults: ofMemory.get('pgmajfault'),
    oomKills: ofEvents.get('oom_kill'),
    cpuPeriods: ofCpu.get('nr_periods'),
    cpuThrottledPeriods: ofCpu.get('nr_throttled'),
    cpuThrottledMs: throttledMicros === undefined ? undefined : throttledMicros / 1000,
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** Of `memory.peak`, which older kernels do not have. */
function peakOf(text: string): Pick<ControlGroupStats, 'memoryPeakBytes'> {
  return /^\d+\n$/.test(text) ? { memoryPeakBytes: Number(text) } : {}
}

/** Of `io.stat`: a disk in each line, with what is counted of it. */
export function diskStats(text: string): readonly DiskStats[] {
  return [...text.matchAll(/^(\d+:\d+) (.+)$/gm)].map(([, device = '', counts = '']) => {
    const found = new Map(counts.split(' ').map((each) => [each.split('=')[0], Number(each.split('=')[1])]))
    const count = (name: string): number => found.get(name) ?? 0
    return {
      device,
      readBytes: count('rbytes'),
      writtenBytes: count('wbytes'),
      reads: count('rios'),
      writes: count('wios'),
    }
  })
}

/** The lines of a file of the kernel that has a name and a number in each. */
const countsIn = (text: string): ReadonlyMap<string, number> =>
  new Map([...text.matchAll(/^(\w+) (\d+)$/gm)].map(([, name = '', count]) => [name, Number(count)]))
