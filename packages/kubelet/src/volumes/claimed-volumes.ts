import { mkdir, stat } from 'node:fs/promises'
import {
  claimNameOf,
  hasReason,
  isClaimedBy,
  type KubernetesObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodStatus,
  persistentVolumeClaims,
  persistentVolumes,
  type Resource,
  type Volume,
  volumeAnnotations,
  whyNotMadeFor,
} from '@coracle/api'
import type { Client, ObjectKey } from '@coracle/client'
import type { CountMount } from '../metrics/agent-metrics.ts'
import type { VolumeDrivers } from './volume-drivers.ts'

/** Where a volume of a pod is on its node. */
export interface MountedVolume {
  readonly path: string
  /** For all containers of the pod, whatever their mounts say. */
  readonly readOnly: boolean
  /** Whether what is in it stays whose it is, whatever group the pod names. */
  readonly keepsGroup?: boolean
  /** The driver that has brought it, where one has. */
  readonly driver?: string
}

/** The volumes of a pod that are on its node, by the names that the pod gives them. */
export type MountedVolumes = ReadonlyMap<string, MountedVolume>

/** A volume of a pod that it has by a claim. */
export interface ClaimedVolume {
  readonly namespace: string
  readonly claimName: string
  readonly path: string
}

/** Those of a pod. */
export function claimedVolumes(pod: Pod, mounted: MountedVolumes): readonly ClaimedVolume[] {
  const { namespace = '' } = pod.metadata
  return (pod.spec.volumes ?? []).flatMap((volume) => {
    const [claimName, path] = [claimNameOf(pod, volume), mounted.get(volume.name)?.path]
    return claimName === undefined || path === undefined ? [] : [{ namespace, claimName, path }]
  })
}

/** Carries out what brings a volume to its node, and no more. */
export const uncounted: CountMount = (_, mount) => mount()

/** Volumes of a pod, or devices, are not there yet; the message says which, and why, as upstream's kubelet does. */
export class VolumesNotReadyError extends Error {
  override readonly name = 'VolumesNotReadyError'
  /** The reason of the event that tells it. */
  readonly reason: 'FailedMount' | 'FailedPrepareDynamicResources'
  /** Whether that is as it should be for a while yet, and no event tells it. */
  readonly isWaiting: boolean
  /** The reason for which the node does not take the pod on; undefined: they are waited for. */
  readonly refusal: string | undefined

  constructor(
    message: string,
    reason: VolumesNotReadyError['reason'] = 'FailedMount',
    { isWaiting = false, refusal }: { readonly isWaiting?: boolean; readonly refusal?: string | undefined } = {},
  ) {
    super(message)
    this.reason = reason
    this.isWaiting = isWaiting
    this.refusal = refusal
  }
}

/**
 * Finds the volumes that a pod gets by claims. Where containers are not real nothing is mounted, but the claims have to be bound all
 * the same. Rejects with a `VolumesNotReadyError` where one is missing.
 */
export async function mountClaims(
  pod: Pod,
  client: Client,
  isReal: boolean,
  countMount: CountMount = uncounted,
  drivers?: VolumeDrivers,
): Promise<MountedVolumes> {
  const mounted = new Map<string, MountedVolume>()
  const failed: string[] = []
  const problems: string[] = []
  for (const volume of pod.spec.volumes ?? []) {
    const claimName = claimNameOf(pod, volume)
    if (claimName === undefined) continue
    try {
      const found = await boundVolume(pod, volume, claimName, client)
      if (!isReal) continue
      if (drivers !== undefined && found.spec?.csi !== undefined) {
        mounted.set(volume.name, await countMount(volume, () => broughtByDriver(drivers, pod, volume, found)))
        continue
      }
      const path = await countMount(volume, () => directoryOf(found))
      mounted.set(volume.name, { path, readOnly: volume.persistentVolumeClaim?.readOnly === true })
    } catch (error) {
      if (!(error instanceof VolumeProblem)) throw error
      failed.push(volume.name)
      problems.push(error.message)
    }
  }
  if (failed.length === 0) return mounted
  const names = failed.join(' ')
  throw new VolumesNotReadyError(
    `Unable to attach or mount volumes: unmounted volumes=[${names}], unattached volumes=[], failed to process volumes=[${names}]: ${problems.join(', ')}`,
  )
}

