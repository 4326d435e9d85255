import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Environment } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import type { User } from '../request.ts'
import type { Authenticator } from '../security/authentication.ts'
import type { KeyPair } from '../security/certificates.ts'
import { impersonatedUser } from '../security/impersonation.ts'
import { BodyReader } from './body.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { Exchanges } from './exchanges.ts'
import { ListWriter } from './list-bytes.ts'
import { createPathHandler, type PathHandlerOptions } from './path-handler.ts'
import { asksToWatch, parseQuery } from './query.ts'
import { handleResource } from './resource-handlers.ts'
import { sendError } from './respond.ts'
import { attributesOf, pathMethodNotAllowed, pathNotFound, type ResourceRoute, routeOf } from './routes.ts'
import { handleSubresource } from './subresource-handlers.ts'

/** Connections open at one time; further ones are closed as they come. */
export const connectionsMax = 20_000
/** Bytes of a request's headers; more is 431. */
export const headerBytesMax = 64 * 1024
/** How long closing waits for answers under way. */
const closeGraceMs = 5_000
/** Longer than clients keep idle connections, so that none is closed just as it is used again. */
const keepAliveMs = 120_000

export interface HttpServerOptions extends PathHandlerOptions {
  readonly authenticate: Authenticator
  readonly serving: KeyPair
  /** Whoever shows a certificate must have it from this authority. */
  readonly clientCaPem: string
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
  const handler = createHandler(options, exchanges)
  const server = createServer(
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
      noDelay: true,
    },
    handler,
  )
  server.maxConnections = connectionsMax
  // Long watches send nothing for a while, and uploads are bounded in size and by the request timeout.
  server.requestTimeout = 0
  server.on('clientError', refuseMalformed)
  core.ready.catch(() => {})

  return {
    listen: (address) => listen(server, address),
    close: () => close(server, exchanges, environment),
  }
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      const address = server.address() as AddressInfo
      const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address
      resolve({ host: address.address, port: address.port, url: `https://${shownHost}:${address.port}` })
    })
  })
}

async function close(server: Server, exchanges: Exchanges, { clock }: Environment): Promise<void> {
  // This closes connections that are idle; it counts those as idle whose answer is made but still on its way, so
  // watches are ended after it.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  exchanges.close()
  const timer = clock.setTimer(closeGraceMs, () => server.closeAllConnections())
  await exchanges.idle()
  server.closeAllConnections()
  await closed
  timer.cancel()
}

/** The answer to what is not HTTP, or too much of it. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex | Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const line = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
  socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

function createHandler(options: HttpServerOptions, exchanges: Exchanges): Handler {
  const { core, environment, authenticate } = options
  const { clock, logger } = environment
  const lists = new ListWriter(clock)
  exchanges.onClose(() => lists.close())
  const context: HandlerContext = {
    core,
    environment,
    bodies: new BodyReader(),
    lists,
    becomeLongRunning: (exchange) => exchanges.becomeLongRunning(exchange),
  }
  const paths = createPathHandler(options)

  const handle = (exchange: Exchange, path: string): Promise<void> | void => {
    const { request, query } = exchange
    const route = routeOf(request.method ?? 'GET', path, () => asksToWatch(query))
    if (route.kind === 'path') {
      core.authorize(exchange.user, route)
      return paths(exchange, path)
    }
    const registry = core.registries.byResource(route.group, route.version, route.plural)
    core.authorize(exchange.user, attributesOf(route, registry?.definition))
    if (registry === undefined || leadsNowhere(route, registry.definition.namespaced)) throw pathNotFound()
    if (route.verb === '' || lacksNamespace(route, registry.definition.namespaced)) throw pathMethodNotAllowed()
    if (route.subresource !== '') return handleSubresource(context, exchange, route, registry)
    return handleResource(context, exchange, route, registry)
  }

  return (request, response) => {
    try {
      const { url = '/' } = request
      const mark = url.indexOf('?')
      const path = mark < 0 ? url : url.slice(0, mark)
      const search = mark < 0 ? '' : url.slice(mark + 1)
      const exchange: Exchange = {
        request,
        response,
        query: parseQuery(search),
        search,
        startedMs: clock.monotonicMs(),
        user: userOf(core, authenticate(request), request),
        userAgent: request.headers['user-agent'] ?? '',
      }
      exchanges.begin(exchange)
      const done = handle(exchange, path)
      done?.catch((error: unknown) => sendError(response, error, logger))
    } catch (error) {
      sendError(response, error, logger)
    }
  }
}

/** Who a request counts as made by. */
function userOf(core: ApiCore, user: User, request: IncomingMessage): User {
  const impersonated = impersonatedUser(request.headers)
  if (impersonated === undefined) return user
  for (const attributes of impersonated.needed) core.authorize(user, attributes)
  return impersonated.user
}

/** A namespaced object without its namespace, a cluster-scoped one inside of one, or something below a subresource. */
function leadsNowhere(route: ResourceRoute, namespaced: boolean): boolean {
  if (route.deeper) return true
  if (!namespaced) return route.namespace !== '' && route.plural !== 'namespaces'
  return route.namespace === '' && route.name !== ''
}

/** Across all namespaces one can only read. */
const lacksNamespace = (route: ResourceRoute, namespaced: boolean): boolean =>
  namespaced && route.namespace === '' && route.verb !== 'list' && route.verb !== 'watch'
