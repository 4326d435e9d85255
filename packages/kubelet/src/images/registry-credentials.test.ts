import type { Secret } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { credentialsFor } from './registry-credentials.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

const secret = (auths: object): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'pull' },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) },
})

const found = (image: string, ...servers: readonly string[]) =>
  credentialsFor(image, [
    secret(Object.fromEntries(servers.map((server) => [server, { username: server, password: 'p' }]))),
  ]).map(({ credentials: { username } }) => username)

const credentialsIn = (from: Secret) => credentialsFor('a.example/x', [from]).map(({ credentials }) => credentials)

describe('the credentials for an image', () => {
  it.each([
    ['registry.example/web:1', 'registry.example', true],
    ['registry.example/web@sha256:1', 'https://registry.example/', true],
    ['registry.example:5000/web', 'registry.example:5000', true],
    ['registry.example:5000/web', 'registry.example', false],
    ['registry.example/web', 'registry.example:5000', false],
    ['a.registry.example/web', '*.registry.example', true],
    ['a.b.registry.example/web', '*.registry.example', false],
    ['registry.example/team/web', 'registry.example/team', true],
    ['registry.example/other/web', 'registry.example/team', false],
    ['registry.example/teams/web', 'registry.example/team/', false],
    ['registry.example/team/web', 'https://registry.example/v1/', true],
    ['registry.example/team/web', 'https://registry.example/v2/team', true],
    ['registry.example/other/web', 'https://registry.example/v2/team', false],
    ['nginx', 'https://index.docker.io/v1/', true],
    ['me/web:1', 'docker.io', true],
    ['registry.example/web', 'https://index.docker.io/v1/', false],
    ['localhost/web', 'localhost', true],
    ['registry.example/web', 're?istry.ex*', true],
    ['registry.example/web', '*r*y*.*', true],
    ['registry.example/web', '*r*x*.*', false],
    ['registry.example/web', 'regis.try+.example', false],
    [`${'a'.repeat(60)}c.example/web`, `${'a*'.repeat(20)}b.example`, false],
    [`${'a'.repeat(60)}b.example/web`, `${'a*'.repeat(20)}b.example`, true],
  ])('%s with %s: %s', (image, server, fits) => {
    expect(found(image, server)).toEqual(fits ? [server] : [])
  })

  it('are tried in order, the most specific first', () => {
    const servers = ['registry.example', 'registry.example/team/web', 'registry.example/team']
    expect(found('registry.example/team/web', ...servers)).toEqual([
      'registry.example/team/web',
      'registry.example/team',
      'registry.example',
    ])
  })

  it('may be a name and a password in one, in the older form of a secret too', () => {
    expect(credentialsIn(secret({ 'a.example': { auth: base64('me:pass:word') } }))).toEqual([
      { username: 'me', password: 'pass:word' },
    ])
    expect(credentialsIn(secret({ 'a.example': { auth: base64('me:new'), username: 'me', password: 'old' } }))).toEqual(
      [{ username: 'me', password: 'new' }],
    )
    const old: Secret = {
      ...secret({}),
      type: 'kubernetes.io/dockercfg',
      data: { '.dockercfg': base64('{"a.example":{"username":"me","password":"x"}}') },
    }
    expect(credentialsIn(old)).toEqual([{ username: 'me', password: 'x' }])
  })

  it('of a secret that is none are left out', () => {
    const broken: Secret = { ...secret({}), data: { '.dockerconfigjson': base64('{') } }
    const opaque: Secret = { ...secret({ 'a.example': { username: 'a', password: 'b' } }), type: 'Opaque' }
    const unnamed = secret({ 'b.example': { auth: base64('me') }, 'a.example': { username: 'a', password: 'b' } })
    expect(credentialsFor('a.example/x', [broken, opaque, unnamed])).toEqual([])
  })
})
