import type { Environment } from '@coracle/environment'
import { issueClientCertificate, type KeyPair } from '../security/certificates.ts'

/** The name by which servers behind this one know it: whoever shows a certificate of that name may say for whom it asks. */
export const frontProxyUser = 'front-proxy-client'

/** A certificate for this server to show to those behind it. It lives as long as the process, and is written nowhere. */
export function frontProxyCertificate(environment: Environment, authority: KeyPair): KeyPair {
  return issueClientCertificate(environment, authority, { user: frontProxyUser, groups: [] })
}
