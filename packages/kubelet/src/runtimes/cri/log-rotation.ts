import type { Environment, Timer } from '@coracle/environment'
import { rotateLog } from './log-files.ts'

/** How often the sizes of logs are checked: upstream's containerLogMonitorInterval. */
const logLookMs = 10_000

export interface LogRotationOptions {
  readonly environment: Environment
  /** The containers that run now, with the paths of their logs. */
  readonly logs: () => Iterable<readonly [containerId: string, path: string]>
  /** Has the runtime begin a new log for a container. */
  readonly reopen: (containerId: string) => Promise<void>
}

/** Rotates the logs of containers that have grown too large. A runtime only writes them: that is left to the node agent. */
export class LogRotation {
  readonly #options: LogRotationOptions
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: LogRotationOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#isClosed) return
    const { clock } = this.#options.environment
    this.#timer = clock.setTimer(logLookMs, () => void this.#rotateAll().finally(() => this.start()))
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #rotateAll(): Promise<void> {
    const { environment, logs, reopen } = this.#options
    const { clock, logger } = environment
    for (const [id, path] of logs()) {
      try {
        await rotateLog(path, clock.now(), () => reopen(id))
      } catch (error) {
        logger.warn('container log not rotated', { path, error })
      }
    }
  }
}
