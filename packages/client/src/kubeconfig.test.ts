import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEnvironment, VirtualClock } from '@coracle/environment'
import { createAuthority, issueClientCertificate } from '@coracle/environment/certificates'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectionOf, inClusterConnection, loadKubeconfig, parseKubeconfig } from './kubeconfig.ts'

let directory: string
const clock = new VirtualClock()
const base64 = (text: string) => Buffer.from(text).toString('base64')

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
})

afterEach(() => rm(directory, { recursive: true }))

const write = (name: string, text: string) => writeFile(join(directory, name), text).then(() => join(directory, name))

const embedded = `
apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: {cluster: c, user: u, namespace: shop}
clusters:
- name: c
  cluster: {server: 'https://host:6443', certificate-authority-data: ${base64('CA')}, tls-server-name: kubernetes}
users:
- name: u
  user: {client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')}}
`

/** A kubeconfig with this cluster and this user. */
const config = (cluster: string, user: string) => `
current-context: one
contexts: [{name: one, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: ${cluster}}]
users: [{name: u, user: ${user}}]
`

const connect = async (text: string, context?: string) =>
  connectionOf(await parseKubeconfig(text, join(directory, 'config')), {
    clock,
    ...(context === undefined ? {} : { context }),
  })

describe('a kubeconfig', () => {
  it('gives the connection of its current context, certificates embedded', async () => {
    expect(await connect(embedded)).toEqual({
      server: 'https://host:6443',
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      serverName: 'kubernetes',
      namespace: 'shop',
    })
  })

  it('names files relative to itself', async () => {
    await write('ca.pem', 'FILE CA')
    const connection = await connect(config('{server: "https://h", certificate-authority: ca.pem}', '{token: t}'))
    expect(connection).toMatchObject({ server: 'https://h', ca: 'FILE CA', token: 't', namespace: 'default' })
  })

  it('takes certificates from files, and looks again after a minute', async () => {
    const environment = { ...realEnvironment(), clock }
    const ca = createAuthority(environment)
    const [first, second] = [1, 2].map(() => issueClientCertificate(environment, ca, { user: 'me', groups: [] }))
    if (first === undefined || second === undefined) throw new Error('there are two')
    await write('ca.pem', ca.certificatePem)
    await write('me.crt', first.certificatePem)
    await write('me.key', first.keyPem)
    const { tlsNow } = await connect(
      config(
        '{server: "https://h", certificate-authority: ca.pem}',
        '{client-certificate: me.crt, client-key: me.key}',
      ),
    )
    const parts = { ca: ca.certificatePem, cert: first.certificatePem, key: first.keyPem }
    await write('me.crt', second.certificatePem)
    expect(await tlsNow?.()).toEqual(parts)
    await clock.advance('1m')
    // Its key is not there yet.
    expect(await tlsNow?.()).toEqual(parts)
    await write('ca.pem', '')
    await write('me.key', second.keyPem)
    expect(await tlsNow?.()).toEqual(parts)
    await write('ca.pem', `${ca.certificatePem}# more\n`)
    expect(await tlsNow?.()).toEqual({
      ca: `${ca.certificatePem}# more\n`,
      cert: second.certificatePem,
      key: second.keyPem,
    })
  })

  it('gives what is embedded as it is, whatever files are named beside it', async () => {
    const user = `{client-certificate-data: ${base64('CERT')}, client-certificate: nowhere, client-key-data: ${base64('KEY')}}`
    const { tlsNow } = await connect(config('{server: "https://h"}', user))
    expect(tlsNow).toBeUndefined()
  })

  it('takes the token from a file, and looks again after a minute', async () => {
    const path = await write('token', 'first\n')
    const { token } = await connect(config('{server: "https://h"}', `{token: ignored, tokenFile: ${path}}`))
    if (typeof token !== 'function') throw new Error('the token is not read anew')
    expect(await token()).toBe('first')
    await write('token', 'second\n')
    expect(await token()).toBe('first')
    await clock.advance('1m')
    expect(await token()).toBe('second')
  })

  it('looks for another token in the file as soon as the server does not take the one it has', async () => {
    const path = await write('token', 'first')
    const { token, onUnauthorized } = await connect(config('{server: "https://h"}', `{tokenFile: ${path}}`))
    if (typeof token !== 'function') throw new Error('the token is not read anew')
    expect(await token()).toBe('first')
    await write('token', 'second')
    onUnauthorized?.('older')
    expect(await token()).toBe('first')
    onUnauthorized?.('first')
    expect(await token()).toBe('second')
  })

  it('goes on with the token it has while there is none in the file, and needs one at first', async () => {
    const path = await write('token', '\n')
    const { token } = await connect(config('{server: "https://h"}', `{tokenFile: ${path}}`))
    if (typeof token !== 'function') throw new Error('the token is not read anew')
    await expect(token()).rejects.toThrow(`read empty token from file "${path}"`)
    await write('token', 'first')
    expect(await token()).toBe('first')
    await write('token', '')
    await clock.advance('1m')
    expect(await token()).toBe('first')
    await rm(path)
    expect(await token()).toBe('first')
    await write('token', 'second')
    expect(await token()).toBe('second')
  })

  it('gives the connection of another cluster or user where one is chosen', async () => {
    const two = `${config('{server: "https://one"}', '{token: a}')}
clusters: [{name: c, cluster: {server: "https://one"}}, {name: d, cluster: {server: "https://two"}}]
users: [{name: u, user: {token: a}}, {name: v, user: {token: b}}]
`.replace(/clusters: .*\nusers: .*\n/, '')
    const parsed = await parseKubeconfig(two, join(directory, 'config'))
    expect(await connectionOf(parsed, { clock, cluster: 'd', user: 'v' })).toMatchObject({
      server: 'https://two',
      token: 'b',
    })
    await expect(connectionOf(parsed, { clock, cluster: 'x' })).rejects.toThrow('no server found for cluster "x"')
    await expect(connectionOf(parsed, { clock, user: 'x' })).rejects.toThrow('auth info "x" does not exist')
  })

  it('needs no address, cluster or context where the address is given, and runs no plugin where the token is', async () => {
    const chosen = { clock, server: 'https://other', token: 'mine' }
    const plugin = '{exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere, interactiveMode: Never}}'
    for (const text of [config('{}', plugin), 'clusters: []']) {
      const connection = await connectionOf(await parseKubeconfig(text, 'config'), chosen)
      expect(connection.server).toBe('https://other')
    }
    await expect(connect(config('{server: "https://h"}', plugin))).rejects.toThrow('/nowhere')
  })

  it('may do without checking certificates', async () => {
    const connection = await connect(config('{server: "https://h", insecure-skip-tls-verify: true}', '{}'))
    expect(connection).toEqual({ server: 'https://h', insecureSkipTlsVerify: true, namespace: 'default' })
  })

  it('of several files takes what comes first', async () => {
    const one = await write('one', 'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: ""}}]')
    const two = await write(
      'two',
      config('{server: "https://two"}', '{}').replace('current-context: one', 'current-context: b'),
    )
    const merged = await loadKubeconfig([one, two])
    expect(merged.currentContext).toBe('a')
    expect(await connectionOf(merged, { clock })).toMatchObject({ server: 'https://two' })
  })

  it('of several files needs only one, which may be empty', async () => {
    const empty = await write('empty', '')
    expect(await loadKubeconfig([join(directory, 'absent'), empty])).toMatchObject({ currentContext: undefined })
    await expect(loadKubeconfig([join(directory, 'absent'), await write('broken', 'a: [')])).rejects.toThrow()
    await expect(loadKubeconfig([join(directory, 'absent'), join(directory, 'gone')])).rejects.toThrow('cannot read')
  })

  it('may have a name and a password, after tokens', async () => {
    expect(await connect(config('{server: "https://h"}', '{username: a, password: b}'))).toMatchObject({
      basic: { username: 'a', password: 'b' },
    })
    const both = await connect(config('{server: "https://h"}', '{username: a, password: b, token: t}'))
    expect(both).toEqual({ server: 'https://h', token: 't', namespace: 'default' })
  })

  it('may ask to be taken for somebody else', async () => {
    const user = '{token: t, as: jane, as-uid: "7", as-groups: [dev, ops], as-user-extra: {scope: [a, b]}}'
    expect(await connect(config('{server: "https://h"}', user))).toMatchObject({
      impersonate: { user: 'jane', uid: '7', groups: ['dev', 'ops'], extra: { scope: ['a', 'b'] } },
    })
  })
})

