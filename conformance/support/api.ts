import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually, type Program } from './program.ts'

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is where it is text or bytes, else as JSON with its content type. */
  readonly body?: unknown
}

export interface Answer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  readonly json: any
}

/** How long nothing may come of an answer before its call fails, and says which it was: less than a test has. */
const silenceMs = 60_000

/** What a client shows of itself; nothing is anonymous. */
export interface Credentials {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

/** The lines of an answer that does not end, such as a watch. */
export interface Lines {
  readonly code: number
  /** The next line as JSON; undefined at the end. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  next(): Promise<any>
  close(): void
}

/** The API of a running program by bare HTTPS, with nothing of a client library between. */
export class Api {
  readonly #address: string
  readonly #agent: Agent
  readonly #headers: Readonly<Record<string, string>>

  constructor(address: string, ca: string, { token, cert, key }: Credentials) {
    this.#address = address
    this.#agent = new Agent({
      ca,
      keepAlive: true,
      maxSockets: 16,
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    })
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** As the administrator, by the token the program keeps beside its kubeconfig, or with the given credentials. */
  static async of(program: Program, credentials?: Credentials): Promise<Api> {
    const ca = await readFile(join(program.dataDir, 'pki', 'ca.crt'), 'utf8')
    const token = async () => (await readFile(join(program.dataDir, 'token'), 'utf8')).trim()
    return new Api(program.address, ca, credentials ?? { token: await token() })
  }

  /** The whole answer. Rejects, and names the call, where there is none or nothing more of it comes. */
  async call(path: string, call: Call = {}): Promise<Answer> {
    const answer = await this.#send(path, call)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    return {
      code: answer.statusCode ?? 0,
      headers: answer.headers,
      text,
      get json() {
        return JSON.parse(text)
      },
    }
  }

  /** The object an answer of 2xx carries. Throws for any other. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  async object(path: string, call: Call = {}): Promise<any> {
    const answer = await this.call(path, call)
    if (answer.code >= 300) throw new Error(`${call.method ?? 'GET'} ${path}: ${answer.code} ${answer.text}`)
    return answer.json
  }

  /** The Status an answer of 4xx or 5xx carries. Throws for any other, and where body and code disagree. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  async failure(path: string, call: Call = {}): Promise<any> {
    const { code, text, json } = await this.call(path, call)
    if (code < 400 || json.kind !== 'Status' || json.code !== code || json.status !== 'Failure') {
      throw new Error(`${call.method ?? 'GET'} ${path}: no Status of a failure in ${code} ${text}`)
    }
    return json
  }

  /** Rejects, and names the call, where there is no answer. Lines may be far apart. */
  async lines(path: string, call: Call = {}): Promise<Lines> {
    const answer = await this.#send(path, call)
    answer.setTimeout(0)
    const lines = createInterface({ input: answer })[Symbol.asyncIterator]()
    return {
      code: answer.statusCode ?? 0,
      next: async () => {
        const { value, done } = await lines.next()
        return done === true ? undefined : JSON.parse(value)
      },
      close: () => answer.destroy(),
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(path: string, { method = 'GET', headers = {}, body }: Call): Promise<IncomingMessage> {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const bytes = body === undefined ? undefined : Buffer.from(isRaw ? (body as string) : JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${this.#address}${path}`, {
        method,
        agent: this.#agent,
        headers: {
          ...this.#headers,
          ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
          ...(bytes === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      let answer: IncomingMessage | undefined
      request.setTimeout(silenceMs, () => {
        const so = answer === undefined ? 'no answer' : `nothing more of the answer (${answer.statusCode})`
        const error = new Error(`${method} ${path}: ${so} came within ${silenceMs / 1000} s`)
        if (answer === undefined) request.destroy(error)
        else answer.destroy(error)
      })
      request.once('response', (response) => {
        answer = response
        resolve(response)
      })
      request.on('error', reject)
      request.end(bytes)
    })
  }
}

export const post = (body: unknown, headers: Record<string, string> = {}): Call => ({ method: 'POST', body, headers })
export const put = (body: unknown): Call => ({ method: 'PUT', body })
export const patch = (type: 'json' | 'merge' | 'strategic-merge', body: unknown): Call => ({
  method: 'PATCH',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': `application/${type}-patch+json` },
})
export const remove = (body?: unknown): Call => ({ method: 'DELETE', ...(body === undefined ? {} : { body }) })

/** Makes a namespace, and waits for what controllers put into each: a list of its objects is the same from then on. */
export async function makeNamespace(api: Api, name: string): Promise<void> {
  await api.object('/api/v1/namespaces', post({ metadata: { name } }))
  for (const object of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    await eventually(`${object} of ${name}`, () => api.object(`/api/v1/namespaces/${name}/${object}`))
  }
}
