import { readFile } from 'node:fs/promises'
import { release } from 'node:os'
import {
  type Container,
  type EmptyDirVolumeSource,
  type Pod,
  podLimits,
  quantityValue,
  wholeAmount,
} from '@coracle/api'
import type { Logger } from '@coracle/environment'
import { isMountPoint, problemOfMount } from '@coracle/environment/mounts'
import { VolumeSourceError } from './volume-files.ts'

/** CAP_SYS_ADMIN, as a bit. */
const systemAdministration = 1n << 21n

/** Of which it has been said that it has its volumes on disk. */
const told = new WeakSet<Logger>()

/** Has a directory be in memory, where this process may mount. What is there already stays as it is: the pod goes on with it. */
export async function ensureMemory(
  path: string,
  { sizeLimit }: EmptyDirVolumeSource,
  pod: Pod,
  { allocatable, logger }: { readonly allocatable: Readonly<Record<string, string>>; readonly logger?: Logger },
): Promise<void> {
  if (!(await canMount())) {
    if (logger === undefined || told.has(logger)) return
    told.add(logger)
    logger.warn('emptyDir volumes with medium Memory are on disk: to mount others takes root on Linux')
    return
  }
  if (await isMountPoint(path)) return
  try {
    await mountMemory(path, memorySize(pod, sizeLimit, allocatable.memory ?? '0'))
  } catch (error) {
    throw new VolumeSourceError(error instanceof Error ? error.message : String(error))
  }
}

/** Whether this process may mount file systems: root on Linux, where nobody has taken that right from it. */
export async function canMount(): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const rights = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'
  return (BigInt(`0x${rights}`) & systemAdministration) !== 0n
}

/**
 * The most bytes that an `emptyDir` in memory may hold: what it says, what the pod may use, or what the node has, whichever is least
 * (upstream's calculateEmptyDirMemorySize).
 */
export function memorySize(pod: Pod, sizeLimit: string | undefined, nodeMemory: string): number {
  const asked = sizeLimit === undefined ? 0 : quantityValue(sizeLimit)
  return Math.min(...[quantityValue(nodeMemory), memoryLimit(pod), asked].filter((size) => size > 0))
}

/** What a pod may use in bytes; 0 where it has no limit, and not all of its containers have one. */
function memoryLimit({ spec }: Pod): number {
  const isLimited = (each: Pick<Container, 'resources'>) => each.resources?.limits?.memory !== undefined
  if (!isLimited(spec) && ![...(spec.initContainers ?? []), ...spec.containers].every(isLimited)) return 0
  const limit = podLimits(spec).get('memory')
  return limit === undefined ? 0 : wholeAmount('memory', limit)
}

/** Mounts a file system in memory at a directory. Rejects with the words of the program `mount`. */
async function mountMemory(path: string, sizeBytes: number): Promise<void> {
  const size = Number.isFinite(sizeBytes) ? [`size=${sizeBytes}`] : []
  const options = [...size, 'mode=1777']
  // Not every kernel that is new enough lets everybody ask for that.
  if (hasNoswap() && (await mount(path, [...options, 'noswap'])) === undefined) return
  const problem = await mount(path, options)
  if (problem !== undefined) throw new Error(problem)
}

/** Since Linux 6.4. */
function hasNoswap(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 6 || (major === 6 && minor >= 4)
}

/** Undefined where it could be done, or else why not. */
async function mount(path: string, options: readonly string[]): Promise<string | undefined> {
  return problemOfMount('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', path])
}
