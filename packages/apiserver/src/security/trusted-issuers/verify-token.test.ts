import { createLocalJWKSet, type JWK } from 'jose'
import { expect, it } from 'vitest'
import { createTestSigner, type TestSigner } from './testing/test-issuer.ts'
import { claimedIssuer, type SigningAlgorithm, verifyToken } from './verify-token.ts'

const url = 'https://issuer.example.com'
const nowMs = 1_800_000_000_000
const now = nowMs / 1000
const claims = { iss: url, aud: 'coracle', sub: 'jane', exp: now + 60 }

const a = await createTestSigner('a')
const b = await createTestSigner('b')

const setOf = (...keys: readonly JWK[]) => ({ keyFor: createLocalJWKSet({ keys: [...keys] }), fetchedMs: 0 })

/** Keys of which those in `later` are there only when somebody asks again. */
const keysOf = (first: readonly JWK[], later: readonly JWK[] = []) => {
  const known = setOf(...first)
  return { current: async () => known, after: async () => (later.length === 0 ? known : setOf(...first, ...later)) }
}

const verified = async (signer: TestSigner, payload: object, keys = keysOf([a.jwk])) =>
  verifyToken(await signer.sign(payload), { url, audiences: ['coracle', 'other'] }, keys, nowMs)

it('gives the claims of a token that an issuer has signed, and its end', async () => {
  expect(await verified(a, claims)).toEqual({ claims, notAfterMs: nowMs + 60_000 })
})

it.each([
  ['one of several audiences', { aud: ['x', 'other'] }],
  ['a beginning that is only a little ahead', { nbf: now + 300 }],
  ['a beginning that is past', { nbf: now - 1 }],
])('takes %s', async (_what, more) => {
  expect(await verified(a, { ...claims, ...more })).toMatchObject({ notAfterMs: nowMs + 60_000 })
})

it.each<[string, object, string]>([
  ['another issuer', { iss: 'https://other' }, `issued by a different provider, expected "${url}"`],
  ['no issuer', { iss: undefined }, `issued by a different provider, expected "${url}"`],
  ['another audience', { aud: ['x'] }, 'expected audience in ["coracle","other"] got ["x"]'],
  ['no audience', { aud: undefined }, 'expected audience in ["coracle","other"] got []'],
  ['a token without an end', { exp: undefined }, 'it does not say when it ends'],
  ['a token that has ended', { exp: now }, 'token is expired (Token Expiry: 2027-01-15T08:00:00Z)'],
  [
    'a token that does not hold yet',
    { nbf: now + 301 },
    'current time is before the nbf (not before) time: 2027-01-15T08:05:01Z',
  ],
])('refuses %s', async (_what, more, why) => {
  expect(await verified(a, { ...claims, ...more })).toBe(why)
})

it('refuses what another key has signed', async () => {
  const stranger = await createTestSigner('a')
  expect(await verified(stranger, claims)).toMatch(/^failed to verify signature/)
  expect(await verified(b, claims)).toMatch(/^failed to verify signature/)
})

it('asks again for a key that it does not know', async () => {
  expect(await verified(b, claims, keysOf([a.jwk], [b.jwk]))).toMatchObject({ claims })
})

it('tries each key that it may be where a token names none', async () => {
  const [first, second] = [await createTestSigner(''), await createTestSigner('')]
  const keys = keysOf([first.jwk, second.jwk])
  for (const signer of [first, second]) expect(await verified(signer, claims, keys)).toMatchObject({ claims })
  expect(await verified(await createTestSigner(''), claims, keys)).toMatch(/^failed to verify signature/)
})

it.each(['RS256', 'PS512', 'ES384'])('takes signatures by %s', async (algorithm) => {
  const signer = await createTestSigner('r', algorithm)
  expect(await verified(signer, claims, keysOf([signer.jwk]))).toMatchObject({ claims })
})

it('takes no signature that whoever can check it could have made, and none at all', async () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const options = { url, audiences: ['coracle'] }
  for (const alg of ['none', 'HS256']) {
    const token = `${part({ alg, kid: 'a' })}.${part(claims)}.${alg === 'none' ? '' : 'AAAA'}`
    expect(await verifyToken(token, options, keysOf([a.jwk]), nowMs)).toEqual(expect.any(String))
  }
})

it('takes only signatures by the algorithms that are allowed', async () => {
  const token = await a.sign(claims)
  const by = (...algorithms: readonly SigningAlgorithm[]) =>
    verifyToken(token, { url, audiences: ['coracle'] }, keysOf([a.jwk]), nowMs, algorithms)
  expect(await by('RS256', 'ES256')).toMatchObject({ claims })
  expect(await by('RS256')).toEqual(expect.any(String))
})

it('says why there are no keys', async () => {
  const keys = { current: () => Promise.reject(new Error('no route')), after: () => expect.unreachable() }
  expect(await verified(a, claims, keys)).toBe('no route')
})

it('tells who says to have issued a token', async () => {
  expect(claimedIssuer(await a.sign(claims))).toBe(url)
  expect(claimedIssuer(await a.sign({ iss: 'accounts.google.com' }))).toBe('https://accounts.google.com')
  for (const text of ['', 'a', 'a.b', 'a.b.c', 'a.b.c.d', `a.${Buffer.from('[]').toString('base64url')}.c`])
    expect(claimedIssuer(text)).toBeUndefined()
})
