import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  createTestSigner,
  startTestIssuer,
} from '../packages/apiserver/src/security/trusted-issuers/testing/test-issuer.ts'
import { Api } from './support/api.ts'
import { Kubectl, rows } from './support/kubectl.ts'
import { Program, runCoracle } from './support/program.ts'

let program: Program
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '1'] })
  kubectl = await Kubectl.inNewNamespace(program, 'rights')
})
afterAll(() => program[Symbol.asyncDispose]())

const scheduler = ['--as', 'system:kube-scheduler']

it('auth whoami tells who asks, and who somebody is taken for', async () => {
  const own = rows(await kubectl.ok(['auth', 'whoami']))
  expect(own).toContainEqual(['Username', 'kubernetes-admin'])
  const other = rows(await kubectl.ok(['auth', 'whoami', '--as', 'jane', '--as-group', 'ops', '--as-uid', '7']))
  expect(other).toEqual([
    ['ATTRIBUTE', 'VALUE'],
    ['Username', 'jane'],
    ['UID', '7'],
    ['Groups', '[ops system:authenticated]'],
  ])
})

it.each([
  [['list', 'pods'], 'yes'],
  [['create', 'pods', '--subresource', 'binding'], 'yes'],
  [['create', 'deployments.apps'], 'no'],
  [['get', '/healthz'], 'yes'],
  [['*', '*'], 'no'],
] as const)('auth can-i %j', async (asked, answer) => {
  expect((await kubectl.ok(['auth', 'can-i', ...asked])).trim()).toBe('yes')
  const { stdout } = await kubectl.run(['auth', 'can-i', ...asked, ...scheduler])
  expect(stdout.trim().split('\n')[0]).toBe(answer)
})

it('auth can-i --list shows what is granted', async () => {
  const own = rows(await kubectl.ok(['auth', 'can-i', '--list']))
  expect(own).toContainEqual(['*.*', '[]', '[]', '[*]'])
  const listed = rows(await kubectl.ok(['auth', 'can-i', '--list', ...scheduler]))
  expect(listed).toContainEqual(['pods/binding', '[]', '[]', '[create]'])
  expect(listed).toContainEqual(['selfsubjectreviews.authentication.k8s.io', '[]', '[]', '[create]'])
})

it('a Secret that asks for it keeps a token of an account, until the account is gone', async () => {
  await kubectl.ok(['create', 'serviceaccount', 'robot'])
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
  }
  await kubectl.ok(['create', '-f', '-'], { input: JSON.stringify(secret) })
  await kubectl.ok(['wait', 'secret/robot-token', '--for=jsonpath={.data.token}', '--timeout=50s'])
  const described = await kubectl.ok(['describe', 'secret', 'robot-token'])
  const token = /^token: +(\S+)$/m.exec(described)?.[1] ?? ''
  expect(described).toMatch(/^ca\.crt: +\d+ bytes\nnamespace: +6 bytes$/m)
  const own = rows(await kubectl.ok(['auth', 'whoami', '--token', token]))
  expect(own).toContainEqual(['Username', 'system:serviceaccount:rights:robot'])
  await kubectl.ok(['delete', 'serviceaccount', 'robot'])
  await kubectl.ok(['wait', 'secret/robot-token', '--for=delete', '--timeout=50s'])
})

it('create token gives what makes one a service account', async () => {
  const token = (await kubectl.ok(['create', 'token', 'default'])).trim()
  const own = rows(await kubectl.ok(['auth', 'whoami', '--token', token]))
  expect(own).toContainEqual(['Username', 'system:serviceaccount:rights:default'])
  expect(await kubectl.ok(['get', '--raw', '/openid/v1/jwks'])).toContain('"ES256"')
})

it('create -f asks about others', async () => {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'system:kube-scheduler',
      resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'rights' },
    },
  }
  const answer = await kubectl.ok(['create', '-f', '-', '-o', 'jsonpath={.status.allowed}'], {
    input: JSON.stringify(review),
  })
  expect(answer).toBe('true')
})