/** A volume that a driver brings to the node. Rejects with a `VolumesNotReadyError` where it does not. */
export async function broughtByDriver(
  drivers: VolumeDrivers,
  pod: Pod,
  volume: Volume,
  persistent?: PersistentVolume,
): Promise<MountedVolume> {
  const brought = await drivers.mount(pod, volume, persistent)
  if (!('problem' in brought)) return brought
  throw new VolumesNotReadyError(brought.problem, 'FailedMount', brought)
}

/** Why one volume is not there. */
class VolumeProblem extends Error {
  override readonly name = 'VolumeProblem'
}

/** The volume that a pod has by a claim. Rejects where it is not bound to it. */
export async function boundVolume(
  pod: Pod,
  volume: Volume,
  claimName: string,
  client: Client,
): Promise<PersistentVolume> {
  const { namespace = '' } = pod.metadata
  const problem = (why: string) => new VolumeProblem(`error processing PVC ${namespace}/${claimName}: ${why}`)
  const claim = await find(client, persistentVolumeClaims, { namespace, name: claimName })
  if (claim === undefined) {
    throw problem(`failed to fetch PVC from API server: persistentvolumeclaims ${JSON.stringify(claimName)} not found`)
  }
  const complaint = volume.ephemeral === undefined ? undefined : whyNotMadeFor(pod, claim)
  if (complaint !== undefined) throw problem(complaint)
  if (claim.metadata.deletionTimestamp !== undefined && !hadVolumes(pod.status)) {
    throw problem("can't start pod because PVC is being deleted")
  }
  const name = boundTo(claim)
  if (name === undefined) throw problem('PVC is not bound')
  const found = await find(client, persistentVolumes, { name })
  if (found === undefined)
    throw problem(
      `failed to fetch PV ${JSON.stringify(name)} from API server: persistentvolumes ${JSON.stringify(name)} not found`,
    )
  if (!isClaimedBy(found, claim)) throw problem(`PV ${JSON.stringify(name)} is not bound to the claim`)
  return found
}

/**
 * Whether a node agent, this one or one before it, had the volumes of the pod with this status: it makes a sandbox when they are there. A claim that is being deleted is
 * protected until the pod is over, which goes on with it.
 */
export const hadVolumes = ({ conditions = [] }: PodStatus = {}): boolean =>
  conditions.some(({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True')

/** The scheduler, too, takes a claim for bound before its status says so. */
const boundTo = ({ metadata, spec, status }: PersistentVolumeClaim): string | undefined =>
  status?.phase !== 'Lost' && metadata.annotations?.[volumeAnnotations.bindCompleted] !== undefined
    ? spec?.volumeName || undefined
    : undefined

async function find<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  try {
    return await client.get(resource, key)
  } catch (error) {
    // A node that is told nothing of a volume may only read it once the claim that names it is bound.
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

const pathOf = ({ spec }: PersistentVolume): string => spec?.local?.path ?? spec?.hostPath?.path ?? ''

/** The directory that the volume is. One that is to be there and is not is not made: what was in it would seem to be lost. */
async function directoryOf(volume: PersistentVolume): Promise<string> {
  const { local, hostPath } = volume.spec ?? {}
  const name = JSON.stringify(volume.metadata.name)
  const path = pathOf(volume)
  if (local === undefined && hostPath === undefined) {
    throw new VolumeProblem(
      `MountVolume failed for volume ${name}: only directories of the node (local, hostPath) can be used`,
    )
  }
  if (hostPath?.type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 })
  const isDirectory = await isDirectoryAt(path)
  if (isDirectory === true) return path
  const why =
    isDirectory === undefined
      ? `path ${JSON.stringify(path)} does not exist`
      : `${JSON.stringify(path)} is not a directory`
  throw new VolumeProblem(`MountVolume.NewMounter initialization failed for volume ${name} : ${why}`)
}

async function isDirectoryAt(path: string): Promise<boolean | undefined> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return undefined
  }
}
