import { dnsServiceKey, endpointSlices, namespaces, services } from '@coracle/api'
import { type Client, createInformer, keyText } from '@coracle/client'
import { type Environment, sleep } from '@coracle/environment'
import { type Exchange, hostExchange } from './forward/exchange.ts'
import { Forwarder } from './forward/forwarder.ts'
import { ResolvConf } from './forward/resolv-conf.ts'
import { listenTcp } from './server/listen-tcp.ts'
import { listenUdp } from './server/listen-udp.ts'
import type { Listening, ListensAt } from './server/listening.ts'
import { createResponder, type Respond } from './server/responder.ts'
import { addressesOf, serviceIndexes, sliceIndexes, viewOf } from './zone/cluster-view.ts'

export interface ClusterDnsOptions {
  /** May list and watch services and slices, and namespaces: where not, it knows of those that have services. */
  readonly client: Client
  readonly environment: Environment
  /** `cluster.local` */
  readonly domain: string
  /** The file that says who knows the names of others. */
  readonly resolvConf: string
  /** The way to these. The host's own unless set. */
  readonly exchange?: Exchange
}

/** Answers names of a cluster, and asks others for those of others. */
export interface ClusterDns {
  /**
   * Listens there. Resolves when it knows the cluster, which it begins to follow with the first call. Rejects with the system's error.
   */
  listen(protocol: 'TCP' | 'UDP', at: ListensAt): Promise<Listening>
  /** Ends everything. */
  close(): Promise<void>
}

/** Where others listen. */
const port = 53
/** So long it is waited for the namespaces: a role of old times may not let them be seen. */
const namespacesWaitMs = 5000

/** A server that has yet to listen anywhere: it costs nothing until then. */
export function createClusterDns(options: ClusterDnsOptions): ClusterDns {
  const { client, environment, resolvConf, exchange = hostExchange } = options
  const domain = options.domain.toLowerCase().replace(/\.$/, '')
  const { clock } = environment
  const caches = {
    services: createInformer(client, services, { indexes: serviceIndexes }, environment),
    slices: createInformer(client, endpointSlices, { indexes: sliceIndexes }, environment),
    namespaces: createInformer(client, namespaces, {}, environment),
  }
  const closing = new AbortController()
  const file = new ResolvConf(resolvConf, clock)
  /** Where it listens itself, and does not ask. */
  const own = new Map<Listening, string>()
  const forwarder = new Forwarder({
    environment,
    exchange,
    async servers() {
      const addresses = new Set(own.values())
      return (await file.servers()).filter((address) => !addresses.has(address)).map((address) => ({ address, port }))
    },
  })
  const view = viewOf(caches)
  const { namespace, name } = dnsServiceKey
  const respond: Respond = createResponder({
    environment,
    forwarder,
    zone: {
      domain,
      view,
      serverAddresses() {
        const service = view.service(namespace, name)
        return service === undefined ? [] : addressesOf(service.spec)
      },
    },
  })
  let known: Promise<void> | undefined
  const know = async (): Promise<void> => {
    for (const informer of Object.values(caches)) informer.start()
    const { signal } = closing
    await Promise.all([caches.services.waitForSync(signal), caches.slices.waitForSync(signal)])
    await Promise.race([caches.namespaces.waitForSync(signal), sleep(clock, namespacesWaitMs, signal)])
  }
  return {
    async listen(protocol, at) {
      known ??= know()
      await known
      const opened = await (protocol === 'UDP' ? listenUdp(at, respond) : listenTcp(at, respond, clock))
      const listening: Listening = {
        port: opened.port,
        close() {
          if (own.delete(listening)) opened.close()
        },
      }
      own.set(listening, at.address)
      if (closing.signal.aborted) listening.close()
      environment.logger.debug('answering names of the cluster', {
        address: at.address,
        protocol,
        key: keyText(namespace, name),
      })
      return listening
    },
    async close() {
      closing.abort(new Error('the server of names was stopped'))
      for (const listening of [...own.keys()]) listening.close()
      forwarder.close()
      await Promise.all(Object.values(caches).map((informer) => informer.stop()))
    },
  }
}
