import { tooManyRequests } from '@coracle/api'
import {
  acceptWebSocket,
  commandChannelProtocols,
  commandSpdyProtocols,
  portForwardChannelProtocols,
  portForwardSpdyProtocol,
  portForwardTunnelProtocol,
} from '@coracle/client/streaming'
import type { Exchange, HandlerContext } from '../http/exchange.ts'
import { busyMessage } from '../store-errors.ts'
import { type Negotiated, negotiate } from './negotiation.ts'
import { runOverChannels, runOverSpdy } from './serve-command.ts'
import { forwardOverChannels, forwardOverSpdy, forwardOverTunnel } from './serve-port-forward.ts'
import type { StreamingService } from './streaming-service.ts'
import type { UpgradedConnection } from './upgrades.ts'

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

/**
 * Makes the connection of a request one of streams, and serves it to its end. Throws an ApiError before anything is said
 * where that cannot be.
 */
export async function serveStreams(
  context: HandlerContext,
  exchange: Exchange,
  service: StreamingService,
): Promise<void> {
  const { upgrades } = context
  const negotiated = negotiate(exchange.request, protocolsOf[service.kind])
  if (upgrades.isFull) throw tooManyRequests(busyMessage, 1)
  const signal = context.becomeLongRunning(exchange)
  const upgraded = upgrades.take(exchange.request)
  if (upgraded === undefined || signal.aborted) return void exchange.response.destroy()
  const { clock, logger } = context.environment
  // When the server ends it is told to the client, which need not take it.
  signal.addEventListener('abort', () => clock.setTimer(closeGraceMs, () => upgraded.connection.destroy()), {
    once: true,
  })
  try {
    await serve(context, exchange, service, negotiated, upgraded, signal)
  } catch (error) {
    logger.debug('a connection of streams has ended', { error })
    upgraded.connection.destroy()
  }
}

async function serve(
  { environment: { clock } }: HandlerContext,
  { request }: Exchange,
  service: StreamingService,
  { transport, protocol }: Negotiated,
  upgraded: UpgradedConnection,
  signal: AbortSignal,
): Promise<void> {
  const { connection, head } = upgraded
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
