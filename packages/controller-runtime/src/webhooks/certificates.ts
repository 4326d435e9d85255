import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Environment } from '@coracle/environment'
import { createAuthority, issueServingCertificate } from '@coracle/environment/certificates'

/** A certificate a server shows, its key, and who vouches for it; all in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  /** The authority's; undefined where the API server knows it already. */
  readonly ca: string | undefined
}

/** Where a server's certificate comes from. It is asked again and again, so that a new one is taken up. */
export interface CertificateSource {
  load(): Promise<Certificate>
}

/** A certificate in files, such as those of a Secret that cert-manager renews. */
export function certificateFiles(files: {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}): CertificateSource {
  return {
    async load() {
      const [cert = '', key = '', ca] = await Promise.all(
        [files.cert, files.key, ...(files.ca === undefined ? [] : [files.ca])].map((file) => readFile(file, 'utf8')),
      )
      return { cert, key, ca }
    },
  }
}

/** How much of the life of a certificate is left when another takes its place. */
const renewBeforeMs = 120 * 86_400_000

/**
 * A certificate made now, for the names and addresses by which API servers reach this process: `webhooks.default.svc` behind a
 * Service. It holds a year, and is renewed by the same authority before it ends. Nobody else has that authority, so `ensureWebhooks` must
 * tell the API server: for one replica. Several need files that they share.
 */
export function selfMadeCertificate(environment: Environment, hosts: readonly string[]): CertificateSource {
  const authority = createAuthority(environment)
  const make = () => {
    const { certificatePem: cert, keyPem: key } = issueServingCertificate(environment, authority, {
      commonName: hosts[0] ?? 'webhooks',
      hosts,
    })
    const renewAt = new X509Certificate(cert).validToDate.getTime() - renewBeforeMs
    return { renewAt, certificate: { cert, key, ca: authority.certificatePem } }
  }
  let made = make()
  return {
    async load() {
      if (environment.clock.now() >= made.renewAt) made = make()
      return made.certificate
    },
  }
}
