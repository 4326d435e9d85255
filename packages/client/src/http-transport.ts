import type { PeerCertificate } from 'node:tls'
import { ApiError } from '@coracle/api'
import { type Environment, LoadOnce, type MetricsRegistry, sleep, type Timer } from '@coracle/environment'
import type { Dispatcher, Pool } from 'undici'
import {
  bearerTokenOf,
  type CredentialHeaders,
  credentialHeaders,
  type Impersonation,
  isSameTls,
  type TlsParts,
  tlsOptionsOf,
  withPresentTls,
} from './connection-credentials.ts'
import { type ExchangeEvent, traceExchange } from './exchange-trace.ts'
import { limitTime, untilAborted } from './request-time-limit.ts'
import { serverError } from './server-error.ts'
import type { OpenedSpdy } from './streaming/open-spdy.ts'
import type { OpenedWebSocket } from './streaming/open-web-socket.ts'

/** Connections for requests, and for watches and streams, which each keep one. */
export const requestConnectionsMax = 32
export const streamConnectionsMax = 1024

/** Largest response read into memory. */
export const responseBytesMax = 512 * 1024 * 1024

/** How often a request is sent while the server answers 429 or 5xx with a Retry-After, the first time included (client-go's rule). */
export const retryAfterTriesMax = 10

/** Connections that were made with what has been renewed take new requests for no longer than this. */
const formerPoolMs = 1_000

/** Time to connect. */
const connectTimeoutMs = 10_000

/** Time a server has to begin its answer. */
const headersTimeoutMs = 60_000

/** How often a request is led to another path, at most (Go's limit), and by which codes. */
const redirectsMax = 10
const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What is looked at of an answer. */
type Answered = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>

/** Times that a server has, for tests to shorten. */
export interface TransportLimits {
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
}

/** Time a server has for each further part of an answer that is read as a whole: one that hangs would hold its reader up for ever. */
const bodyTimeoutMs = 300_000

export interface TransportOptions {
  /** `https://host:port`, with a path before the API's where there is one. */
  readonly server: string
  /** PEM of the authorities that may vouch for the server. Absent: the host's. */
  readonly ca?: string
  /** PEM of the client's certificate and its key. */
  readonly cert?: string
  readonly key?: string
  /** What stands in place of `ca`, `cert` and `key` at the moment, as far as it is given: they may be renewed. */
  readonly tlsNow?: () => Promise<TlsParts>
  /** A bearer token, or where to get the present one. */
  readonly token?: string | (() => Promise<string>)
  /** Hears of a token that the server has not taken (401). */
  readonly onUnauthorized?: (token: string) => void
  /** A name and a password, where there is no token. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** Whom requests are made as, for those who may act as others. */
  readonly impersonate?: Impersonation
  /** Name to check the server's certificate against, where it is not the host of `server`. */
  readonly serverName?: string
  /** Judges the server's certificate, which its authority vouches for, in place of its names. */
  readonly verifyServer?: (certificate: PeerCertificate) => Error | undefined
  /** Takes any certificate for the server's. */
  readonly insecureSkipTlsVerify?: boolean
  readonly userAgent?: string
  /** Where requests are counted, as client-go counts them. */
  readonly metrics?: MetricsRegistry
  /** Hears what the server warns of (RFC 7234, code 299), such as a field it does not know. */
  readonly onWarning?: (text: string) => void
  /** Hears of each request and its answer, for a log. */
  readonly onExchange?: (event: ExchangeEvent) => void
  /** A request that is not over by then is given up; watches and streams too. Absent: none is. */
  readonly timeoutMs?: number
}

/** A request as it goes out. */
export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query, such as `/apis`. */
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  readonly body?: string
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Whether the answer may begin at any time: upstream's servers begin with the first line of a log that they follow. */
  readonly mayBeginLate?: boolean
}

export interface RawResponse {
  readonly code: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** HTTP to one server: pooled connections, credentials, errors as ApiErrors. */
export interface Transport {
  /** Sends a request and reads the whole answer. Rejects with an ApiError for codes from 300. */
  send(request: RawRequest): Promise<RawResponse>
  /** Sends a request and gives the body as it comes. Rejects with an ApiError for codes from 300. */
  open(request: RawRequest): Promise<ResponseBody>
  /** As `HttpClient.openWebSocket`. Absent where requests do not go over a connection of their own. */
  openWebSocket?(path: string, protocols: readonly string[]): Promise<OpenedWebSocket>
  /** As `HttpClient.openSpdy`. Absent where requests do not go over a connection of their own. */
  openSpdy?(path: string, protocols: readonly string[]): Promise<OpenedSpdy>
  /** Ends all connections, those under way too. */
  close(): Promise<void>
}

/** A body under way. `destroy` ends it without an error for the reader's side to see. */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  destroy(): void
}

/** Watches must not wait for requests to end, nor the other way round. */
interface Pools {
  readonly requests: Pool
  readonly streams: Pool
}

