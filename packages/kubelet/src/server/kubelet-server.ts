import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import { type Client, joinStreams } from '@coracle/client'
import { type Environment, keptAlive } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import { type AdmittedRequest, AgentRequests, mayUpgrade } from './agent-requests.ts'
import { type AuthenticateCaller, type Caller, createCallerAuthentication } from './authentication.ts'
import { type AuthorizeCaller, createCallerAuthorization, rightFor } from './authorization.ts'
import { Refusal } from './refusal.ts'
import { CountedConnections, connectToPod, isNode } from './relay.ts'
import type { ServedNode } from './served-node.ts'

/** The port of kubelets. */
export const kubeletPort = 10_250

/** Connections open at one time; further ones are closed as they come. */
export const connectionsMax = 4_000
/** Connections through this server to pods at one time. */
export const relayedConnectionsMax = 2_000
/** Bytes of a request's first line and headers. More is 431. */
const headerBytesMax = 64 * 1024
const headersTimeoutMs = 32_000
const requestTimeoutMs = 60_000
const timeoutCheckMs = 5_000
const keepAliveMs = 120_000
const minVersion = 'TLSv1.2'

export interface KubeletServerOptions {
  readonly environment: Environment
  /** Asks the API who callers are and what they may do. Acts as the node, or as one that may. */
  readonly client: Client
  /** The authority of the cluster, as PEM: callers' certificates are from it. */
  readonly caPem: string
  /** The node of a name; of '' the one that is asked for without a name, if there is one. */
  readonly nodeNamed: (name: string) => ServedNode | undefined
  /** The certificate of that node, and its key. Undefined: there is none yet, and nobody can connect. */
  readonly certificateOf: (name: string) => KeyPair | undefined
  /** What `/configz` shows. */
  readonly configuration?: Readonly<Record<string, unknown>>
}

/** What node agents answer over HTTPS. */
export interface KubeletServer {
  /** Begins to listen; port 0 takes a free one, which is returned. Rejects where the address is taken or not this machine's. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>
  /** Takes up the present certificate of '': whoever connects from now on is shown it. Others are asked for as they are needed. */
  renewCertificate(): void
  /** Stops listening, and ends all connections. */
  close(): Promise<void>
}

/**
 * A server at which nodes are asked what kubelets are asked, at the same paths. Who asks shows a certificate of the cluster or a token,
 * and needs rights to `nodes/…`; nobody is taken without. A server may stand for several nodes: callers name the one they mean as the
 * server name of TLS (SNI). Nodes of the cluster reach pods of its nodes by CONNECT.
 */
export function createKubeletServer(options: KubeletServerOptions): KubeletServer {
  return new HttpsKubeletServer(options)
}

class HttpsKubeletServer implements KubeletServer {
  readonly #options: KubeletServerOptions
  readonly #server: Server
  readonly #authenticate: AuthenticateCaller
  readonly #authorize: AuthorizeCaller
  readonly #requests: AgentRequests
  readonly #sockets = new Set<Socket>()
  readonly #closing = new AbortController()
  /** By what the certificate is made of: contexts are kept as long as it stays the same. */
  readonly #contexts = new Map<string, { readonly pair: KeyPair; readonly context: SecureContext }>()
  readonly #relayed = new CountedConnections(relayedConnectionsMax)

