import {
  canonicalQuantity,
  formatQuantity,
  type Pod,
  podLimits,
  quantityValue,
  type Volume,
  wholeAmount,
} from '@coracle/api'

/** The resource that is disk of a node, as long as the pod lives. */
const localStorage = 'ephemeral-storage'

/** What a pod takes of the disk of its node, in bytes. What could not be measured is absent. */
export interface StorageUse {
  /** By the names of volumes, of those that are in memory too. */
  readonly volumes: ReadonlyMap<string, number>
  readonly containers: ReadonlyMap<string, ContainerStorageUse>
  /** Whether images, and with them what containers write beside volumes, are on a disk of their own. */
  readonly hasImageDisk: boolean
}

export interface ContainerStorageUse {
  readonly logBytes: number
  /** What it has written beside its volumes. */
  readonly layerBytes: number
}

/** What a pod takes more of than it may. */
export interface StorageExcess {
  /** What upstream counts it by. */
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit'
  readonly message: string
}

/**
 * Why a pod has to go for what it takes of the disk of its node, in the words of upstream's eviction manager (localStorageEviction);
 * undefined where it is within its limits.
 */
export function planStorageEviction(pod: Pod, use: StorageUse): StorageExcess | undefined {
  const ofVolume = volumeExcess(pod, use)
  if (ofVolume !== undefined) return { signal: 'emptydirfs.limit', message: ofVolume }
  const ofPod = podExcess(pod, use)
  if (ofPod !== undefined) return { signal: 'ephemeralpodfs.limit', message: ofPod }
  const ofContainer = containerExcess(pod, use)
  return ofContainer === undefined ? undefined : { signal: 'ephemeralcontainerfs.limit', message: ofContainer }
}

function volumeExcess({ spec }: Pod, { volumes }: StorageUse): string | undefined {
  const volume = spec.volumes?.find(
    (each) => (volumes.get(each.name) ?? 0) > (sizeLimitOf(each) ?? Number.POSITIVE_INFINITY),
  )
  if (volume === undefined) return undefined
  return `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${canonicalQuantity(volume.emptyDir?.sizeLimit ?? '0')}". `
}

/** How many bytes an `emptyDir` may hold; none for other volumes. */
function sizeLimitOf({ emptyDir }: Volume): number | undefined {
  const bytes = emptyDir?.sizeLimit === undefined ? 0 : quantityValue(emptyDir.sizeLimit)
  return bytes > 0 ? bytes : undefined
}

function podExcess({ spec }: Pod, { volumes, containers }: StorageUse): string | undefined {
  const limit = podLimits(spec).get(localStorage)
  if (limit === undefined) return undefined
  const onDisk = (spec.volumes ?? []).filter(
    ({ emptyDir, configMap }) => configMap !== undefined || (emptyDir !== undefined && emptyDir.medium !== 'Memory'),
  )
  const used = [
    ...onDisk.map(({ name }) => volumes.get(name) ?? 0),
    ...[...containers.values()].map(({ logBytes, layerBytes }) => logBytes + layerBytes),
  ].reduce((sum, bytes) => sum + bytes, 0)
  if (used <= wholeAmount(localStorage, limit)) return undefined
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `
}

function containerExcess({ spec }: Pod, { containers, hasImageDisk }: StorageUse): string | undefined {
  for (const { name, resources } of spec.containers) {
    const limit = resources?.limits?.[localStorage]
    if (limit === undefined || quantityValue(limit) === 0) continue
    const { logBytes, layerBytes } = containers.get(name) ?? { logBytes: 0, layerBytes: 0 }
    if (logBytes + (hasImageDisk ? 0 : layerBytes) > quantityValue(limit))
      return `Container ${name} exceeded its local ephemeral storage limit "${canonicalQuantity(limit)}". `
  }
  return undefined
}
