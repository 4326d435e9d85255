import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Duplex, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { ApiError, serviceUnavailable, tooManyRequests } from '@coracle/api'
import { IdleTimer, idleTimeoutMs } from '@coracle/client/streaming'
import type { Clock } from '@coracle/environment'
import type { Exchange, HandlerContext } from '../http/exchange.ts'
import { busyMessage } from '../store-errors.ts'
import { detectContentType } from './detect-content-type.ts'
import { escapedPath } from './escaped-path.ts'
import { createLinkRewriter } from './html-links.ts'
import { connectToPod } from './pod-connection.ts'
import { answerHeaders, requestHeaders } from './proxy-headers.ts'
import type { AgentTarget, PodTarget, ProxyTarget } from './proxy-target.ts'
import { type ProxiedPage, rewriteUrl } from './rewrite-url.ts'
import { joinSwitched, refused, switchedBy } from './switched-protocols.ts'

/** How long the head of an answer waits for its body, as upstream. */
const headDelayMaxMs = 200

/** Where a request was sent, here and there. */
export interface ProxiedPath {
  /** The path of the subresource here, encoded: `/api/v1/namespaces/default/pods/web/proxy`. */
  readonly prefix: string
  /** The path below it, decoded. */
  readonly path: string
  /** The query as it came, without the `?`. */
  readonly search: string
}

/**
 * Sends a request on, and its answer back as it comes: neither is ever held as a whole. Throws an ApiError before anything is
 * answered where the other side cannot be reached.
 */
export async function serveProxy(
  context: HandlerContext,
  exchange: Exchange,
  target: ProxyTarget,
  at: ProxiedPath,
  signal: AbortSignal,
): Promise<void> {
  if (!context.proxied.take()) throw tooManyRequests(busyMessage, 1)
  const connection = await connected(context, target, signal)
  const leave = () => connection.destroy()
  const idle = new IdleTimer(context.environment.clock, idleTimeoutMs, leave)
  connection.on('data', () => idle.note())
  signal.addEventListener('abort', leave, { once: true })
  // The client may have gone while the way was looked for.
  if (signal.aborted) leave()
  try {
    if (isUpgrade(exchange.request)) await upgrade(context, exchange, connection, at, idle)
    else await send(context, exchange, connection, hostOf(target), at, idle)
  } catch (error) {
    // Who has gone needs no answer; what has begun can only be broken off.
    if (signal.aborted || exchange.response.headersSent || context.upgrades.isTaken(exchange.request)) {
      return void exchange.response.destroy()
    }
    throw error instanceof ApiError ? error : unreachable(error as Error)
  } finally {
    context.proxied.release()
    idle.cancel()
    signal.removeEventListener('abort', leave)
    connection.destroy()
  }
}

/** A connection to where a request goes. Rejects with an ApiError, and has given the place back, where there is none. */
async function connected(
  { proxied }: HandlerContext,
  target: PodTarget | AgentTarget,
  signal: AbortSignal,
): Promise<Duplex> {
  if (target.kind === 'pod') return connectToPod(target, signal)
  try {
    return await target.agent.connect(signal)
  } catch (error) {
    proxied.release()
    throw error instanceof ApiError ? error : unreachable(error as Error)
  }
}

const hostOf = (target: PodTarget | AgentTarget): string => (target.kind === 'pod' ? target.host : target.agent.host)

const unreachable = ({ message }: Error): ApiError => serviceUnavailable(`error trying to reach service: ${message}`)

