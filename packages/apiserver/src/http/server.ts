import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, type ResourceDefinition, tooManyRequests } from '@coracle/api'
import { Upgrades } from '@coracle/client/upgrades'
import { type Environment, keptAlive, type MetricsRegistry, type Time } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import { mastersGroup } from '../api-server-user.ts'
import { ProxiedRequests } from '../proxy/proxied-requests.ts'
import type { RequestAttributes, User } from '../request.ts'
import { asksToImpersonate } from '../security/asks-to-impersonate.ts'
import { type Authenticator, anonymous } from '../security/authentication.ts'
import type { KeyPair } from '../security/certificates.ts'
import { busyMessage } from '../store-errors.ts'
import type { WorkTurns } from '../work-turns.ts'
import { Answer } from './answer.ts'
import { BodyReader } from './body-reader.ts'
import { isCausesRoute } from './causes-definition.ts'
import { ClientHeaderMemory } from './client-header-memory.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { Exchanges } from './exchanges.ts'
import type { FlowAdmission } from './flow-admission.ts'
import { framingProblem, headersMax } from './framing.ts'
import { isHealthPath } from './health.ts'
import { IncomingRequest } from './incoming-request.ts'
import { createPathHandler, type PathHandlerOptions } from './path-handler.ts'
import { firstBytesTimeoutMs, refusePlainHttp } from './plain-http.ts'
import type { ConnectToPod, createPodRelay } from './pod-relay.ts'
import { handleProxy, isProxied } from './proxy-handler.ts'
import { asksToWatch, parseQuery, timeoutMsOf } from './query.ts'
import { handleRemote } from './remote-handler.ts'
import { ListWriter } from './representation/list-writer.ts'
import { Representations } from './representation/representation.ts'
import { isLongSubresource, RequestMetrics } from './request-metrics.ts'
import { handleResource } from './resource-handlers.ts'
import { sendError, warn } from './respond.ts'
import {
  attributesOf,
  isBuiltInGroup,
  methodRefused,
  noHandler,
  pathMethodNotAllowed,
  pathNotFound,
  pathOf,
  type ResourceRoute,
  routeOf,
} from './routes.ts'
import { ServerResponse } from './server-response.ts'
import { StrangerMemory } from './stranger-memory.ts'
import { handleSubresource } from './subresource-handlers.ts'

/** Connections open at one time; further ones are closed as they come. */
export const connectionsMax = 20_000
/** Requests that wait for a turn of the event loop; they are in memory whole but for their bodies. More get 429. */
export const waitingRequestsMax = 20_000
/** Requests of which is being found out who makes them, where somebody else has to be asked. More get 429. */
export const identifyingRequestsMax = 5_000
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

