import { Writable } from 'node:stream'
import { tooManyRequests } from '@coracle/api'
import { acceptWebSocket, negotiatedWebSocket, wantedWebSocketProtocols } from '@coracle/client/streaming'
import type { Exchange, HandlerContext } from '../http/exchange.ts'
import type { LongAnswer, LongAnswerOptions } from '../http/long-answer.ts'
import { busyMessage } from '../store-errors.ts'

/** How long a client has to end its side of a connection that is over. */
const closeGraceMs = 1_000

/** Subprotocols for bytes that go one way (upstream's wsstream): as they are, or as text in base64. */
const bytesProtocols = ['binary.k8s.io', 'base64.binary.k8s.io'] as const

/**
 * An answer as messages of a WebSocket, one for each piece. Events are text unless they are protobuf, whatever the subprotocol; bytes
 * are as the subprotocol says, after an empty message that tells the client that it is heard. What the client sends is not read.
 * Throws an ApiError where no subprotocol of the client's is known, or too many connections are open.
 */
export function messageAnswer(
  { upgrades, environment: { clock } }: HandlerContext,
  { request }: Exchange,
  { contentType, messages }: LongAnswerOptions,
): LongAnswer {
  const protocol =
    messages === 'bytes' ? negotiatedWebSocket(request, bytesProtocols) : (wantedWebSocketProtocols(request)[0] ?? '')
  if (upgrades.isFull) throw tooManyRequests(busyMessage, 1)
  const isBase64 = messages === 'bytes' && protocol.startsWith('base64.')
  const isText = isBase64 || (messages === 'event' && contentType.includes('json'))

  const open = async () => {
    const upgraded = upgrades.take(request)
    if (upgraded === undefined) throw new Error('the connection is gone')
    const { connection, head } = upgraded
    connection.once('close', () => output.destroy())
    const socket = await acceptWebSocket(request, connection, head, protocol)
    // It is followed by a close.
    socket.on('error', () => {})
    if (messages === 'bytes') socket.send('', { binary: !isText })
    return { socket, connection }
  }
  let opened: ReturnType<typeof open> | undefined
  const begin = () => {
    opened ??= open()
    return opened
  }
  type Done = (error?: Error | null) => void
  const output = new Writable({
    // It is over when the connection is: what was written last has to go out yet.
    autoDestroy: false,
    write(piece: Buffer | string, _encoding, done: Done) {
      const data = isBase64 ? Buffer.from(piece).toString('base64') : piece
      begin().then(({ socket }) => socket.send(data, { binary: !isText }, (error) => done(error ?? null)), done)
    },
    final(done: Done) {
      begin().then(({ socket, connection }) => {
        socket.close(1000)
        const grace = clock.setTimer(closeGraceMs, () => connection.destroy())
        connection.once('close', () => grace.cancel())
        done()
      }, done)
    },
    destroy(error, done: Done) {
      opened?.then(
        ({ connection }) => connection.destroy(),
        () => {},
      )
      done(error)
    },
  })
  output.on('error', () => output.destroy())
  return { output, begin: () => void begin().catch(() => output.destroy()) }
}
