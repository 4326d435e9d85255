import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { connect as connectPlainly, type Socket } from 'node:net'
import { connect as connectOverTls } from 'node:tls'
import { builtinKinds, type Status } from '@coracle/api'
import { type Environment, realEnvironment } from '@coracle/environment'
import { createMemoryStore } from '@coracle/store/memory'
import { type ApiCore, type ApiCoreOptions, createApiCore } from '../../api-core.ts'
import { apiServerUser } from '../../api-server-user.ts'
import { createAuthenticator } from '../../security/authentication.ts'
import { createPki, type KeyPair, type Pki } from '../../security/certificates.ts'
import { createAccount } from '../../testing/test-core.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../server.ts'

export const adminToken = 'an-administrators-token'

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is where it is text or bytes, else as JSON with its content type. */
  readonly body?: unknown
  /** Undefined: the administrator's token. */
  readonly as?: 'anonymous' | KeyPair | { readonly token: string }
}

export interface Answer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  readonly json: any
}

/** A stream of frames, such as a watch in protobuf. */
export interface Frames {
  readonly answer: IncomingMessage
  /** The next frame without its length; undefined at the end. */
  next(): Promise<Buffer | undefined>
  close(): void
}

/** A stream of lines, such as a watch. */
export interface Lines {
  readonly answer: IncomingMessage
  /** The next line as JSON; undefined at the end. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of objects
  next(): Promise<any>
  close(): void
}

type TestServerOptions = Partial<ApiCoreOptions> &
  Pick<HttpServerOptions, 'clientsHeaderBytesMax' | 'connectToPod' | 'flags' | 'metrics' | 'readiness'> &
  Partial<Pick<HttpServerOptions, 'authenticate'>>

/** A server over a memory store on a free port of this machine. */
export class TestServer {
  readonly core: ApiCore
  readonly pki: Pki
  readonly #server: HttpServer
  #port = 0

  private constructor({
    clientsHeaderBytesMax,
    connectToPod,
    authenticate,
    metrics,
    flags,
    readiness = [],
    ...options
  }: TestServerOptions) {
    const environment: Environment = options.environment ?? realEnvironment()
    this.core = createApiCore({
      environment,
      store: createMemoryStore(),
      kinds: builtinKinds,
      serviceAccountKey: async () => this.pki.serviceAccountKeyPem,
      ...options,
    })
    // Certificates are checked against the host's clock.
    this.pki = createPki(realEnvironment())
    const admin = { name: 'admin', groups: ['system:masters'] }
    this.#server = createHttpServer({
      core: this.core,
      environment,
      authenticate:
        authenticate ??
        createAuthenticator([{ token: adminToken, user: admin }], environment.clock, {
          issued: this.core.serviceAccountTokens,
        }),
      serving: this.pki.serving,
      clientCaPem: this.pki.ca.certificatePem,
      connectToPod,
      metrics,
      flags,
      readiness,
      ...(clientsHeaderBytesMax === undefined ? {} : { clientsHeaderBytesMax }),
    })
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options)
    await server.core.ready
    // A store that the test brings stays as it is.
    if (options.store === undefined) await createAccount(server.core.client(apiServerUser), 'default')
    const { port } = await server.#server.listen({ host: '127.0.0.1', port: 0 })
    server.#port = port
    return server
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  async close(): Promise<void> {
    await this.#server.close()
    await this.core.close()
  }

  async call(path: string, call: Call = {}): Promise<Answer> {
    const answer = await this.#send(path, call)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString()
    return {
      code: answer.statusCode ?? 0,
      headers: answer.headers,
      bytes,
      text,
      get json() {
        return JSON.parse(text)
      },
    }
  }

  /** The Status that answers a call that fails. */
  async failure(path: string, call: Call = {}): Promise<Status> {
    const { code, json } = await this.call(path, call)
    if (json.kind !== 'Status' || json.code !== code)
      throw new Error(`not a Status of ${code}: ${JSON.stringify(json)}`)
    return json as Status
  }

  async lines(path: string, call: Call = {}): Promise<Lines> {
    const answer = await this.#send(path, call)
    const lines = linesOf(answer)
    return {
      answer,
      next: async () => {
        const { value, done } = await lines.next()
        return done === true ? undefined : JSON.parse(value)
      },
      close: () => answer.destroy(),
    }
  }

  async frames(path: string, call: Call = {}): Promise<Frames> {
    const answer = await this.#send(path, call)
    const frames = framesOf(answer)
    return { answer, next: async () => (await frames.next()).value ?? undefined, close: () => answer.destroy() }
  }

  get port(): number {
    return this.#port
  }

  /** A connection over which a test writes what it likes. */
  async connect(kind: 'tls' | 'plain' = 'tls'): Promise<Socket> {
    const at = { host: '127.0.0.1', port: this.#port }
    const socket = kind === 'tls' ? connectOverTls({ ...at, rejectUnauthorized: false }) : connectPlainly(at)
    // A server may close on bytes it has not read, which resets the connection.
    socket.on('error', () => {})
    await once(socket, kind === 'tls' ? 'secureConnect' : 'connect')
    return socket
  }

  /** All that comes back for `bytes` until the server ends the connection. */
  async answerTo(bytes: string, kind: 'tls' | 'plain' = 'tls'): Promise<string> {
    const socket = await this.connect(kind)
    socket.write(Buffer.from(bytes, 'latin1'))
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('latin1')
  }

  #send(path: string, { method = 'GET', headers = {}, body, as }: Call): Promise<IncomingMessage> {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const bytes =
      body === undefined ? undefined : isRaw ? Buffer.from(body as string) : Buffer.from(JSON.stringify(body))
    const certificate = typeof as === 'object' && 'keyPem' in as ? { cert: as.certificatePem, key: as.keyPem } : {}
    const token = as === undefined ? adminToken : typeof as === 'object' && 'token' in as ? as.token : undefined
    const agent = new Agent({ keepAlive: false, ca: this.pki.ca.certificatePem, ...certificate })
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        host: '127.0.0.1',
        port: this.#port,
        path,
        method,
        agent,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(bytes === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': bytes.length }),
          ...(bytes === undefined || isRaw ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      request.on('response', resolve).on('error', reject)
      request.end(bytes)
    })
  }
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of answer) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Frames that begin with their length in four bytes. */
async function* framesOf(answer: IncomingMessage): AsyncGenerator<Buffer, undefined> {
  let rest = Buffer.alloc(0)
  for await (const chunk of answer) {
    rest = Buffer.concat([rest, chunk as Buffer])
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const end = 4 + rest.readUInt32BE()
      yield rest.subarray(4, end)
      rest = rest.subarray(end)
    }
  }
}
