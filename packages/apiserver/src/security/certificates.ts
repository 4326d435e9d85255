import { generateKeyPairSync, type X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Environment } from '@coracle/environment'
import {
  type ClientIdentity,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
} from '@coracle/environment/certificates'

export { type ClientIdentity, createAuthority, issueClientCertificate, type KeyPair }

/** Everything the server needs to prove who it is and to know its clients. */
export interface Pki {
  /** Signs serving and client certificates; who trusts its certificate trusts the server. */
  readonly ca: KeyPair
  readonly serving: KeyPair
  /** `kubernetes-admin` of `system:masters`. */
  readonly admin: KeyPair
  /** The private key that signs tokens of service accounts. */
  readonly serviceAccountKeyPem: string
}

/** Names by which the API server is known inside every cluster. */
const servingHosts = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

export const adminIdentity: ClientIdentity = { user: 'kubernetes-admin', groups: ['system:masters'] }

/**
 * A new certificate authority with a serving and an admin certificate of its own: ECDSA P-256. `hosts` are names and
 * addresses the server is reached by, beside those every cluster has.
 */
export function createPki(environment: Environment, hosts: readonly string[] = []): Pki {
  const ca = createAuthority(environment)
  return {
    ca,
    serving: issueApiCertificate(environment, ca, hosts),
    admin: issueClientCertificate(environment, ca, adminIdentity),
    serviceAccountKeyPem: createServiceAccountKey(),
  }
}

/** A new key for tokens of service accounts: ECDSA P-256. */
export function createServiceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** A certificate for the API server under `hosts` and the names every cluster has. */
export function issueApiCertificate(environment: Environment, ca: KeyPair, hosts: readonly string[]): KeyPair {
  return issueServingCertificate(environment, ca, { commonName: 'kube-apiserver', hosts: coveredHosts(hosts) })
}

/** Whether the certificate is valid for each of `hosts` and the names every cluster has. */
export function coversHosts(certificate: X509Certificate, hosts: readonly string[]): boolean {
  return coveredHosts(hosts).every(
    (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  )
}

/** A listener on all addresses is not reached by the address it listens on. */
const coveredHosts = (hosts: readonly string[]): readonly string[] => [
  ...new Set([...servingHosts, ...hosts.filter((host) => host !== '' && host !== '0.0.0.0' && host !== '::')]),
]
