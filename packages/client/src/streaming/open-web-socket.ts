import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Clock } from '@coracle/environment'
import { WebSocket } from 'ws'
import { type CredentialHeaders, tlsOptionsOf } from '../connection-credentials.ts'
import type { TransportOptions } from '../http-transport.ts'
import { messageBytesMax } from './channel-socket.ts'
import { limitHandshake, UpgradeError, upgradeRefusal } from './upgrade-error.ts'

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
  options: TransportOptions,
  credentials: CredentialHeaders,
  clock: Clock,
  path: string,
  protocols: readonly string[],
): Promise<OpenedWebSocket> {
  const { server, userAgent = 'coracle' } = options
  const url = `${server.replace(/^http/, 'ws').replace(/\/$/, '')}${path}`
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    headers: {
      'user-agent': userAgent,
      // `ws` takes no names with a slash, as that of the tunnel for port-forward has.
      'sec-websocket-protocol': protocols.join(', '),
      ...credentials,
    },
    ...tlsOptionsOf(options),
  })
  return new Promise((resolve, reject) => {
    const limit = limitHandshake(clock, (error) => {
      reject(error)
      socket.terminate()
    })
    socket.once('close', () => limit.cancel())
    let protocol = ''
    socket.once('upgrade', (response: IncomingMessage) => {
      protocol = response.headers['sec-websocket-protocol'] ?? ''
      delete response.headers['sec-websocket-protocol']
      if (protocol !== '' && protocols.includes(protocol)) return
      reject(new UpgradeError(`the server speaks none of ${protocols.join(', ')}`))
      socket.terminate()
    })
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      text(response)
        .then((body) => reject(upgradeRefusal('GET', response.statusCode ?? 0, body)), reject)
        .finally(() => request.destroy())
    })
    socket.on('error', reject)
    socket.once('open', () => {
      limit.cancel()
      socket.pause()
      resolve({ socket, protocol })
    })
  })
}
