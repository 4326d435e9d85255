import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isLoopback } from '@coracle/api'
import type { KeyPair } from '@coracle/environment/certificates'

/**
 * The names that the certificate of a node's server is to have: that of the node, and its address. Not loopback, which everybody has, and not
 * the address of the API server where both are one machine: a certificate for it would vouch for others there.
 */
export const servingHosts = (nodeName: string, address: string, server: string): readonly string[] =>
  isLoopback(address) || new URL(server).hostname.replace(/^\[|\]$/g, '') === address ? [nodeName] : [nodeName, address]

/** Whether a certificate has all these names. */
export function coversHosts({ certificatePem }: KeyPair, hosts: readonly string[]): boolean {
  const certificate = new X509Certificate(certificatePem)
  return hosts.every(
    (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  )
}
