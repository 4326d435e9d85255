import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { ApiServiceSpec } from '@coracle/api'
import { realClock } from '@coracle/environment'
import { type Switched, switchedBy } from '../proxy/switched-protocols.ts'
import type { User } from '../request.ts'
import type { KeyPair } from '../security/certificates.ts'
import { ServerTrust } from '../webhook/server-trust.ts'
import { passedOn } from './passed-on.ts'

/** Connections to one server behind this one at a time; further requests wait for one. */
export const remoteConnectionsMax = 1024

/** A request on its way to a server behind this one. */
export interface RemoteRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders | OutgoingHttpHeaders
  readonly body?: Buffer | string | undefined
  readonly signal: AbortSignal
  /** The protocol that is to be spoken after it. */
  readonly upgrade?: string | undefined
}

/** Where one of the endpoints of a server listens. */
export interface RemoteAddress {
  readonly host: string
  readonly port: number
}

/** The server behind an APIService, as far as connections are concerned. */
export class RemoteServer {
  readonly #agent: Agent
  readonly #serverName: string
  readonly #trust: ServerTrust
  /** Connections over which something is asked or answered. */
  readonly #used = new Set<ClientRequest>()

  /** `client` is what this server shows for itself: whom it speaks for, the other believes it alone. */
  constructor({ service, caBundle, insecureSkipTLSVerify }: ApiServiceSpec, client: KeyPair) {
    this.#serverName = `${service?.name}.${service?.namespace}.svc`
    this.#trust = new ServerTrust(
      caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString(),
      realClock,
    )
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: remoteConnectionsMax,
      cert: client.certificatePem,
      key: client.keyPem,
      ...(insecureSkipTLSVerify === true ? { rejectUnauthorized: false } : {}),
    })
  }

  /** Sends a request for a user, and resolves when the answer begins. It is sent once more where TLS has refused a server that is to be believed. */
  send(address: RemoteAddress, user: User, request: RemoteRequest): Promise<IncomingMessage> {
    return this.#trusting(address, request.signal, () => answerTo(this.#begin(address, user, request)))
  }

  /** The same of a request that asks for another protocol. */
  switchProtocols(address: RemoteAddress, user: User, request: RemoteRequest): Promise<Switched | IncomingMessage> {
    return this.#trusting(address, request.signal, () => switchedBy(this.#begin(address, user, request)))
  }

  async #trusting<T>(address: RemoteAddress, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      const server = { ...address, servername: this.#serverName }
      if (!(await this.#trust.reconsider(error, () => server, signal))) throw error
      return act()
    }
  }

  #begin({ host, port }: RemoteAddress, user: User, request: RemoteRequest): ClientRequest {
    const { method, path, body, upgrade, signal } = request
    const sent = httpsRequest({
      host,
      port,
      method,
      path,
      agent: this.#agent,
      servername: this.#serverName,
      ...this.#trust.options,
      headers: {
        ...passedOn(request.headers),
        ...identityHeaders(user),
        Host: `${host}:${port}`,
        ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
        ...(upgrade === undefined ? {} : { Connection: 'Upgrade', Upgrade: upgrade }),
      },
      signal,
    })
    this.#used.add(sent)
    sent.once('close', () => this.#used.delete(sent))
    sent.end(body)
    return sent
  }

  /** Whether something is still asked or answered. */
  get isUsed(): boolean {
    return this.#used.size > 0
  }

  /** Ends each connection as soon as nothing is asked over it. */
  retire(): void {
    this.#agent.maxFreeSockets = 0
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  /** Ends all connections. */
  close(): void {
    this.#agent.destroy()
  }
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve)
    sent.on('error', reject)
  })
}

/** Who asks, as upstream's authenticating proxies say it. */
function identityHeaders({ name, uid, groups, extra = {} }: User): OutgoingHttpHeaders {
  return {
    'X-Remote-User': headerText(name),
    ...(uid === undefined ? {} : { 'X-Remote-Uid': headerText(uid) }),
    ...(groups.length === 0 ? {} : { 'X-Remote-Group': groups.map(headerText) }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `X-Remote-Extra-${encodeURIComponent(key.toLowerCase())}`,
        values.map(headerText),
      ]),
    ),
  }
}

/** UTF-8, which Node writes byte by byte. */
const headerText = (text: string): string => Buffer.from(text).toString('latin1')
