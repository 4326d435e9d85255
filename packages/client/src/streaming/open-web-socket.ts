import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import type { TransportOptions } from '../http-transport.ts'
import { serverError } from '../server-error.ts'
import { messageBytesMax } from './channel-socket.ts'

/** Time a server has to accept a connection. */
const handshakeTimeoutMs = 60_000

/** A connection, and the subprotocol that the server has chosen; '' for none. */
export interface OpenedWebSocket {
  readonly socket: WebSocket
  readonly protocol: string
}

/**
 * Opens a WebSocket to a path of a server. It is paused: nothing is lost before somebody listens. Rejects with an ApiError where
 * the server refuses it.
 */
export function openWebSocket(
  options: TransportOptions & { readonly token?: string },
  path: string,
  protocols: readonly string[],
): Promise<OpenedWebSocket> {
  const { server, ca, cert, key, token, serverName, insecureSkipTlsVerify, userAgent = 'coracle' } = options
  const url = `${server.replace(/^http/, 'ws').replace(/\/$/, '')}${path}`
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    handshakeTimeout: handshakeTimeoutMs,
    headers: {
      'user-agent': userAgent,
      // `ws` takes no names with a slash, as that of the tunnel for port-forward has.
      'sec-websocket-protocol': protocols.join(', '),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  })
  return new Promise((resolve, reject) => {
    let protocol = ''
    socket.once('upgrade', (response: IncomingMessage) => {
      protocol = response.headers['sec-websocket-protocol'] ?? ''
      delete response.headers['sec-websocket-protocol']
      if (protocol !== '' && protocols.includes(protocol)) return
      reject(new Error(`the server speaks none of ${protocols.join(', ')}`))
      socket.terminate()
    })
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      text(response)
        .then((body) => reject(refusal(response.statusCode ?? 0, body)), reject)
        .finally(() => request.destroy())
    })
    socket.on('error', reject)
    socket.once('open', () => {
      socket.pause()
      resolve({ socket, protocol })
    })
  })
}

/** What a node agent cannot do comes as text, in its own words. */
function refusal(code: number, body: string): Error {
  const error = serverError('GET', code, body)
  return error.reason === 'InternalError' && !body.startsWith('{')
    ? new Error(`unable to upgrade connection: ${body.trim()}`)
    : error
}