export interface HttpServerOptions extends PathHandlerOptions {
  readonly authenticate: Authenticator
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
  const handler = createHandler(options, { exchanges, bodies, turns, strangers, clients, refused, upgrades })
  const server = createServer<typeof IncomingMessage, typeof Answer>(
    {
      cert: serving.certificatePem,
      key: serving.keyPem,
      ca: clientCaPem,
      // Anyone may connect; what a certificate is worth is judged with the request, where there is an answer to give.
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
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
  /** Of connections whose last request has a method that the parser does not know: as much of its head as has come, until it is whole. */
  const lastHeads = new WeakMap<Duplex, Buffer | 'whole'>()
  const answerUnknownMethod = async (error: ClientError, socket: Socket, head: Buffer): Promise<void> => {
    const { mayGoOn, requestOfUnknownMethod } = await import('./unknown-method.ts')
    if (lastHeads.get(socket) === 'whole') return
    const request = requestOfUnknownMethod(head, socket)
    if (request === undefined && mayGoOn(head)) return
    lastHeads.set(socket, 'whole')
    if (request === undefined) refuseMalformed(error, socket, exchanges, refused)
    else handler(request, responseTo(request, socket, upgrades))
  }
  server.on('clientError', (error: ClientError, socket: Socket) => {
    const before = lastHeads.get(socket)
    // The parser goes on telling of it as long as bytes come.
    if (before === 'whole') return
    const { code = '', rawPacket } = error
    const isIdle = !exchanges.isAnswering(socket) && !exchanges.hasAnswered(socket) && !refused.has(socket)
    const isOfHead = code === 'HPE_INVALID_METHOD' || (before !== undefined && code.startsWith('HPE_'))
    if (!isOfHead || rawPacket === undefined || !isIdle || !socket.writable) {
      return refuseMalformed(error, socket, exchanges, refused)
    }
    const head = Buffer.concat([before ?? strangers.begunBy(socket), rawPacket])
    lastHeads.set(socket, head)
    // The parser tells nothing more at the end, and Node.js ends the connection then.
    if (before === undefined) {
      socket.prependOnceListener('end', () => {
        if (lastHeads.get(socket) !== 'whole') refuseMalformed(error, socket, exchanges, refused)
      })
    }
    answerUnknownMethod(error, socket, head).catch(() => socket.destroy())
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
    close: () => {
      clients.close()
      return close(server, exchanges, sockets, environment)
    },
  }
}

/** What ends the reading of a connection: Node.js' parser tells in which of its bytes. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
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

/**
 * The answer to what is not HTTP, or too much of it, or too slow. Where answers to requests before it are under way,
 * it would be taken for one of them: then the connection ends without.
 */
function refuseMalformed(
  { code = '' }: NodeJS.ErrnoException,
  socket: Duplex,
  exchanges: Exchanges,
  refused: WeakSet<Duplex>,
): void {
  const isMalformed = code.startsWith('HPE_')
  // What was refused and still talks is not listened to; a connection closed over unread bytes would lose the answer.
  if (isMalformed && socket.writableEnded) return
  // Nothing can be said to one that never finished its TLS handshake, or has gone.
  const listens = isMalformed || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (!listens || !socket.writable || exchanges.isAnswering(socket)) socket.destroy()
  // A second answer would be taken for that to the next request.
  else if (refused.has(socket) || exchanges.hasAnswered(socket)) socket.end()
  else socket.end(plainAnswer(refusals.get(code) ?? '400 Bad Request'))
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_INVALID_VERSION', '505 HTTP Version Not Supported: unsupported protocol version'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/** As Go's server answers where no handler does. */
function plainAnswer(status: string): string {
  const length = `Content-Length: ${status.length}`
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n${length}\r\n\r\n${status}`
}

/** A request that nobody has looked at yet. */
interface Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly search: string
  /** On the monotonic clock. */
  readonly startedMs: Time
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface HandlerParts {
  readonly exchanges: Exchanges
  readonly bodies: BodyReader
  readonly turns: WorkTurns
  readonly strangers: StrangerMemory
  readonly clients: ClientHeaderMemory
  /** Connections that end with what was said to them last. */
  readonly refused: WeakSet<Duplex>
  readonly upgrades: Upgrades
}

function createHandler(
  options: HttpServerOptions,
  { exchanges, bodies, turns, strangers, clients, refused, upgrades }: HandlerParts,
): Handler {
  const { core, environment, authenticate } = options
  const { clock, logger } = environment
  const lists = new ListWriter(clock)
  exchanges.onClose(() => lists.close())
  // Nobody needs it on a server whose clients all may do everything.
  let flows: FlowAdmission | undefined
  let areFlowsAsked = false
  const loadFlows = async (): Promise<void> => {
    const [{ FlowAdmission }, flowControl] = await Promise.all([import('./flow-admission.ts'), core.flowControl()])
    flows = new FlowAdmission(flowControl, clock, options.metrics)
    exchanges.onClose(flows.close)
  }
  /** It is tried again with the next request. */
  const flowsFailed = (error: unknown): void => {
    areFlowsAsked = false
    logger.error('flow control cannot be loaded', { error })
  }
  const context: HandlerContext = {
    core,
    environment,
    bodies,
    representations: new Representations(clock),
    lists,
    turns,
    upgrades,
    proxied: new ProxiedRequests(),
    becomeLongRunning: (exchange, { keepsSeats = false } = {}) => {
      if (!keepsSeats) flows?.becomesLong(exchange)
      return exchanges.becomeLongRunning(exchange)
    },
    giveSeatsBack: (exchange) => flows?.becomesLong(exchange),
  }
  const paths = createPathHandler(options)
  const { metrics } = options
  const requests = metrics === undefined ? undefined : new RequestMetrics(metrics, clock, () => exchanges.inFlight())
  if (requests !== undefined) exchanges.onClose(requests.close)

  /** Of groups that the program brings a route is missing; others have nobody who would look. */
  const notFoundAt = ({ group }: ResourceRoute): ApiError =>
    isBuiltInGroup(core.registries.definitions(), group) ? pathNotFound() : noHandler()

  const handle = (exchange: Exchange, path: string, knowsAllKinds = false): Promise<void> | void => {
    const { request, query } = exchange
    const route = routeOf(request.method ?? 'GET', path, () => asksToWatch(query))
    if (route.kind === 'path') {
      core.authorize(exchange.user, route)
      const [, group = '', version = ''] = /^\/(?:openapi\/v3\/)?apis\/([^/]+)\/([^/]+)/.exec(path) ?? []
      if (core.aggregator.isRemote(group, version)) {
        return handleRemote(context, exchange, { group, version, isLong: false })
      }
      // Discovery shows what an acknowledged write has made of the kinds.
      const settled = isHealthPath(path) ? undefined : core.kindsSettled()
      return settled === undefined ? paths(exchange, path) : settled.then(() => paths(exchange, path))
    }
    if (isCausesRoute(route)) return answerCauses(exchange, route)
    if (core.aggregator.isRemote(route.group, route.version)) {
      core.authorize(
        exchange.user,
        attributesOf(route, undefined, () => query.get('fieldSelector') ?? ''),
      )
      const isLong = route.verb === 'watch' || isLongSubresource(route)
      return handleRemote(context, exchange, { ...route, isLong })
    }
    const registry = core.registries.served(route.group, route.version, route.plural)
    core.authorize(
      exchange.user,
      attributesOf(route, registry?.definition, () => query.get('fieldSelector') ?? ''),
    )
    if (registry === undefined && !knowsAllKinds) {
      const settled = core.kindsSettled()
      // Its client may not have waited: who begins to follow it then is not told.
      const goOn = () => (exchange.response.destroyed ? undefined : handle(exchange, path, true))
      if (settled !== undefined) return settled.then(goOn)
    }
    if (registry === undefined || leadsNowhere(route, registry.definition)) throw notFoundAt(route)
    requests?.follow(exchange, route, registry.definition)
    if (isProxied(route, registry.definition)) return handleProxy(context, exchange, route, registry)
    if (route.verb === '') throw methodRefused(registry.definition, route.verb)
    if (lacksNamespace(route, registry.definition.namespaced)) {
      // Upstream serves custom resources by a handler of their own, which knows no such path.
      throw registry.definition.schema.dialect === 'structural' ? noHandler() : pathMethodNotAllowed()
    }
    if (route.subresource !== '') return handleSubresource(context, exchange, route, registry)
    return handleResource(context, exchange, route, registry)
  }

  /** Few ask, and none before the server has begun. */
  const answerCauses = async (exchange: Exchange, route: ResourceRoute): Promise<void> => {
    const { handleCauses } = await import('./causes-handler.ts')
    return handleCauses(context, exchange, route)
  }

  const identify = (request: IncomingMessage): void => {
    strangers.onIdentified(request)
    clients.onRequest(request)
  }

  const limitTime = (exchange: Exchange): void => {
    const timeoutMs = timeoutMsOf(exchange.query)
    if (timeoutMs !== undefined) exchanges.limit(exchange, timeoutMs)
  }

  const begin = ({ request, response, path, search, startedMs }: Arrival, user: User): void => {
    if (user === anonymous) strangers.onAnonymous(request)
    else identify(request)
    const userAgent = request.headers['user-agent'] ?? ''
    const exchange: Exchange = {
      request,
      response,
      query: parseQuery(search),
      search,
      clock,
      startedMs,
      user,
      userAgent,
    }
    if (isHealthPath(path)) exchanges.beginUncounted(exchange)
    else {
      exchanges.begin(exchange)
      if (search.includes('timeout=') && !asksToWatch(exchange.query)) limitTime(exchange)
    }
    const start = (): void => {
      const done = handle(exchange, path)
      done?.catch((error: unknown) => sendError(response, error, logger))
    }
    // Health is told whatever else goes on, and whoever may do everything never waits: no flow schema comes before that one.
    if (isHealthPath(path) || user.groups.includes(mastersGroup)) {
      start()
      return
    }
    const refuse = (error: unknown): void => sendError(response, error, logger)
    const startLater = (): void => {
      try {
        start()
      } catch (error) {
        refuse(error)
      }
    }
    // The first requests do not wait until flow control is loaded.
    if (flows === undefined) {
      if (!areFlowsAsked) loadFlows().catch(flowsFailed)
      areFlowsAsked = true
      start()
      return
    }
    const route = routeOf(request.method ?? 'GET', path, () => asksToWatch(exchange.query))
    // As upstream: what goes on for long by nature, watches left out, takes no seat, not even to begin.
    if (isLongSubresource(route)) start()
    else flows.admit(exchange, route, startLater, refuse)
  }

  const fail = ({ request, response }: Arrival, error: unknown): void => {
    if (error instanceof ApiError && error.code === 401) strangers.onAnonymous(request)
    sendError(response, error, logger)
  }

  let identifying = 0
  const beginWhenKnown = async (arrival: Arrival, identity: Promise<User>): Promise<void> => {
    identifying += 1
    try {
      const who = await identity
      if (!arrival.response.destroyed) begin(arrival, who)
    } catch (error) {
      fail(arrival, error)
    } finally {
      identifying -= 1
    }
  }

  const attempt = (request: IncomingMessage, response: ServerResponse, path: string, search: string): void => {
    const arrival: Arrival = { request, response, path, search, startedMs: clock.monotonicMs() }
    try {
      if (identifying >= identifyingRequestsMax) throw tooManyRequests(busyMessage, 1)
      const requester = authenticate(request, (text) => warn(response, text))
      const who = asksToImpersonate(request.rawHeaders) ? impersonated(core, metrics, arrival, requester) : requester
      if (who instanceof Promise) void beginWhenKnown(arrival, who)
      else begin(arrival, who)
    } catch (error) {
      fail(arrival, error)
    }
  }

  return (request, response) => {
    // What follows on a connection that was refused is not carried out, though Node may have read it already.
    if (refused.has(request.socket)) return
    const problem = framingProblem(request)
    if (problem !== undefined) {
      refused.add(request.socket)
      refuse(response, problem)
      return
    }
    const url = pathOf(request.url ?? '/')
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const search = mark < 0 ? '' : url.slice(mark + 1)
    const wait = isHealthPath(path) ? undefined : turns.take()
    if (wait === undefined) return attempt(request, response, path, search)
    if (turns.size > waitingRequestsMax) return sendError(response, tooManyRequests(busyMessage, 1), logger)
    void wait.then(() => {
      // Its client may not have waited.
      if (!response.destroyed && !response.headersSent) attempt(request, response, path, search)
    })
  }
}

/** Answers in plain text, and ends the connection. `problem` is the status line without the version. */
function refuse(response: ServerResponse, problem: string): void {
  response.shouldKeepAlive = false
  response.writeHead(Number.parseInt(problem, 10), problem.slice('400 '.length), {
    'Content-Type': 'text/plain; charset=utf-8',
  })
  response.end(problem)
}

/** Whom a request that asks for it counts as made by. What judges that is loaded with the first such request. */
async function impersonated(
  core: ApiCore,
  metrics: MetricsRegistry | undefined,
  { request, path, search }: Arrival,
  who: User | Promise<User>,
): Promise<User> {
  const loading = Promise.all([
    import('../security/acting-as.ts'),
    import('../security/impersonation.ts'),
    import('../security/impersonation-metrics.ts'),
  ])
  const [requester, [{ actAs }, { askedUser }, { impersonationMetricsOf }]] = await Promise.all([who, loading])
  const asked = askedUser(request.rawHeaders)
  if (asked === undefined) return requester
  const impersonation = { requester, asked, request: wantedOf(core, request.method ?? 'GET', path, search) }
  return metrics === undefined
    ? actAs(core.authorize, impersonation)
    : impersonationMetricsOf(metrics, core.environment.clock).actAs(core.authorize, impersonation)
}

/** What a request wants, for authorization. */
function wantedOf({ registries }: ApiCore, method: string, path: string, search: string): RequestAttributes {
  const query = parseQuery(search)
  const route = routeOf(method, path, () => asksToWatch(query))
  if (route.kind === 'path') return route
  const definition = registries.served(route.group, route.version, route.plural)?.definition
  return attributesOf(route, definition, () => query.get('fieldSelector') ?? '')
}

/**
 * A namespaced object without its namespace, a cluster-scoped one inside of one, an object of a kind that has none, or something below
 * a subresource.
 */
function leadsNowhere(route: ResourceRoute, definition: ResourceDefinition): boolean {
  const { namespaced } = definition
  if (route.deeper && !isProxied(route, definition)) return true
  if (isOnlyPosted(definition)) return route.name !== '' || (route.namespace !== '') !== namespaced
  if (!namespaced) return route.namespace !== '' && route.plural !== 'namespaces'
  return route.namespace === '' && route.name !== ''
}

/** Kinds that are questions or orders, as reviews and bindings: their collection takes them, and has no objects and no list. */
const isOnlyPosted = ({ verbs }: ResourceDefinition): boolean => verbs.every((verb) => verb === 'create')

/** Across all namespaces one can only read. */
const lacksNamespace = (route: ResourceRoute, namespaced: boolean): boolean =>
  namespaced && route.namespace === '' && route.verb !== 'list' && route.verb !== 'watch'
