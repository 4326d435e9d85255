import {
  adminIdentity,
  issueApiCertificate,
  issueClientCertificate,
  type KeyPair,
  keepCertificate,
  type Pki,
} from '@coracle/apiserver'
import type { Environment } from '@coracle/environment'
import { certificateHosts } from '@coracle/environment/certificates'
import { CertificateKeeper } from './certificate-keeper.ts'

export interface CertificateRenewalOptions {
  readonly environment: Environment
  readonly pki: Pki
  /** Where certificates are kept; undefined: nowhere. */
  readonly dataDir: string | undefined
  /** Told of each certificate that takes the place of another, when it is kept. */
  readonly onRenewed: (pki: Pki) => void | Promise<void>
}

/** The certificates of a server that end. */
type Renewed = 'serving' | 'admin'

const issue: Readonly<Record<Renewed, (environment: Environment, pki: Pki) => KeyPair>> = {
  serving: (environment, { ca, serving }) =>
    issueApiCertificate(environment, ca, certificateHosts(serving.certificatePem)),
  admin: (environment, { ca }) => issueClientCertificate(environment, ca, adminIdentity),
}

/**
 * Renews the certificates of a server and its administrator in the last third of their lives, by the same authority and for the same
 * names, until the returned function is called. Those before stay good until they end.
 */
export function renewCertificates({
  environment,
  pki,
  dataDir,
  onRenewed,
}: CertificateRenewalOptions): () => Promise<void> {
  let present = pki
  const keep = (name: Renewed): CertificateKeeper => {
    const keeper = new CertificateKeeper({
      environment,
      holder: 'the server',
      renew: () => issue[name](environment, present),
      async onRenewed(pair) {
        if (dataDir !== undefined) await keepCertificate(dataDir, name, pair)
        present = { ...present, [name]: pair }
        await onRenewed(present)
      },
    })
    keeper.keep(pki[name])
    return keeper
  }
  const keepers = [keep('serving'), keep('admin')]
  return async () => {
    await Promise.all(keepers.map((keeper) => keeper.stop()))
  }
}
