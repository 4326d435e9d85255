import { expect, it } from 'vitest'
import { type ClaimedUser, userOfClaims } from './claims.ts'
import { compileAuthenticationConfiguration } from './compile-configuration.ts'
import type { JwtAuthenticator } from './configuration.ts'

const claims = {
  sub: 'u-17',
  email: 'jane@example.com',
  email_verified: true,
  groups: ['dev', 'ops'],
  role: 'lead',
  level: 3,
  none: null,
}

const bySub = { username: { claim: 'sub', prefix: 'corp:' } }

/** What the claims come to under these rules. */
function userOf(rules: Omit<JwtAuthenticator, 'issuer'>, more: object = {}): ClaimedUser | string {
  const issuer = { url: 'https://issuer.example.com', audiences: ['a'] }
  const configuration = { jwt: [{ issuer, claimMappings: bySub, ...rules }] }
  const options = { disallowedIssuers: [], certificateProblem: () => undefined }
  const { issuers, problems } = compileAuthenticationConfiguration(configuration, options)
  expect(problems).toEqual([])
  const [{ rules: compiled } = expect.unreachable()] = issuers
  return userOfClaims({ ...claims, ...more }, compiled)
}

const mappedBy = (claimMappings: JwtAuthenticator['claimMappings'], more?: object) => userOf({ claimMappings }, more)

it.each<[string, JwtAuthenticator['claimMappings'], ClaimedUser]>([
  ['a claim with a prefix', bySub, { name: 'corp:u-17', groups: [] }],
  ['verified mail', { username: { claim: 'email', prefix: '' } }, { name: 'jane@example.com', groups: [] }],
  ['an expression', { username: { expression: "claims.sub + '@corp'" } }, { name: 'u-17@corp', groups: [] }],
  [
    'a list of groups',
    { ...bySub, groups: { claim: 'groups', prefix: 'g:' } },
    { name: 'corp:u-17', groups: ['g:dev', 'g:ops'] },
  ],
  ['one group', { ...bySub, groups: { claim: 'role', prefix: '' } }, { name: 'corp:u-17', groups: ['lead'] }],
  [
    'groups that are not there',
    { ...bySub, groups: { claim: 'teams', prefix: '' } },
    { name: 'corp:u-17', groups: [] },
  ],
  ['groups that are null', { ...bySub, groups: { claim: 'none', prefix: '' } }, { name: 'corp:u-17', groups: [] }],
  [
    'groups of an expression',
    { ...bySub, groups: { expression: "claims.groups.map(g, g + '!') + [''] " } },
    { name: 'corp:u-17', groups: ['dev!', 'ops!'] },
  ],
  [
    'no groups of an expression',
    { ...bySub, groups: { expression: 'claims.none' } },
    { name: 'corp:u-17', groups: [] },
  ],
  ['a uid', { ...bySub, uid: { claim: 'sub' } }, { name: 'corp:u-17', groups: [], uid: 'u-17' }],
  [
    'a uid of an expression',
    { ...bySub, uid: { expression: 'string(claims.level)' } },
    { name: 'corp:u-17', groups: [], uid: '3' },
  ],
  [
    'what else is known',
    {
      ...bySub,
      extra: [
        { key: 'a.b/role', valueExpression: 'claims.role' },
        { key: 'a.b/groups', valueExpression: 'claims.groups' },
        { key: 'a.b/none', valueExpression: "''" },
      ],
    },
    { name: 'corp:u-17', groups: [], extra: { 'a.b/role': ['lead'], 'a.b/groups': ['dev', 'ops'] } },
  ],
])('takes %s from the claims', (_what, claimMappings, user) => {
  expect(mappedBy(claimMappings)).toEqual(user)
})

const byMail = { username: { claim: 'email', prefix: '' } }