async function send(
  { bodies, environment }: HandlerContext,
  { request, response }: Exchange,
  connection: Duplex,
  host: string,
  { prefix, path, search }: ProxiedPath,
  idle: IdleTimer,
): Promise<void> {
  const { method = 'GET', headers } = request
  const sent = httpRequest({
    method,
    path: pathAndQuery(path, search),
    headers: requestHeaders(request, `${prefix}${escapedPath(path)}`),
    createConnection: () => connection,
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    // A pod may answer with another protocol though nobody has asked it to.
    sent.once('upgrade', () => reject(new Error('unexpected switch of protocols')))
    sent.on('error', reject)
  })
  const body = bodies.stream(request)
  body.on('data', () => idle.note())
  body.pipe(sent)
  try {
    const answer = await answered
    const page = { prefix, host, requestHost: headers.host ?? '' }
    const changes = method === 'HEAD' ? [] : changesOf(answer, page)
    const type = method === 'HEAD' ? {} : await detectedTypeOf(answer, environment.clock)
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, {
      ...answerHeaders(answer.headers, changes.length > 0),
      ...type,
      ...locationOf(answer, page),
    })
    response.flushHeaders()
    await pipeline([answer, ...changes, response])
  } finally {
    // What is left of it comes before the next request of the connection.
    body.unpipe(sent).resume()
  }
}

/**
 * The type of an answer with a body that does not tell it: Go's servers, as upstream's, add what the body begins like. Where nothing of it
 * comes soon, the head goes without.
 */
async function detectedTypeOf(answer: IncomingMessage, clock: Clock): Promise<OutgoingHttpHeaders> {
  if (answer.headers['content-type'] !== undefined || answer.headers['content-encoding'] !== undefined) return {}
  const waiting = new AbortController()
  const late = Promise.withResolvers<void>()
  const timer = clock.setTimer(headDelayMaxMs, late.resolve)
  const { signal } = waiting
  await Promise.race([once(answer, 'readable', { signal }), once(answer, 'end', { signal }), late.promise]).finally(
    () => {
      timer.cancel()
      waiting.abort()
    },
  )
  const first: Buffer | null = answer.read()
  if (first === null) return {}
  answer.unshift(first)
  return { 'content-type': detectContentType(first) }
}

const locationOf = ({ headers: { location } }: IncomingMessage, page: ProxiedPage): OutgoingHttpHeaders =>
  location === undefined || location === '' ? {} : { location: rewriteUrl(location, page) }

/**
 * What is done to the body of an answer: links are changed in pages of HTML, but for those that lead elsewhere as a whole, or are
 * encoded in a way unknown here. `deflate` means one thing in the standard and another to many servers, so it stays as it is.
 */
function changesOf({ headers }: IncomingMessage, page: ProxiedPage): readonly Transform[] {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim()
  if (type !== 'text/html' || (headers.location ?? '') !== '') return []
  const rewriter = () => createLinkRewriter((url) => rewriteUrl(url, page))
  switch (headers['content-encoding'] ?? '') {
    case '':
      return [rewriter()]
    case 'gzip':
      return [createGunzip(), rewriter(), createGzip()]
    default:
      return []
  }
}

/** Whether a request asks to become something else than HTTP. */
export function isUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && (headers.connection ?? '').toLowerCase().includes('upgrade')
}

/** Makes the connection of a request one with the pod, which speaks on it whatever was asked for, such as WebSocket. */
async function upgrade(
  { upgrades, environment }: HandlerContext,
  { request, response }: Exchange,
  connection: Duplex,
  { path, search }: ProxiedPath,
  idle: IdleTimer,
): Promise<void> {
  if (upgrades.isFull) throw tooManyRequests(busyMessage, 1)
  const sent = httpRequest({
    method: request.method,
    path: pathAndQuery(path, search),
    headers: { ...requestHeaders(request, undefined), Connection: 'Upgrade', Upgrade: request.headers.upgrade },
    createConnection: () => connection,
  })
  sent.end()
  const outcome = await switchedBy(sent)
  if (!('answer' in outcome)) return refused(outcome, response)
  await joinSwitched(upgrades, request, { ...outcome, connection }, environment.clock, idle)
}

const pathAndQuery = (path: string, search: string): string =>
  `${escapedPath(path) || '/'}${search === '' ? '' : `?${search}`}`
