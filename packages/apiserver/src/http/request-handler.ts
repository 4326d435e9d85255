import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, tooManyRequests } from '@coracle/api'
import type { Upgrades } from '@coracle/client/upgrades'
import type { MetricsRegistry, Time } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import { mastersGroup } from '../api-server-user.ts'
import { ProxiedRequests } from '../proxy/proxied-requests.ts'
import type { RequestAttributes, User } from '../request.ts'
import { asksToImpersonate } from '../security/asks-to-impersonate.ts'
import { type Authenticator, anonymous } from '../security/authentication.ts'
import { busyMessage } from '../store-errors.ts'
import type { WorkTurns } from '../work-turns.ts'
import type { BodyReader } from './body/body-reader.ts'
import type { ClientHeaderMemory } from './client-header-memory.ts'
import { createDispatch } from './dispatch.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import type { Exchanges } from './exchanges.ts'
import type { FlowAdmission } from './flow-admission.ts'
import { framingProblem } from './framing.ts'
import { isHealthPath } from './health.ts'
import { createPathHandler, type PathHandlerOptions } from './path-handler.ts'
import { asksToWatch, parseQuery, timeoutMsOf } from './query.ts'
import { ListWriter } from './representation/list-writer.ts'
import { Representations } from './representation/representation.ts'
import { isLongSubresource, RequestMetrics } from './request-metrics.ts'
import { sendError, warn } from './respond.ts'
import { attributesOf, pathOf, routeOf } from './routes.ts'
import type { ServerResponse } from './server-response.ts'
import type { StrangerMemory } from './stranger-memory.ts'

/** How many requests may wait for a turn of the event loop, in memory but for their bodies. More get 429. */
export const waitingRequestsMax = 20_000
/** How many requests may be authenticated at once where a webhook or another issuer is asked. More get 429. */
export const identifyingRequestsMax = 5_000

export interface RequestHandlerOptions extends PathHandlerOptions {
  readonly authenticate: Authenticator
}

/** A request that is not authenticated yet. */
interface Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly search: string
  /** On the monotonic clock. */
  readonly startedMs: Time
}

/** Answers a request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** What a server's requests share. */
export interface HandlerParts {
  readonly exchanges: Exchanges
  readonly bodies: BodyReader
  readonly turns: WorkTurns
  readonly strangers: StrangerMemory
  readonly clients: ClientHeaderMemory
  /** Connections that were refused: no further request on them is carried out. */
  readonly refused: WeakSet<Duplex>
  readonly upgrades: Upgrades
}

/** Authenticates requests, lets them wait for their turn and their seat, and dispatches them. */
export function createRequestHandler(
  options: RequestHandlerOptions,
  { exchanges, bodies, turns, strangers, clients, refused, upgrades }: HandlerParts,
): Handler {
  const { core, environment, authenticate } = options
  const { clock, logger } = environment
  const lists = new ListWriter(clock)
  exchanges.onClose(() => lists.close())
  // Loaded when needed: clients in `system:masters` never wait.
  let flows: FlowAdmission | undefined
  let areFlowsAsked = false
  const loadFlows = async (): Promise<void> => {
    const [{ FlowAdmission }, flowControl] = await Promise.all([import('./flow-admission.ts'), core.flowControl()])
    flows = new FlowAdmission(flowControl, clock, options.metrics)
    exchanges.onClose(flows.close)
  }
  /** The next request tries again. */
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
  const { metrics } = options
  const requests = metrics === undefined ? undefined : new RequestMetrics(metrics, clock, () => exchanges.inFlight())
  if (requests !== undefined) exchanges.onClose(requests.close)
  const dispatch = createDispatch(context, createPathHandler(options), requests)

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
      const done = dispatch(exchange, path)
      done?.catch((error: unknown) => sendError(response, error, logger))
    }
    // Health is answered under any load. `system:masters` never waits: no flow schema comes before the exempt one.
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
    // As upstream: long-running requests other than watches take no seat, not even for their start.
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
    // Node may have read further requests from a connection that was refused.
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
      // The client may have gone meanwhile.
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

/** The user whom a request asks to impersonate, if the requester may. Loaded with the first such request. */
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

/** The attributes of a request, for authorization. */
function wantedOf({ registries }: ApiCore, method: string, path: string, search: string): RequestAttributes {
  const query = parseQuery(search)
  const route = routeOf(method, path, () => asksToWatch(query))
  if (route.kind === 'path') return route
  const definition = registries.served(route.group, route.version, route.plural)?.definition
  return attributesOf(route, definition, () => query.get('fieldSelector') ?? '')
}
