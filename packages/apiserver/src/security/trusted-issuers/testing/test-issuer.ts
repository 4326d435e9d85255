import { createServer } from 'node:https'
import { realEnvironment } from '@coracle/environment'
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose'
import { listenForTest } from '../../../testing/listen-for-test.ts'
import { createPki, type Pki } from '../../certificates.ts'

/** Signs tokens. */
export interface TestSigner {
  readonly jwk: JWK
  sign(claims: object): Promise<string>
}

/** A key of an issuer, by default on P-256; tokens name it unless `id` is empty. */
export async function createTestSigner(id: string, algorithm = 'ES256'): Promise<TestSigner> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const named = id === '' ? {} : { kid: id }
  return {
    jwk: { ...(await exportJWK(publicKey)), alg: algorithm, use: 'sig', ...named },
    sign: (claims) =>
      new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: algorithm, ...named })
        .sign(privateKey),
  }
}

/** An issuer on this machine, over TLS. */
export interface TestIssuer {
  readonly url: string
  /** PEM. */
  readonly certificateAuthority: string
  /** The paths that were asked for, in order. */
  readonly paths: readonly string[]
}

/** Serves the OpenID configuration of an issuer with these keys until the test ends. `answers` are texts at other paths, or in place of those. */
export async function startTestIssuer(
  keys: readonly JWK[],
  answers: Readonly<Record<string, string | { readonly status: number; readonly location?: string }>> = {},
  pki: Pick<Pki, 'ca' | 'serving'> = createPki(realEnvironment()),
): Promise<TestIssuer> {
  const paths: string[] = []
  const server = createServer({ key: pki.serving.keyPem, cert: pki.serving.certificatePem }, (request, response) => {
    const path = request.url ?? ''
    paths.push(path)
    const answer = answers[path] ?? usual()[path] ?? { status: 404 }
    if (typeof answer === 'string') response.end(answer)
    else response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end()
  })
  const port = await listenForTest(server)
  const url = `https://127.0.0.1:${port}`
  const usual = (): Readonly<Record<string, string>> => ({
    '/.well-known/openid-configuration': JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }),
    '/keys': JSON.stringify({ keys }),
  })
  return { url, certificateAuthority: pki.ca.certificatePem, paths }
}
