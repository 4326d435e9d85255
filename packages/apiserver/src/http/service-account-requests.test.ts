import { createPublicKey, verify } from 'node:crypto'
import { virtualEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './testing/test-server.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

const environment = virtualEnvironment()
let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ environment })
})
afterAll(() => server.close())

/** A new account, and a token of it. */
async function tokenOf(name: string): Promise<string> {
  await server.call(accounts, { method: 'POST', body: { metadata: { name } } })
  const { code, json } = await server.call(`${accounts}/${name}/token`, { method: 'POST', body: {} })
  expect(code).toBe(201)
  return json.status.token
}

const ask = async (token: string) => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const { code, json } = await server.call(whoAmI, { method: 'POST', body, as: { token } })
  return code === 201 ? json.status.userInfo.username : code
}

describe('a request with a token of a service account', () => {
  it('is made by that account', async () => {
    const token = await tokenOf('robot')
    expect(await ask(token)).toBe('system:serviceaccount:default:robot')
    // Again on the same connection: what is known of the token is not asked for twice.
    expect(await ask(token)).toBe('system:serviceaccount:default:robot')
    expect(await ask(`${token}x`)).toBe(401)
  })

  it('is refused when the account is gone, on connections too that were there before', async () => {
    const token = await tokenOf('short')
    expect(await ask(token)).toBe('system:serviceaccount:default:short')
    await server.call(`${accounts}/short`, { method: 'DELETE' })
    expect(await ask(token)).toBe(401)
  })

  it('is refused when the token has ended', async () => {
    const token = await tokenOf('late')
    expect(await ask(token)).toBe('system:serviceaccount:default:late')
    await environment.clock.advance('1h1m')
    expect(await ask(token)).toBe(401)
  })

  it('is warned of, each time, where the token was made for the account by itself', async () => {
    const named = { metadata: { name: 'old' }, secrets: [{ name: 'old-token' }] }
    const { json: account } = await server.call(accounts, { method: 'POST', body: named })
    const subject = { namespace: 'default', account: account.metadata, secret: 'old-token' }
    const token = (await server.core.serviceAccountTokens?.issueForSecret(subject)) ?? ''
    const annotations = { 'kubernetes.io/service-account.name': 'old' }
    const type = 'kubernetes.io/service-account-token'
    const secret = { metadata: { name: 'old-token', annotations }, type, stringData: { token } }
    await server.call('/api/v1/namespaces/default/secrets', { method: 'POST', body: secret })
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    for (let time = 1; time <= 2; time += 1) {
      const { code, headers } = await server.call(whoAmI, { method: 'POST', body, as: { token } })
      expect([code, headers.warning]).toEqual([
        201,
        '299 - "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."',
      ])
    }
  })

  it('is not what it takes that is meant for others', async () => {
    await tokenOf('elsewhere')
    const body = { spec: { audiences: ['vault'] } }
    const { json } = await server.call(`${accounts}/elsewhere/token`, { method: 'POST', body })
    expect(await ask(json.status.token)).toBe(401)
  })
})

describe('what others check tokens by', () => {
  it('is told to service accounts, and not to strangers', async () => {
    const token = await tokenOf('reader')
    const { code, json, headers } = await server.call('/.well-known/openid-configuration', { as: { token } })
    expect({ code, json, type: headers['content-type'], kept: headers['cache-control'] }).toEqual({
      code: 200,
      kept: 'public, max-age=3600',
      type: 'application/json',
      json: {
        issuer: 'https://kubernetes.default.svc.cluster.local',
        jwks_uri: expect.stringMatching(/^https:.*\/openid\/v1\/jwks$/),
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      },
    })
    expect((await server.call('/openid/v1/jwks', { as: 'anonymous' })).code).toBe(403)
  })

  it('is the key that signs', async () => {
    const token = await tokenOf('signed')
    const { json, headers } = await server.call('/openid/v1/jwks', { as: { token } })
    expect(headers['content-type']).toBe('application/jwk-set+json')
    expect(headers['cache-control']).toBe('public, max-age=3600')
    const [jwk] = json.keys
    const [head = '', payload = '', signature = ''] = token.split('.')
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'ES256', kid: jwk.kid })
    expect(Object.keys(jwk)).not.toContain('d')
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const signed = Buffer.from(`${head}.${payload}`)
    const bytes = Buffer.from(signature, 'base64url')
    expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true)
  })

  it('is among the paths of the server', async () => {
    const { json } = await server.call('/')
    expect(json.paths).toEqual(expect.arrayContaining(['/.well-known/openid-configuration', '/openid/v1/jwks']))
  })
})
