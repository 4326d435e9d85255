import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { messageBytesMax } from './channel-socket.ts'

/** Makes the connection of a request a WebSocket with this subprotocol, '' for none. Rejects where the request asks for none that can be. */
export function acceptWebSocket(
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  protocol: string,
): Promise<WebSocket> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compressing what passes through would cost more than it saves, and takes memory for each connection.
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
  })
  // `ws` takes no names with a slash, as that of the tunnel for port-forward has.
  delete request.headers['sec-websocket-protocol']
  server.on('headers', (headers) => {
    if (protocol !== '') headers.push(`Sec-WebSocket-Protocol: ${protocol}`)
  })
  return new Promise((resolve, reject) => {
    server.once('wsClientError', reject)
    server.handleUpgrade(request, connection, head, resolve)
  })
}
