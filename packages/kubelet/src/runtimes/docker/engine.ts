import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@coracle/environment'
import { CriError, callTimeoutMs, criCodes } from '../cri/calls.ts'
import { RuntimeUnavailableError } from '../runtime.ts'
import type { VersionAnswer } from './answers.ts'

/** The API that is spoken where the engine has it: that of Docker 20.10, which Podman 4 has too. */
const wantedVersion = '1.41'
/** The largest answer that is taken. */
const answerBytesMax = 16 * 1024 * 1024

export interface EngineRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Below the version, such as `/containers/json`. */
  readonly path: string
  /** What comes before the path. Absent: the version that was agreed on. */
  readonly prefix?: string | undefined
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON, or as it is where it is a Buffer (a tar). */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: `callTimeoutMs`; Infinity: as long as it takes. Of streams it is the time until they begin. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** An engine is not one that can be used; the message says why. */
export class EngineVersionError extends Error {
  override readonly name = 'EngineVersionError'
}

/** The HTTP API of Docker, or of Podman, at a socket of this host. https://docs.docker.com/reference/api/engine/ */
export class Engine {
  readonly endpoint: string
  readonly #socketPath: string
  readonly #clock: Clock
  #prefix = ''
  #newest = wantedVersion

  /** `endpoint`: such as `unix:///var/run/docker.sock`. */
  constructor(endpoint: string, clock: Clock) {
    this.endpoint = endpoint
    this.#socketPath = endpoint.replace(/^unix:\/\//, '')
    this.#clock = clock
  }

  /**
   * Finds out who answers, and which version of the API to speak: all later calls are of that. Rejects with an `EngineVersionError` where
   * there is none that both know.
   */
  async negotiate(timeoutMs: number): Promise<{ readonly name: string; readonly version: string }> {
    const { Version, ApiVersion, MinAPIVersion, Components } = await this.call<VersionAnswer>({
      path: '/version',
      timeoutMs,
    })
    if (typeof ApiVersion !== 'string' || typeof Version !== 'string')
      throw new EngineVersionError(
        `what listens at ${this.endpoint} is no Docker Engine, nor Podman: name the socket of one`,
      )
    const name = Components?.some((each) => each.Name.startsWith('Podman')) === true ? 'podman' : 'docker'
    if (isOlder(ApiVersion, wantedVersion)) {
      throw new EngineVersionError(
        `${name} ${Version} at ${this.endpoint} speaks version ${ApiVersion} of the Docker Engine API, and ${wantedVersion} is needed: use Docker 20.10 or later, or Podman 4 or later`,
      )
    }
    const oldest = MinAPIVersion ?? wantedVersion
    this.#prefix = `/v${isOlder(wantedVersion, oldest) ? oldest : wantedVersion}`
    this.#newest = ApiVersion
    return { name, version: Version }
  }

  /** What comes before the path of a request that takes this version of the API, or a later one; undefined where the engine has none. */
  prefixOf(version: string): string | undefined {
    if (isOlder(this.#newest, version)) return undefined
    return isOlder(this.#prefix.slice(2), version) ? `/v${version}` : this.#prefix
  }

  /** The body of an answer, read as JSON; undefined where it has none. */
  async call<Answer>(request: EngineRequest): Promise<Answer> {
    const { timeoutMs = callTimeoutMs, signal } = request
    const limit = this.#limit(request.path, timeoutMs, signal)
    try {
      const response = await this.#answerTo(request, limit.signal)
      const text = (await bodyOf(response)).toString('utf8')
      return (text.trim() === '' ? undefined : JSON.parse(text)) as Answer
    } catch (error) {
      throw this.#translated(error, limit.reason())
    } finally {
      limit.end()
    }
  }

  /** The elements of an answer that is a list: none where it is empty, or null, as Go writes a list without any. */
  async list<Element>(request: EngineRequest): Promise<readonly Element[]> {
    const found = await this.call<readonly (Element | null)[] | null | undefined>(request)
    return (found ?? []).filter((each) => each !== null)
  }

  /** Has something done whose answer says nothing. */
  async send(request: EngineRequest): Promise<void> {
    const response = await this.open(request)
    response.destroy()
  }

  /** The body of an answer as it comes. Who takes it destroys it. */
  async open(request: EngineRequest): Promise<IncomingMessage> {
    const { timeoutMs = callTimeoutMs, signal } = request
    const limit = this.#limit(request.path, timeoutMs, signal)
    try {
      return await this.#answerTo(request, limit.signal)
    } catch (error) {
      throw this.#translated(error, limit.reason())
    } finally {
      limit.end()
    }
  }

  /** The messages of an answer that is a sequence of JSON objects, one a line. */
  async *messages<Message>(request: EngineRequest): AsyncGenerator<Message> {
    const response = await this.open({ timeoutMs: Number.POSITIVE_INFINITY, ...request })
    const leave = () => response.destroy()
    request.signal?.addEventListener('abort', leave, { once: true })
    if (request.signal?.aborted === true) leave()
    let rest = ''
    try {
      for await (const text of response.setEncoding('utf8')) {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        if (rest.length > answerBytesMax)
          throw new Error(`a message of the engine is larger than ${answerBytesMax} bytes`)
        for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
      }
      if (rest.trim() !== '') yield JSON.parse(rest)
    } catch (error) {
      throw this.#translated(error, request.signal?.aborted === true ? request.signal.reason : undefined)
    } finally {
      request.signal?.removeEventListener('abort', leave)
      response.destroy()
    }
  }

  /** A connection that a request has become, to write to and read from. */
  async hijack(request: EngineRequest): Promise<Socket> {
    const limit = this.#limit(request.path, callTimeoutMs, request.signal)
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const sent = this.#send({ method: 'POST', ...request }, { Connection: 'Upgrade', Upgrade: 'tcp' }, limit.signal)
        sent.once('upgrade', (_, socket: Socket, head) => {
          if (head.length > 0) socket.unshift(head)
          resolve(socket)
        })
        sent.once('response', (response) => void failureOf(response).then(reject, reject))
        sent.once('error', reject)
      })
    } catch (error) {
      throw this.#translated(error, limit.reason())
    } finally {
      limit.end()
    }
  }

