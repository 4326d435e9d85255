import { once } from 'node:events'
import { connect as connectPlainly, type Socket } from 'node:net'
import { connect as connectOverTls } from 'node:tls'
import type { Program } from './program.ts'

export interface RawAnswer {
  readonly code: number
  /** `400 Bad Request`: what follows the version. */
  readonly status: string
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A connection over which bytes go as a test writes them, with no HTTP client between. */
export class RawConnection {
  readonly socket: Socket
  #received = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
    })
  }

  static async overTls(program: Pick<Program, 'address'>, protocols?: readonly string[]): Promise<RawConnection> {
    const { hostname: host, port } = new URL(program.address)
    const alpn = protocols === undefined ? {} : { ALPNProtocols: [...protocols] }
    const socket = connectOverTls({ host, port: Number(port), rejectUnauthorized: false, ...alpn })
    await once(socket, 'secureConnect')
    return new RawConnection(socket)
  }

  static async withoutTls(program: Program): Promise<RawConnection> {
    const { hostname: host, port } = new URL(program.address)
    const socket = connectPlainly({ host, port: Number(port) })
    await once(socket, 'connect')
    return new RawConnection(socket)
  }

  /** Lines end as HTTP has them, whatever the test writes. */
  send(text: string): void {
    this.socket.write(text.replaceAll(/\r?\n/g, '\r\n'))
  }

  /** The next answer; undefined where the connection ends before. The connection may go on after it. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const found = parseAnswer(this.#received, this.socket.readableEnded || this.socket.destroyed)
      if (found !== undefined) {
        this.#received = this.#received.subarray(found.length)
        return found.answer
      }
      if (this.socket.readableEnded || this.socket.destroyed) return undefined
      await this.#more()
    }
  }

  /** All that is left to come, once the other side has ended the connection. */
  async rest(): Promise<string> {
    while (!this.socket.readableEnded && !this.socket.destroyed) await this.#more()
    return this.#received.toString('latin1')
  }

  close(): void {
    this.socket.destroy()
  }

  #more(): Promise<unknown> {
    const aborted = new AbortController()
    const { signal } = aborted
    const events = ['data', 'end', 'close'].map((event) => once(this.socket, event, { signal }))
    return Promise.race(events).finally(() => {
      for (const event of events) event.catch(() => {})
      aborted.abort()
    })
  }
}

function parseAnswer(bytes: Buffer, isAll: boolean): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const headers = new Map(lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: */, '')]))
  const status = first.replace(/^HTTP\/1\.\d /, '')
  const code = Number.parseInt(status, 10)
  const start = headEnd + 4
  const announced = code === 100 ? 0 : Number(headers.get('content-length') ?? Number.NaN)
  // What announces no length goes on to the end of the connection.
  if (Number.isNaN(announced) ? !isAll : bytes.length < start + announced) return undefined
  const end = Number.isNaN(announced) ? bytes.length : start + announced
  return { answer: { code, status, headers, body: bytes.subarray(start, end).toString() }, length: end }
}