it('roles and bindings decide what a service account may do, and who may give that away', async () => {
  await kubectl.ok(['create', 'serviceaccount', 'reader'])
  await kubectl.ok(['create', 'role', 'pod-reader', '--verb=get,list', '--resource=pods,pods/log'])
  const as = ['--token', (await kubectl.ok(['create', 'token', 'reader'])).trim()]
  const before = await kubectl.run(['get', 'pods', ...as])
  expect(before.stderr).toContain(
    'User "system:serviceaccount:rights:reader" cannot list resource "pods" in API group "" in the namespace "rights"',
  )
  await kubectl.ok(['create', 'rolebinding', 'readers', '--role=pod-reader', '--serviceaccount=rights:reader'])
  await kubectl.ok(['get', 'pods', ...as])
  expect((await kubectl.run(['get', 'pods', '-n', 'default', ...as])).stderr).toContain('(Forbidden)')
  expect((await kubectl.run(['delete', 'pod', 'any', ...as])).stderr).toContain('cannot delete')

  await kubectl.ok(['create', 'rolebinding', 'admins', '--clusterrole=admin', '--user=jane'])
  const given = await kubectl.run(['create', 'role', 'all', '--verb=*', '--resource=nodes', '--as=jane'])
  expect(given.stderr).toContain(
    'user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["*"]}',
  )
  await kubectl.ok(['create', 'role', 'some', '--verb=get', '--resource=configmaps', '--as=jane'])
  await kubectl.ok(['delete', 'rolebinding', 'readers', '--as=jane'])
  expect((await kubectl.run(['get', 'pods', ...as])).stderr).toContain('(Forbidden)')
})

it('people sign in with tokens of another issuer, whom a file names', async () => {
  const signer = await createTestSigner('key-1')
  const { url, certificateAuthority } = await startTestIssuer([signer.jwk])
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url, certificateAuthority, audiences: ['coracle'] },
        claimMappings: {
          username: { claim: 'email', prefix: '' },
          groups: { claim: 'groups', prefix: 'corp:' },
          uid: { claim: 'sub' },
        },
        userValidationRules: [{ expression: "!user.username.startsWith('system:')" }],
      },
    ],
    anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
  }
  const directory = await mkdtemp(join(tmpdir(), 'coracle-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'authentication.json')
  await writeFile(file, JSON.stringify(configuration))
  await using signedIn = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--nodes', '0', '--authentication-config', file],
  })
  const admin = await Kubectl.in(signedIn)
  const tokenOf = (claims: object) =>
    signer.sign({ iss: url, aud: 'coracle', exp: 4_000_000_000, sub: '17', ...claims })
  const jane = await tokenOf({ email: 'jane@example.com', groups: ['dev'] })

  const who = rows(await admin.ok(['auth', 'whoami', '--token', jane]))
  expect(who.slice(1)).toEqual([
    ['Username', 'jane@example.com'],
    ['UID', '17'],
    ['Groups', '[corp:dev system:authenticated]'],
  ])
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: jane } }
  const reviewed = await admin.ok(['create', '-f', '-', '-o', 'jsonpath={.status.user.username}'], {
    input: JSON.stringify(review),
  })
  expect(reviewed).toBe('jane@example.com')
  await admin.ok(['create', 'rolebinding', 'devs', '--clusterrole=edit', '--group=corp:dev'])
  await admin.ok(['create', 'configmap', 'hers', '--token', jane])

  const codeFor = async (path: string, token?: string): Promise<number> => {
    const api = await Api.of(signedIn, token === undefined ? {} : { token })
    const { code } = await api.call(path)
    api.close()
    return code
  }
  const configMaps = '/api/v1/namespaces/default/configmaps'
  expect(await codeFor(configMaps, jane)).toBe(200)
  for (const claims of [{ email: 'system:admin' }, { email: 'jane@example.com', aud: 'other' }, { email: 'j', exp: 1 }])
    expect(await codeFor(configMaps, await tokenOf(claims))).toBe(401)
  const stranger = await createTestSigner('key-1')
  const foreign = await stranger.sign({ iss: url, aud: 'coracle', exp: 4_000_000_000, email: 'eve' })
  expect(await codeFor(configMaps, foreign)).toBe(401)
  expect([await codeFor('/livez'), await codeFor('/version')]).toEqual([200, 401])

  const authorities = join(directory, 'issuer.crt')
  await writeFile(authorities, certificateAuthority)
  const issuer = ['--oidc-issuer-url', url, '--oidc-client-id', 'coracle', '--oidc-ca-file', authorities]
  const claims = ['--oidc-username-claim', 'email', '--oidc-groups-claim', 'groups', '--oidc-signing-algs', 'ES256']
  await using byFlags = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--nodes', '0', ...issuer, ...claims],
  })
  const shown = rows(await (await Kubectl.in(byFlags)).ok(['auth', 'whoami', '--token', jane]))
  expect(shown.slice(1)).toEqual([
    ['Username', 'jane@example.com'],
    ['Groups', '[dev system:authenticated]'],
  ])

  const metrics = await admin.ok(['get', '--raw', '/metrics'])
  for (const series of [
    'jwt_authenticator_latency_seconds_count{result="success",',
    'config_controller_last_config_info{',
  ])
    expect(metrics).toContain(`\napiserver_authentication_${series}`)

  await writeFile(file, '{')
  const broken = await runCoracle(['up', '--memory', '--authentication-config', file])
  expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining(`--authentication-config: ${file}: yaml: `) })
})
