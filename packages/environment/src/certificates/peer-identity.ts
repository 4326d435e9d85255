import type { TLSSocket } from 'node:tls'
import type { Time } from '../clock.ts'

/** Who the certificate at the other end of a connection names: its CN, with each O as a group. */
export interface PeerIdentity {
  readonly name: string
  readonly groups: readonly string[]
  /** When the certificate ends, by the host's clock. */
  readonly notAfterMs?: Time
}

/**
 * Whom a client has proved to be by a certificate that the connection's authorities vouch for; `none` where it has shown none, and
 * `rejected` where what it has shown is not good or names nobody.
 */
export function peerIdentity(socket: TLSSocket): PeerIdentity | 'none' | 'rejected' {
  if (typeof socket.getPeerCertificate !== 'function') return 'none'
  const { subject } = socket.getPeerCertificate()
  if (subject === undefined) return 'none'
  const [name = ''] = allOf(subject.CN)
  if (!socket.authorized || name === '') return 'rejected'
  const notAfterMs = socket.getPeerX509Certificate()?.validToDate.getTime()
  return { name, groups: allOf(subject.O), ...(notAfterMs === undefined ? {} : { notAfterMs }) }
}

const allOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value
