import { type Duplex, duplexPair } from 'node:stream'
import { connect as connectOverTls } from 'node:tls'
import type { PodTarget } from './proxy-target.ts'

/**
 * A connection to a port of a pod, which carries HTTP. What goes wrong in making it is an error of the stream. For `https` whoever
 * is there is believed, as upstream does: certificates of pods name nothing that this server could know.
 */
export function connectToPod({ scheme, port, forward }: PodTarget, signal: AbortSignal): Duplex {
  const [near, far] = duplexPair()
  near.once('close', () => far.destroy())
  // What the other end did wrong, `near` is told.
  far.on('error', () => {})
  forward(port, far, signal).then(
    () => far.end(),
    (error: Error) => near.destroy(error),
  )
  if (scheme === 'http') return near
  const secured = connectOverTls({ socket: near, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  near.once('error', (error) => secured.destroy(error))
  return secured
}
