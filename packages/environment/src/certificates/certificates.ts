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
import type { Environment } from '../environment.ts'
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
const usualBackdateMs = 3_600_000

/**
 * A self-signed certificate authority, of a new key unless it is given: an elliptic curve's. Keys come from the system's secure
 * source of randomness; serial numbers and validity from the environment.
 */
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

/** Who a server is, and the names and addresses it is reached by. */
export interface ServerIdentity {
  readonly commonName: string
  readonly hosts: readonly string[]
}

/** A certificate for a server. */
export function issueServingCertificate(environment: Environment, ca: KeyPair, server: ServerIdentity): KeyPair {
  return issueLeaf(environment, ca, {
    subject: distinguishedName([{ type: 'commonName', value: server.commonName }]),
    purpose: '1.3.6.1.5.5.7.3.1',
    extensions: [subjectAlternativeNames(server.hosts.map(generalName))],
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
      basicConstraintsOfLeaf,
      // digitalSignature, keyEncipherment
      keyUsage([0, 2]),
      extendedKeyUsage([leaf.purpose]),
      authorityKeyIdentifier(issuer),
      ...leaf.extensions,
    ],
  })
  return keyPair(keys.privateKey, pem)
}

/** What a certificate is to say. Names and extensions are in DER. */
export interface ToSign {
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly issuer: Buffer
  readonly issuerKey: KeyObject
  /** How long before now it begins: an hour unless given. */
  readonly backdateMs?: number
  readonly validityMs: number
  readonly extensions: readonly Buffer[]
}

/** A version 3 certificate (RFC 5280), signed with ECDSA and SHA-256, in PEM. */
export function signCertificate({ clock, random }: Environment, request: ToSign): string {
  const nowMs = clock.now()
  const { backdateMs = usualBackdateMs } = request
  const formatTime = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
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

/** It is nobody's issuer. */
export const basicConstraintsOfLeaf = extension('2.5.29.19', true, sequence())

/** Bits as RFC 5280 (4.2.1.3) counts them, from 0. */
export function keyUsage(bits: readonly number[]): Buffer {
  const bytes = Buffer.alloc(Math.max(...bits) < 8 ? 1 : 2)
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  const unusedBits = bytes.length * 8 - 1 - Math.max(...bits)
  return extension('2.5.29.15', true, bitString(bytes, unusedBits))
}

/** Object identifiers of what the key is for. */
export const extendedKeyUsage = (purposes: readonly string[]): Buffer =>
  extension('2.5.29.37', false, sequence(...purposes.map(objectIdentifier)))

export const authorityKeyIdentifier = (issuer: X509Certificate): Buffer =>
  extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(issuer.publicKey))))

/** A name or an address of a server as a GeneralName. */
export const generalName = (host: string): Buffer =>
  isIP(host) === 0 ? implicit(2, Buffer.from(host)) : implicit(7, addressBytes(host))

/** A GeneralName each. */
export const subjectAlternativeNames = (names: readonly Buffer[]): Buffer =>
  extension('2.5.29.17', false, sequence(...names))

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectIdentifier(id), ...(critical ? [boolean(true)] : []), octetString(value))
}

const nameAttributes = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const

interface NameAttribute {
  readonly type: keyof typeof nameAttributes
  readonly value: string
}

/** A name in DER, its parts in this order. */
export const distinguishedName = (attributes: readonly NameAttribute[]): Buffer =>
  sequence(
    ...attributes.map(({ type, value }) => set(sequence(objectIdentifier(nameAttributes[type]), utf8String(value)))),
  )

/** Our authorities are known by a common name alone. */
export function subjectOf(authority: X509Certificate): Buffer {
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
