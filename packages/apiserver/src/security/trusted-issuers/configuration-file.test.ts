import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createLogger,
  createMetricsRegistry,
  type LogLine,
  realClock,
  realEnvironment,
  silentLogger,
  virtualEnvironment,
} from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import type { VerifiedToken } from '../../service-account-tokens/service-account-tokens.ts'
import { createPki } from '../certificates.ts'
import { AuthenticationMetrics } from './authentication-metrics.ts'
import {
  followAuthenticationConfiguration,
  parseAuthenticationConfiguration,
  readAuthenticationConfiguration,
} from './configuration-file.ts'
import { createTestSigner, startTestIssuer } from './testing/test-issuer.ts'
import { TrustedIssuers } from './trusted-issuers.ts'

const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n'

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-issuers-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'authentication.yaml')
  writeFileSync(path, text)
  return path
}

const trusting = (url: string, certificateAuthority: string, more: object = {}): string => {
  const issuer = { url, certificateAuthority, audiences: ['coracle'] }
  const claimMappings = { username: { claim: 'sub', prefix: 'corp:' } }
  return `${head}jwt: ${JSON.stringify([{ issuer, claimMappings, ...more }])}\n`
}

/** Follows a file until the test ends. */
async function follow(path: string) {
  const hostClock = virtualEnvironment().clock
  const logged: LogLine[] = []
  const logger = createLogger((line) => void logged.push(line))
  const registry = createMetricsRegistry()
  const metrics = new AuthenticationMetrics(registry, hostClock, 'server')
  const options = { clock: realClock, hostClock, logger, metrics }
  const { issuers, close } = await followAuthenticationConfiguration(path, options)
  onTestFinished(close)
  /** The series of a metric of authentication, without its name. */
  const series = (name: string): readonly string[] => {
    const lines = registry.text().split('\n')
    return lines
      .filter((line) => line.startsWith(`apiserver_authentication_${name}{`))
      .map((line) => line.slice(line.indexOf('{')))
  }
  return { issuers, hostClock, logged, close, series }
}

it('says which file is wrong, and where', async () => {
  const path = fileWith(`${head}jwt: [{issuer: {audiences: [a]}}]\n`)
  await expect(readAuthenticationConfiguration(path)).rejects.toThrow(
    `${path}: jwt[0].issuer.url: Required value, jwt[0].claimMappings.username: Required value: claim or expression is required`,
  )
  await expect(readAuthenticationConfiguration(`${path}.none`)).rejects.toThrow(/\.none: ENOENT/)
  await expect(readAuthenticationConfiguration(fileWith(`# ${'x'.repeat(2 ** 20)}`))).rejects.toThrow(/1048576 at most/)
})

it.each([
  ['jwt: [', /^yaml: /],
  [`${head}jwt: []\njwt: []`, /key "jwt" already set/],
  [trusting('https://kubernetes.default.svc.cluster.local', ''), /must not overlap with disallowed issuers/],
  [trusting('https://a.b', 'x'), /data does not contain any valid RSA or ECDSA certificates/],
])('refuses %j', (text, problem) => {
  expect(() => parseAuthenticationConfiguration(text)).toThrow(problem)
})

it('takes several authorities', () => {
  const [first, second] = [0, 1].map(() => createPki(realEnvironment()).ca.certificatePem)
  expect(parseAuthenticationConfiguration(trusting('https://a.b', `${first}${second}`)).issuers).toHaveLength(1)
})

it('follows the file as it changes, and keeps what it was where it is wrong', async () => {
  const signer = await createTestSigner('a')
  const { url, certificateAuthority } = await startTestIssuer([signer.jwk])
  const path = fileWith(`${head}anonymous: {enabled: false}\n`)
  const { issuers, hostClock, logged, close } = await follow(path)
  const exp = hostClock.now() / 1000 + 3600
  const token = await signer.sign({ iss: url, aud: 'coracle', sub: 'jane', exp })
  expect(issuers.verify(token)).toBeUndefined()
  expect(issuers.takesAnonymous('/livez')).toBe(false)

  writeFileSync(path, trusting(url, certificateAuthority))
  await hostClock.advance('10s')
  const user = { name: 'corp:jane', groups: ['system:authenticated'] }
  const verified = await issuers.verify(token)
  expect(verified).toMatchObject({ user })
  expect(issuers.takesAnonymous('/livez')).toBe(true)

  writeFileSync(path, 'jwt: [')
  await hostClock.advance('10s')
  expect(await issuers.verify(token)).toMatchObject({ user })
  expect(verified).toSatisfy((before: VerifiedToken) => before.holds())
  expect(logged.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('its file is wrong') })

  writeFileSync(path, trusting(url, certificateAuthority, { claimValidationRules: [{ claim: 'hd' }] }))
  await hostClock.advance('10s')
  expect(await issuers.verify(token)).toBe('oidc: required claim hd not present in ID token')
  expect(verified).toSatisfy((before: VerifiedToken) => !before.holds())

  close()
  writeFileSync(path, trusting(url, certificateAuthority))
  await hostClock.advance('1m')
  expect(await issuers.verify(token)).toBe('oidc: required claim hd not present in ID token')
})

