import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto'
import { bitStringOf, type DerValue, malformed, objectIdentifierOf, partsOf, readDer, textOf } from './der.ts'

/** A PKCS #10 certificate request (RFC 2986): who wants a certificate, under which names, and for which key. */
export interface CertificateRequest {
  readonly subject: CertificateSubject
  /** The subject as it was written. */
  readonly subjectDer: Buffer
  /** The public key as SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer
  readonly names: AlternativeNames
  /** Each alternative name that may go into a certificate, as it was written: a GeneralName. */
  readonly namesDer: readonly Buffer[]
}

export type CertificateSubject = Readonly<Record<Exclude<SubjectPart, SingleSubjectPart>, readonly string[]>> &
  Readonly<Record<SingleSubjectPart, string>>

export interface AlternativeNames {
  readonly dnsNames: readonly string[]
  readonly emailAddresses: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly uris: readonly string[]
}

/**
 * The request in the first PEM block of `pem`. Throws an error with Go's text where it is no request, or not signed with
 * the key that it is for.
 */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const [, type, base64 = ''] = /-----BEGIN ([^-\n]*)-----\s([^-]*)-----END \1-----/.exec(pem) ?? []
  if (type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST')
  const [information, algorithm, signature] = partsOf(readDer(Buffer.from(base64, 'base64')))
  if (information === undefined || algorithm === undefined || signature === undefined) throw malformed()
  const [version, subject, publicKey, ...attributes] = partsOf(information)
  if (version === undefined || subject === undefined || publicKey === undefined) throw malformed()
  checkSignature(information.encoded, publicKey.encoded, partsOf(algorithm), bitStringOf(signature))
  const generalNames = attributes.flatMap(generalNamesOf)
  return {
    subject: subjectOf(subject),
    subjectDer: subject.encoded,
    publicKeyDer: publicKey.encoded,
    names: {
      dnsNames: generalNames.filter(({ tag }) => tag === nameTags.dns).map(asciiOf),
      emailAddresses: generalNames.filter(({ tag }) => tag === nameTags.email).map(asciiOf),
      ipAddresses: generalNames.filter(({ tag }) => tag === nameTags.ip).map(addressOf),
      uris: generalNames.filter(({ tag }) => tag === nameTags.uri).map(asciiOf),
    },
    namesDer: generalNames.map(({ encoded }) => encoded),
  }
}

/** Attributes of names by object identifier (RFC 5280, appendix A). */
const subjectParts = {
  '2.5.4.3': 'commonName',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'country',
  '2.5.4.7': 'locality',
  '2.5.4.8': 'province',
  '2.5.4.9': 'streetAddress',
  '2.5.4.10': 'organization',
  '2.5.4.11': 'organizationalUnit',
  '2.5.4.17': 'postalCode',
} as const
type SubjectPart = (typeof subjectParts)[keyof typeof subjectParts]
type SingleSubjectPart = 'commonName' | 'serialNumber'

function subjectOf(name: DerValue): CertificateSubject {
  const values = new Map<string, string[]>()
  for (const attribute of partsOf(name).flatMap(partsOf)) {
    const [type, value] = partsOf(attribute)
    if (type === undefined || value === undefined) throw malformed()
    const part = (subjectParts as Readonly<Record<string, SubjectPart>>)[objectIdentifierOf(type)]
    if (part !== undefined) values.set(part, [...(values.get(part) ?? []), textOf(value)])
  }
  const all = (part: SubjectPart): readonly string[] => values.get(part) ?? []
  return {
    // As Go: of several the last counts.
    commonName: all('commonName').at(-1) ?? '',
    serialNumber: all('serialNumber').at(-1) ?? '',
    country: all('country'),
    locality: all('locality'),
    province: all('province'),
    streetAddress: all('streetAddress'),
    organization: all('organization'),
    organizationalUnit: all('organizationalUnit'),
    postalCode: all('postalCode'),
  }
}

const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const
const knownNameTags: readonly number[] = Object.values(nameTags)

const extensionRequest = '1.2.840.113549.1.9.14'
const subjectAlternativeName = '2.5.29.17'

/** The alternative names that the attributes of a request ask for; other types of them are left out, as by Go. */
function generalNamesOf(attributes: DerValue): readonly DerValue[] {
  return partsOf(attributes).flatMap((attribute) => {
    const [type, values] = partsOf(attribute)
    if (type === undefined || values === undefined || objectIdentifierOf(type) !== extensionRequest) return []
    return partsOf(values)
      .flatMap(partsOf)
      .flatMap((extension) => {
        const [id, ...rest] = partsOf(extension)
        const value = rest.at(-1)
        if (id === undefined || value === undefined) throw malformed()
        if (objectIdentifierOf(id) !== subjectAlternativeName) return []
        return partsOf(readDer(value.content)).filter(({ tag }) => knownNameTags.includes(tag))
      })
  })
}

const asciiOf = ({ content }: DerValue): string => content.toString('latin1')

function addressOf({ content }: DerValue): string {
  if (content.length === 4) return content.join('.')
  if (content.length !== 16) throw malformed()
  const groups = Array.from({ length: 8 }, (_, index) => content.readUInt16BE(index * 2).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

const hashes: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  // Of RSA-PSS, whose parameters name the hash.
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
}
const rsaPss = '1.2.840.113549.1.1.10'
const ed25519 = '1.3.101.112'

function checkSignature(
  signed: Buffer,
  publicKeyDer: Buffer,
  [algorithm, parameters]: readonly DerValue[],
  signature: Buffer,
): void {
  if (algorithm === undefined) throw malformed()
  const id = objectIdentifierOf(algorithm)
  const hash = hashes[id === rsaPss && parameters !== undefined ? hashOfPss(parameters) : id]
  if (hash === undefined && id !== ed25519) {
    throw new Error('x509: cannot verify signature: algorithm unimplemented')
  }
  const key: VerifyKeyObjectInput = {
    key: publicKeyOf(publicKeyDer),
    ...(id === rsaPss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {}),
  }
  if (verify(hash, signed, key, signature)) return
  const names: Readonly<Record<string, string>> = {
    ec: 'x509: ECDSA verification failure',
    ed25519: 'x509: Ed25519 verification failure',
  }
  throw new Error(names[key.key.asymmetricKeyType ?? ''] ?? 'crypto/rsa: verification error')
}

function publicKeyOf(publicKeyDer: Buffer) {
  try {
    return createPublicKey({ key: publicKeyDer, format: 'der', type: 'spki' })
  } catch {
    throw new Error('x509: unsupported public key')
  }
}

/** `[0] { algorithm }` of the parameters. */
function hashOfPss(parameters: DerValue): string {
  const [hash] = partsOf(parameters)
  const [algorithm] = hash === undefined ? [] : partsOf(hash)
  const [id] = algorithm === undefined ? [] : partsOf(algorithm)
  return id === undefined ? '' : objectIdentifierOf(id)
}
