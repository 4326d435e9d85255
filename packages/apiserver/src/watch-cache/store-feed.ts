import type { Environment } from '@coracle/environment'
import type { Entry, Store, StoreEvent, StoreWatch } from '@coracle/store'

/** All keys of the API begin with it. */
export const registryPrefix = '/registry/'

/** What a feed fills and then keeps up to date: one resource's part of the store. */
export interface FeedSink {
  /** All keys of it begin with this: `/registry/<group>/<plural>/`. */
  readonly prefix: string
  fill(entries: readonly Entry[], revision: number): void
  apply(event: StoreEvent): void
}

/**
 * The one watch on the store behind all watch caches. Since it covers everything the API stores, its revision says up to where
 * every cache is complete, also those whose resource has not changed for long.
 */
export class StoreFeed {
  readonly #store: Store
  readonly #environment: Environment
  readonly #onEnd: (error: Error) => void
  readonly #sinks = new Map<string, AttachedSink>()
  readonly #waiting = new Set<{ readonly revision: number; readonly wake: () => void }>()
  #watch: StoreWatch | undefined
  #revision = 0

  /** `onEnd` is called when the store has failed or was closed under the feed. */
  constructor(store: Store, environment: Environment, onEnd: (error: Error) => void) {
    this.#store = store
    this.#environment = environment
    this.#onEnd = onEnd
  }

  /** Every change up to this revision is in the caches. */
  get revision(): number {
    return this.#revision
  }

  start(): void {
    this.#revision = this.#store.revision
    this.#watch = this.#store.watch(registryPrefix, {
      after: this.#revision,
      onEvents: (events) => this.#deliver(events),
      onEnd: (error) => this.#onEnd(error),
    })
  }

  /** Fills a sink and keeps it up to date from then on. The feed must have been started. */
  async attach(sink: FeedSink): Promise<void> {
    const attached: AttachedSink = { sink, early: [] }
    this.#sinks.set(sink.prefix, attached)
    const { revision, entries } = await this.#store.list(sink.prefix)
    sink.fill(entries, revision)
    const early = attached.early ?? []
    attached.early = undefined
    for (const event of early) if (event.revision > revision) sink.apply(event)
    attached.filledAt = revision
  }

  /** Resolves to true when the caches have reached `revision`, to false after `timeoutMs` without that. */
  waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.#revision) return Promise.resolve(true)
    return new Promise((resolve) => {
      const finish = (reached: boolean) => {
        timer.cancel()
        this.#waiting.delete(waiter)
        resolve(reached)
      }
      const waiter = { revision, wake: () => finish(true) }
      const timer = this.#environment.clock.setTimer(timeoutMs, () => finish(false))
      this.#waiting.add(waiter)
    })
  }

  close(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  #deliver(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#revision = event.revision
      const attached = this.#sinks.get(prefixOf(event.key))
      if (attached === undefined) continue
      if (attached.early !== undefined) attached.early.push(event)
      else if (event.revision > (attached.filledAt ?? 0)) attached.sink.apply(event)
    }
    for (const waiter of this.#waiting) if (waiter.revision <= this.#revision) waiter.wake()
  }
}

interface AttachedSink {
  readonly sink: FeedSink
  /** Events that came before the sink was filled; undefined once it is. */
  early: StoreEvent[] | undefined
  filledAt?: number
}

/** `/registry/core/pods/` of `/registry/core/pods/default/web`. */
function prefixOf(key: string): string {
  const group = key.indexOf('/', registryPrefix.length)
  return key.slice(0, key.indexOf('/', group + 1) + 1)
}
