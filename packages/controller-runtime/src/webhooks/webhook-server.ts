import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parseExactJson } from '@coracle/api'
import { aborted, type Environment, type MetricsRegistry, sleep } from '@coracle/environment'
import type { Runnable } from '../manager.ts'
import type { Certificate, CertificateSource } from './certificates.ts'
import type { Webhook } from './webhook.ts'

/** The largest review that is read: a few objects of the size etcd takes, as upstream's controller-runtime has it. */
export const webhookBodyBytesMax = 7 * 1024 * 1024

/** Connections at a time. */
export const webhookConnectionsMax = 1024

/** The longest that an API server waits for an answer. */
export const webhookTimeoutMaxMs = 30_000

/** How long a server that ends waits for the answers under way: what API servers wait for a webhook that does not say it. */
export const webhookCloseGraceMs = 10_000

/** How often the certificate is looked at. */
const certificateCheckMs = 10_000

export interface WebhookServerOptions {
  readonly environment: Environment
  /** 9443 by default, as upstream. Any free port where it is 0. */
  readonly port?: number
  /** This machine alone by default; in a pod `0.0.0.0` or `::`. */
  readonly host?: string
  readonly certificate: CertificateSource
  readonly webhooks: readonly Webhook[]
  readonly metrics?: MetricsRegistry
}

/** Answers webhooks over HTTPS for as long as it runs. Give it to a manager: `manager.addRunnable(server)`. */
export interface WebhookServer extends Runnable {
  readonly webhooks: readonly Webhook[]
  /** Resolves once it listens, with where that is and who vouches for it; rejects where it cannot. */
  readonly listening: Promise<{ readonly url: string; readonly ca: string | undefined }>
}

/** A server that has yet to run. */
export function createWebhookServer(options: WebhookServerOptions): WebhookServer {
  const listening = Promise.withResolvers<{ readonly url: string; readonly ca: string | undefined }>()
  // Whoever does not wait for it hears of a failure from `run`.
  listening.promise.catch(() => {})
  return {
    name: 'webhook server',
    webhooks: options.webhooks,
    listening: listening.promise,
    async run(signal) {
      try {
        const { server, url, certificate } = await listen(options)
        listening.resolve({ url, ca: certificate.ca })
        await Promise.all([aborted(signal), renewCertificate(server, certificate, options, signal)])
        await close(server, options.environment)
      } catch (error) {
        listening.reject(error)
        throw error
      }
    },
  }
}

async function listen(options: WebhookServerOptions) {
  const { createServer } = await import('node:https')
  const { port = 9443, host = '127.0.0.1', certificate: source } = options
  const certificate = await source.load()
  const handle = createHandler(options)
  const server = createServer(
    { cert: certificate.cert, key: certificate.key, requestTimeout: webhookTimeoutMaxMs, minVersion: 'TLSv1.2' },
    (request, response) => void handle(request, response),
  )
  server.maxConnections = webhookConnectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  server.on('error', (error) => options.environment.logger.warn('a connection could not be taken', { error }))
  const { address, family, port: chosen } = server.address() as AddressInfo
  return { server, certificate, url: `https://${family === 'IPv6' ? `[${address}]` : address}:${chosen}` }
}

/** Takes up a certificate that was renewed. One that cannot be read, or is none, is logged and the old one shown on. */
async function renewCertificate(
  server: Server,
  first: Certificate,
  { certificate: source, environment }: WebhookServerOptions,
  signal: AbortSignal,
): Promise<void> {
  let shown = first
  while (!signal.aborted) {
    await sleep(environment.clock, certificateCheckMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      const present = await source.load()
      if (present.cert === shown.cert && present.key === shown.key) continue
      server.setSecureContext({ cert: present.cert, key: present.key })
      shown = present
      environment.logger.info('webhook server shows a new certificate')
    } catch (error) {
      environment.logger.warn('certificate not renewed', { error })
    }
  }
}

/** A client that does not come to an end must not hold up that of the server, and Node.js limits the time of none from here on. */
async function close(server: Server, { clock }: Environment): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const timer = clock.setTimer(webhookCloseGraceMs, () => server.closeAllConnections())
  await closed
  timer.cancel()
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

function createHandler({ webhooks, environment, metrics }: WebhookServerOptions): Handle {
  const byPath = new Map(webhooks.map((webhook) => [webhook.path, webhook]))
  const requests = metrics?.counter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Requests to webhooks, by the code of their answer.',
    labels: ['webhook', 'code'],
  })
  const latency = metrics?.histogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'How long webhooks took to answer.',
    labels: ['webhook'],
  })
  return async (request, response) => {
    const { clock, logger } = environment
    const { pathname, searchParams } = urlOf(request)
    const webhook = byPath.get(pathname)
    const startMs = clock.monotonicMs()
    const deadline = new AbortController()
    const timer = clock.setTimer(timeoutOf(searchParams), () => deadline.abort(new Error('the answer is late')))
    response.once('close', () => deadline.abort(new Error('nobody waits for the answer any more')))
    let code = 200
    try {
      if (webhook === undefined) throw new RequestError(404, `there is no webhook ${pathname}`)
      const review = await readReview(request)
      const answer = await Promise.race([
        webhook.answer(review, { logger, signal: deadline.signal }),
        late(deadline.signal),
      ])
      send(response, 200, 'application/json', JSON.stringify(answer))
    } catch (error) {
      code = error instanceof RequestError ? error.code : error instanceof TypeError ? 400 : 500
      logger.warn('webhook request failed', { path: pathname, code, error })
      send(response, code, 'text/plain; charset=utf-8', `${error instanceof Error ? error.message : error}\n`)
    } finally {
      timer.cancel()
      // Paths that are none are strangers' to choose: they get no series of their own.
      if (webhook !== undefined) {
        requests?.with({ webhook: webhook.path, code: String(code) }).inc()
        latency?.with({ webhook: webhook.path }).observe((clock.monotonicMs() - startMs) / 1000)
      }
    }
  }
}

/** Anyone may ask for what is no URL, such as `//`: there is no webhook there either. */
function urlOf({ url = '/' }: IncomingMessage): URL {
  const base = 'https://webhooks'
  return URL.parse(url, base) ?? new URL(encodeURIComponent(url), base)
}

/** What the server says it waits (`?timeout=10s`), within bounds. */
function timeoutOf(query: URLSearchParams): number {
  const seconds = Number(/^(\d+)s$/.exec(query.get('timeout') ?? '')?.[1])
  return seconds > 0 ? Math.min(seconds * 1000, webhookTimeoutMaxMs) : webhookTimeoutMaxMs
}

class RequestError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

async function readReview(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST') throw new RequestError(405, 'webhooks are asked by POST')
  const type = (request.headers['content-type'] ?? '').split(';')[0]
  if (type !== 'application/json') throw new RequestError(415, `reviews come as application/json, not ${type}`)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > webhookBodyBytesMax) throw new RequestError(413, `a review has at most ${webhookBodyBytesMax} bytes`)
    chunks.push(chunk as Buffer)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    // Custom resources have whole numbers that no JavaScript number holds: what is made of a rounded one would be stored.
    return parseExactJson(text)
  } catch {
    throw new RequestError(400, 'the review is no JSON')
  }
}

function late(signal: AbortSignal): Promise<never> {
  return aborted(signal).then(() => {
    throw new RequestError(504, 'the webhook took too long')
  })
}

function send(response: ServerResponse, code: number, type: string, text: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(code, { 'Content-Type': type, ...(code === 413 ? { Connection: 'close' } : {}) }).end(text)
}
