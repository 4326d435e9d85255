import { type Client, createHttpClient, type HttpClient, interceptClient, type TransportOptions } from '@coracle/client'
import type { Environment, MetricsRegistry, Timer } from '@coracle/environment'
import { CertificateKeeper } from '../certificate-keeper.ts'
import type { AgentFiles, JoinedCluster } from './agent-files.ts'
import { followApiServers } from './api-servers.ts'
import { clientWish, requestCertificate } from './request-certificate.ts'
import { ServerChoice } from './server-choice.ts'

/** How long requests of a former connection may still take when another has taken its place. */
const formerConnectionMs = 60_000

/** A name that the certificates of API servers have, and those of nodes never. */
const apiServerName = 'kubernetes.default.svc'

export interface AgentConnectionOptions {
  readonly environment: Environment
  readonly nodeName: string
  readonly files: AgentFiles
  /** Counts requests and their times. */
  readonly metrics: MetricsRegistry
}

/**
 * An agent's connection to the API: as one that was given, or as a member of a cluster that was joined. Of such a cluster it keeps the
 * node's certificate current, and goes on with another server when the one in use is no longer ready. Each change of these is a new
 * client; the former one lives on for requests that are under way.
 */
export class AgentConnection {
  readonly #options: AgentConnectionOptions
  #transport: TransportOptions | undefined
  #client: HttpClient | undefined
  /** Clients of former connections, until they are closed. */
  readonly #former = new Map<HttpClient, Timer>()
  /** The cluster that was joined, with the present certificate; undefined where a connection was given. */
  #joined: JoinedCluster | undefined
  #choice: ServerChoice | undefined
  /** The present client, which goes on with another server where the one in use is gone. */
  #choosing: Client | undefined
  #keeper: CertificateKeeper | undefined

  constructor(options: AgentConnectionOptions) {
    this.#options = options
  }

  /** Uses a connection as it was given. */
  use(transport: TransportOptions): void {
    this.#replaceClient(transport)
  }

  /** Uses a cluster that was joined, and begins to keep the certificate and the choice of a server current. */
  useCluster(joined: JoinedCluster): void {
    const { environment, nodeName, files } = this.#options
    this.#goOnAs(joined, joined.server)
    const choice = new ServerChoice(joined.server, [joined.server, ...joined.servers], {
      environment,
      isReady: (server, stopping) => this.#isReady(transportOf(this.#joined ?? joined, server), stopping),
      use: (server) => this.#goOnAs(this.#joined ?? joined, server, 0),
    })
    this.#choice = choice
    this.#choosing = interceptClient(() => this.#present(), choice)
    this.#keeper = new CertificateKeeper({
      environment,
      holder: 'the node',
      renew: (stopping) => requestCertificate(this.client(), environment, clientWish(nodeName), stopping),
      onRenewed: async (pair) => {
        await files.keepPair('kubelet-client', pair)
        this.#goOnAs({ ...joined, client: pair }, this.server)
      },
    })
    this.#keeper.keep(joined.client)
  }

  /** The server in use, as `https://10.0.0.1:6443`. */
  get server(): string {
    return this.#transport?.server ?? ''
  }

  /** How the API is reached now; undefined before it is. */
  get transport(): TransportOptions | undefined {
    return this.#transport
  }

  /** The client for calls from now on: to be asked for with each call. */
  client(): Client {
    return this.#choosing ?? this.#present()
  }

  /**
   * Learns of the other servers of a cluster that was joined, and records them for the next start. Returns what ends that and waits for the
   * last record.
   */
  followServers(client: Client): () => Promise<void> {
    const [joined, choice] = [this.#joined, this.#choice]
    if (joined === undefined || choice === undefined) return async () => {}
    const { environment, files } = this.#options
    let kept: Promise<void> = Promise.resolve()
    const stop = followApiServers(client, environment, (servers) => {
      if (servers.length === 0 || !choice.learn([joined.server, ...servers])) return
      const keep = () => files.keepServers({ ...joined, servers })
      kept = kept.then(keep).catch((error) => {
        environment.logger.warn('the servers of the cluster could not be noted', { error })
      })
    })
    return async () => {
      await stop()
      await kept
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#former.values()) timer.cancel()
    try {
      await Promise.all([this.#client, ...this.#former.keys()].map((client) => client?.close()))
    } finally {
      await this.#keeper?.stop()
      await this.#choice?.stop()
    }
  }

  #present(): Client {
    if (this.#client === undefined) throw new Error('the node agent has no connection')
    return this.#client
  }

  /** `formerMs`: how long requests of the former connection may still take. */
  #goOnAs(joined: JoinedCluster, server: string, formerMs?: number): void {
    this.#joined = joined
    this.#replaceClient(transportOf(joined, server), formerMs)
  }

  #replaceClient(transport: TransportOptions, formerMs = formerConnectionMs): void {
    const { environment, metrics } = this.#options
    const former = this.#client
    this.#transport = transport
    this.#client = createHttpClient({ userAgent: 'coracle-agent', ...transport, ...environment, metrics })
    if (former === undefined) return
    // Watches end then, and go on over the new connection where they were.
    const close = (): void => {
      this.#former.delete(former)
      void former.close()
    }
    this.#former.set(former, environment.clock.setTimer(formerMs, close))
  }

  async #isReady(transport: TransportOptions, signal: AbortSignal): Promise<boolean> {
    const client = createHttpClient({ ...transport, ...this.#options.environment })
    try {
      return (await client.rawGet('/readyz', signal)) === 'ok'
    } finally {
      await client.close()
    }
  }
}

/**
 * How a server of a cluster that was joined is reached. The addresses of other servers come from endpoint slices, which others than servers
 * may write: such a server must show a certificate with the API's name, and not only with its address.
 */
const transportOf = (joined: JoinedCluster, server: string): TransportOptions => ({
  server,
  ca: joined.caPem,
  cert: joined.client.certificatePem,
  key: joined.client.keyPem,
  ...(server === joined.server ? {} : { serverName: apiServerName }),
})
