import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Time } from '../clock.ts'
import type { Environment } from '../environment.ts'
import {
  authorityKeyIdentifier,
  basicConstraintsOfLeaf,
  extendedKeyUsage,
  type KeyPair,
  keyUsage,
  signCertificate,
  subjectAlternativeNames,
  subjectOf,
} from './certificates.ts'

/** What somebody wants a certificate to say, in DER where that is how they said it. */
export interface RequestedCertificate {
  readonly subjectDer: Buffer
  /** SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer
  /** A GeneralName each. */
  readonly namesDer: readonly Buffer[]
  /** Key usages under the names of certificates.k8s.io. Unknown ones count for nothing. */
  readonly usages: readonly string[]
  /** How long it is good, from now on where that is short, else from its beginning on. */
  readonly validityMs: number
}

/** A clock of somebody else may be behind ours: as kube-controller-manager has it. */
const backdateMs = 300_000

/** From so long on a certificate is good for no longer than was asked for, what is before now included (upstream's signing policy). */
const longMinMs = 8 * 3_600_000

/** A certificate for a key that stays with whoever has it, in PEM. It ends with its issuer at the latest. */
export function issueRequestedCertificate(
  environment: Environment,
  ca: KeyPair,
  requested: RequestedCertificate,
): string {
  const issuer = new X509Certificate(ca.certificatePem)
  const { usages, namesDer, validityMs } = requested
  const leftMs = validityMs < longMinMs ? validityMs : validityMs - backdateMs
  const bits = usages.flatMap((usage) => keyUsageBits[usage] ?? [])
  const purposes = usages.flatMap((usage) => extendedKeyUsages[usage] ?? [])
  return signCertificate(environment, {
    subject: requested.subjectDer,
    publicKey: createPublicKey({ key: requested.publicKeyDer, format: 'der', type: 'spki' }),
    issuer: subjectOf(issuer),
    issuerKey: createPrivateKey(ca.keyPem),
    backdateMs,
    validityMs: Math.min(leftMs, Date.parse(issuer.validTo) - environment.clock.now()),
    extensions: [
      ...(bits.length === 0 ? [] : [keyUsage(bits)]),
      ...(purposes.length === 0 ? [] : [extendedKeyUsage(purposes)]),
      basicConstraintsOfLeaf,
      authorityKeyIdentifier(issuer),
      ...(namesDer.length === 0 ? [] : [subjectAlternativeNames(namesDer)]),
    ],
  })
}

/** When a certificate in PEM ends; undefined where it is none that can be read. */
export function certificateEnd(pem: string): Time | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo)
  } catch {
    return undefined
  }
}

/** The names and addresses that a certificate in PEM is good for. */
export function certificateHosts(pem: string): readonly string[] {
  const names = new X509Certificate(pem).subjectAltName?.split(', ') ?? []
  return names.map((name) => shortened(name.replace(/^(DNS|IP Address):/, '')))
}

/** Certificates are read with addresses of IPv6 in full: `0:0:0:0:0:0:0:1` is `::1`. */
const shortened = (host: string): string => (isIPv6(host) ? new URL(`https://[${host}]`).hostname.slice(1, -1) : host)

/** Which bits of the key usage say so (RFC 5280, 4.2.1.3). */
const keyUsageBits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
}

/** Object identifiers of the extended key usage. */
const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
}
