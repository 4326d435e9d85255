import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { unauthorized } from '@coracle/api'
import { asksForWebSocket } from '@coracle/client/upgrades'

/** Begins the subprotocol by which browsers show a bearer token, in base64url: they can set no header for a WebSocket. */
export const tokenProtocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * Makes the token that a WebSocket shows as a subprotocol that of its request, and takes it off the subprotocols: who answers the request
 * chooses one of the others, and is not to have the token. Throws Unauthorized where it is none, or alone, as upstream.
 */
export function takeProtocolToken(request: IncomingMessage): void {
  const { headers } = request
  if (!asksForWebSocket(request)) return
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())
  const others = protocols.filter((each) => !each.startsWith(tokenProtocolPrefix))
  const [shown, ...more] = protocols.filter((each) => each.startsWith(tokenProtocolPrefix))
  if (shown === undefined) return
  const encoded = shown.slice(tokenProtocolPrefix.length)
  const token = Buffer.from(encoded, 'base64url')
  const isGood = more.length === 0 && isUtf8(token) && token.toString('base64url') === encoded
  if (!isGood || (others.length === 0 && encoded !== '')) throw unauthorized()
  headers['sec-websocket-protocol'] = others.join(', ')
  if (encoded !== '') headers.authorization ??= `Bearer ${token}`
}
