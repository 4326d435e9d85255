/** What is wrong with a certificate and its key, in the words of Go's crypto/tls. */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

/** Why the two, in base64 of PEM, make no pair; undefined for a pair. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const [certificatePem, keyPem] = [certificate, key].map((each) => Buffer.from(each, 'base64').toString('latin1'))
  const [certificates, keys] = [blocksOf(certificatePem), blocksOf(keyPem)]
  const first = certificates.find(({ type }) => type === 'CERTIFICATE')
  if (first === undefined) return noCertificate(certificates)
  const own = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))
  if (own === undefined) return noKey(keys)
  const publicKey = parsed(() => new X509Certificate(first.pem).publicKey)
  if (publicKey === undefined) return 'x509: malformed certificate'
  const privateKey = parsed(() => createPrivateKey(own.pem))
  if (privateKey === undefined) return 'tls: failed to parse private key'
  return mismatch(publicKey, privateKey)
}

interface PemBlock {
  readonly type: string
  readonly pem: string
}

function blocksOf(text = ''): readonly PemBlock[] {
  return [...text.matchAll(/-----BEGIN ([^\n-]+)-----\r?\n[^-]*-----END \1-----/g)].map(([pem, type = '']) => ({
    type,
    pem,
  }))
}

function noCertificate(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (blocks.length === 1 && blocks[0]?.type.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: ${typesOf(blocks)}`
}

function noKey(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input'
  if (blocks.length === 1 && blocks[0]?.type === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: ${typesOf(blocks)}`
}

const typesOf = (blocks: readonly PemBlock[]): string => `[${blocks.map(({ type }) => type).join(' ')}]`

function parsed(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function mismatch(publicKey: KeyObject, privateKey: KeyObject): string | undefined {
  if (publicKey.asymmetricKeyType !== privateKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type'
  }
  return publicKey.equals(createPublicKey(privateKey)) ? undefined : 'tls: private key does not match public key'
}
