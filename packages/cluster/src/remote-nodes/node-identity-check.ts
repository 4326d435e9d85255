import type { PeerCertificate } from 'node:tls'

/**
 * Judges the certificate of a node agent that the cluster's authority vouches for, as one for servers: it must name the node. Addresses in it
 * say nothing: which one a node has is what the node itself says, while its name was given to it with the certificate.
 */
export function nodeCertificateProblem(nodeName: string, { subject }: PeerCertificate): Error | undefined {
  const wanted = `system:node:${nodeName}`
  const groups = [subject?.O ?? []].flat()
  if (subject?.CN === wanted && groups.includes('system:nodes')) return undefined
  return Object.assign(new Error(`tls: the certificate is for ${JSON.stringify(subject?.CN ?? '')}, not ${wanted}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
}
