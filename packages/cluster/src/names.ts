import type { Client } from '@coracle/client'
import type { ClusterDns } from '@coracle/dns'
import { type Environment, LoadOnce } from '@coracle/environment'
import { clusterDomain } from '@coracle/kubelet'
import type { ListenedTo, Listening } from '@coracle/proxy'
import type { ContainerRuntimeOptions } from './cluster.ts'

/** What answers names on this machine: loaded when it is first to listen somewhere. */
export class Names {
  readonly #client: Client
  readonly #environment: Environment
  readonly #options: ContainerRuntimeOptions
  readonly #dns = new LoadOnce(() => this.#load())

  constructor(client: Client, environment: Environment, options: ContainerRuntimeOptions) {
    this.#client = client
    this.#environment = environment
    this.#options = options
  }

  /** Listens at the address of a service. Rejects with the system's error. */
  readonly answer = async ({ protocol, ...at }: ListenedTo): Promise<Listening> => {
    return (await this.#dns.get()).listen(protocol, at)
  }

  async stop(): Promise<void> {
    await (await this.#dns.begun)?.close()
  }

  async #load(): Promise<ClusterDns> {
    const [client, environment] = [this.#client, this.#environment]
    const { createClusterDns } = await environment.clock.hold(import('@coracle/dns'))
    const { clusterDomain: domain = clusterDomain, resolvConf = '/etc/resolv.conf' } = this.#options
    return createClusterDns({ client, environment, domain, resolvConf })
  }
}
