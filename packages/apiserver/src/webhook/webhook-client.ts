import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { parseExactJson } from '@coracle/api'
import { type Clock, realClock } from '@coracle/environment'
import type { ServiceEndpoint, ServicePort } from '../aggregation/service-endpoint.ts'
import { type ServerAddress, ServerTrust } from './server-trust.ts'
import { answerProblem, transportProblem, unresolvedProblem } from './webhook-problems.ts'

/** Longer answers are refused. */
export const webhookAnswerBytesMax = 64 * 1024 * 1024

/** Connections to one webhook at a time; further calls wait for one. */
export const webhookConnectionsMax = 32

/** How a webhook is reached, as kinds of upstream say it. */
export interface WebhookClientConfig {
  readonly url?: string | undefined
  readonly service?:
    | {
        readonly namespace: string
        readonly name: string
        readonly path?: string | undefined
        readonly port?: number | undefined
      }
    | undefined
  /** Certificates (PEM) in base64; those of the host where there are none. */
  readonly caBundle?: string | undefined
}

/** What asking webhooks takes beside their addresses. */
export interface WebhookSurroundings {
  /** Waits while a webhook is asked, however time passes in the cluster: webhooks are outside of it. */
  readonly clock: Clock
  /** Where a service is reached. */
  readonly resolve: (service: ServicePort) => ServiceEndpoint
  /** Tells how long a webhook has taken. */
  readonly hostClock?: Clock
}

/** Asks one webhook. */
export interface WebhookClient {
  /** Posts JSON and resolves to the JSON of the answer. Rejects, in the words of Go's client, with whatever went wrong. */
  post(body: unknown, timeoutMs: number): Promise<unknown>
  /** Ends the connections once everything that is being asked is answered. */
  retire(): void
  /** Ends the connections that are open. */
  close(): void
}

/**
 * A client of the webhook that `config` names. One behind a service is asked at an endpoint of the service that is ready, and has to show
 * a certificate of the service's name in the cluster.
 */
export function createWebhookClient(
  { url, service, caBundle }: WebhookClientConfig,
  { clock, resolve, hostClock = realClock }: WebhookSurroundings,
): WebhookClient {
  const target = new URL(url ?? serviceUrl(service))
  target.pathname = cleanPath(target.pathname)
  const trust = new ServerTrust(
    caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString(),
    hostClock,
  )
  const agent = new Agent({ keepAlive: true, maxSockets: webhookConnectionsMax })
  let asking = 0
  let retired = false
  const answered = (): void => {
    asking -= 1
    if (retired && asking === 0) agent.destroy()
  }
  return {
    post: (body, timeoutMs) => {
      const asked = new URL(target)
      asked.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`)
      asking += 1
      const bytes = Buffer.from(JSON.stringify(body))
      return clock.hold(
        post({ url: asked, service, resolve, trust, agent, body: bytes }, hostClock, timeoutMs).finally(answered),
      )
    },
    retire: () => {
      retired = true
      if (asking === 0) agent.destroy()
    },
    close: () => agent.destroy(),
  }
}

/** Without slashes that are doubled or at the end, as Go's client of an API joins paths. */
const cleanPath = (path: string): string => `/${path.split('/').filter(Boolean).join('/')}`

function serviceUrl(service: WebhookClientConfig['service']): string {
  const { port = 443, path = '/' } = service ?? {}
  return `https://${hostOf(service)}:${port}${path}`
}

/** What the certificate of a webhook behind a service is for. */
const hostOf = (service: WebhookClientConfig['service']): string => `${service?.name}.${service?.namespace}.svc`

interface Question {
  readonly url: URL
  /** Whose name the URL has, where it is one. */
  readonly service: WebhookClientConfig['service']
  readonly resolve: WebhookSurroundings['resolve']
  readonly trust: ServerTrust
  readonly agent: Agent
  readonly body: Buffer
}

async function post(question: Question, clock: Clock, timeoutMs: number): Promise<unknown> {
  const deadline = new AbortController()
  const timer = clock.setTimer(timeoutMs, () => deadline.abort())
  try {
    const { code, text } = await exchange(question, deadline.signal)
    if (code < 200 || code > 299) throw new AnswerError(answerProblem(code, text))
    return parsed(text)
  } catch (error) {
    if (error instanceof AnswerError) throw error
    const why = deadline.signal.aborted ? 'context deadline exceeded' : problemOf(error, question)
    throw new Error(`Post ${JSON.stringify(shownUrl(question))}: ${why}`, { cause: error })
  } finally {
    timer.cancel()
  }
}

/** A service is shown with its port, also where it is the usual one. */
function shownUrl({ url, service }: Question): string {
  return service === undefined ? url.href : url.href.replace(url.host, `${url.hostname}:${service.port ?? 443}`)
}

const problemOf = (error: unknown, { url }: Question): string =>
  error instanceof UnresolvedError ? error.message : transportProblem(error, url.hostname)

/** The service of a webhook has nothing that could be asked. */
class UnresolvedError extends Error {}

/** The webhook answered, and not as it should. */
class AnswerError extends Error {}

interface Answer {
  readonly code: number
  readonly text: string
}

/** Asks once more where TLS has refused a server that is to be believed. */
async function exchange(question: Question, signal: AbortSignal): Promise<Answer> {
  try {
    return await exchangeAlive(question, signal)
  } catch (error) {
    if (!(await question.trust.reconsider(error, () => addressOf(question), signal))) throw error
    return exchangeAlive(question, signal)
  }
}

/** Asks once more where the webhook had closed a connection that was kept alive, just as it was used again. */
async function exchangeAlive(question: Question, signal: AbortSignal): Promise<Answer> {
  try {
    return await exchangeOnce(question, signal)
  } catch (error) {
    if (!(error instanceof ClosedConnectionError)) throw error
    return exchangeOnce(question, signal)
  }
}

class ClosedConnectionError extends Error {}

function exchangeOnce(question: Question, signal: AbortSignal): Promise<Answer> {
  const { url, service, trust, agent, body } = question
  return new Promise((resolved, reject) => {
    const { host, port, servername } = addressOf(question)
    const headers = {
      Host: service === undefined ? url.host : `${url.hostname}:${service.port ?? 443}`,
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'Content-Length': body.length,
    }
    const options = {
      method: 'POST',
      agent,
      signal,
      headers,
      hostname: host,
      port,
      servername,
      ...trust.options,
    }
    const sent = request(url, options, (answer) => {
      readAnswer(answer).then((text) => resolved({ code: answer.statusCode ?? 0, text }), reject)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const wasClosed = sent.reusedSocket && error.code === 'ECONNRESET'
      reject(wasClosed ? new ClosedConnectionError(error.message, { cause: error }) : error)
    })
    sent.end(body)
  })
}

/** Where a request goes. One to a service goes to one of its endpoints, and is asked for and answered under the service's name. */
function addressOf({ url, service, resolve }: Question): ServerAddress {
  if (service === undefined) return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) }
  const { namespace, name, port = 443 } = service
  const endpoint = resolve({ namespace, name, port })
  if ('reason' in endpoint) throw new UnresolvedError(unresolvedProblem(endpoint.reason, name, port))
  return { ...endpoint, servername: hostOf(service) }
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > webhookAnswerBytesMax) {
      answer.destroy()
      throw new Error(`the answer is longer than ${webhookAnswerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    throw new AnswerError('the answer is not JSON')
  }
}
