import { hasReason, type ServiceAccount, serviceAccounts } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import type { WatchCache } from '../../watch-cache/watch-cache.ts'

/** As long as upstream asks for a default account that is not there yet: ten times, 100 to 200 ms apart. */
export const accountWaitMs = 1350

/** Finds service accounts that are not there at first sight. */
export class AccountArrivals {
  readonly #registries: Registries
  readonly #clock: Clock
  /** Who waits for which account, by its key. */
  readonly #waiting = new Map<string, Set<(account: ServiceAccount) => void>>()
  /** The cache that tells of arrivals. */
  #listensTo: WatchCache | undefined

  constructor(registries: Registries, clock: Clock) {
    this.#registries = registries
    this.#clock = clock
  }

  /**
   * The account as the store has it. One that a controller makes (`isMadeSoon`) is waited for: its namespace may have been
   * created a moment ago. Undefined where there is none.
   */
  async find(namespace: string, name: string, isMadeSoon: boolean): Promise<ServiceAccount | undefined> {
    const registry = this.#registries.of(serviceAccounts)
    if (registry === undefined) return undefined
    try {
      return (await registry.get(namespace, name)).object as ServiceAccount
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
    if (!isMadeSoon) return undefined
    const { cache } = registry.storage
    this.#listenTo(cache)
    // It may have arrived between the answer and now.
    const key = cache.keyOf(namespace, name)
    return (cache.get(key)?.object as ServiceAccount | undefined) ?? this.#arrivalOf(key)
  }

  #arrivalOf(key: string): Promise<ServiceAccount | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, waiting)
      const timer = this.#clock.setTimer(accountWaitMs, () => end(undefined))
      const end = (account: ServiceAccount | undefined): void => {
        timer.cancel()
        waiting.delete(end)
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
        resolve(account)
      }
      waiting.add(end)
    })
  }

  /** Once for a cache: it lasts as long as the kind is served. */
  #listenTo(cache: WatchCache): void {
    if (this.#listensTo === cache) return
    this.#listensTo = cache
    cache.onChange(({ type, key, stored }) => {
      if (type !== 'ADDED') return
      for (const end of [...(this.#waiting.get(key) ?? [])]) end(stored.object as ServiceAccount)
    })
  }
}
