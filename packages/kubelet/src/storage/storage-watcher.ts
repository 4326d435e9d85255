import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import type { Runtime } from '../runtimes/runtime.ts'
import { diskUse } from './disk-use.ts'
import { planStorageEviction } from './plan-storage-eviction.ts'
import { hasImageDisk, type Measure, type StoringPod, storageUse } from './storage-use.ts'

/** How often pods are measured: upstream's eviction monitoring period. */
export const storagePeriodMs = 10_000
/**
 * Between two rounds passes at least so many times what the first of them had of a processor: measuring takes a twentieth of one core at most. How long a
 * round took says little of that, since it waits for all others: where pods work hard, each file of theirs may take a second.
 */
export const storageRestFactor = 20

export interface StorageWatcherParts {
  readonly environment: Environment
  readonly runtime: Pick<Runtime, 'containerStorage' | 'images'>
  /** Those that have not ended, and say how much they store at most. */
  readonly pods: () => readonly StoringPod[]
  /** A directory on the disk of the node's own files. */
  readonly directory: string
  readonly measure: Measure
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
    let workedMs = 0
    try {
      workedMs = await this.look()
    } catch (error) {
      logger.warn('local storage of pods could not be measured, trying again', { error })
    }
    release()
    this.#isLooking = false
    const tookMs = clock.monotonicMs() - beganMs
    const restMs = Math.max(storagePeriodMs, storageRestFactor * workedMs, tookMs)
    if (this.#parts.pods().length > 0) this.#lookAfter(restMs)
  }

  /** Measures all pods that have limits, and evicts those that are beyond them. Resolves with how long a processor has worked for that. */
  async look(): Promise<number> {
    const limited = this.#parts.pods()
    if (limited.length === 0) return 0
    const { runtime, directory, measure } = this.#parts
    const apart = await hasImageDisk(runtime, directory)
    let workedMs = 0
    for (const each of limited) {
      if (this.#stopping.signal.aborted) break
      const used = await storageUse(each, runtime, measure, this.#stopping.signal)
      workedMs += used.workedMs
      const excess = planStorageEviction(each.pod, { ...used, hasImageDisk: apart })
      if (excess !== undefined) each.evict(excess.message, 0, excess.signal)
    }
    return workedMs
  }
}