/** A transport. Connects when the first request comes. Throws a TypeError when `server` is no URL. */
export function createTransport(
  options: TransportOptions,
  environment: Pick<Environment, 'clock'>,
  limits: TransportLimits = { headersTimeoutMs, bodyTimeoutMs },
): Transport {
  const { origin, prefix } = parseServer(options.server)
  const { timeoutMs = connectTimeoutMs } = options
  // A process that serves the API and calls it in process never needs undici, which takes 30 ms to load.
  const newPools = (tls: TransportOptions) =>
    new LoadOnce(async (): Promise<Pools> => {
      const { Pool } = await import('undici')
      const connect = { ...tlsOptionsOf(tls), timeout: Math.min(timeoutMs, connectTimeoutMs) }
      const shared = { connect, headersTimeout: limits.headersTimeoutMs, pipelining: 1 }
      return {
        requests: new Pool(origin, {
          ...shared,
          bodyTimeout: limits.bodyTimeoutMs,
          connections: requestConnectionsMax,
        }),
        streams: new Pool(origin, { ...shared, bodyTimeout: 0, connections: streamConnectionsMax }),
      }
    })
  let tls: TransportOptions = options
  let pools = newPools(tls)
  /** Those that were made with what has been renewed since, until what is under way there has come to its end. */
  const former = new Map<Pool, Timer>()

  async function presentPools(): Promise<Pools> {
    if (options.tlsNow === undefined) return pools.get()
    const present = await withPresentTls(options)
    if (!isSameTls(present, tls)) {
      retire(pools)
      tls = present
      pools = newPools(tls)
    }
    return pools.get()
  }

  function retire({ begun }: LoadOnce<Pools>): void {
    void begun?.then(({ requests, streams }) => {
      for (const pool of [requests, streams]) {
        const forget = (): void => void former.delete(pool)
        // Whoever has just been given it makes a request yet.
        former.set(
          pool,
          environment.clock.setTimer(formerPoolMs, () => void pool.close().then(forget, forget)),
        )
      }
    })
  }

  const counted = options.metrics?.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by how they ended.',
    labels: ['code', 'host', 'method'],
  })
  const { host } = new URL(origin)

  async function dispatch(kind: keyof Pools, request: RawRequest) {
    try {
      const response = await send(kind, request)
      counted?.with({ code: String(response.statusCode), host, method: request.method }).inc()
      return response
    } catch (error) {
      counted?.with({ code: '<error>', host, method: request.method }).inc()
      throw error
    }
  }

  async function send(kind: keyof Pools, request: RawRequest) {
    const pool = (await presentPools())[kind]
    const { method, body, signal, mayBeginLate } = request
    const credentials = await credentialHeaders(options)
    const headers = headersOf(request, credentials, options.userAgent)
    const path = prefix + request.path
    const trace = traceExchange(options.onExchange, environment.clock, { method, url: origin + path, headers, body })
    try {
      const call = pool.request({
        method,
        path,
        // undici distrusts DELETE with a body and would close the connection after each; the Kubernetes API defines it.
        reset: false,
        headers,
        ...(mayBeginLate === true ? { headersTimeout: 0 } : {}),
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      })
      const response = await (signal === undefined ? call : untilAborted(call, signal))
      trace?.(response.statusCode, response.headers)
      if (response.statusCode === 401) options.onUnauthorized?.(bearerTokenOf(credentials))
      return response
    } catch (error) {
      trace?.(undefined, {})
      throw error
    }
  }

  async function attempt(pool: keyof Pools, original: RawRequest) {
    let request = original
    let redirects = 0
    for (let tries = 1; ; tries++) {
      const response = await dispatchReading(pool, request)
      if (options.onWarning !== undefined) warningsOf(response.headers.warning).forEach(options.onWarning)
      if (response.statusCode < 300) return response
      const path = redirects < redirectsMax ? redirectedPath(request, response) : undefined
      if (path !== undefined) {
        await readText(response.body)
        request = { ...request, path }
        redirects += 1
        continue
      }
      const retryAfter = Number(response.headers['retry-after'])
      const body = await readText(response.body)
      options.onExchange?.({ type: 'body', text: body })
      const isPassing = response.statusCode === 429 || response.statusCode >= 500
      const mayRetry = isPassing && retryAfter > 0 && tries < retryAfterTriesMax
      if (!mayRetry) throw serverError(request.method, response.statusCode, body)
      await sleep(environment.clock, retryAfter * 1000, request.signal)
    }
  }

  /** Where a GET is led within the same server, as by what is behind `proxy`. Elsewhere nobody is to have the credentials. */
  function redirectedPath({ method, path }: RawRequest, { statusCode, headers }: Answered): string | undefined {
    if (method !== 'GET' || !redirectCodes.has(statusCode) || typeof headers.location !== 'string') return undefined
    const target = URL.parse(headers.location, origin + prefix + path)
    if (target?.origin !== origin || !target.pathname.startsWith(`${prefix}/`)) return undefined
    return target.pathname.slice(prefix.length) + target.search
  }

  /** A kept connection may be closed by the server just as it is used. Reads are safe to send again; writes are not. */
  async function dispatchReading(pool: keyof Pools, request: RawRequest) {
    try {
      return await dispatch(pool, request)
    } catch (error) {
      if (request.method !== 'GET' || !isConnectionReset(error)) throw connectionError(error, options.server)
      return dispatch(pool, request).catch((again: unknown) => {
        throw connectionError(again, options.server)
      })
    }
  }

  /** Opens a connection for something else than HTTP. */
  async function handshake<T>(
    open: (credentials: CredentialHeaders, present: TransportOptions) => Promise<T>,
  ): Promise<T> {
    const credentials = await credentialHeaders(options)
    try {
      return await open(credentials, await withPresentTls(options))
    } catch (error) {
      if (error instanceof ApiError && error.code === 401) options.onUnauthorized?.(bearerTokenOf(credentials))
      throw connectionError(error, options.server)
    }
  }

  return {
    async send(request) {
      const limit = limitTime(request, options.timeoutMs, environment.clock)
      try {
        const response = await attempt('requests', limit.request)
        const body = await readText(response.body)
        options.onExchange?.({ type: 'body', text: body })
        return { code: response.statusCode, headers: response.headers, body }
      } finally {
        limit.end()
      }
    },
    async open(request) {
      const limit = limitTime(request, options.timeoutMs, environment.clock)
      try {
        const { body } = await attempt('streams', limit.request)
        // Destroying a body that nobody reads raises an error nobody listens for.
        body.on('error', () => {})
        body.on('close', limit.end)
        return { [Symbol.asyncIterator]: () => body[Symbol.asyncIterator](), destroy: () => body.destroy() }
      } catch (error) {
        limit.end()
        throw error
      }
    },
    async openWebSocket(path, protocols) {
      // Few need it.
      const { openWebSocket } = await import('./streaming/open-web-socket.ts')
      return handshake((credentials, present) =>
        openWebSocket(present, credentials, environment.clock, path, protocols),
      )
    },
    async openSpdy(path, protocols) {
      const { openSpdy } = await import('./streaming/open-spdy.ts')
      return handshake((credentials, present) => openSpdy(present, credentials, environment.clock, path, protocols))
    },
    async close() {
      const opened = await pools.begun
      for (const timer of former.values()) timer.cancel()
      await Promise.all([opened?.requests, opened?.streams, ...former.keys()].map((pool) => pool?.destroy()))
    },
  }
}

