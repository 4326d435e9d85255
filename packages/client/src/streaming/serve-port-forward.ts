import { Duplex, type Writable } from 'node:stream'
import type { Timer } from '@coracle/environment'
import { ChannelSocket } from './channel-socket.ts'
import { IdleTimer } from './idle-timer.ts'
import { isBase64Protocol, streamHeaders } from './protocols.ts'
import { type SpdyParts, streamCreationTimeoutMs, type WebSocketParts } from './serve-command.ts'
import type { SpdyHeaders } from './spdy/headers.ts'
import { SpdySession } from './spdy/spdy-session.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'
import type { StreamingService } from './streaming-service.ts'
import { tunnelOf } from './tunnel.ts'

type PortForwardService = Extract<StreamingService, { readonly kind: 'portForward' }>

/** Connects each pair of streams that a client opens in a SPDY session: one for data, one for what goes wrong. */
export async function forwardOverSpdy(service: PortForwardService, parts: SpdyParts): Promise<void> {
  const { clock } = parts
  const pairs = new StreamPairs(service, parts)
  const session = new SpdySession(
    parts.connection,
    {
      role: 'server',
      clock,
      accepts: (headers) => portOf(headers) !== undefined && streamTypes.has(headers.get(streamHeaders.type) ?? ''),
      onStream: (stream) => pairs.add(stream),
      onActivity: () => idle.note(),
    },
    parts.head,
  )
  const idle = new IdleTimer(clock, parts.idleTimeoutMs, () => session.close())
  const close = () => session.close()
  parts.signal.addEventListener('abort', close, { once: true })
  await session.closed
  parts.signal.removeEventListener('abort', close)
  idle.cancel()
  pairs.close()
}

/** The same with the bytes of the session as messages of a WebSocket. */
export function forwardOverTunnel(service: PortForwardService, { socket, ...parts }: WebSocketParts): Promise<void> {
  return forwardOverSpdy(service, { ...parts, connection: tunnelOf(socket), head: Buffer.alloc(0) })
}

/** Connects each port of the query once, with two channels of a WebSocket: data, and what goes wrong. */
export async function forwardOverChannels(service: PortForwardService, parts: WebSocketParts): Promise<void> {
  const { clock, socket, protocol, signal } = parts
  const idle = new IdleTimer(clock, parts.idleTimeoutMs, () => socket.close())
  const channels = new ChannelSocket(socket, {
    clock,
    isBase64: isBase64Protocol(protocol),
    onActivity: () => idle.note(),
  })
  const forwards = service.ports.map(async (port, index) => {
    const data = channels.writable(2 * index)
    const error = channels.writable(2 * index + 1)
    // Each channel begins with its port in two bytes.
    const number = Buffer.alloc(2)
    number.writeUInt16LE(port)
    data.write(number)
    error.write(number)
    const stream = Duplex.from({ readable: channels.readable(2 * index), writable: data })
    await forward(
      service,
      port,
      stream.on('error', () => {}),
      error,
      signal,
    )
  })
  await Promise.all(forwards)
  idle.cancel()
  socket.resume()
  socket.close(1000)
}

const streamTypes: ReadonlySet<string> = new Set(['data', 'error'])

function portOf(headers: SpdyHeaders): number | undefined {
  const text = headers.get(streamHeaders.port) ?? ''
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port > 0 && port <= 0xffff ? port : undefined
}

/** Puts streams together that are for one connection. */
class StreamPairs {
  readonly #service: PortForwardService
  readonly #parts: SpdyParts
  readonly #waiting = new Map<string, { readonly stream: SpdyStream; readonly timer: Timer }>()

  constructor(service: PortForwardService, parts: SpdyParts) {
    this.#service = service
    this.#parts = parts
  }

  add(stream: SpdyStream): void {
    const request = requestOf(stream)
    const first = this.#waiting.get(request)
    if (first === undefined) {
      this.#wait(request, stream)
      return
    }
    this.#waiting.delete(request)
    first.timer.cancel()
    const [error, data] = typeOf(stream) === 'data' ? [first.stream, stream] : [stream, first.stream]
    if (typeOf(error) === typeOf(data)) {
      error.destroy()
      data.destroy()
      return
    }
    const port = portOf(data.headers)
    if (port === undefined) return
    // Nothing comes on it.
    error.resume()
    void forward(this.#service, port, data, error, this.#parts.signal)
  }

  close(): void {
    for (const { timer } of this.#waiting.values()) timer.cancel()
    this.#waiting.clear()
  }

  #wait(request: string, stream: SpdyStream): void {
    const timer = this.#parts.clock.setTimer(streamCreationTimeoutMs, () => stream.destroy())
    this.#waiting.set(request, { stream, timer })
    // A client may open and reset as many as it likes.
    stream.once('close', () => {
      timer.cancel()
      if (this.#waiting.get(request)?.stream === stream) this.#waiting.delete(request)
    })
  }
}

const typeOf = ({ headers }: SpdyStream): string => headers.get(streamHeaders.type) ?? ''

/** The oldest clients number no requests: of theirs the stream for data follows that for errors. */
function requestOf(stream: SpdyStream): string {
  const request = stream.headers.get(streamHeaders.request)
  return request ?? `stream ${typeOf(stream) === 'error' ? stream.id : stream.id - 2}`
}

async function forward(
  service: PortForwardService,
  port: number,
  data: Duplex,
  error: Writable,
  signal: AbortSignal,
): Promise<void> {
  try {
    await service.forward(port, data, signal)
  } catch (reason) {
    const why = reason instanceof Error ? reason.message : String(reason)
    if (error.writable) error.write(`error forwarding port ${port} to pod ${service.pod}: ${why}`)
  }
  if (data.writable) data.end()
  error.end()
}
