import { dnsServiceKey, isLoopback, type Service } from '@coracle/api'
import { type Informer, keyOf, keyText } from '@coracle/client'
import type { Clock } from '@coracle/environment'

/** So long pods wait, from the agent's start, for the Service by which they look names up: whoever makes it learns of the node by then. */
export const dnsServiceWaitMs = 10_000

const key = keyText(dnsServiceKey.namespace, dnsServiceKey.name)

/** Where names of the cluster are looked up: at the addresses of its Service for that. */
export class ClusterNameServers {
  readonly #services: Informer<Service>
  readonly #clock: Clock
  #waiting: Promise<void> | undefined

  constructor(services: Informer<Service>, clock: Clock) {
    this.#services = services
    this.#clock = clock
  }

  /** To be called when the services there are have been seen. */
  start(): void {
    if (this.#services.get(key) !== undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#clock.setTimer(dnsServiceWaitMs, resolve)
    const forget = this.#services.addHandler({
      add(service) {
        if (keyOf(service) === key) resolve()
      },
    })
    this.#waiting = promise.then(() => {
      timer.cancel()
      forget()
      this.#waiting = undefined
    })
  }

  /** None where there is no such service, or none that a pod with a network of its own reaches. */
  async addresses(): Promise<readonly string[]> {
    await this.#waiting
    const { clusterIP = '', clusterIPs = [clusterIP] } = this.#services.get(key)?.spec ?? {}
    return clusterIPs.filter(isReached)
  }
}

const isReached = (address: string): boolean => address !== '' && address !== 'None' && !isLoopback(address)