function parseServer(server: string): { readonly origin: string; readonly prefix: string } {
  if (!URL.canParse(server))
    throw new TypeError(`the server's address is no URL: ${JSON.stringify(server)}; write https://host:port`)
  const url = new URL(server)
  return { origin: url.origin, prefix: url.pathname.replace(/\/$/, '') }
}

function headersOf(
  request: RawRequest,
  credentials: CredentialHeaders,
  userAgent: string | undefined,
): Record<string, string | string[]> {
  return {
    accept: request.accept ?? 'application/json',
    'user-agent': userAgent ?? 'coracle',
    ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
    ...request.headers,
    ...credentials,
  }
}

/** The texts of `299 - "text"` headers, of which several may stand in one. */
function warningsOf(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ')
  // Headers are read as bytes, and these are text.
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  return [...decoded.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) =>
    quoted.replaceAll(/\\(.)/g, '$1'),
  )
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > responseBytesMax) throw new RangeError(`the response is longer than ${responseBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

function isConnectionReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error))
}

/** A request that came to no answer, for want of a connection. */
export interface UnreachableServerError extends Error {
  /** The system's, or the HTTP client's: `ECONNREFUSED`. */
  readonly code: string
  /** `https://host:port` */
  readonly server: string
  /** Why, without the name of the server. */
  readonly reason: string
}

/** Whether that is why a request failed. */
export const isUnreachableServer = (error: unknown): error is UnreachableServerError =>
  error instanceof Error && 'code' in error && 'server' in error && 'reason' in error

/** Says which server could not be reached, and what may be done about it. */
function connectionError(error: unknown, server: string): unknown {
  const code = codeOf(error)
  if (code === '' || code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED') return error
  const reason = hints[code] ?? (error instanceof Error ? error.message : code)
  return Object.assign(new Error(`cannot reach ${server}: ${reason}`, { cause: error }), { code, server, reason })
}

const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED); is the server running?',
  ENOTFOUND: 'there is no such host (ENOTFOUND)',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed and not trusted; give its authority as certificate-authority',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is signed by an authority that is not trusted; give it as certificate-authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is signed by an authority that is not trusted; give it as certificate-authority',
}
