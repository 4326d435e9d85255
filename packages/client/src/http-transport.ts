import { type Environment, type MetricsRegistry, sleep } from '@coracle/environment'
import type { Pool } from 'undici'
import { serverError } from './server-error.ts'

/** Connections for requests, and for watches and streams, which each keep one. */
export const requestConnectionsMax = 32
export const streamConnectionsMax = 1024

/** Largest response read into memory. */
export const responseBytesMax = 512 * 1024 * 1024

/** How often a request is sent while the server answers 429 with a Retry-After, the first time included (client-go's rule). */
export const retryAfterTriesMax = 10

/** Time a server has to begin its answer. */
const headersTimeoutMs = 60_000

export interface TransportOptions {
  /** `https://host:port`, with a path before the API's where there is one. */
  readonly server: string
  /** PEM of the authorities that may vouch for the server. Absent: the host's. */
  readonly ca?: string
  /** PEM of the client's certificate and its key. */
  readonly cert?: string
  readonly key?: string
  /** A bearer token, or where to get the present one. */
  readonly token?: string | (() => Promise<string>)
  /** Name to check the server's certificate against, where it is not the host of `server`. */
  readonly serverName?: string
  /** Takes any certificate for the server's. */
  readonly insecureSkipTlsVerify?: boolean
  readonly userAgent?: string
  /** Where requests are counted, as client-go counts them. */
  readonly metrics?: MetricsRegistry
  /** Hears what the server warns of (RFC 7234, code 299), such as a field it does not know. */
  readonly onWarning?: (text: string) => void
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
}

export interface RawResponse {
  readonly code: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** HTTP to one server: pooled connections, credentials, errors as ApiErrors. */
export interface Transport {
  /** Sends a request and reads the whole answer. Rejects with an ApiError for codes from 400. */
  send(request: RawRequest): Promise<RawResponse>
  /** Sends a request and gives the body as it comes. Rejects with an ApiError for codes from 400. */
  open(request: RawRequest): Promise<ResponseBody>
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
export function createTransport(options: TransportOptions, environment: Pick<Environment, 'clock'>): Transport {
  const { origin, prefix } = parseServer(options.server)
  const connect = {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.cert === undefined ? {} : { cert: options.cert }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.serverName === undefined ? {} : { servername: options.serverName }),
    ...(options.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  }
  const shared = { connect, headersTimeout: headersTimeoutMs, bodyTimeout: 0, pipelining: 1 }
  let pools: Promise<Pools> | undefined

  // A process that serves the API and calls it in process never needs undici, which takes 30 ms to load.
  async function connectPools(): Promise<Pools> {
    const { Pool } = await import('undici')
    return {
      requests: new Pool(origin, { ...shared, connections: requestConnectionsMax }),
      streams: new Pool(origin, { ...shared, connections: streamConnectionsMax }),
    }
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
    pools ??= connectPools()
    const pool = (await pools)[kind]
    const token = typeof options.token === 'function' ? await options.token() : options.token
    return pool.request({
      method: request.method,
      path: prefix + request.path,
      // undici distrusts DELETE with a body and would close the connection after each; the Kubernetes API defines it.
      reset: false,
      headers: headersOf(request, token, options.userAgent),
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    })
  }

  async function attempt(pool: keyof Pools, request: RawRequest) {
    for (let tries = 1; ; tries++) {
      const response = await dispatchReading(pool, request)
      if (options.onWarning !== undefined) warningsOf(response.headers.warning).forEach(options.onWarning)
      if (response.statusCode < 400) return response
      const retryAfter = Number(response.headers['retry-after'])
      const body = await readText(response.body)
      const mayRetry = response.statusCode === 429 && retryAfter > 0 && tries < retryAfterTriesMax
      if (!mayRetry) throw serverError(request.method, response.statusCode, body)
      await sleep(environment.clock, retryAfter * 1000, request.signal)
    }
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

  return {
    async send(request) {
      const response = await attempt('requests', request)
      return { code: response.statusCode, headers: response.headers, body: await readText(response.body) }
    },
    async open(request) {
      const { body } = await attempt('streams', request)
      // Destroying a body that nobody reads raises an error nobody listens for.
      body.on('error', () => {})
      return { [Symbol.asyncIterator]: () => body[Symbol.asyncIterator](), destroy: () => body.destroy() }
    },
    async close() {
      const opened = await pools
      await Promise.all([opened?.requests.destroy(), opened?.streams.destroy()])
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
  token: string | undefined,
  userAgent: string | undefined,
): Record<string, string> {
  return {
    accept: request.accept ?? 'application/json',
    'user-agent': userAgent ?? 'coracle',
    ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
    ...request.headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
}

/** The texts of `299 - "text"` headers, of which several may stand in one. */
function warningsOf(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ')
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replaceAll(/\\(.)/g, '$1'))
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

/** Says which server could not be reached, and what may be done about it. */
function connectionError(error: unknown, server: string): unknown {
  const code = codeOf(error)
  if (code === '' || code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED') return error
  const hint = hints[code] ?? (error instanceof Error ? error.message : code)
  return Object.assign(new Error(`cannot reach ${server}: ${hint}`, { cause: error }), { code })
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
