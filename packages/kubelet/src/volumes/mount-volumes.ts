import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { claimNamesOfPod, claimsOfPod, type Pod, type Volume } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Logger } from '@coracle/environment'
import type { ClaimedDevices } from '../devices/claimed-devices.ts'
import type { CountMount } from '../metrics/agent-metrics.ts'
import { podUidOf } from '../pod/pod-name.ts'
import { prepareDevices } from './claimed-devices.ts'
import {
  broughtByDriver,
  type MountedVolume,
  type MountedVolumes,
  mountClaims,
  uncounted,
  VolumesNotReadyError,
} from './claimed-volumes.ts'
import { directoryOnNode } from './directory-on-node.ts'
import type { VolumeDrivers } from './volume-drivers.ts'
import { type FileSources, isMadeOfFiles, VolumeSourceError, volumeFiles } from './volume-files.ts'
import { writeFiles } from './write-files.ts'

/** Whether a pod has volumes that are to be made, or claims that something else in the API has to be there for. */
export const needsVolumes = ({ spec }: Pod): boolean =>
  (spec.volumes !== undefined && spec.volumes.length > 0) ||
  (spec.resourceClaims !== undefined && spec.resourceClaims.length > 0)

/** What volumes are made of, and where. */
export interface VolumeParts extends Omit<FileSources, 'pod'> {
  readonly client: Client
  /** Whether containers are real, and volumes have to be. */
  readonly isReal: boolean
  /** Whether what is in them is to belong to whom the pod says: containers run as others than this process. */
  readonly hasOwners?: boolean
  /** Where those are made that live as long as their pod, below a directory for each. Absent: they are not made. */
  readonly directory?: string
  /** Carries out and counts what brings a volume to the node. Absent: nothing is counted. */
  readonly countMount?: CountMount
  /** Absent: no driver brings any. */
  readonly drivers?: VolumeDrivers
  /** Absent: no driver prepares devices. */
  readonly claimedDevices?: ClaimedDevices
  /** Told once where volumes are to be in memory and are on disk. */
  readonly logger?: Logger
}

/**
 * Brings the volumes of a pod to its node: claims as `mountClaims` finds them, directories of the node, empty ones, and files made of
 * other objects. Kinds of volumes that a node would need a driver for are left out. Rejects with a `VolumesNotReadyError` while
 * something is missing: until it is there no container starts. Where containers are not real all that is named has to be there
 * as well, and nothing is made. Where all are `present` files are brought up to date, and the others are the containers' business.
 */
export async function mountVolumes(pod: Pod, parts: VolumeParts, present?: MountedVolumes): Promise<MountedVolumes> {
  if (present === undefined && claimNamesOfPod(pod).length > 0) await prepareDevices(pod, parts)
  const { client, isReal, countMount = uncounted, drivers } = parts
  const hasClaims = present === undefined && claimsOfPod(pod).length > 0
  const mounted = new Map(hasClaims ? await mountClaims(pod, client, isReal, countMount, drivers) : present)
  for (const volume of pod.spec.volumes ?? []) {
    if (present !== undefined && !isMadeOfFiles(volume)) continue
    try {
      const made = isMadeHere(volume, parts)
        ? await countMount(volume, () => madeVolume(volume, pod, parts))
        : undefined
      if (made !== undefined) mounted.set(volume.name, made)
      const found = volume.hostPath === undefined ? mounted.get(volume.name) : undefined
      if (parts.hasOwners === true && found !== undefined && found.keepsGroup !== true)
        await giveOrRefuse(volume, found, pod)
    } catch (error) {
      if (!(error instanceof VolumeSourceError || isOfSystem(error))) throw error
      throw new VolumesNotReadyError(
        `MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${error.message}`,
      )
    }
  }
  return mounted
}

/** Whether the system has refused something, such as for want of room. */
const isOfSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && 'code' in error

