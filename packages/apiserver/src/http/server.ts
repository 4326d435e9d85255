import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Upgrades } from '@coracle/client/upgrades'
import { type Environment, keptAlive } from '@coracle/environment'
import type { KeyPair } from '../security/certificates.ts'
import { Answer } from './answer.ts'
import { BodyReader } from './body/body-reader.ts'
import { ClientHeaderMemory } from './client-header-memory.ts'
import { Exchanges } from './exchanges.ts'
import { headersMax } from './framing.ts'
import { IncomingRequest } from './incoming-request.ts'
import { answerMalformed } from './malformed.ts'
import { firstBytesTimeoutMs, refusePlainHttp } from './plain-http.ts'
import type { ConnectToPod, createPodRelay } from './pod-relay.ts'
import { createRequestHandler, type RequestHandlerOptions } from './request-handler.ts'
import { sendError } from './respond.ts'
import { ServerResponse } from './server-response.ts'
import { StrangerMemory } from './stranger-memory.ts'

/** Connections open at one time; further ones are closed as they come. */
export const connectionsMax = 20_000
/** Bytes of a request's first line and headers, as upstream: selectors of thousands of terms are written there. More is 431. */
export const headerBytesMax = 1024 * 1024
/** How long a client may take for a request's headers, as upstream, and for all of a request. */
const headersTimeoutMs = 32_000
const requestTimeoutMs = 60_000
/** How often it is looked for those that take longer. */
const timeoutCheckMs = 5_000
/** How long closing waits for answers under way. */
const closeGraceMs = 5_000
/** Longer than clients keep idle connections, so that none is closed just as it is used again. */
const keepAliveMs = 120_000

export interface HttpServerOptions extends RequestHandlerOptions {
  readonly serving: KeyPair
  /** Whoever shows a certificate must have it from this authority. */
  readonly clientCaPem: string
  /** The way to pods of the nodes of this process, for nodes elsewhere. */
  readonly connectToPod?: ConnectToPod | undefined
  /** What unfinished headers of authenticated clients may take together; 128 MiB unless said otherwise. */
  readonly clientsHeaderBytesMax?: number
}

export interface Listening {
  readonly host: string
  readonly port: number
  /** `https://127.0.0.1:6443` */
  readonly url: string
}

export interface HttpServer {
  /** Begins to listen; port 0 takes a free one. Rejects where the address is taken or not this machine's. */
  listen(address: { readonly host: string; readonly port: number }): Promise<Listening>
  /** Shows another certificate to who connects from now on. Connections that are open stay. */
  renewCertificate(serving: KeyPair): void
  /** Stops listening, ends watches, waits a bounded time for answers under way, and closes every connection. */
  close(): Promise<void>
}

