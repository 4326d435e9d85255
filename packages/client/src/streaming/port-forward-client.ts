import { text } from 'node:stream/consumers'
import { pods } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { ObjectKey } from '../client.ts'
import type { HttpClient } from '../http-client.ts'
import { objectPath } from '../resource-path.ts'
import { portForwardSpdyProtocol, portForwardTunnelProtocol, streamHeaders } from './protocols.ts'
import { SpdySession } from './spdy/spdy-session.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'
import { tunnelOf } from './tunnel.ts'
import { mayConnectOtherwise } from './upgrade-error.ts'

/** A connection to one port of a pod. */
export interface ForwardedConnection {
  readonly stream: SpdyStream
  /** What went wrong, in the node agent's words; '' where nothing did. Resolves when the connection has ended. */
  readonly problem: Promise<string>
}

/** A way to the ports of one pod, for any number of connections. */
export interface PortForward {
  /** Resolves when the way is closed, by whomever. */
  readonly closed: Promise<void>
  /** Connects to a port. Whether something listens there shows by `problem`. */
  connect(port: number): Promise<ForwardedConnection>
  close(): void
}

/**
 * Opens a way to the ports of a pod: a SPDY session in a WebSocket, or on a connection of its own where the server has no such tunnel
 * (before 1.31). Rejects with an ApiError where the server refuses both.
 */
export function openPortForward(client: HttpClient, clock: Clock, key: ObjectKey): Promise<PortForward> {
  return openPortForwardAt(client, clock, objectPath(pods, key, 'portforward'))
}

/** The same at another path, such as that of a node agent. */
export async function openPortForwardAt(client: HttpClient, clock: Clock, path: string): Promise<PortForward> {
  return portForwardOver(await openSession(client, clock, path))
}

/** A way to the ports of a pod over a SPDY session. */
export function portForwardOver(session: SpdySession): PortForward {
  let requests = 0
  return {
    closed: session.closed,
    close: () => session.close(),
    async connect(port) {
      const request = String(requests++)
      const headersOf = (type: string) =>
        new Map([
          [streamHeaders.type, type],
          [streamHeaders.port, String(port)],
          [streamHeaders.request, request],
        ])
      const error = await session.openStream(headersOf('error'))
      error.end()
      const problem = text(error).catch(() => '')
      try {
        return { stream: await session.openStream(headersOf('data')), problem }
      } catch (reason) {
        error.destroy()
        throw reason
      }
    },
  }
}

async function openSession(client: HttpClient, clock: Clock, path: string): Promise<SpdySession> {
  try {
    const { socket } = await client.openWebSocket(path, [portForwardTunnelProtocol])
    const session = new SpdySession(tunnelOf(socket), { role: 'client', clock })
    socket.resume()
    return session
  } catch (error) {
    if (!mayConnectOtherwise(error)) throw error
    const { connection, head } = await client.openSpdy(path, [portForwardSpdyProtocol])
    return new SpdySession(connection, { role: 'client', clock }, head)
  }
}