/** Many file systems that drivers bring do not let everybody give files away. */
export async function giveOrRefuse({ name }: Volume, found: MountedVolume, pod: Pod): Promise<void> {
  if (pod.spec.securityContext?.fsGroup === undefined) return
  const { giveToGroup } = await import('./volume-group.ts')
  await giveToGroup(found, pod).catch((error: Error) => {
    throw new VolumeSourceError(`applyFSGroup failed for vol ${name}: ${error.message}`)
  })
}

/** Removes what `mountVolumes` has made for a pod. Rejects where something is mounted there and stays: what it holds may be another's. */
export async function unmountVolumes(
  podUid: string,
  { directory }: Pick<VolumeParts, 'directory'>,
  drivers?: VolumeDrivers,
): Promise<void> {
  if (directory === undefined) return
  await releaseVolumes(directory, podUid, drivers)
  await rm(join(directory, podUid), { recursive: true, force: true })
}

/** Takes away what is of use to nobody when a pod has ended: its volumes of drivers, and those in memory. */
export async function releaseVolumes(directory: string, podUid: string, drivers?: VolumeDrivers): Promise<void> {
  try {
    await drivers?.unmount(podUid)
  } catch (error) {
    throw new VolumesNotReadyError(error instanceof Error ? error.message : String(error))
  }
  await freeMemory(directory, podUid)
}

/** Gives back the memory that volumes of pods take; what is in them is lost. What does that is loaded where something is mounted. */
export async function freeMemory(directory: string, ...podUids: readonly string[]): Promise<void> {
  const mounted = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const taking = podUids.filter((uid) => mounted.includes(`/${uid}/`))
  if (taking.length === 0) return
  const { unmountBelow } = await import('@coracle/environment/mounts')
  for (const uid of taking) await unmountBelow(join(directory, uid))
}

/** Removes what was made for pods that are gone since an earlier life of the node. Gives why something has to stay for now. */
export async function removeOtherVolumes(
  directory: string,
  isKnown: (podUid: string) => boolean,
  drivers?: VolumeDrivers,
): Promise<readonly unknown[]> {
  const uids = (await readdir(directory).catch(() => [])).filter((uid) => !isKnown(uid))
  const removed = await Promise.allSettled(uids.map((uid) => unmountVolumes(uid, { directory }, drivers)))
  return removed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
}

const isMadeHere = (volume: Volume, { drivers }: VolumeParts): boolean =>
  (volume.emptyDir ?? volume.hostPath ?? (drivers && volume.csi)) !== undefined || isMadeOfFiles(volume)

/** Volumes of drivers are below this in the directory of their pod, as upstream: another's is beside it. */
const directoryOf = (name: string): string => (name === 'volumes' ? `${name}_` : name)

async function madeVolume(
  volume: Volume,
  pod: Pod,
  { directory, isReal, hasOwners = false, drivers, ...sources }: VolumeParts,
): Promise<MountedVolume | undefined> {
  const { emptyDir, hostPath } = volume
  const files = isMadeOfFiles(volume) ? await volumeFiles(volume, { pod, ...sources }) : undefined
  if (!isReal) return undefined
  if (hostPath !== undefined) return { path: await directoryOnNode(hostPath), readOnly: false }
  if (drivers !== undefined && volume.csi !== undefined) return broughtByDriver(drivers, pod, volume)
  if (directory === undefined) return undefined
  const own = join(directory, podUidOf(pod))
  // Closed to others of the host whatever the modes of what is in it; a runtime that runs containers as others opens it to these.
  await mkdir(own, { recursive: true, mode: 0o700 })
  const path = join(own, directoryOf(volume.name))
  if (files !== undefined) {
    await writeFiles(path, files, { hasOwners, group: pod.spec.securityContext?.fsGroup })
    return { path, readOnly: true }
  }
  if (emptyDir === undefined) return undefined
  await mkdir(path, { recursive: true })
  if (emptyDir.medium === 'Memory')
    await (await import('./memory-volume.ts')).ensureMemory(path, emptyDir, pod, sources)
  // What a new directory may be is cut down by the umask of this process. Its group, and that of a file system in memory, keep what else they have.
  if (((await stat(path)).mode & 0o777) !== 0o777) await chmod(path, 0o777)
  return { path, readOnly: false }
}
