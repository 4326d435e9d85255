import type { IncomingMessage } from 'node:http'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { anonymous, type ConfiguredAuthentication, createAuthenticator, refusingAnonymous } from './authentication.ts'

const bot = { name: 'bot', groups: [] }
const authenticatedBot = { name: 'bot', groups: ['system:authenticated'] }

/** Requests of one connection, with these credentials. */
const requestOn = (socket: object, token?: string) =>
  ({ socket, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }) as unknown as IncomingMessage

const unauthorized = expect.objectContaining({ code: 401 })

it('takes a token to its end and not beyond, on a connection that stays', async () => {
  const { clock } = virtualEnvironment()
  const authenticate = createAuthenticator([{ token: 'secret', user: bot, notAfterMs: clock.now() + 60_000 }], clock)
  const request = requestOn({}, 'secret')
  expect(authenticate(request)).toEqual(authenticatedBot)
  await clock.advance('59s')
  expect(authenticate(request)).toEqual(authenticatedBot)
  await clock.advance('1s')
  expect(() => authenticate(request)).toThrow(unauthorized)
})

it('takes a token as long as what it is bound to is there', () => {
  const { clock } = virtualEnvironment()
  let isThere = true
  const authenticate = createAuthenticator([{ token: 'secret', user: bot, holds: () => isThere }], clock)
  const request = requestOn({}, 'secret')
  expect(authenticate(request)).toEqual(authenticatedBot)
  isThere = false
  expect(() => authenticate(request)).toThrow(unauthorized)
})

it('takes a certificate to its end, by the host’s clock', async () => {
  const { clock } = virtualEnvironment()
  const host = virtualEnvironment().clock
  const validTo = host.now() + 60_000
  const socket = {
    authorized: true,
    getPeerCertificate: () => ({ subject: { CN: 'bot' } }),
    getPeerX509Certificate: () => ({ validToDate: { getTime: () => validTo } }),
  }
  const authenticate = createAuthenticator([], clock, { hostClock: host })
  await clock.advance('1h')
  expect(authenticate(requestOn(socket))).toEqual(authenticatedBot)
  await host.advance('1m')
  expect(() => authenticate(requestOn(socket))).toThrow(unauthorized)
})

it('forgets a token with the request that shows none', () => {
  const { clock } = virtualEnvironment()
  const authenticate = createAuthenticator([{ token: 'secret', user: bot }], clock)
  const socket = {}
  expect(authenticate(requestOn(socket, 'secret'))).toEqual(authenticatedBot)
  expect(authenticate(requestOn(socket))).toBe(anonymous)
  expect(() => authenticate(requestOn(socket, 'wrong'))).toThrow(unauthorized)
})

it('takes nobody without a credential where that is refused', () => {
  const { clock } = virtualEnvironment()
  const authenticate = refusingAnonymous(createAuthenticator([{ token: 'secret', user: bot }], clock))
  expect(authenticate(requestOn({}, 'secret'))).toEqual(authenticatedBot)
  expect(() => authenticate(requestOn({}))).toThrow(unauthorized)
})

it('takes tokens of issuers who are trusted, as long as they hold, and asks nobody twice on a connection', async () => {
  const { clock } = virtualEnvironment()
  let holds = true
  const asked: string[] = []
  const configuredAuthentication: ConfiguredAuthentication = {
    verify(token) {
      asked.push(token)
      if (token === 'foreign') return undefined
      if (token === 'bad') return Promise.resolve('oidc: expired')
      return Promise.resolve({ user: authenticatedBot, audiences: [], holds: () => holds })
    },
    takesAnonymous: () => true,
  }
  const authenticate = createAuthenticator([{ token: 'secret', user: bot }], clock, { configuredAuthentication })
  const socket = {}
  expect(await authenticate(requestOn(socket, 'theirs'))).toEqual(authenticatedBot)
  expect(authenticate(requestOn(socket, 'theirs'))).toEqual(authenticatedBot)
  expect(authenticate(requestOn({}, 'secret'))).toEqual(authenticatedBot)
  await expect(authenticate(requestOn({}, 'bad'))).rejects.toThrow(unauthorized)
  expect(() => authenticate(requestOn({}, 'foreign'))).toThrow(unauthorized)
  expect(asked).toEqual(['theirs', 'bad', 'foreign'])
  holds = false
  await expect(authenticate(requestOn(socket, 'theirs'))).rejects.toThrow(unauthorized)
})

