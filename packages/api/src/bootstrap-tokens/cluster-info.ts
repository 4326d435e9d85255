import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto'

/** Where everybody may read which cluster this is: its address and authority, as a kubeconfig, signed with each token. */
export const clusterInfo = {
  namespace: 'kube-public',
  name: 'cluster-info',
  /** The key of the kubeconfig. */
  key: 'kubeconfig',
  /** What keys of signatures begin with; the id of a token follows. */
  signaturePrefix: 'jws-kubeconfig-',
} as const

/** What is signed with a token: a JSON Web Signature without its content (RFC 7515, appendix F), HMAC of SHA-256. */
export function detachedSignature(content: string, id: string, secret: string): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: id }))
  const signature = createHmac('sha256', secret)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url')
  return `${header}..${signature}`
}

/** Whether a signature of `content` was made with this token. */
export function isSignedWith(content: string, id: string, secret: string, signature: string): boolean {
  const expected = Buffer.from(detachedSignature(content, id, secret))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** `sha256:` and the hash of a certificate's public key in hex, as kubeadm's --discovery-token-ca-cert-hash has it. */
export function publicKeyHash(certificatePem: string): string {
  const key = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}
