import { readFile, statfs } from 'node:fs/promises'
import type { Supply } from './plan-eviction.ts'
import type { EvictionSignal } from './thresholds.ts'

/** What is left of the memory and the tasks of this host, and of the disks that these paths are on. What cannot be found out is left out. */
export async function observeSupplies(
  directory: string,
  imagesPath: string | undefined,
): Promise<ReadonlyMap<EvictionSignal, Supply>> {
  const found = new Map<EvictionSignal, Supply>()
  const memory = parseMemory(await textOf('/proc/meminfo'))
  if (memory !== undefined) found.set('memory.available', memory)
  const tasks = await observeTasks()
  if (tasks !== undefined) found.set('pid.available', tasks)
  for (const [name, path] of [['nodefs', directory] as const, ['imagefs', imagesPath] as const]) {
    const disk = path === undefined ? undefined : await statfs(path).catch(() => undefined)
    if (disk === undefined) continue
    const { bavail, blocks, bsize, ffree, files } = disk
    found.set(`${name}.available`, { available: bavail * bsize, capacity: blocks * bsize })
    // Some file systems have as many as they need, and say 0.
    if (files > 0) found.set(`${name}.inodesFree`, { available: ffree, capacity: files })
  }
  return found
}

/** How many more tasks the kernel of this host would begin; undefined where it does not tell. */
export async function observeTasks(): Promise<Supply | undefined> {
  const limits = ['kernel/pid_max', 'kernel/threads-max'].map((name) => textOf(`/proc/sys/${name}`))
  return parseTasks(await textOf('/proc/loadavg'), await Promise.all(limits))
}

const textOf = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/**
 * How many more tasks the kernel would begin. `loadavg`: `/proc/loadavg`, whose fourth field has how many there are; `limits`: how many there may
 * be, of which the least counts (upstream's pidlimit).
 */
export function parseTasks(loadavg: string, limits: readonly string[]): Supply | undefined {
  const tasks = /^(?:\S+ ){3}\d+\/(\d+) \d+\s*$/.exec(loadavg)?.[1]
  const known = limits.map((text) => text.trim()).filter((text) => /^\d+$/.test(text))
  if (tasks === undefined || known.length === 0) return undefined
  const capacity = Math.min(...known.map(Number))
  return { available: capacity - Number(tasks), capacity }
}

/** What is no working set: free memory, and files that were not read lately, as upstream counts the memory of a node. */
export function parseMemory(meminfo: string): Supply | undefined {
  const bytesOf = (name: string): number => {
    const [, kibibytes] = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(meminfo) ?? []
    return Number(kibibytes) * 1024
  }
  const [capacity, available] = [bytesOf('MemTotal'), bytesOf('MemFree') + bytesOf('Inactive\\(file\\)')]
  return Number.isFinite(capacity) && Number.isFinite(available) ? { available, capacity } : undefined
}
