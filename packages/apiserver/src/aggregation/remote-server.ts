import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { ApiServiceSpec } from '@coracle/api'
import { trusting } from '@coracle/environment'
import type { User } from '../request.ts'
import type { KeyPair } from '../security/certificates.ts'

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
}

/** The server behind an APIService, as far as connections are concerned. */
export class RemoteServer {
  readonly #agent: Agent
  readonly #serverName: string

  /** `client` is what this server shows for itself: whom it speaks for, the other believes it alone. */
  constructor({ service, caBundle, insecureSkipTLSVerify }: ApiServiceSpec, client: KeyPair) {
    this.#serverName = `${service?.name}.${service?.namespace}.svc`
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: remoteConnectionsMax,
      cert: client.certificatePem,
      key: client.keyPem,
      ...(caBundle === undefined ? {} : trusting(Buffer.from(caBundle, 'base64').toString())),
      ...(insecureSkipTLSVerify === true ? { rejectUnauthorized: false } : {}),
    })
  }

  /** Sends a request for a user, and resolves when the answer begins. */
  send({ host, port }: { host: string; port: number }, user: User, request: RemoteRequest): Promise<IncomingMessage> {
    const { method, path, body, signal } = request
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(
        {
          host,
          port,
          method,
          path,
          agent: this.#agent,
          servername: this.#serverName,
          headers: {
            ...passedOn(request.headers),
            ...identityHeaders(user),
            Host: `${host}:${port}`,
            ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
          },
          signal,
        },
        resolve,
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  /** Ends the connections that nothing is asked over. */
  close(): void {
    this.#agent.destroy()
  }
}

/** Headers of one connection, those that say who asks, and those that are made anew. */
const keptBack: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'authorization',
])

/**
 * Headers that go through in either direction: those of one connection do not, nor what `Connection` says is one (RFC 9110, 7.6.1).
 * Nobody but this server says for whom it asks.
 */
export function passedOn(headers: IncomingHttpHeaders | OutgoingHttpHeaders): OutgoingHttpHeaders {
  const ofConnection = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      const lower = name.toLowerCase()
      if (value === undefined || keptBack.has(lower) || ofConnection.includes(lower)) return false
      return !/^(x-remote-|impersonate-)/.test(lower)
    }),
  )
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