describe('what a kubeconfig lacks is named', () => {
  it.each([
    ['no current context', 'contexts: []', 'the kubeconfig has no current-context, and no context is named'],
    [
      'no such context',
      `${embedded.replace('current-context: one', 'current-context: x')}`,
      'context was not found for specified context: x; the kubeconfig has "one"',
    ],
    [
      'no such cluster',
      'current-context: o\ncontexts: [{name: o, context: {cluster: c, user: u}}]',
      'names cluster "c", which the kubeconfig lacks',
    ],
    ['no such user', embedded.replace('user: u,', 'user: x,'), 'names user "x", which the kubeconfig lacks'],
    ['no server', config('{}', '{}'), 'cluster "c" of the kubeconfig has no server'],
    [
      'a key missing',
      config('{server: "https://h"}', '{client-certificate-data: QQ==}'),
      'user "u" has a client-certificate but no client-key',
    ],
    [
      'a missing file',
      config('{server: "https://h", certificate-authority: /nowhere/ca}', '{}'),
      'cannot read /nowhere/ca',
    ],
    [
      'an old plugin',
      config('{server: "https://h"}', '{auth-provider: {name: gcp}}'),
      'gets its credentials from an auth-provider',
    ],
    ['a nameless entry', 'users: [{user: {}}]', 'an entry of users has no name'],
    ['another document', '[]', 'is no kubeconfig'],
    ['broken YAML', 'a: [', 'is no YAML'],
    ['another version', 'apiVersion: v2\nkind: Config', 'no kind "Config" is registered for version "v2"'],
    ['another kind', 'apiVersion: v1\nkind: Secret', 'no kind "Secret" is registered for version "v1"'],
  ])('%s', async (_, text, message) => {
    await expect(connect(text)).rejects.toThrow(message)
  })

  it('a missing kubeconfig', async () => {
    await expect(loadKubeconfig([join(directory, 'absent')])).rejects.toThrow(
      `cannot read ${directory}/absent: no such file or directory`,
    )
  })
})

