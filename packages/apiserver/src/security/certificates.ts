import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { formatTime } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts'

/** A certificate and its private key (PKCS #8), both in PEM. */
export interface KeyPair {
  readonly certificatePem: string
  readonly keyPem: string
}

/** Everything the server needs to prove who it is and to know its clients. */
export interface Pki {
  /** Signs serving and client certificates; who trusts its certificate trusts the server. */
  readonly ca: KeyPair
  readonly serving: KeyPair
  /** `kubernetes-admin` of `system:masters`. */
  readonly admin: KeyPair
}

/** What a client certificate says of its holder: CN and O, as the authenticator reads them. */
export interface ClientIdentity {
  readonly user: string
  readonly groups: readonly string[]
}

const dayMs = 86_400_000
/** kubeadm's lifetimes. */
const caValidityMs = 3650 * dayMs
const leafValidityMs = 365 * dayMs
/** A client's clock may be behind ours. */
const backdateMs = 3_600_000

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
 * addresses the server is reached by, beside those every cluster has. Keys come from the system's secure source of
 * randomness; serial numbers and validity from the environment.
 */
export function createPki(environment: Environment, hosts: readonly string[] = []): Pki {
  const ca = createAuthority(environment)
  return {
    ca,
    serving: issueServingCertificate(environment, ca, hosts),
    admin: issueClientCertificate(environment, ca, adminIdentity),
  }
}

/** A self-signed certificate authority, of a new key unless it is given: an elliptic curve's. */
export function createAuthority(environment: Environment, key?: KeyObject): KeyPair {
  const keys = key === undefined ? generateKeys() : { privateKey: key, publicKey: createPublicKey(key) }
  const subject = distinguishedName([{ type: 'commonName', value: 'coracle' }])
  const keyId = keyIdentifier(keys.publicKey)
  return keyPair(
    keys.privateKey,
    signCertificate(environment, {
      subject,
      publicKey: keys.publicKey,
      issuer: subject,
      issuerKey: keys.privateKey,
      validityMs: caValidityMs,
      extensions: [
        extension('2.5.29.19', true, sequence(boolean(true))),
        // digitalSignature, keyEncipherment, keyCertSign
        extension('2.5.29.15', true, bitString(Buffer.of(0b10100100), 2)),
        extension('2.5.29.14', false, octetString(keyId)),
      ],
    }),
  )
}

/** A certificate for the server under `hosts` and the names every cluster has. */
export function issueServingCertificate(environment: Environment, ca: KeyPair, hosts: readonly string[]): KeyPair {
  const names = coveredHosts(hosts).map((host) =>
    isIP(host) === 0 ? implicit(2, Buffer.from(host)) : implicit(7, addressBytes(host)),
  )
  return issueLeaf(environment, ca, {
    subject: distinguishedName([{ type: 'commonName', value: 'kube-apiserver' }]),
    purpose: '1.3.6.1.5.5.7.3.1',
    extensions: [extension('2.5.29.17', false, sequence(...names))],
  })
}

/** A certificate by which `identity` is known to the server. */
export function issueClientCertificate(environment: Environment, ca: KeyPair, identity: ClientIdentity): KeyPair {
  return issueLeaf(environment, ca, {
    subject: distinguishedName([
      ...identity.groups.map((value) => ({ type: 'organization' as const, value })),
      { type: 'commonName', value: identity.user },
    ]),
    purpose: '1.3.6.1.5.5.7.3.2',
    extensions: [],
  })
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

interface Leaf {
  readonly subject: Buffer
  /** Object identifier of the extended key usage. */
  readonly purpose: string
  readonly extensions: readonly Buffer[]
}

function issueLeaf(environment: Environment, ca: KeyPair, leaf: Leaf): KeyPair {
  const keys = generateKeys()
  const issuer = new X509Certificate(ca.certificatePem)
  const pem = signCertificate(environment, {
    subject: leaf.subject,
    publicKey: keys.publicKey,
    issuer: subjectOf(issuer),
    issuerKey: createPrivateKey(ca.keyPem),
    validityMs: leafValidityMs,
    extensions: [
      extension('2.5.29.19', true, sequence()),
      // digitalSignature, keyEncipherment
      extension('2.5.29.15', true, bitString(Buffer.of(0b10100000), 5)),
      extension('2.5.29.37', false, sequence(objectIdentifier(leaf.purpose))),
      extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(issuer.publicKey)))),
      ...leaf.extensions,
    ],
  })
  return keyPair(keys.privateKey, pem)
}

interface ToSign {
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly issuer: Buffer
  readonly issuerKey: KeyObject
  readonly validityMs: number
  readonly extensions: readonly Buffer[]
}

/** A version 3 certificate (RFC 5280), signed with ECDSA and SHA-256, in PEM. */
function signCertificate({ clock, random }: Environment, request: ToSign): string {
  const nowMs = clock.now()
  // 127 bits: positive, and never of leading zeros.
  const serial = Buffer.from(`4${random.string(31, '0123456789abcdef')}`, 'hex')
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    request.issuer,
    sequence(time(formatTime(nowMs - backdateMs)), time(formatTime(nowMs + request.validityMs))),
    request.subject,
    request.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...request.extensions)),
  )
  const signature = sign('sha256', toBeSigned, request.issuerKey)
  return pemOf(sequence(toBeSigned, algorithm, bitString(signature)))
}

const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(objectIdentifier(id), ...(critical ? [boolean(true)] : []), octetString(value))

const nameAttributes = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const

interface NameAttribute {
  readonly type: keyof typeof nameAttributes
  readonly value: string
}

const distinguishedName = (attributes: readonly NameAttribute[]): Buffer =>
  sequence(
    ...attributes.map(({ type, value }) => set(sequence(objectIdentifier(nameAttributes[type]), utf8String(value)))),
  )

/** Our authorities are known by a common name alone. */
function subjectOf(authority: X509Certificate): Buffer {
  const commonName = /^CN=(.+)$/m.exec(authority.subject)?.[1] ?? ''
  return distinguishedName([{ type: 'commonName', value: commonName }])
}

const keyIdentifier = (publicKey: KeyObject): Buffer =>
  createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()

const generateKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

const keyPair = (key: KeyObject, certificatePem: string): KeyPair => ({
  certificatePem,
  keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
})

const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`

/** The four or sixteen bytes of an IP address. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const withoutZone = address.split('%')[0] ?? ''
  const hex = withoutZone.replace(/[\d.]+\.[\d.]+$/, (dotted) => {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = hex.split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
