import type { IncomingMessage } from 'node:http'
import { ApiError, badRequest } from '@coracle/api'
import { askedUpgrade } from '../upgrades/asked-upgrade.ts'
import { spdyProtocolHeader } from './protocols.ts'

/** How a client and this server are going to talk. */
export interface Negotiated {
  readonly transport: 'webSocket' | 'spdy'
  /** '' where a WebSocket client names none. */
  readonly protocol: string
}

/** The protocols there are, by what carries them. */
export interface SupportedProtocols {
  readonly webSocket: readonly string[]
  readonly spdy: readonly string[]
}

/**
 * The first protocol of a client's that is supported. Throws a BadRequest where the request asks for no connection, and a
 * Forbidden where there is no protocol both know: clients try another one then.
 */
export function negotiate(request: IncomingMessage, supported: SupportedProtocols): Negotiated {
  const upgrade = askedUpgrade(request)
  if (upgrade === 'websocket') {
    return { transport: 'webSocket', protocol: negotiatedWebSocket(request, supported.webSocket) }
  }
  if (upgrade !== 'spdy/3.1') throw badRequest('Upgrade request required')
  const wanted = listOf(request.headers[spdyProtocolHeader])
  if (wanted.length === 0) throw badRequest('unable to upgrade: X-Stream-Protocol-Version is required')
  return { transport: 'spdy', protocol: chosen(wanted, supported.spdy) }
}

/** The first subprotocol of a client's that is supported, '' where it names none. Throws a Forbidden where there is none both know. */
export function negotiatedWebSocket(request: IncomingMessage, supported: readonly string[]): string {
  const wanted = wantedWebSocketProtocols(request)
  return wanted.length === 0 ? '' : chosen(wanted, supported)
}

/** The subprotocols a client names, the one it likes best first. */
export const wantedWebSocketProtocols = ({ headers }: IncomingMessage): readonly string[] =>
  listOf(headers['sec-websocket-protocol'])

function listOf(header: string | readonly string[] | undefined): readonly string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

function chosen(wanted: readonly string[], supported: readonly string[]): string {
  const protocol = wanted.find((each) => supported.includes(each))
  if (protocol !== undefined) return protocol
  throw new ApiError(
    403,
    'Forbidden',
    `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(' ')}], server accepts [${supported.join(' ')}]`,
  )
}
