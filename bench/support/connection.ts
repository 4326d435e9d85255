import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** Where requests go: a Coracle that the benchmark started, or a reference server. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly token: string
}

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/**
 * One keep-alive connection that has one request under way at a time. Made by hand from a TLS socket, because a
 * general HTTP client costs more per request than the server that is being measured.
 */
export class Connection {
  readonly #socket: TLSSocket
  readonly #target: Target
  #chunks: Buffer[] = []
  #bytes = 0
  #headEnd = -1
  #total = -1
  #chunked = false
  #waiting: PromiseWithResolvers<Answer> | undefined

  private constructor(socket: TLSSocket, target: Target) {
    this.#socket = socket
    this.#target = target
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    const fail = (error?: Error) => this.#waiting?.reject(error ?? new Error('the server closed the connection'))
    socket.on('error', fail)
    socket.on('close', () => fail())
  }

  static async open(target: Target): Promise<Connection> {
    const socket = connect({
      host: target.host,
      port: target.port,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    })
    await once(socket, 'secureConnect')
    socket.setNoDelay(true)
    return new Connection(socket, target)
  }

  /** The bytes of a request, for sending the same one many times. */
  encode(method: string, path: string, body?: string, type = 'application/json'): Buffer {
    const head = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${this.#target.host}:${this.#target.port}`,
      `Authorization: Bearer ${this.#target.token}`,
      'Accept: application/json',
    ]
    if (body !== undefined) head.push(`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`)
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`)
  }

  /** Sends an encoded request and waits for the whole answer. */
  send(request: Buffer): Promise<Answer> {
    this.#waiting = Promise.withResolvers<Answer>()
    this.#socket.write(request)
    return this.#waiting.promise
  }

  async request(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.send(this.encode(method, path, body === undefined ? undefined : JSON.stringify(body)))
  }

  /** The same for what must succeed: throws otherwise. Resolves to the parsed body. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.request(method, path, body)
    if (answer.status < 300) return JSON.parse(answer.body.toString())
    throw new Error(`${method} ${path}: status ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
  }

  /** Sends a request whose answer does not end, and calls `onChunk` with all that comes from now on. */
  stream(request: Buffer, onChunk: (chunk: Buffer) => void): void {
    this.#socket.removeAllListeners('data')
    this.#socket.on('data', onChunk)
    this.#socket.write(request)
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#headEnd < 0) this.#readHead()
    if (this.#headEnd < 0) return
    const complete = this.#chunked ? this.#endsChunked(chunk) : this.#bytes >= this.#total
    if (complete) this.#finish()
  }

  #readHead(): void {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    const end = all.indexOf('\r\n\r\n')
    if (end < 0) return
    this.#headEnd = end + 4
    const head = all.toString('latin1', 0, end).toLowerCase()
    const length = /\r\ncontent-length: *(\d+)/.exec(head)
    this.#chunked = length === null
    this.#total = this.#headEnd + Number(length?.[1] ?? 0)
  }

  #endsChunked(last: Buffer): boolean {
    const tail = last.length >= 5 ? last : Buffer.concat(this.#chunks.slice(-3))
    return tail.subarray(-5).equals(Buffer.from('0\r\n\r\n'))
  }

  #finish(): void {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    const raw = all.subarray(this.#headEnd)
    const answer = { status: Number(all.toString('latin1', 9, 12)), body: this.#chunked ? dechunk(raw) : raw }
    this.#chunks = []
    this.#bytes = 0
    this.#headEnd = -1
    this.#total = -1
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve(answer)
  }
}

function dechunk(raw: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < raw.length; ) {
    const lineEnd = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) break
    parts.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts)
}