it('a token holds until its end, and is not asked about where others issued it', async () => {
  const signer = await createTestSigner('a')
  const { url, certificateAuthority, paths } = await startTestIssuer([signer.jwk])
  const { issuers, hostClock } = await follow(fileWith(trusting(url, certificateAuthority)))
  const tokenOf = (iss: string) =>
    signer.sign({ iss, aud: 'coracle', sub: 'jane', exp: Math.floor(hostClock.now() / 1000) + 60 })
  expect(issuers.verify(await tokenOf('https://other'))).toBeUndefined()
  expect(issuers.verify('secret')).toBeUndefined()
  expect(paths).toEqual([])
  const verified = (await issuers.verify(await tokenOf(url))) as VerifiedToken
  await hostClock.advance('58s')
  expect(verified.holds()).toBe(true)
  await hostClock.advance('2s')
  expect(verified.holds()).toBe(false)
})

it('tells in metrics what became of the file, of keys and of tokens', async () => {
  const hash = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
  const server = `apiserver_id_hash="${hash('server')}"`
  const signer = await createTestSigner('a')
  const { url, certificateAuthority } = await startTestIssuer([signer.jwk])
  const first = trusting(url, certificateAuthority)
  const path = fileWith(first)
  const { issuers, hostClock, series } = await follow(path)
  const exp = hostClock.now() / 1000 + 3600
  expect(series('config_controller_last_config_info')).toEqual([`{${server},hash="${hash(first)}"} 1`])
  expect(series('config_controller_automatic_reloads_total')).toEqual([])

  const issuer = `jwt_issuer_hash="${hash(url)}"`
  const seconds = () => hostClock.now() / 1000
  await issuers.verify(await signer.sign({ iss: url, aud: 'coracle', sub: 'jane', exp }))
  await issuers.verify(await signer.sign({ iss: url, aud: 'other', sub: 'jane', exp }))
  const counts = ['success', 'failure'].map((result) => `{result="${result}",${issuer}} 1`)
  expect(series('jwt_authenticator_latency_seconds_count')).toEqual(counts)
  expect(series('jwt_authenticator_jwks_fetch_last_timestamp_seconds')).toEqual([
    `{result="success",${issuer},${server}} ${seconds()}`,
  ])
  const keys = hash(JSON.stringify({ keys: [signer.jwk] }))
  expect(series('jwt_authenticator_jwks_fetch_last_key_set_info')).toEqual([`{${issuer},${server},hash="${keys}"} 1`])

  writeFileSync(path, 'jwt: [')
  await hostClock.advance('10s')
  const failed = `{status="failure",${server}} `
  expect(series('config_controller_automatic_reloads_total')).toEqual([`${failed}1`])
  expect(series('config_controller_automatic_reload_last_timestamp_seconds')).toEqual([`${failed}${seconds()}`])
  expect(series('config_controller_last_config_info')).toEqual([`{${server},hash="${hash(first)}"} 1`])

  const last = `${head}anonymous: {enabled: false}\n`
  writeFileSync(path, last)
  await hostClock.advance('10s')
  expect(series('config_controller_automatic_reloads_total')).toEqual([`${failed}1`, `{status="success",${server}} 1`])
  expect(series('config_controller_last_config_info')).toEqual([`{${server},hash="${hash(last)}"} 1`])
  expect(series('jwt_authenticator_jwks_fetch_last_key_set_info')).toEqual([])
  expect(series('jwt_authenticator_jwks_fetch_last_timestamp_seconds')).toEqual([])
})

it('is not read anew where the file says what it said', async () => {
  const signer = await createTestSigner('a')
  const { url, certificateAuthority } = await startTestIssuer([signer.jwk])
  const path = fileWith(trusting(url, certificateAuthority))
  const { issuers, hostClock, series } = await follow(path)
  const exp = hostClock.now() / 1000 + 3600
  const verified = await issuers.verify(await signer.sign({ iss: url, aud: 'coracle', sub: 'jane', exp }))
  utimesSync(path, 1, 1)
  await hostClock.advance('10s')
  expect(verified).toSatisfy((before: VerifiedToken) => before.holds())
  expect(series('config_controller_automatic_reloads_total')).toEqual([])
})

it('tells why tokens are refused, and not without end', async () => {
  const signer = await createTestSigner('a')
  const { url, certificateAuthority } = await startTestIssuer([signer.jwk])
  const { issuers, hostClock, logged } = await follow(fileWith(trusting(url, certificateAuthority)))
  const exp = hostClock.now() / 1000 + 60
  const refused = async (aud: string) => issuers.verify(await signer.sign({ iss: url, aud, sub: 'jane', exp }))
  for (const aud of ['other', 'x'.repeat(1000)]) await refused(aud)
  await hostClock.advance('1s')
  await refused('y'.repeat(1000))
  expect(logged).toMatchObject([
    {
      level: 'warn',
      message: `a token of ${url} was refused`,
      fields: { reason: 'expected audience in ["coracle"] got ["other"]' },
    },
    { fields: { reason: expect.stringMatching(/^.{256}$/) } },
  ])
})

it.each([
  ['', true, true],
  ['anonymous: {enabled: true}', true, true],
  ['anonymous: {enabled: false}', false, false],
  ['anonymous: {enabled: true, conditions: [{path: /livez}, {path: /readyz}]}', true, false],
])('requests without credentials: %s', (text, atLivez, elsewhere) => {
  const issuers = new TrustedIssuers(parseAuthenticationConfiguration(head + text), {
    clock: realClock,
    hostClock: realClock,
    logger: silentLogger,
  })
  expect([issuers.takesAnonymous('/livez'), issuers.takesAnonymous('/livez/ping')]).toEqual([atLivez, elsewhere])
})
