import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  answerCheck,
  answerHealth,
  type Environment,
  type HealthAnswer,
  type HealthCheck,
  type MetricsRegistry,
  metricsContentType,
} from '@coracle/environment'

/** Connections at a time. Those who ask are few: a probe, and one or two who collect metrics. */
export const endpointConnectionsMax = 64

/** Time a client has to say what it wants. */
const requestTimeoutMs = 10_000

/** Where metrics and health are served. */
export interface EndpointOptions {
  /** Any free port where it is 0. */
  readonly port: number
  /** This machine alone by default; in a pod `0.0.0.0` or `::`, since probes come from the node. */
  readonly host?: string
}

export interface Endpoint {
  /** `http://host:port` */
  readonly url: string
  close(): Promise<void>
}

interface Served extends EndpointOptions {
  readonly metrics: MetricsRegistry
  readonly health: readonly HealthCheck[]
  readonly ready: readonly HealthCheck[]
  readonly environment: Environment
}

/** Serves `/metrics`, `/healthz`, `/readyz` and single checks below these, without authentication. Rejects where the port is taken. */
export async function serveEndpoint(served: Served): Promise<Endpoint> {
  const { port, host = '127.0.0.1', environment } = served
  const { createServer } = await import('node:http')
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    answer(served, request).then(
      ({ code, type, text }) => send(response, code, type, text),
      (error: unknown) => {
        environment.logger.error('endpoint failed', { path: request.url, error })
        send(response, 500, plain, 'internal error\n')
      },
    )
  })
  server.maxConnections = endpointConnectionsMax
  await listening(server, port, host)
  // Where a process has as many descriptors as it may: those who come are turned away, and the server goes on.
  server.on('error', (error) => environment.logger.warn('endpoint took no connection', { error }))
  const { address, family, port: chosen } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`,
    close: () => closed(server),
  }
}

interface Answer {
  readonly code: number
  readonly type: string
  readonly text: string
}

const plain = 'text/plain; charset=utf-8'

async function answer(served: Served, { method, url = '/' }: IncomingMessage): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { code: 405, type: plain, text: 'method not allowed\n' }
  // Anyone may ask for what is no URL, such as `//`.
  const { pathname, searchParams } = URL.parse(url, 'http://endpoint') ?? new URL('http://endpoint/none')
  if (pathname === '/metrics') return { code: 200, type: metricsContentType, text: await served.metrics.collected() }
  const health = await healthAt(served, pathname, searchParams)
  if (health === undefined) return { code: 404, type: plain, text: 'there are /metrics, /healthz and /readyz\n' }
  for (const { check, reason } of health.problems)
    served.environment.logger.warn('health check failed', { check, reason })
  return { code: health.code, type: plain, text: health.text }
}

async function healthAt(
  { health, ready }: Served,
  path: string,
  query: URLSearchParams,
): Promise<HealthAnswer | undefined> {
  const [, name = '', single = '', ...more] = path.split('/')
  const checks = name === 'healthz' ? health : name === 'readyz' ? ready : undefined
  if (checks === undefined || more.length > 0) return undefined
  if (single === '') return answerHealth(name, checks, query)
  const check = checks.find((each) => each.name === single)
  return check && answerCheck(check)
}

function send(response: ServerResponse, code: number, type: string, text: string): void {
  response.writeHead(code, { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' }).end(text)
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
