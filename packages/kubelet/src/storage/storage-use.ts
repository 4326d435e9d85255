import { stat } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import type { ContainerStorage, Runtime } from '../runtimes/runtime.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import type { ContainerStorageUse } from './plan-storage-eviction.ts'

/** A pod of the node that may have to go. */
export interface StoringPod {
  readonly pod: Pod
  readonly volumes: MountedVolumes
  /** Has it go, with at most so long to end, by upstream's name of the signal; false where it is to stay, whatever it takes. */
  evict(message: string, graceMaxMs: number, signal: string): boolean
}

/** What is found on a disk. */
export interface DiskUse {
  /** How many bytes are taken at each path and below. */
  readonly bytes: ReadonlyMap<string, number>
  /** For how long a processor has worked to find that out. */
  readonly workedMs: number
}

/** Gives how much of a disk is taken at each of these paths and below. */
export type Measure = (paths: readonly string[], signal: AbortSignal) => Promise<DiskUse>

/** What a pod has on the disk of its node, in bytes. */
export interface MeasuredStorage {
  /** Of the volumes that are made for it. */
  readonly volumes: ReadonlyMap<string, number>
  /** Of those that are on disk, together. */
  readonly onDisk: number
  readonly containers: ReadonlyMap<string, ContainerStorageUse>
  /** For how long a processor has worked to find that out. */
  readonly workedMs: number
}

/** Measures what a pod has on the disk of its node: its volumes, but for those of the node and by claims, its logs, and what its containers write beside. */
export async function storageUse(
  { pod, volumes }: StoringPod,
  runtime: Pick<Runtime, 'containerStorage'>,
  measure: Measure,
  signal: AbortSignal,
): Promise<MeasuredStorage> {
  const made = (pod.spec.volumes ?? []).flatMap(({ name, emptyDir, configMap }) => {
    const path = (emptyDir ?? configMap) === undefined ? undefined : volumes.get(name)?.path
    return path === undefined ? [] : [{ name, path, isOnDisk: emptyDir?.medium !== 'Memory' }]
  })
  const stored = (await runtime.containerStorage?.(pod.metadata.uid ?? '')) ?? []
  const written = stored.flatMap(({ logDirectory, layerDirectory = [] }) => [logDirectory].concat(layerDirectory))
  const { bytes, workedMs } = await measure([...made.map(({ path }) => path), ...written], signal)
  const bytesAt = (path: string): number => bytes.get(path) ?? 0
  return {
    volumes: new Map(made.map(({ name, path }) => [name, bytesAt(path)])),
    onDisk: made.reduce((sum, { path, isOnDisk }) => sum + (isOnDisk ? bytesAt(path) : 0), 0),
    containers: new Map(stored.map((each) => [each.name, useOf(each, bytesAt)])),
    workedMs,
  }
}

const useOf = (
  { logDirectory, layerDirectory, layerBytes }: ContainerStorage,
  bytesAt: (path: string) => number,
): ContainerStorageUse => ({
  logBytes: bytesAt(logDirectory),
  layerBytes: layerBytes ?? (layerDirectory === undefined ? 0 : bytesAt(layerDirectory)),
})

/** Whether the runtime has its images on another disk than that of the node's own files. */
export async function hasImageDisk({ images }: Pick<Runtime, 'images'>, directory: string): Promise<boolean> {
  if (images === undefined) return false
  const { path } = await images.fileSystem()
  const [ofImages, own] = await Promise.all(
    [path, directory].map((each) =>
      stat(each).then(
        ({ dev }) => dev,
        () => undefined,
      ),
    ),
  )
  return ofImages !== own
}
