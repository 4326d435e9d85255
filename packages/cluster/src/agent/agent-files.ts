import { join } from 'node:path'
import { hostFiles, writePrivateFile } from '@coracle/apiserver/private-files'
import type { KeyPair } from '@coracle/environment/certificates'

/** What an agent keeps of the cluster that it has joined. */
export interface JoinedCluster {
  /** `https://10.0.0.1:6443` */
  readonly server: string
  /** The servers that the cluster was last known to have. */
  readonly servers: readonly string[]
  readonly caPem: string
  readonly nodeName: string
  /** Who the agent is to the API. */
  readonly client: KeyPair
}

/** What `agent.json` holds. */
interface Joining {
  readonly server: string
  /** Absent in what was written by versions that knew of one server alone. */
  readonly servers?: readonly string[]
  readonly nodeName: string
}

/** By which an agent is known to the API, and to whoever asks it something. */
export type AgentCertificate = 'kubelet-client' | 'kubelet-serving'

/** Where an agent keeps what it is known by: below `pki/` of its data directory, for its owner alone. */
export class AgentFiles {
  readonly #directory: string

  constructor(dataDirectory: string) {
    this.#directory = dataDirectory
  }

  /** The cluster that was joined from here; undefined where there was none. */
  async joined(): Promise<JoinedCluster | undefined> {
    const [record, caPem, client] = await Promise.all([
      hostFiles.read(this.#path('agent.json')),
      hostFiles.read(this.#path('pki', 'ca.crt')),
      this.pair('kubelet-client'),
    ])
    if (record === undefined || caPem === undefined || client === undefined) return undefined
    const { server, servers = [], nodeName } = JSON.parse(record) as Joining
    return { server, servers, nodeName, caPem, client }
  }

  /** Keeps a cluster that was joined: what says so comes last. */
  async keepJoined(joined: JoinedCluster): Promise<void> {
    await writePrivateFile(hostFiles, this.#path('pki', 'ca.crt'), joined.caPem)
    await this.keepPair('kubelet-client', joined.client)
    await this.keepServers(joined)
  }

  /** Keeps which servers the cluster has. */
  async keepServers({ server, servers, nodeName }: Required<Joining>): Promise<void> {
    const text = JSON.stringify({ server, servers, nodeName }, undefined, 2)
    await writePrivateFile(hostFiles, this.#path('agent.json'), `${text}\n`)
  }

  /** A certificate with its key; undefined where there is none. */
  async pair(name: AgentCertificate): Promise<KeyPair | undefined> {
    const text = (await hostFiles.read(this.#path('pki', `${name}.pem`))) ?? ''
    const part = (what: RegExp): string | undefined => what.exec(text)?.[0]
    const certificatePem = part(/-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\n/)
    const keyPem = part(/-----BEGIN PRIVATE KEY-----[\s\S]*-----END PRIVATE KEY-----\n/)
    return certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem }
  }

  /** Keeps a certificate with its key, both in one file, as kubelets do: there is never one without the other. */
  keepPair(name: AgentCertificate, { certificatePem, keyPem }: KeyPair): Promise<void> {
    return writePrivateFile(hostFiles, this.#path('pki', `${name}.pem`), certificatePem + keyPem)
  }

  #path(...names: readonly string[]): string {
    return join(this.#directory, ...names)
  }
}
