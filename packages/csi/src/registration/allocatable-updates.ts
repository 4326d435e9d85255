import { type CsiDriver, csiDrivers } from '@coracle/api'
import { type Client, createInformer, type Informer } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'

export interface AllocatableUpdatesParts {
  readonly client: Client
  readonly environment: Environment
  /** Whether a driver of this name is there on the node. */
  readonly isRegistered: (name: string) => boolean
  /** Asks a driver how many of its volumes fit on the node, and tells the cluster. */
  readonly update: (name: string) => Promise<void>
}

/** How often a driver is to be asked how many of its volumes fit on a node; 0: it is not, as the number stays. */
export const updatePeriodMs = (driver: CsiDriver | undefined): number =>
  1000 * (driver?.spec.nodeAllocatableUpdatePeriodSeconds ?? 0)

/** Keeps the numbers of volumes that fit on the node current, for drivers that want it (`nodeAllocatableUpdatePeriodSeconds`). */
export class AllocatableUpdates {
  readonly #parts: AllocatableUpdatesParts
  readonly #informer: Informer<CsiDriver>
  /** Drivers that are asked from time to time. */
  readonly #asked = new Map<string, { readonly periodMs: number; timer: Timer }>()

  constructor(parts: AllocatableUpdatesParts) {
    this.#parts = parts
    this.#informer = createInformer(parts.client, csiDrivers, {}, parts.environment)
    const follow = ({ metadata }: CsiDriver): void => this.follow(metadata.name ?? '')
    this.#informer.addHandler({ add: follow, update: (_, driver) => follow(driver), delete: follow })
  }

  start(): void {
    this.#informer.start()
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#asked.values()) timer.cancel()
    this.#asked.clear()
    await this.#informer.stop()
  }

  /** A driver may have come, or want to be asked at other times. */
  follow(name: string): void {
    const periodMs = this.#parts.isRegistered(name) ? updatePeriodMs(this.#informer.get(name)) : 0
    const known = this.#asked.get(name)
    if (known?.periodMs === periodMs) return
    known?.timer.cancel()
    this.#asked.delete(name)
    if (periodMs > 0) this.#asked.set(name, { periodMs, timer: this.#timer(name, periodMs) })
  }

  #timer(name: string, periodMs: number): Timer {
    return this.#parts.environment.clock.setTimer(periodMs, () => void this.#update(name), { housekeeping: true })
  }

  /** Never rejects. */
  async #update(name: string): Promise<void> {
    const asked = this.#asked.get(name)
    if (this.#parts.isRegistered(name)) {
      await this.#parts.update(name).catch((error: unknown) =>
        this.#parts.environment.logger.warn('a driver did not say how many of its volumes fit on the node', {
          driver: name,
          error,
        }),
      )
    }
    if (asked === undefined || this.#asked.get(name) !== asked) return
    // One that has gone is followed again when it comes.
    if (this.#parts.isRegistered(name)) asked.timer = this.#timer(name, asked.periodMs)
    else this.#asked.delete(name)
  }
}