  constructor(options: KubeletServerOptions) {
    const { client, environment, caPem } = options
    this.#options = options
    this.#authenticate = createCallerAuthentication(client, environment.clock)
    this.#authorize = createCallerAuthorization(client, environment.clock)
    const { configuration } = options
    const admit = (request: IncomingMessage) => this.#admit(request)
    this.#requests = new AgentRequests({ environment, configuration, admit, closing: this.#closing.signal })
    this.#server = createServer({
      ca: caPem,
      // What a certificate is worth is judged with the request, where there is an answer to give.
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback: (name, callback) => callback(null, this.#contextOf(name)),
      minVersion,
      ALPNProtocols: ['http/1.1'],
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      handshakeTimeout: headersTimeoutMs,
      noDelay: true,
      ...keptAlive,
      // Connections to pods end one way at a time; those of HTTP end with their client all the same.
      allowHalfOpen: true,
      shouldUpgradeCallback: mayUpgrade,
    })
    this.#requests.answer(this.#server)
    this.renewCertificate()
    const server = this.#server
    server.maxConnections = connectionsMax
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('clientError', (_error, socket) => socket.destroy())
    server.on('connect', (request: IncomingMessage, connection: Socket, head: Buffer) => {
      void this.#relay(request, connection, head)
    })
  }

  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    const server = this.#server
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, () => {
        server.off('error', reject)
        server.on('error', (error) => this.#options.environment.logger.warn('the server of the node', { error }))
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  renewCertificate(): void {
    const pair = this.#options.certificateOf('')
    if (pair === undefined) return
    const { certificatePem: cert, keyPem: key } = pair
    this.#server.setSecureContext({ cert, key, ca: this.#options.caPem, minVersion })
  }

  close(): Promise<void> {
    this.#closing.abort(new Error('the server of the node has ended'))
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    return closed
  }

  /** The context of the node that a client means; undefined ends its handshake. */
  #contextOf(name: string): SecureContext | undefined {
    const pair = this.#options.certificateOf(name)
    if (pair === undefined) return undefined
    const known = this.#contexts.get(name)
    if (known?.pair === pair) return known.context
    const context = createSecureContext({ cert: pair.certificatePem, key: pair.keyPem, ca: this.#options.caPem })
    this.#contexts.set(name, { pair, context })
    return context
  }

  #nodeOf(request: IncomingMessage): ServedNode {
    const { servername } = request.socket as TLSSocket
    const node = this.#options.nodeNamed(typeof servername === 'string' ? servername : '')
    if (node === undefined) throw new Refusal(404, 'there is no such node here')
    return node
  }

  /** Who makes a request. Throws a Refusal where that is nobody. */
  async #callerOf(request: IncomingMessage): Promise<Caller> {
    const caller = await this.#authenticate(request).catch((error: unknown) => {
      this.#options.environment.logger.warn('cannot ask who makes a request of the node', { error })
      throw new Refusal(500, 'the API cannot be asked who makes this request')
    })
    if (caller === undefined) throw new Refusal(401, 'Unauthorized')
    return caller
  }

  async #admit(request: IncomingMessage): Promise<AdmittedRequest> {
    const caller = await this.#callerOf(request)
    const node = this.#nodeOf(request)
    return { node, assertMay: (method, path) => this.#assertMay(caller, node, method, path) }
  }

  async #assertMay(caller: Caller, { nodeName }: ServedNode, method: string, path: string): Promise<void> {
    const right = rightFor(method, path)
    const { verb, subresources } = right
    const about = `(user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])`
    const allowed = await this.#authorize(caller, nodeName, right).catch((error: unknown) => {
      this.#options.environment.logger.warn('cannot ask whether a request may be made of the node', { error })
      throw new Refusal(500, `Authorization error ${about}`)
    })
    if (!allowed) throw new Refusal(403, `Forbidden ${about}`)
  }

  async #relay(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on('error', () => connection.destroy())
    let isCounted = false
    try {
      const caller = await this.#callerOf(request)
      const node = this.#nodeOf(request)
      if (!isNode(caller)) await this.#assertMay(caller, node, 'POST', '/portForward')
      if (connection.destroyed) return
      this.#relayed.add(connection)
      isCounted = true
      const pod = await connectToPod(request.url ?? '', node, this.#options.environment.clock)
      if (connection.destroyed) return void pod.destroy()
      connection.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) pod.write(head)
      joinStreams(connection, pod)
    } catch (error) {
      if (isCounted) this.#options.environment.logger.debug('a connection to a pod was not made', { error })
      const [code, message] = this.#requests.failureOf(error)
      const body = `${message}\n`
      const lines = ['Content-Type: text/plain; charset=utf-8', `Content-Length: ${Buffer.byteLength(body)}`]
      connection.end(
        `HTTP/1.1 ${code} ${refusalText(code)}\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`,
      )
    }
  }
}

const refusalText = (code: number): string => process.getBuiltinModule('node:http').STATUS_CODES[code] ?? 'Error'
