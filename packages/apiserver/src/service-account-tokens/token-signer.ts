import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { LoadOnce } from '@coracle/environment'

/** The algorithm of keys on P-256. */
const algorithm = 'ES256'

/** A public key as a JSON Web Key (RFC 7517). */
export type PublicJwk = Readonly<Record<string, unknown>>

interface Keys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** Tells keys apart: the digest of the public key, as upstream makes it. */
  readonly id: string
}

/** Signs what a token says, and checks signatures. The key, and what signs with it, is loaded with the first use. */
export class TokenSigner {
  readonly #keys: LoadOnce<Keys>

  /** `loadKey` gives the private key as PEM. */
  constructor(loadKey: () => Promise<string>) {
    this.#keys = new LoadOnce(async () => keysOf(await loadKey()))
  }

  async sign(payload: Readonly<Record<string, unknown>>): Promise<string> {
    const { privateKey, id } = await this.#keys.get()
    const { CompactSign } = await import('jose')
    const header = { alg: algorithm, kid: id }
    return new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader(header).sign(privateKey)
  }

  /** What a token says that was signed with our key; undefined of any other text. */
  async verify(token: string): Promise<unknown> {
    const { publicKey } = await this.#keys.get()
    const { compactVerify } = await import('jose')
    try {
      const { payload } = await compactVerify(token, publicKey, { algorithms: [algorithm] })
      return JSON.parse(Buffer.from(payload).toString('utf8'))
    } catch {
      return undefined
    }
  }

  /** The keys by which others may check tokens. */
  async publicKeys(): Promise<readonly PublicJwk[]> {
    const { publicKey, id } = await this.#keys.get()
    return [{ use: 'sig', ...publicKey.export({ format: 'jwk' }), kid: id, alg: algorithm }]
  }
}

function keysOf(pem: string): Keys {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  const der = publicKey.export({ type: 'spki', format: 'der' })
  return { privateKey, publicKey, id: createHash('sha256').update(der).digest('base64url') }
}
