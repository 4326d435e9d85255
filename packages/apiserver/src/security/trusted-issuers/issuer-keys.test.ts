import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { IssuerKeys, keysFreshMs, refetchMs } from './issuer-keys.ts'
import { createTestSigner } from './testing/test-issuer.ts'

const url = 'https://issuer.example.com'

/** The keys of an issuer whose answers the test gives: what `answer` returns, or throws. */
function keysOf(answer: (url: string) => unknown, more: object = {}) {
  const { clock } = virtualEnvironment()
  const asked: string[] = []
  const failures: string[] = []
  const get = async (from: string): Promise<unknown> => {
    asked.push(from)
    return answer(from)
  }
  const issuer = { url, audiences: [], rules: {} as never, ...more }
  const keys = new IssuerKeys(issuer, clock, get, { failed: (error) => failures.push(error.message) })
  return { keys, clock, asked, failures }
}

const { jwk } = await createTestSigner('a')
const serving = (from: string): unknown =>
  from.endsWith('/keys') ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/keys` }

it('are where the configuration of the issuer says, and are fetched once', async () => {
  const { keys, asked } = keysOf(serving)
  const [first, second] = await Promise.all([keys.current(), keys.current()])
  expect(second).toBe(first)
  expect(await keys.current()).toBe(first)
  expect(asked).toEqual([`${url}/.well-known/openid-configuration`, `${url}/keys`])
})

it('are found by another URL where there is one', async () => {
  const { keys, asked } = keysOf(serving, { discoveryUrl: 'https://10.0.0.1/config' })
  await keys.current()
  expect(asked).toEqual(['https://10.0.0.1/config', `${url}/keys`])
})

it('a slash at the end of the URL is not doubled', async () => {
  const { keys, asked } = keysOf(
    (from) => (from.endsWith('/keys') ? serving(from) : { issuer: `${url}/`, jwks_uri: `${url}/keys` }),
    { url: `${url}/` },
  )
  await keys.current()
  expect(asked[0]).toBe(`${url}/.well-known/openid-configuration`)
})

it('are fetched again when they are old, while the old ones hold', async () => {
  const { keys, clock, asked } = keysOf(serving)
  const first = await keys.current()
  await clock.advance(keysFreshMs - 1)
  expect(await keys.current()).toBe(first)
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  expect(await keys.current()).toBe(first)
  await clock.advance(0)
  expect(asked).toHaveLength(4)
  expect(await keys.current()).not.toBe(first)
})

it('are fetched again for a key that is not among them, but not all the time', async () => {
  const { keys, clock, asked } = keysOf(serving)
  const first = await keys.current()
  expect(await keys.after(first)).toBe(first)
  await clock.advance(refetchMs)
  const second = await keys.after(first)
  expect(second).not.toBe(first)
  expect(await keys.after(first)).toBe(second)
  expect(asked).toHaveLength(4)
})

it('a failure is told of, and not repeated all the time', async () => {
  let isDown = true
  const { keys, clock, asked, failures } = keysOf((from) => {
    if (isDown) throw new Error('no route')
    return serving(from)
  })
  const why = `keys of ${url}: no route`
  await expect(keys.current()).rejects.toThrow(why)
  await expect(keys.current()).rejects.toThrow(why)
  expect([asked.length, failures]).toEqual([1, [why]])
  isDown = false
  await clock.advance(refetchMs - 1)
  await expect(keys.current()).rejects.toThrow(why)
  await clock.advance(1)
  expect(await keys.current()).toMatchObject({ fetchedMs: clock.now() })
})

it('old ones hold while new ones cannot be fetched', async () => {
  let isDown = false
  const { keys, clock, failures } = keysOf((from) => {
    if (isDown) throw new Error('no route')
    return serving(from)
  })
  const first = await keys.current()
  isDown = true
  await clock.advance(keysFreshMs)
  expect(await keys.current()).toBe(first)
  await clock.advance(0)
  expect(failures).toHaveLength(1)
  expect(await keys.current()).toBe(first)
})

it.each([
  [
    'another issuer',
    { issuer: 'https://other', jwks_uri: `${url}/keys` },
    `the issuer calls itself "https://other", and is configured as "${url}"`,
  ],
  ['no keys', { issuer: url }, 'its OpenID configuration has no jwks_uri'],
  ['nothing', null, `the issuer calls itself undefined, and is configured as "${url}"`],
])('are none where the configuration names %s', async (_what, configuration, why) => {
  const { keys } = keysOf((from) => (from.endsWith('/keys') ? serving(from) : configuration))
  await expect(keys.current()).rejects.toThrow(why)
})

it.each([[[]], [{ keys: 7 }], [{ keys: ['a'] }]])('are none where a set of keys is none: %j', async (set) => {
  const { keys } = keysOf((from) => (from.endsWith('/keys') ? set : serving(from)))
  await expect(keys.current()).rejects.toThrow('what should be a set of JSON Web Keys is none')
})
