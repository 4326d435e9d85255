import type { IncomingMessage } from 'node:http'
import { ApiError, badRequest } from '@coracle/api'
import { spdyProtocolHeader } from '@coracle/client/streaming'

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
  const { headers } = request
  const isUpgrade = (headers.connection ?? '').toLowerCase().includes('upgrade')
  const upgrade = isUpgrade ? (headers.upgrade ?? '').toLowerCase() : ''
  if (upgrade === 'websocket') {
    const wanted = listOf(headers['sec-websocket-protocol'])
    const protocol = wanted.length === 0 ? '' : chosen(wanted, supported.webSocket)
    return { transport: 'webSocket', protocol }
  }
  if (upgrade !== 'spdy/3.1') throw badRequest('Upgrade request required')
  const wanted = listOf(headers[spdyProtocolHeader])
  if (wanted.length === 0) throw badRequest('unable to upgrade: X-Stream-Protocol-Version is required')
  return { transport: 'spdy', protocol: chosen(wanted, supported.spdy) }
}

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