  #answerTo(request: EngineRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = this.#send(request, {}, signal)
      sent.once('error', reject)
      sent.once('response', (response) => {
        if ((response.statusCode ?? 500) < 400) resolve(response)
        else failureOf(response).then(reject, reject)
      })
    })
  }

  #send(request: EngineRequest, more: Readonly<Record<string, string>>, signal: AbortSignal): ClientRequest {
    const { method = 'GET', path, query = {}, body, headers = {}, prefix = this.#prefix } = request
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
    const isTar = Buffer.isBuffer(body)
    const bytes = isTar ? body : body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const sent = httpRequest({
      socketPath: this.#socketPath,
      agent: false,
      method,
      path: prefix + path + search,
      signal,
      headers: {
        Host: 'engine',
        ...(bytes === undefined
          ? { 'Content-Length': '0' }
          : {
              'Content-Type': isTar ? 'application/x-tar' : 'application/json',
              'Content-Length': String(bytes.length),
            }),
        ...headers,
        ...more,
      },
    })
    sent.end(bytes)
    return sent
  }

  /** A signal that ends a request in time, or when its caller wishes; `reason` is why it has. */
  #limit(path: string, timeoutMs: number, caller: AbortSignal | undefined) {
    const abort = new AbortController()
    const leave = () => abort.abort(caller?.reason)
    if (caller?.aborted === true) leave()
    caller?.addEventListener('abort', leave, { once: true })
    const late = new CriError(criCodes.deadlineExceeded, `${path} was not answered within ${timeoutMs / 1000} s`)
    const timer = timeoutMs === Infinity ? undefined : this.#clock.setTimer(timeoutMs, () => abort.abort(late))
    return {
      signal: abort.signal,
      reason: (): unknown => (abort.signal.aborted ? abort.signal.reason : undefined),
      end: () => {
        timer?.cancel()
        caller?.removeEventListener('abort', leave)
      },
    }
  }

  #translated(error: unknown, reason: unknown): unknown {
    if (reason !== undefined) return reason
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EACCES'].includes(code)) {
      const why = code === 'ENOENT' ? 'there is no socket' : (error as Error).message
      return new RuntimeUnavailableError(`container runtime at ${this.endpoint} cannot be reached: ${why}`)
    }
    return error
  }
}

/** What an engine says where it does not do what it was asked, in the words of Docker's own client. */
async function failureOf(response: IncomingMessage): Promise<CriError> {
  const text = (await bodyOf(response)).toString('utf8').trim()
  const code = response.statusCode === 404 ? criCodes.notFound : criCodes.unknown
  return new CriError(code, `Error response from daemon: ${messageIn(text) ?? (text || response.statusMessage)}`)
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of response) {
    size += piece.length
    if (size > answerBytesMax) throw new Error(`an answer of the engine is larger than ${answerBytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Whether a version such as 1.40 comes before another. */
function isOlder(version: string, other: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}
