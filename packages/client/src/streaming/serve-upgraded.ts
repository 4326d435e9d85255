import type { IncomingMessage } from 'node:http'
import type { Clock } from '@coracle/environment'
import type { UpgradedConnection } from '../upgrades/upgrades.ts'
import { acceptWebSocket } from './accept-web-socket.ts'
import { type Negotiated, negotiate } from './negotiation.ts'
import {
  commandChannelProtocols,
  commandSpdyProtocols,
  portForwardChannelProtocols,
  portForwardSpdyProtocol,
  portForwardTunnelProtocol,
} from './protocols.ts'
import { runOverChannels, runOverSpdy } from './serve-command.ts'
import { forwardOverChannels, forwardOverSpdy, forwardOverTunnel } from './serve-port-forward.ts'
import type { StreamingService } from './streaming-service.ts'

/** A connection on which nothing comes and goes for so long ends, as upstream's (kubelet's --streaming-connection-idle-timeout). */
export const idleTimeoutMs = 4 * 60 * 60 * 1_000
/** How long a connection has to end that is to end. */
const closeGraceMs = 1_000

const protocolsOf = {
  command: { webSocket: commandChannelProtocols, spdy: commandSpdyProtocols },
  portForward: {
    webSocket: [portForwardTunnelProtocol, ...portForwardChannelProtocols],
    spdy: [portForwardSpdyProtocol],
  },
} as const

/** How a client and a service are going to talk. Throws as `negotiate`. */
export const negotiateService = (request: IncomingMessage, { kind }: StreamingService): Negotiated =>
  negotiate(request, protocolsOf[kind])

/** A connection that is to be one of streams. */
export interface StreamsParts {
  readonly clock: Clock
  readonly request: IncomingMessage
  readonly upgraded: UpgradedConnection
  readonly negotiated: Negotiated
  /** Aborted when the server ends: it is told to the client, which has a moment to end its side. */
  readonly signal: AbortSignal
}

/** Answers that the connection is one of streams, and serves it to its end. Rejects, with the connection destroyed, where it breaks. */
export async function serveUpgraded(service: StreamingService, parts: StreamsParts): Promise<void> {
  const { clock, signal, upgraded } = parts
  signal.addEventListener('abort', () => clock.setTimer(closeGraceMs, () => upgraded.connection.destroy()), {
    once: true,
  })
  try {
    await serve(service, parts)
  } catch (error) {
    upgraded.connection.destroy()
    throw error
  }
}

async function serve(
  service: StreamingService,
  { clock, request, upgraded: { connection, head }, negotiated: { transport, protocol }, signal }: StreamsParts,
): Promise<void> {
  if (transport === 'spdy') {
    connection.write(switchingToSpdy(protocol))
    const parts = { clock, connection, head, signal, idleTimeoutMs }
    if (service.kind === 'portForward') return forwardOverSpdy(service, parts)
    return runOverSpdy(service, protocol, parts)
  }
  const socket = await acceptWebSocket(request, connection, head, protocol)
  const parts = { clock, socket, protocol, signal, idleTimeoutMs }
  if (service.kind === 'command') return runOverChannels(service, parts)
  return protocol === portForwardTunnelProtocol
    ? forwardOverTunnel(service, parts)
    : forwardOverChannels(service, parts)
}

const switchingToSpdy = (protocol: string): string =>
  [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
    '\r\n',
  ].join('\r\n')
