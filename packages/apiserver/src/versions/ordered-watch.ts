import { ApiError, internalError } from '@coracle/api'
import type { RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import { errorDelivery } from '../watch-cache/cache-event.ts'

/** Most deliveries of one watch that wait to be converted. The watch rests until there are fewer. */
export const pendingDeliveriesMax = 100

export interface OrderedWatchOptions {
  show(delivery: WatchDelivery): WatchDelivery | Promise<WatchDelivery>
  readonly onEvent: (delivery: WatchDelivery) => boolean
  readonly onEnd: () => void
}

/**
 * A watch whose deliveries are shown in another form, some of them only after somebody was asked: they come in the order of
 * the events all the same. What needs no asking is passed on at once. A form that cannot be had ends the watch with an error.
 */
export class OrderedWatch implements RegistryWatch {
  readonly #options: OrderedWatchOptions
  readonly #pending: (WatchDelivery | Promise<WatchDelivery>)[] = []
  #source: RegistryWatch | undefined
  #draining = false
  #paused = false
  #sourceEnded = false
  #ended = false

  constructor(options: OrderedWatchOptions) {
    this.#options = options
  }

  /** Names the watch whose deliveries `take` gets. */
  attach(source: RegistryWatch): this {
    this.#source = source
    if (this.#ended) source.close()
    else if (this.#paused || this.#pending.length >= pendingDeliveriesMax) source.pause()
    return this
  }

  /** Takes a delivery of the source; false where nobody takes any more. */
  readonly take = (delivery: WatchDelivery): boolean => {
    if (this.#ended) return false
    const shown = this.#options.show(delivery)
    if (this.#pending.length === 0 && !this.#paused && !(shown instanceof Promise)) return this.#options.onEvent(shown)
    // Whether it fails is seen when its turn comes.
    if (shown instanceof Promise) shown.catch(() => {})
    this.#pending.push(shown)
    if (this.#pending.length === pendingDeliveriesMax) this.#source?.pause()
    void this.#drain()
    return true
  }

  /** The source has ended: so does this, when what waits is delivered. */
  readonly sourceEnded = (): void => {
    this.#sourceEnded = true
    if (this.#pending.length === 0) this.#end()
  }

  close(): void {
    this.#pending.length = 0
    this.#source?.close()
    this.#end()
  }

  pause(): void {
    this.#paused = true
    this.#source?.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#pending.length === 0) this.#source?.resume()
    else void this.#drain()
  }

  async #drain(): Promise<void> {
    if (this.#draining) return
    this.#draining = true
    try {
      while (this.#pending.length > 0 && !this.#paused) {
        const next = await (this.#pending[0] as WatchDelivery | Promise<WatchDelivery>)
        if (this.#ended || this.#paused) return
        this.#pending.shift()
        if (!this.#options.onEvent(next)) this.close()
      }
    } catch (error) {
      const { status } =
        error instanceof ApiError ? error : internalError(`the object cannot be shown: ${String(error)}`)
      this.#options.onEvent(errorDelivery(status))
      this.close()
    } finally {
      this.#draining = false
    }
    if (this.#pending.length > 0 || this.#ended) return
    if (this.#sourceEnded) this.#end()
    else if (!this.#paused) this.#source?.resume()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.onEnd()
  }
}
