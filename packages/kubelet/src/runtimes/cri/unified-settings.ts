import { readFile, stat, statfs } from 'node:fs/promises'
import type { KernelFiles } from './control-groups.ts'

/** What control groups of version 2 are told, by the names of their files: CRI's `unified`. */
export type UnifiedSettings = Readonly<Record<string, string>>

/** How statfs calls the file system of control groups, version 2. */
const cgroup2Magic = 0x63677270

/**
 * What the control groups of containers are told on this machine beside their resources, as by upstream's node agent: all of a container ends
 * with what the kernel kills for want of memory, and none of it is swapped (upstream's NoSwap). Nothing where control groups are not those of
 * version 2 alone.
 */
export async function unifiedSettings(): Promise<UnifiedSettings> {
  const controlGroups = '/sys/fs/cgroup'
  const found = await statfs(controlGroups).catch(() => undefined)
  return found?.type === cgroup2Magic ? settingsOf({ processes: '/proc', controlGroups }) : {}
}

/** The same where control groups are of version 2. The root of them says nothing of swap: that of this process does. */
export async function settingsOf({ processes, controlGroups }: KernelFiles): Promise<UnifiedSettings> {
  const groups = await readFile(`${processes}/self/cgroup`, 'utf8').catch(() => '')
  const path = /^0::(.+)$/m.exec(groups)?.[1] ?? ''
  const limitsSwap = await stat(`${controlGroups}${path}/memory.swap.max`).then(
    () => true,
    () => false,
  )
  return { 'memory.oom.group': '1', ...(limitsSwap ? { 'memory.swap.max': '0' } : {}) }
}
