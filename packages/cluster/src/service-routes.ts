import { type ServiceCidr, serviceCidrs } from '@coracle/api'
import { type Client, createInformer, type Informer } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { routeToHost } from './service-route.ts'

export interface ServiceRoutesOptions {
  /** May list and watch ServiceCIDRs. */
  readonly client: Client
  readonly environment: Environment
  /** What the routes belong to. */
  readonly dataDirectory: string
  /** Whether pods of this machine have networks of their own, and loopback is another one for each. */
  readonly isolates: boolean
}

/**
 * Has the addresses of services be this machine's, so that a proxy can listen there: a local route to each range of a ServiceCIDR, for as long
 * as there is one. Ranges of loopback need none.
 */
export class ServiceRoutes {
  readonly #options: ServiceRoutesOptions
  readonly #informer: Informer<ServiceCidr>
  /** By range: how its route is taken back. */
  readonly #routes = new Map<string, () => Promise<void>>()
  /** Routes are changed one after the other. */
  #last: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: ServiceRoutesOptions) {
    this.#options = options
    this.#informer = createInformer(options.client, serviceCidrs, {}, options.environment)
  }

  /** Resolves when the ranges there are have their routes, or it is logged that they cannot be had. */
  async start(): Promise<void> {
    this.#informer.start()
    await this.#informer.waitForSync()
    if (this.#isStopped) return
    const changed = (): void => {
      this.#last = this.#last.then(() => this.#follow())
    }
    this.#informer.addHandler({ add: changed, update: changed, delete: changed })
    changed()
    this.#warnOfLoopback()
    await this.#last
  }

  /** Takes the routes back. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#informer.stop()
    await this.#last
    for (const takeBack of this.#routes.values()) await takeBack()
    this.#routes.clear()
  }

  async #follow(): Promise<void> {
    if (this.#isStopped) return
    const { dataDirectory, environment } = this.#options
    const wanted = new Set(this.#ranges().filter((range) => !isLoopback(range)))
    for (const [range, takeBack] of this.#routes) {
      if (wanted.has(range)) continue
      this.#routes.delete(range)
      await takeBack()
    }
    for (const range of wanted) {
      if (!this.#routes.has(range)) this.#routes.set(range, await routeToHost(range, dataDirectory, environment))
    }
  }

  /** Containers do not reach services then, whatever is listened to here. */
  #warnOfLoopback(): void {
    const ranges = this.#ranges()
    if (!this.#options.isolates || ranges.length === 0 || !ranges.every(isLoopback)) return
    this.#options.environment.logger.warn(
      'containers of this node do not reach services, which have addresses of loopback: begin a cluster with `coracle up --service-cluster-ip-range 10.96.0.0/12`',
      { ranges: ranges.join(', ') },
    )
  }

  #ranges(): readonly string[] {
    return this.#informer.list().flatMap(({ spec }) => spec?.cidrs ?? [])
  }
}

const isLoopback = (range: string): boolean => range.startsWith('127.') || range.startsWith('::1/')
