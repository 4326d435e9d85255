import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { type Clock, realClock } from '@coracle/environment'
import { answerProblem, transportProblem } from './webhook-problems.ts'

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
 * A client of the webhook that `config` names. A webhook is outside of the cluster: however time passes in here, `clock`
 * waits for it, and how long it may take the host's clock tells.
 */
export function createWebhookClient(
  { url, service, caBundle }: WebhookClientConfig,
  clock: Clock,
  hostClock: Clock = realClock,
): WebhookClient {
  const target = new URL(url ?? serviceUrl(service))
  const ca = caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }
  const agent = new Agent({ keepAlive: true, maxSockets: webhookConnectionsMax, ...ca })
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
      return clock.hold(post({ url: asked, service, agent, body: bytes }, hostClock, timeoutMs).finally(answered))
    },
    retire: () => {
      retired = true
      if (asking === 0) agent.destroy()
    },
    close: () => agent.destroy(),
  }
}

function serviceUrl(service: WebhookClientConfig['service']): string {
  const { name = '', namespace = '', port = 443, path = '/' } = service ?? {}
  return `https://${name}.${namespace}.svc:${port}${path}`
}

interface Question {
  readonly url: URL
  /** Whose name the URL has, where it is one. */
  readonly service: WebhookClientConfig['service']
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

function problemOf(error: unknown, { url, service }: Question): string {
  const { code } = error as NodeJS.ErrnoException
  if (service === undefined || (code !== 'ENOTFOUND' && code !== 'EAI_AGAIN'))
    return transportProblem(error, url.hostname)
  const name = JSON.stringify(`${service.namespace}/${service.name}`)
  return `the host of the API server does not know the service ${name}: name the webhook by url`
}

/** The webhook answered, and not as it should. */
class AnswerError extends Error {}

interface Answer {
  readonly code: number
  readonly text: string
}

/** Asks once more where the webhook had closed a connection that was kept alive, just as it was used again. */
async function exchange(question: Question, signal: AbortSignal): Promise<Answer> {
  try {
    return await exchangeOnce(question, signal)
  } catch (error) {
    if (!(error instanceof ClosedConnectionError)) throw error
    return exchangeOnce(question, signal)
  }
}

class ClosedConnectionError extends Error {}

function exchangeOnce({ url, agent, body }: Question, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': body.length }
    const sent = request(url, { method: 'POST', agent, headers, signal }, (answer) => {
      readAnswer(answer).then((text) => resolve({ code: answer.statusCode ?? 0, text }), reject)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const wasClosed = sent.reusedSocket && error.code === 'ECONNRESET'
      reject(wasClosed ? new ClosedConnectionError(error.message, { cause: error }) : error)
    })
    sent.end(body)
  })
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
    return JSON.parse(text)
  } catch {
    throw new AnswerError('the answer is not JSON')
  }
}