describe('in a pod', () => {
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = process.env

  afterEach(() => {
    setVariable('KUBERNETES_SERVICE_HOST', KUBERNETES_SERVICE_HOST)
    setVariable('KUBERNETES_SERVICE_PORT', KUBERNETES_SERVICE_PORT)
  })

  it('the service account connects', async () => {
    for (const [name, text] of [
      ['ca.crt', 'CA'],
      ['namespace', 'shop\n'],
      ['token', 'secret'],
    ] as const)
      await write(name, text)
    setVariable('KUBERNETES_SERVICE_HOST', 'fd00::1')
    setVariable('KUBERNETES_SERVICE_PORT', '443')
    const { token, onUnauthorized, ...rest } = await inClusterConnection(new VirtualClock(), directory)
    expect(rest).toEqual({
      server: 'https://[fd00::1]:443',
      ca: 'CA',
      namespace: 'shop',
      tlsNow: expect.any(Function),
    })
    expect(typeof token === 'function' && (await token())).toBe('secret')
    await write('token', 'renewed')
    onUnauthorized?.('secret')
    expect(typeof token === 'function' && (await token())).toBe('renewed')
  })

  it('is said not to be the case elsewhere', async () => {
    setVariable('KUBERNETES_SERVICE_HOST', undefined)
    await expect(inClusterConnection(clock, directory)).rejects.toThrow('this is no pod of a cluster')
  })
})

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}
