import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket } from 'ws'

/** The bytes that go over a WebSocket as its messages, as one connection. */
export function tunnelOf(socket: WebSocket): Duplex {
  const tunnel = createWebSocketStream(socket)
  return tunnel.on('error', () => {})
}
