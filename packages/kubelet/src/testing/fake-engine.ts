import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

/** What an engine was asked. */
export interface EngineQuestion {
  /** Such as `GET /containers/json`, without the version. */
  readonly route: string
  readonly version: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: each call has its own
  readonly body: any
}

/** The answer to a question: what is given becomes JSON; `undefined` is answered by the handler itself. */
type Answer = (question: EngineQuestion, response: ServerResponse) => unknown

/** An answer with another status than 200. */
export class EngineRefusal {
  readonly code: number
  readonly message: string

  constructor(code: number, message: string) {
    this.code = code
    this.message = message
  }
}

/** An engine that answers as a test wishes, at a socket of its own. A route may have `*` for one part of its path. */
export class FakeEngine {
  readonly directory = temporaryDirectory()
  readonly asked: EngineQuestion[] = []
  readonly #answers: Readonly<Record<string, Answer>>
  #server: Server | undefined

  private constructor(answers: Readonly<Record<string, Answer>>) {
    this.#answers = {
      'GET /version': () => ({ Version: '20.10.24', ApiVersion: '1.41', MinAPIVersion: '1.12' }),
      'GET /containers/json': () => [],
      'GET /networks': () => [{ Name: 'bridge' }],
      ...answers,
    }
  }

  static async start(answers: Readonly<Record<string, Answer>> = {}): Promise<FakeEngine> {
    const engine = new FakeEngine(answers)
    onTestFinished(() => engine.stop())
    await engine.start()
    return engine
  }

  get endpoint(): string {
    return `unix://${this.#socket}`
  }

  get #socket(): string {
    return join(this.directory, 'engine.sock')
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response))
    this.#server = server
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(this.#socket, resolve)
    await promise
  }

  /** Goes away at once. */
  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    this.#server?.close()
    await rm(this.#socket, { force: true })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://engine')
    const [, version = '', path = ''] = /^(?:\/v([\d.]+))?(\/.*)$/.exec(url.pathname) ?? []
    const body = await text(request)
    const route = `${request.method} ${path}`
    const question = {
      route,
      version,
      query: url.searchParams,
      headers: request.headers,
      body: body.startsWith('{') ? JSON.parse(body) : body,
    }
    this.asked.push(question)
    const answer = this.#answers[route] ?? this.#answers[route.replace(/^(\S+ \/[^/]+)\/[^/]+/, '$1/*')]
    const found = answer === undefined ? new EngineRefusal(404, 'page not found') : answer(question, response)
    if (found instanceof EngineRefusal) {
      response
        .writeHead(found.code, { 'content-type': 'application/json' })
        .end(JSON.stringify({ message: found.message }))
    } else if (found !== undefined) response.end(JSON.stringify(found))
  }
}

/** A frame of a stream of a container. */
export function frame(stream: 'stdout' | 'stderr', content: string): Buffer {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(8)
  header.writeUInt8(stream === 'stdout' ? 1 : 2)
  header.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}
