import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError } from '@coracle/api'
import { joinStreams, tunnelNodeHeader } from '@coracle/client'
import type { Logger } from '@coracle/environment'
import type { User } from '../request.ts'
import type { Authenticator } from '../security/authentication.ts'

/** Connections through this server to pods at one time. */
export const relayedConnectionsMax = 2_000

/**
 * Connects to a pod of a node; `target` is `address:port`. Rejects with an error that has an HTTP status as its `code` where there is no such
 * node or pod, or the pod does not accept, and once the signal is aborted.
 */
export type ConnectToPod = (nodeName: string, target: string, signal: AbortSignal) => Promise<Duplex>

export interface PodRelayOptions {
  readonly authenticate: Authenticator
  /** Undefined: nobody knows of nodes. */
  readonly connectToPod: ConnectToPod | undefined
  readonly logger: Logger
  /** Told of each connection that belongs to somebody who is known. */
  readonly onIdentified: (request: IncomingMessage) => void
}

/**
 * Answers CONNECT: the service proxies of other machines reach pods so that are not theirs. It is open to nodes of the cluster alone,
 * and leads to pods alone. Each end of a connection ends for itself. Who calls it sees to errors of the connection, and that
 * it may end half.
 */
export function createPodRelay({ authenticate, connectToPod, logger, onIdentified }: PodRelayOptions) {
  let open = 0
  return async (request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> => {
    try {
      const user = await authenticate(request)
      if (!isNode(user)) throw new ApiError(403, 'Forbidden', 'connections to pods are for nodes of the cluster')
      onIdentified(request)
      if (connectToPod === undefined) throw new ApiError(404, 'NotFound', 'there are no nodes here')
      if (open >= relayedConnectionsMax) {
        throw new ApiError(429, 'TooManyRequests', 'too many connections to pods are open')
      }
      open += 1
      connection.once('close', () => {
        open -= 1
      })
      const gone = new AbortController()
      connection.once('close', () => gone.abort())
      const nodeName = String(request.headers[tunnelNodeHeader] ?? '')
      const pod = await connectToPod(nodeName, request.url ?? '', gone.signal)
      if (connection.destroyed) return void pod.destroy()
      connection.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) pod.write(head)
      joinStreams(connection, pod)
    } catch (error) {
      logger.debug('a connection to a pod was not made', { error })
      // Whoever is refused may leave its own end open for ever, and anybody may ask. What it has sent must be read, or the answer is lost.
      connection.resume().end(refusalOf(error), () => connection.destroy())
    }
  }
}

const isNode = ({ name, groups }: User): boolean => groups.includes('system:nodes') && name.startsWith('system:node:')

/** The answer to who is not connected, in plain text. */
function refusalOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string }
  const status = typeof code === 'number' && STATUS_CODES[code] !== undefined ? code : 502
  const body = `${message ?? 'the connection was not made'}\n`
  const headers = [
    'Content-Type: text/plain; charset=utf-8',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}
