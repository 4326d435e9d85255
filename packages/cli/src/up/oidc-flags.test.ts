import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { authenticationOf } from './authentication-flags.ts'
import { type OidcFlags, oidcAuthenticationOf } from './oidc-flags.ts'

const issuer: OidcFlags = { oidcIssuerUrl: 'https://issuer.example.com', oidcClientId: 'kubernetes' }
const jwtOf = (more: OidcFlags) =>
  JSON.parse(oidcAuthenticationOf({ ...issuer, ...more }, '.')?.configuration ?? '').jwt[0]

it('stand for nothing where there are none', async () => {
  expect(oidcAuthenticationOf({}, '.')).toBeUndefined()
})

it('stand for a configuration with one issuer', () => {
  expect(jwtOf({})).toEqual({
    issuer: { url: 'https://issuer.example.com', audiences: ['kubernetes'] },
    claimMappings: { username: { claim: 'sub', prefix: 'https://issuer.example.com#' } },
    claimValidationRules: [],
  })
  const algorithms = (oidcSigningAlgs?: readonly string[]) =>
    oidcAuthenticationOf({ ...issuer, ...(oidcSigningAlgs && { oidcSigningAlgs }) }, '.')?.signingAlgorithms
  expect([algorithms(), algorithms(['ES256', 'RS512'])]).toEqual([['RS256'], ['ES256', 'RS512']])
})

it.each<[string, OidcFlags, object]>([
  ['of the issuer', { oidcUsernameClaim: 'name' }, { claim: 'name', prefix: 'https://issuer.example.com#' }],
  ['for addresses of mail', { oidcUsernameClaim: 'email' }, { claim: 'email', prefix: '' }],
  ['that are said', { oidcUsernameClaim: 'email', oidcUsernamePrefix: 'corp:' }, { claim: 'email', prefix: 'corp:' }],
  ['where none is wanted', { oidcUsernamePrefix: '-' }, { claim: 'sub', prefix: '' }],
])('have prefixes of users as kube-apiserver: %s', (_which, flags, username) => {
  expect(jwtOf(flags).claimMappings).toEqual({ username })
})

it('say groups and claims that tokens must have', () => {
  expect(jwtOf({ oidcGroupsClaim: 'teams', oidcGroupsPrefix: 'oidc:' }).claimMappings.groups).toEqual({
    claim: 'teams',
    prefix: 'oidc:',
  })
  expect(jwtOf({ oidcGroupsClaim: 'teams' }).claimMappings.groups.prefix).toBe('')
  expect(jwtOf({ oidcRequiredClaim: ['hd=example.com', 'a=b=c'] }).claimValidationRules).toEqual([
    { claim: 'a', requiredValue: 'b=c' },
    { claim: 'hd', requiredValue: 'example.com' },
  ])
})

it.each<[OidcFlags, string]>([
  [{ oidcIssuerUrl: 'https://a.b' }, '--oidc-issuer-url and --oidc-client-id must be given together'],
  [{ oidcGroupsClaim: 'g' }, '--oidc-issuer-url and --oidc-client-id must be given together'],
  [{ ...issuer, oidcSigningAlgs: ['HS256'] }, '--oidc-signing-algs: HS256 is none of ES256, '],
  [{ ...issuer, oidcRequiredClaim: ['=x'] }, '--oidc-required-claim: "=x" is no claim=value'],
  [{ ...issuer, oidcCaFile: 'none.crt' }, '--oidc-ca-file: ENOENT'],
])('are refused where they make no sense: %j', (flags, problem) => {
  expect(() => oidcAuthenticationOf(flags, '/nowhere')).toThrow(problem)
})

it('are checked as the configuration they stand for, and go with none in a file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coracle-oidc-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'authentication.json'), '{}')
  const both = { ...issuer, authenticationConfig: 'authentication.json' }
  await expect(authenticationOf(both, directory)).rejects.toThrow(
    '--authentication-config and the --oidc-* flags exclude each other',
  )
  await expect(authenticationOf({ ...issuer, oidcIssuerUrl: 'http://plain' }, directory)).rejects.toThrow(
    /^--oidc-\*: jwt\[0\]\.issuer\.url: Invalid value: /,
  )
  expect(await authenticationOf(issuer, directory)).toEqual({ authentication: oidcAuthenticationOf(issuer, directory) })
})