/** The API over HTTPS (HTTP/1.1): requests are authenticated here, and carried out by the core. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { core, environment, serving, clientCaPem } = options
  const exchanges = new Exchanges(environment)
  const { turns } = core
  const bodies = new BodyReader(turns)
  const strangers = new StrangerMemory(environment.clock)
  const clients = new ClientHeaderMemory(environment.clock, headerBytesMax, options.clientsHeaderBytesMax)
  const refused = new WeakSet<Duplex>()
  const upgrades = new Upgrades((connection) => clients.forget(connection))
  const handler = createRequestHandler(options, { exchanges, bodies, turns, strangers, clients, refused, upgrades })
  const contextOf = ({ certificatePem: cert, keyPem: key }: KeyPair) => ({
    cert,
    key,
    ca: clientCaPem,
    minVersion: 'TLSv1.2' as const,
  })
  const server = createServer<typeof IncomingMessage, typeof Answer>(
    {
      ...contextOf(serving),
      // Anyone may connect; what a certificate is worth is judged with the request, where there is an answer to give.
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: timeoutCheckMs,
      handshakeTimeout: headersTimeoutMs,
      // Whoever names no host is answered as upstream does it.
      requireHostHeader: false,
      noDelay: true,
      ...keptAlive,
      IncomingMessage: IncomingRequest,
      ServerResponse: Answer,
      // Whoever asks for other things, such as HTTP/2 over a plain connection, is answered in HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => upgradesTo.has((headers.upgrade ?? '').toLowerCase()),
    },
    handler,
  )
  server.maxConnections = connectionsMax
  server.maxHeadersCount = headersMax
  refusePlainHttp(server, environment.clock)
  strangers.guard(server, firstBytesTimeoutMs)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  answerMalformed(server, {
    exchanges,
    strangers,
    refused,
    answer: (request, socket) => handler(request, responseTo(request, socket, upgrades)),
  })
  // Loaded with the first connection: most servers have no agents elsewhere.
  let relay: Promise<ReturnType<typeof createPodRelay>> | undefined
  const loadRelay = async () => {
    const { createPodRelay } = await import('./pod-relay.ts')
    return createPodRelay({
      authenticate: options.authenticate,
      connectToPod: options.connectToPod,
      logger: environment.logger,
      onIdentified: (request) => strangers.onIdentified(request),
    })
  }
  server.on('connect', (request: IncomingMessage, connection: Socket, head: Buffer) => {
    connection.on('error', () => connection.destroy())
    // Its client may have said all before the way to the pod is there.
    connection.allowHalfOpen = true
    relay ??= loadRelay()
    relay
      .then((answer) => answer(request, connection, head))
      .catch((error: unknown) => {
        relay = undefined
        environment.logger.error('connections of other machines cannot be led on', { error })
        connection.destroy()
      })
  })
  server.on('upgrade', (request: IncomingMessage, connection: Socket, head: Buffer) => {
    upgrades.note(request, { connection, head })
    const response = responseTo(request, connection, upgrades)
    if (request.headers['sec-websocket-protocol']?.includes('.bearer.') !== true) return handler(request, response)
    // Few show a token so.
    import('./protocol-token.ts')
      .then(({ takeProtocolToken }) => {
        takeProtocolToken(request)
        handler(request, response)
      })
      .catch((error: unknown) => sendError(response, error, environment.logger))
  })
  server.on('checkContinue', (request, response) => {
    bodies.expectContinue(request, response)
    handler(request, response)
  })
  core.ready.catch(() => {})
  // Of a connection that could not be taken, for want of descriptors: its client is refused.
  const onError = (error: Error): void => environment.logger.warn('a connection could not be taken', { error })

  return {
    listen: (address) => listen(server, address, onError),
    renewCertificate: (pair) => server.setSecureContext(contextOf(pair)),
    close: () => {
      clients.close()
      return close(server, exchanges, sockets, environment)
    },
  }
}

/** What a connection may become. */
const upgradesTo: ReadonlySet<string> = new Set(['websocket', 'spdy/3.1'])

/** The answer to a request whose connection Node.js has let go of: it ends with the answer, unless it becomes something else. */
function responseTo(request: IncomingMessage, connection: Socket, upgrades: Upgrades): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(connection)
  connection.on('error', () => connection.destroy())
  response.once('finish', () => {
    if (!upgrades.isTaken(request)) connection.end()
  })
  return response
}

function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  onError: (error: Error) => void,
): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      server.on('error', onError)
      const address = server.address() as AddressInfo
      const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address
      resolve({ host: address.address, port: address.port, url: `https://${shownHost}:${address.port}` })
    })
  })
}

async function close(
  server: Server,
  exchanges: Exchanges,
  sockets: ReadonlySet<Socket>,
  { clock }: Environment,
): Promise<void> {
  // This closes connections that are idle; it counts those as idle whose answer is made but still on its way, so
  // watches are ended after it.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  exchanges.close()
  const timer = clock.setTimer(closeGraceMs, () => server.closeAllConnections())
  await exchanges.idle()
  server.closeAllConnections()
  // Those too of which the server does not know yet: they have said nothing, or not finished their handshake.
  for (const socket of sockets) socket.destroy()
  await closed
  timer.cancel()
}
