import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect } from 'node:tls'
import type { Clock } from '@coracle/environment'
import { endpointText, type NodeEndpoint } from './node-endpoint.ts'

/** How long a server may take to accept a connection. */
const connectTimeoutMs = 10_000

/** A connection over TLS whose ends end for themselves. Rejects, in Go's words where they are known, once the signal is aborted or in ten seconds. */
export function dialOverTls(
  endpoint: NodeEndpoint,
  tls: ConnectionOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const half: ConnectionOptions & { readonly allowHalfOpen: boolean } = { ...endpoint, allowHalfOpen: true }
    const socket = connect({ ...half, ...tls, ALPNProtocols: ['http/1.1'] })
    socket.setNoDelay()
    const fail = (error: Error) => {
      timer.cancel()
      signal.removeEventListener('abort', leave)
      socket.destroy()
      reject(new Error(`dial tcp ${endpointText(endpoint)}: ${reasonOf(error)}`))
    }
    const leave = () => fail(new Error('the request was given up'))
    const timer = clock.setTimer(connectTimeoutMs, () => fail(new Error('i/o timeout')))
    signal.addEventListener('abort', leave, { once: true })
    socket.once('error', fail)
    // Whoever asked may have gone while it was found out whom to ask.
    if (signal.aborted) leave()
    socket.once('secureConnect', () => {
      timer.cancel()
      signal.removeEventListener('abort', leave)
      socket.off('error', fail)
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}

/** In Go's words where they are known. */
function reasonOf(error: Error): string {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ECONNREFUSED':
      return 'connect: connection refused'
    case 'EHOSTUNREACH':
      return 'connect: no route to host'
    case 'ENETUNREACH':
      return 'connect: network is unreachable'
    case 'ETIMEDOUT':
      return 'i/o timeout'
    case 'ENOTFOUND':
      return 'no such host'
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_SIGNATURE_FAILURE':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
    default:
      return message
  }
}
