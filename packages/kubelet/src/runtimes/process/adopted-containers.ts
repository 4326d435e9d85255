import { type FSWatcher, watch } from 'node:fs'
import type { Clock, Timer } from '@coracle/environment'
import { type HeldContainer, isRunning } from './held-container.ts'
import { hasEnded } from './process-identity.ts'
import type { RecordStore } from './record-store.ts'

/** How often it is looked whether containers have ended that an earlier node agent started. */
const adoptedPollMs = 1_000
/** The same while one of them is being stopped. */
const stoppingPollMs = 20

export interface AdoptedContainersOptions {
  readonly clock: Clock
  readonly records: RecordStore
  /** All containers of the runtime. */
  readonly containers: () => Iterable<HeldContainer>
  /** Told of the end of an adopted one. */
  readonly onEnded: (held: HeldContainer) => void
}

/**
 * Sees the ends of containers that an earlier node agent started. They are no children of this process, so the host does not report their
 * deaths here: their exits are watched for as files, and looked for at intervals.
 */
export class AdoptedContainers {
  readonly #options: AdoptedContainersOptions
  #watcher: FSWatcher | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: AdoptedContainersOptions) {
    this.#options = options
  }

  /** Begins to look after those there are; none come later. */
  start(): void {
    if (this.#running().length === 0) return
    this.#watcher = watchOrNothing(this.#options.records.exitsDirectory, () => this.#look())
    this.poll()
  }

  /** Looks at intervals from now on, as long as any runs: short ones while one is being stopped. */
  poll(): void {
    this.#timer?.cancel()
    const running = this.#running()
    if (running.length === 0 || this.#isClosed) return
    const stopping = running.some(({ killAtMs }) => killAtMs !== Number.POSITIVE_INFINITY)
    this.#timer = this.#options.clock.setTimer(stopping ? stoppingPollMs : adoptedPollMs, () => {
      this.#look()
      this.poll()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#watcher?.close()
    this.#timer?.cancel()
  }

  #look(): void {
    const { records, onEnded } = this.#options
    for (const held of this.#running()) {
      const { leader, record } = held
      if (leader === undefined || typeof leader === 'number') continue
      // A shim that has gone without an exit code was killed.
      if (records.exit(record.id) !== undefined || hasEnded(leader)) onEnded(held)
    }
  }

  #running(): readonly HeldContainer[] {
    return [...this.#options.containers()].filter((held) => held.adopted && isRunning(held))
  }
}

/** Undefined where the host watches no more directories: looking at intervals is enough. */
function watchOrNothing(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, onChange)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
