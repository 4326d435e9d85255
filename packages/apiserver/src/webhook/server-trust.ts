import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { type Clock, type Trust, trusting } from '@coracle/environment'

/** Where a server listens, and the name that its certificate is to have where that is not `host`. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly servername?: string | undefined
}

/**
 * Which servers are believed for a bundle of certificates (PEM): those that Go's TLS believes, as webhooks are written for that.
 * OpenSSL differs where the certificate of a server has the same name as the authority that signed it, or where both have none: it takes
 * such a certificate for self-signed without a look at the signature, and refuses it.
 */
export class ServerTrust {
  readonly #bundle: string | undefined
  readonly #clock: Clock
  #options: Partial<Trust<string>>

  /** Without a bundle the authorities of the host are trusted. */
  constructor(bundle: string | undefined, clock: Clock) {
    this.#bundle = bundle
    this.#clock = clock
    this.#options = bundle === undefined ? {} : trusting(bundle)
  }

  /** Options of TLS for a connection to the server. */
  get options(): Partial<Trust<string>> {
    return this.#options
  }

  /**
   * After a connection was refused by `error`: whether the server is to be believed after all, so that another connection with `options` as
   * they are then succeeds. Of the server's certificate the signature is checked here, and all else by TLS.
   */
  async reconsider(error: unknown, server: () => ServerAddress, signal: AbortSignal): Promise<boolean> {
    if (this.#bundle === undefined || (error as NodeJS.ErrnoException).code !== 'DEPTH_ZERO_SELF_SIGNED_CERT')
      return false
    const shown = await shownCertificate(server(), signal)
    if (!certificatesOf(this.#bundle).some((authority) => this.#hasSigned(authority, shown))) return false
    this.#options = trusting(`${this.#bundle}\n${shown}`)
    return true
  }

  #hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
    const now = this.#clock.now()
    return (
      authority.ca &&
      authority.validFromDate.getTime() <= now &&
      now <= authority.validToDate.getTime() &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey)
    )
  }
}

/** The certificate of a server. Nothing is sent to the server, or believed of what it sends. */
function shownCertificate(server: ServerAddress, signal: AbortSignal): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...server, rejectUnauthorized: false })
    const abort = () => socket.destroy(new Error('aborted'))
    signal.addEventListener('abort', abort)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (certificate === undefined) return socket.destroy(new Error('the server shows no certificate'))
      resolve(certificate)
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => {
      signal.removeEventListener('abort', abort)
      reject(new Error('the server closed the connection'))
    })
  })
}

/** Those of a bundle that can be read, as Go takes them. */
function certificatesOf(bundle: string): readonly X509Certificate[] {
  const found = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return found.flatMap((pem) => {
    try {
      return [new X509Certificate(pem)]
    } catch {
      return []
    }
  })
}