it.each<[string, JwtAuthenticator['claimMappings'], object, string]>([
  ['no name', { username: { claim: 'name', prefix: 'p:' } }, {}, 'parse username claim "name": claim not present'],
  [
    'a name that is no text',
    { username: { claim: 'level', prefix: '' } },
    {},
    'parse username claim "level": must be a string',
  ],
  ['an empty name', { username: { claim: 'sub', prefix: 'p:' } }, { sub: '' }, 'the user name is empty'],
  ['an expression that names nobody', { username: { expression: "''" } }, {}, 'the user name is empty'],
  [
    'an expression of another type',
    { username: { expression: 'claims.level' } },
    {},
    'username claim expression must return a string',
  ],
  ['mail that is not verified', byMail, { email_verified: false }, 'email not verified'],
  ['mail that only looks verified', byMail, { email_verified: 'true' }, 'email not verified'],
  [
    'groups that are no texts',
    { ...bySub, groups: { claim: 'groups', prefix: '' } },
    { groups: [1] },
    'parse groups claim "groups": must be a string or a list of strings',
  ],
  [
    'groups of another type',
    { ...bySub, groups: { expression: 'claims.level' } },
    {},
    'groups claim expression: expression must return a string or a list of strings',
  ],
  ['a uid that is not there', { ...bySub, uid: { claim: 'id' } }, {}, 'parse uid claim "id": claim not present'],
  [
    'an expression that fails',
    { username: { expression: 'claims.nobody' } },
    {},
    'error evaluating username claim expression: no such key: nobody',
  ],
])('refuses %s', (_what, claimMappings, more, why) => {
  expect(mappedBy(claimMappings, more)).toBe(why)
})

it('takes mail where nothing is said of its being verified', () => {
  expect(mappedBy(byMail, { email_verified: undefined })).toEqual({ name: 'jane@example.com', groups: [] })
})

it.each<[string, JwtAuthenticator['claimMappings'], string]>([
  ['another claim', bySub, 'corp:u-17'],
  ['an expression', { username: { expression: "claims.sub + '@corp'" } }, 'u-17@corp'],
])('does not ask whether mail is verified where the name is %s', (_what, claimMappings, name) => {
  expect(mappedBy(claimMappings, { email_verified: false })).toEqual({ name, groups: [] })
})

it.each<[string, Omit<JwtAuthenticator, 'issuer'>, string]>([
  ['claims', { claimValidationRules: [{ expression: 'claims.nobody == 1' }] }, 'claim validation'],
  ['users', { userValidationRules: [{ expression: "user.extra['a.b/c'] == []" }] }, 'user validation'],
])('refuses where a rule about %s fails, and says which', (_what, rules, what) => {
  expect(userOf(rules)).toMatch(new RegExp(`^error evaluating ${what} expression: no such key: `))
})

it('shows rules about users all that is known of them', () => {
  const claimMappings = {
    ...bySub,
    groups: { claim: 'groups', prefix: 'g:' },
    uid: { claim: 'sub' },
    extra: [{ key: 'a.b/role', valueExpression: 'claims.role' }],
  }
  const expression =
    "user.username == 'corp:u-17' && user.uid == 'u-17' && user.groups == ['g:dev', 'g:ops'] && user.extra == {'a.b/role': ['lead']}"
  expect(userOf({ claimMappings, userValidationRules: [{ expression }] })).toMatchObject({ name: 'corp:u-17' })
})

it.each<[string, Omit<JwtAuthenticator, 'issuer'>, string | undefined]>([
  ['claims are as required', { claimValidationRules: [{ claim: 'role', requiredValue: 'lead' }] }, undefined],
  [
    'claims are others',
    { claimValidationRules: [{ claim: 'role', requiredValue: 'x' }] },
    'required claim role value does not match. Got = lead, want = x',
  ],
  [
    'claims are missing',
    { claimValidationRules: [{ claim: 'hd', requiredValue: 'x' }] },
    'required claim hd not present in ID token',
  ],
  [
    'claims are no texts',
    { claimValidationRules: [{ claim: 'level', requiredValue: '3' }] },
    'parse claim level: must be a string',
  ],
  ['expressions hold', { claimValidationRules: [{ expression: 'claims.level > 2' }] }, undefined],
  [
    'expressions do not hold',
    { claimValidationRules: [{ expression: 'claims.level > 3', message: 'level too low' }] },
    "validation expression 'claims.level > 3' failed: level too low",
  ],
  [
    'users are fine',
    {
      userValidationRules: [
        { expression: "user.username == 'corp:u-17' && user.uid == '' && user.groups == [] && user.extra == {}" },
      ],
    },
    undefined,
  ],
  [
    'users are reserved',
    { userValidationRules: [{ expression: "!user.username.startsWith('corp:')", message: 'reserved' }] },
    "validation expression '!user.username.startsWith('corp:')' failed: reserved",
  ],
])('where %s', (_when, rules, why) => {
  expect(userOf(rules)).toEqual(why ?? { name: 'corp:u-17', groups: [] })
})

it('bounds what an expression costs', () => {
  const many = Array.from({ length: 2000 }, (_, index) => String(index))
  const expression = 'claims.groups.all(a, claims.groups.all(b, a + b != claims.sub))'
  expect(userOf({ claimValidationRules: [{ expression }] }, { groups: many })).toMatch(/cost/)
})
