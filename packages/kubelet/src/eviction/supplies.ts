import { readFile, statfs } from 'node:fs/promises'
import type { Supply } from './plan-eviction.ts'
import type { EvictionSignal } from './thresholds.ts'

/** What is left of the memory of this host, and of the disks that these paths are on. What cannot be found out is left out. */
export async function observeSupplies(
  directory: string,
  imagesPath: string | undefined,
): Promise<ReadonlyMap<EvictionSignal, Supply>> {
  const found = new Map<EvictionSignal, Supply>()
  const memory = parseMemory(await readFile('/proc/meminfo', 'utf8').catch(() => ''))
  if (memory !== undefined) found.set('memory.available', memory)
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

/** What is no working set: free memory, and files that were not read lately, as upstream counts the memory of a node. */
export function parseMemory(meminfo: string): Supply | undefined {
  const bytesOf = (name: string): number => {
    const [, kibibytes] = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(meminfo) ?? []
    return Number(kibibytes) * 1024
  }
  const [capacity, available] = [bytesOf('MemTotal'), bytesOf('MemFree') + bytesOf('Inactive\\(file\\)')]
  return Number.isFinite(capacity) && Number.isFinite(available) ? { available, capacity } : undefined
}
