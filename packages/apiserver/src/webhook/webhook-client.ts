import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import type { Clock } from '@coracle/environment'

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
  /** Ends the connections that are open. */
  close(): void
}

/** A client of the webhook that `config` names. */
export function createWebhookClient({ url, service, caBundle }: WebhookClientConfig, clock: Clock): WebhookClient {
  const target = new URL(url ?? serviceUrl(service))
  const ca = caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }
  const agent = new Agent({ keepAlive: true, maxSockets: webhookConnectionsMax, ...ca })
  return {
    post: (body, timeoutMs) => {
      const asked = new URL(target)
      asked.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`)
      return post(asked, agent, Buffer.from(JSON.stringify(body)), clock, timeoutMs)
    },
    close: () => agent.destroy(),
  }
}

function serviceUrl(service: WebhookClientConfig['service']): string {
  const { name = '', namespace = '', port = 443, path = '/' } = service ?? {}
  return `https://${name}.${namespace}.svc:${port}${path}`
}

async function post(url: URL, agent: Agent, body: Buffer, clock: Clock, timeoutMs: number): Promise<unknown> {
  const deadline = new AbortController()
  const timer = clock.setTimer(timeoutMs, () => deadline.abort())
  try {
    const { code, text } = await exchange(url, agent, body, deadline.signal)
    if (code < 200 || code > 299) throw new Error(`the server answered with status ${code}`)
    return parsed(text)
  } catch (error) {
    const why = deadline.signal.aborted ? 'context deadline exceeded' : error instanceof Error ? error.message : error
    throw new Error(`Post ${JSON.stringify(url.href)}: ${why}`, { cause: error })
  } finally {
    timer.cancel()
  }
}

function exchange(url: URL, agent: Agent, body: Buffer, signal: AbortSignal): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Content-Length': body.length }
    const sent = request(url, { method: 'POST', agent, headers, signal }, (answer) => {
      readAnswer(answer).then((text) => resolve({ code: answer.statusCode ?? 0, text }), reject)
    })
    sent.on('error', reject)
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
    throw new Error('the answer is not JSON')
  }
}
