import type { ServiceHosts } from '@coracle/dns/hosts'
import { type Environment, LoadOnce } from '@coracle/environment'
import { clusterDomain } from '@coracle/kubelet'
import type { ServiceProxy } from '@coracle/proxy'

/** What follows services and their endpoints. */
export type ServiceCaches = Pick<ServiceProxy, 'services' | 'slices'>

export interface HostNamesOptions {
  readonly environment: Environment
  isOwnNode(name: string): boolean
  /** Started or not. Asked for when a pod is to know their names. */
  caches(): ServiceCaches | Promise<ServiceCaches>
}

/** The names of services for processes of this host, once for all of its nodes. What makes them is loaded with the first pod that is to know them. */
export class HostNames {
  readonly #options: HostNamesOptions
  readonly #hosts = new LoadOnce(() => this.#load())

  constructor(options: HostNamesOptions) {
    this.#options = options
  }

  /** Resolves when all services are known. May be asked again where it rejects. */
  readonly open = (): Promise<ServiceHosts> => this.#hosts.get()

  stop(): void {
    this.#hosts.begun?.then(
      (hosts) => hosts.close(),
      () => {},
    )
  }

  async #load(): Promise<ServiceHosts> {
    const { environment, isOwnNode } = this.#options
    const { services, slices } = await this.#options.caches()
    services.start()
    slices.start()
    await Promise.all([services.waitForSync(), slices.waitForSync()])
    const { ServiceHosts } = await environment.clock.hold(import('@coracle/dns/hosts'))
    return new ServiceHosts({ environment, services, slices, domain: clusterDomain, isOwnNode })
  }
}
