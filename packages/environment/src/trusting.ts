/** Options of TLS: certificates (PEM), and that a chain may end at each of them. */
export interface Trust<Certificates extends string | Buffer> {
  readonly ca: Certificates
  readonly allowPartialTrustChain: true
}

/**
 * Trusts certificates (PEM) as Go's TLS does: who shows one of them is believed, and whom one of them vouches for. OpenSSL by itself
 * believes only chains that end at a certificate which vouches for itself, and refuses a server whose own certificate it was told to trust.
 * For clients: servers of Node.js do not take the option.
 */
export function trusting<Certificates extends string | Buffer>(ca: Certificates): Trust<Certificates> {
  return { ca, allowPartialTrustChain: true }
}
