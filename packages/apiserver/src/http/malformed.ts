import type { IncomingMessage } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Exchanges } from './exchanges.ts'
import type { StrangerMemory } from './stranger-memory.ts'

/** What has to be known to answer those that the parser does not understand. */
export interface MalformedParts {
  readonly exchanges: Exchanges
  readonly strangers: StrangerMemory
  /** Connections that end with what was said to them last. */
  readonly refused: WeakSet<Duplex>
  /** Answers a request whose connection Node.js has let go of. */
  readonly answer: (request: IncomingMessage, socket: Socket) => void
}

/** Has a server answer what its parser does not understand: requests of methods that it does not know as any request, the rest with a refusal. */
export function answerMalformed(server: Server, { exchanges, strangers, refused, answer }: MalformedParts): void {
  /** Of connections whose last request has a method that the parser does not know: as much of its head as has come, until it is whole. */
  const lastHeads = new WeakMap<Duplex, Buffer | 'whole'>()
  const answerUnknownMethod = async (error: ClientError, socket: Socket, head: Buffer): Promise<void> => {
    const { mayGoOn, requestOfUnknownMethod } = await import('./unknown-method.ts')
    if (lastHeads.get(socket) === 'whole') return
    const request = requestOfUnknownMethod(head, socket)
    if (request === undefined && mayGoOn(head)) return
    lastHeads.set(socket, 'whole')
    if (request === undefined) refuseMalformed(error, socket, exchanges, refused)
    else answer(request, socket)
  }
  server.on('clientError', (error: ClientError, socket: Socket) => {
    const before = lastHeads.get(socket)
    // The parser goes on telling of it as long as bytes come.
    if (before === 'whole') return
    const { code = '', rawPacket } = error
    const isIdle = !exchanges.isAnswering(socket) && !exchanges.hasAnswered(socket) && !refused.has(socket)
    const isOfHead = code === 'HPE_INVALID_METHOD' || (before !== undefined && code.startsWith('HPE_'))
    if (!isOfHead || rawPacket === undefined || !isIdle || !socket.writable) {
      return refuseMalformed(error, socket, exchanges, refused)
    }
    const head = Buffer.concat([before ?? strangers.begunBy(socket), rawPacket])
    lastHeads.set(socket, head)
    // The parser tells nothing more at the end, and Node.js ends the connection then.
    if (before === undefined) {
      socket.prependOnceListener('end', () => {
        if (lastHeads.get(socket) !== 'whole') refuseMalformed(error, socket, exchanges, refused)
      })
    }
    answerUnknownMethod(error, socket, head).catch(() => socket.destroy())
  })
}

/** What ends the reading of a connection: Node.js' parser tells in which of its bytes. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
}

/**
 * The answer to what is not HTTP, or too much of it, or too slow. Where answers to requests before it are under way,
 * it would be taken for one of them: then the connection ends without.
 */
function refuseMalformed(
  { code = '' }: NodeJS.ErrnoException,
  socket: Duplex,
  exchanges: Exchanges,
  refused: WeakSet<Duplex>,
): void {
  const isMalformed = code.startsWith('HPE_')
  // What was refused and still talks is not listened to; a connection closed over unread bytes would lose the answer.
  if (isMalformed && socket.writableEnded) return
  // Nothing can be said to one that never finished its TLS handshake, or has gone.
  const listens = isMalformed || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (!listens || !socket.writable || exchanges.isAnswering(socket)) socket.destroy()
  // A second answer would be taken for that to the next request.
  else if (refused.has(socket) || exchanges.hasAnswered(socket)) socket.end()
  else socket.end(plainAnswer(refusals.get(code) ?? '400 Bad Request'))
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_INVALID_VERSION', '505 HTTP Version Not Supported: unsupported protocol version'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
])

/** As Go's server answers where no handler does. */
function plainAnswer(status: string): string {
  const length = `Content-Length: ${status.length}`
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n${length}\r\n\r\n${status}`
}
