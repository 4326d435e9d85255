import { stat } from 'node:fs/promises'
import type { Pod } from '@coracle/api'
import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import type { ContainerStorage, Runtime } from '../runtimes/runtime.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import { diskUse } from './disk-use.ts'
import { type ContainerStorageUse, planStorageEviction, type StorageUse } from './plan-storage-eviction.ts'

/** How often pods are measured: upstream's eviction monitoring period. */
export const storagePeriodMs = 10_000
/** Between two rounds passes at least so many times what the first of them took: measuring takes a twentieth of one core at most. */
export const storageRestFactor = 20

/** A pod of the node that may have to go. */
export interface StoringPod {
  readonly pod: Pod
  readonly volumes: MountedVolumes
  evict(message: string): void
}

export interface StorageWatcherParts {
  readonly environment: Environment
  readonly runtime: Pick<Runtime, 'containerStorage' | 'images'>
  /** Those that have not ended, and say how much they store at most. */
  readonly pods: () => readonly StoringPod[]
  /** A directory on the disk of the node's own files. */
  readonly directory: string
  readonly measure: (paths: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, number>>
}

/** A watcher that has `du` measure. */
export const watchStorage = (parts: Omit<StorageWatcherParts, 'measure'>): StorageWatcher =>
  new StorageWatcher({ ...parts, measure: diskUse })

/**
 * Evicts pods that take more of the disk of their node than they say that they will: volumes, logs, and what containers write beside them.
 * Only pods that say so are measured, one after the other, and nothing is done while there are none.
 */
export class StorageWatcher {
  readonly #parts: StorageWatcherParts
  readonly #stopping = new AbortController()
  #timer: Timer | undefined
  #isLooking = false

  constructor(parts: StorageWatcherParts) {
    this.#parts = parts
  }

  /** There may be a pod to measure. */
  wake(): void {
    if (this.#timer === undefined && !this.#isLooking) this.#lookAfter(storagePeriodMs)
  }

  stop(): void {
    this.#stopping.abort()
    this.#timer?.cancel()
  }

  #lookAfter(delayMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#timer = this.#parts.environment.clock.setTimer(delayMs, () => void this.#round(), { housekeeping: true })
  }

  async #round(): Promise<void> {
    const { clock, logger } = this.#parts.environment
    this.#timer = undefined
    this.#isLooking = true
    const beganMs = clock.monotonicMs()
    const release = keepProcess(clock)
    try {
      await this.look()
    } catch (error) {
      logger.warn('local storage of pods could not be measured, trying again', { error })
    }
    release()
    this.#isLooking = false
    const restMs = storageRestFactor * (clock.monotonicMs() - beganMs)
    if (this.#parts.pods().length > 0) this.#lookAfter(Math.max(storagePeriodMs, restMs))
  }

  /** Measures all pods that have limits, and evicts those that are beyond them. */
  async look(): Promise<void> {
    const limited = this.#parts.pods()
    if (limited.length === 0) return
    const hasImageDisk = await this.#hasImageDisk()
    for (const each of limited) {
      if (this.#stopping.signal.aborted) return
      const problem = planStorageEviction(each.pod, await this.#useOf(each, hasImageDisk))
      if (problem !== undefined) each.evict(problem)
    }
  }

  async #useOf({ pod, volumes }: StoringPod, hasImageDisk: boolean): Promise<StorageUse> {
    const { runtime, measure } = this.#parts
    const paths = new Map(
      (pod.spec.volumes ?? []).flatMap(({ name, emptyDir, configMap }) => {
        const path = (emptyDir ?? configMap) === undefined ? undefined : volumes.get(name)?.path
        return path === undefined ? [] : [[name, path] as const]
      }),
    )
    const stored = (await runtime.containerStorage?.(pod.metadata.uid ?? '')) ?? []
    const all = [
      ...paths.values(),
      ...stored.flatMap(({ logDirectory, layerDirectory = [] }) => [logDirectory].concat(layerDirectory)),
    ]
    const bytes = await measure(all, this.#stopping.signal)
    return {
      volumes: new Map([...paths].map(([name, path]) => [name, bytes.get(path) ?? 0])),
      containers: new Map(stored.map((each) => [each.name, useOf(each, bytes)])),
      hasImageDisk,
    }
  }

  /** Whether the runtime has its images on another disk than that of the node's own files. */
  async #hasImageDisk(): Promise<boolean> {
    const { runtime, directory } = this.#parts
    if (runtime.images === undefined) return false
    const deviceOf = async (path: string) => (await stat(path)).dev
    const { path } = await runtime.images.fileSystem()
    const [images, own] = await Promise.all([path, directory].map((each) => deviceOf(each).catch(() => undefined)))
    return images !== own
  }
}

const useOf = (
  { logDirectory, layerDirectory = '', layerBytes }: ContainerStorage,
  bytes: ReadonlyMap<string, number>,
): ContainerStorageUse => ({
  logBytes: bytes.get(logDirectory) ?? 0,
  layerBytes: layerBytes ?? bytes.get(layerDirectory) ?? 0,
})
