import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { distinguishedName, generalName, subjectAlternativeNames } from './certificates.ts'
import { bitString, explicit, integer, objectIdentifier, sequence, set } from './der.ts'

/** Who a certificate is to name. */
export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
  /** Names and addresses it is to be good for, of a server. */
  readonly hosts?: readonly string[]
}

/** A key to have a certificate made for: ECDSA P-256. */
export const createCertificateKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

/** A key as it is kept. */
export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A request for a certificate (PKCS #10, RFC 2986), signed with the key it is for, in PEM. */
export function createCertificateRequest(
  { commonName, organizations, hosts = [] }: RequestedSubject,
  key: KeyObject,
): string {
  const subject = distinguishedName([
    ...organizations.map((value) => ({ type: 'organization' as const, value })),
    { type: 'commonName', value: commonName },
  ])
  const names = subjectAlternativeNames(hosts.map(generalName))
  const extensionRequest = sequence(objectIdentifier('1.2.840.113549.1.9.14'), set(sequence(names)))
  const toBeSigned = sequence(
    integer(Buffer.of(0)),
    subject,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    explicit(0, hosts.length === 0 ? Buffer.alloc(0) : extensionRequest),
  )
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
  const der = sequence(toBeSigned, algorithm, bitString(sign('sha256', toBeSigned, key)))
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}-----END CERTIFICATE REQUEST-----\n`
}
