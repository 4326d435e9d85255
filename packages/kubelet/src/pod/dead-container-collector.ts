import type { Environment, Timer } from '@coracle/environment'

/** How often it is looked for containers that are too many, as upstream's ContainerGCPeriod. */
export const collectionPeriodMs = 60_000

/** Has containers that have ended and are too many removed from time to time: those of one pod are removed with its next one, but not those that many pods have in sum. */
export class DeadContainerCollector {
  readonly #environment: Environment
  readonly #collect: (nowMs: number) => Promise<void>
  #timer: Timer | undefined
  #isStopped = false

  constructor(environment: Environment, collect: (nowMs: number) => Promise<void>) {
    this.#environment = environment
    this.#collect = collect
  }

  start(): void {
    if (this.#isStopped) return
    this.#timer = this.#environment.clock.setTimer(collectionPeriodMs, () => void this.#round(), { housekeeping: true })
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  async #round(): Promise<void> {
    const { clock, logger } = this.#environment
    try {
      await this.#collect(clock.now())
    } catch (error) {
      logger.warn('containers that have ended could not be removed, trying again', { error })
    }
    this.start()
  }
}
