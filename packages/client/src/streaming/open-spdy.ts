import { type ClientRequestArgs, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Clock } from '@coracle/environment'
import { type CredentialHeaders, tlsOptionsOf } from '../connection-credentials.ts'
import type { TransportOptions } from '../http-transport.ts'
import { spdyProtocolHeader } from './protocols.ts'
import { limitHandshake, UpgradeError, upgradeRefusal } from './upgrade-error.ts'

/** A connection for a SPDY session, and the subprotocol that the server has chosen. */
export interface OpenedSpdy {
  readonly connection: Duplex
  /** What has come on it already. */
  readonly head: Buffer
  readonly protocol: string
}

/**
 * Opens a connection to a path of a server that becomes one for SPDY/3.1. Rejects with an ApiError where the server refuses it, and with
 * an UpgradeError where it knows no such connection.
 */
export function openSpdy(
  options: TransportOptions,
  credentials: CredentialHeaders,
  clock: Clock,
  path: string,
  protocols: readonly string[],
): Promise<OpenedSpdy> {
  const { server, userAgent = 'coracle' } = options
  const { protocol: scheme, hostname, port, pathname } = new URL(server)
  const args: ClientRequestArgs = {
    // One with many streams asks for more than a look: servers count it as a write.
    method: 'POST',
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname.replace(/\/$/, '') + path,
    agent: false,
    headers: {
      'user-agent': userAgent,
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      // Older servers take one of each header, and no list.
      [spdyProtocolHeader]: [...protocols],
      'content-length': 0,
      ...credentials,
    },
    ...tlsOptionsOf(options),
  }
  const request = scheme === 'https:' ? httpsRequest(args) : httpRequest(args)
  return new Promise((resolve, reject) => {
    const limit = limitHandshake(clock, (error) => request.destroy(error))
    request.once('close', () => limit.cancel())
    request.once('error', reject)
    request.once('response', (response: IncomingMessage) => {
      text(response)
        .then((body) => reject(upgradeRefusal('POST', response.statusCode ?? 0, body)), reject)
        .finally(() => request.destroy())
    })
    request.once('upgrade', (response: IncomingMessage, connection: Duplex, head: Buffer) => {
      limit.cancel()
      const chosen = [response.headers[spdyProtocolHeader] ?? []].flat()[0]
      if (chosen !== undefined && protocols.includes(chosen)) {
        resolve({ connection: connection.on('error', () => {}), head, protocol: chosen })
        return
      }
      reject(new UpgradeError(`the server speaks none of ${protocols.join(', ')}`))
      connection.destroy()
    })
    request.end()
  })
}