/** What somebody answers who is asked about the token `theirs`. */
const askedAbout = (verify: () => Promise<string | { readonly holds: () => boolean }>): ConfiguredAuthentication => ({
  verify: () =>
    verify().then((outcome) =>
      typeof outcome === 'string' ? outcome : { user: authenticatedBot, audiences: [], ...outcome },
    ),
  takesAnonymous: () => true,
})

it('asks again, on a connection that stays, about a token that was refused', async () => {
  const { clock } = virtualEnvironment()
  const outcomes = ['oidc: its keys cannot be fetched', { holds: () => true }]
  const configuredAuthentication = askedAbout(async () => outcomes.shift() ?? 'asked too often')
  const authenticate = createAuthenticator([], clock, { configuredAuthentication })
  const request = requestOn({}, 'theirs')
  await expect(authenticate(request)).rejects.toThrow(unauthorized)
  expect(await authenticate(request)).toEqual(authenticatedBot)
  expect(authenticate(request)).toEqual(authenticatedBot)
})

it('asks again, on a connection that stays, about a token that was found good under another configuration', async () => {
  const { clock } = virtualEnvironment()
  let configuration = 'old'
  const configuredAuthentication = askedAbout(async () => {
    const verifiedBy = configuration
    return { holds: () => configuration === verifiedBy }
  })
  const authenticate = createAuthenticator([], clock, { configuredAuthentication })
  const request = requestOn({}, 'theirs')
  expect(await authenticate(request)).toEqual(authenticatedBot)
  configuration = 'new'
  expect(await authenticate(request)).toEqual(authenticatedBot)
})

it('answers requests that came with the same token while somebody was asked about it', async () => {
  const { clock } = virtualEnvironment()
  const answer = Promise.withResolvers<{ readonly holds: () => boolean }>()
  const authenticate = createAuthenticator([], clock, { configuredAuthentication: askedAbout(() => answer.promise) })
  const socket = {}
  const users = [authenticate(requestOn(socket, 'theirs')), authenticate(requestOn(socket, 'theirs'))]
  answer.resolve({ holds: () => true })
  expect(await Promise.all(users)).toEqual([authenticatedBot, authenticatedBot])
})

it('asks again after the question itself has failed', async () => {
  const { clock } = virtualEnvironment()
  const outcomes = [Promise.reject(new Error('no key')), Promise.resolve({ holds: () => true })]
  const configuredAuthentication = askedAbout(() => outcomes.shift() ?? Promise.resolve('asked too often'))
  const authenticate = createAuthenticator([], clock, { configuredAuthentication })
  const request = requestOn({}, 'theirs')
  await expect(authenticate(request)).rejects.toThrow('no key')
  expect(await authenticate(request)).toEqual(authenticatedBot)
})

it('takes requests without credentials only where they are taken', () => {
  const { clock } = virtualEnvironment()
  const configuredAuthentication: ConfiguredAuthentication = {
    verify: () => undefined,
    takesAnonymous: (path) => path === '/livez',
  }
  const authenticate = createAuthenticator([{ token: 'secret', user: bot }], clock, { configuredAuthentication })
  const requestFor = (url: string, token?: string) => Object.assign(requestOn({}, token), { url })
  for (const url of ['/livez', '/livez?verbose']) expect(authenticate(requestFor(url))).toBe(anonymous)
  for (const url of ['/version', '/livez/ping', '/api?x=/livez'])
    expect(() => authenticate(requestFor(url))).toThrow(unauthorized)
  expect(authenticate(requestFor('/version', 'secret'))).toEqual(authenticatedBot)
})
