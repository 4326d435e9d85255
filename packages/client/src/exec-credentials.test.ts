import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatTime } from '@coracle/api'
import { VirtualClock } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, connectionOf, parseKubeconfig } from './kubeconfig.ts'

const api = 'client.authentication.k8s.io/v1'

let directory: string
let clock: VirtualClock

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugin-'))
  clock = new VirtualClock()
})

afterEach(() => rm(directory, { recursive: true }))

/** The connection of a user whose plugin is this shell script. */
async function connect(script: string, exec = '', cluster = ''): Promise<Connection> {
  const plugin = join(directory, 'plugin')
  await writeFile(plugin, `#!/bin/sh\n${script}\n`)
  await chmod(plugin, 0o755)
  const stanza = exec === '' ? `apiVersion: ${api}, interactiveMode: Never` : exec
  const text = `
current-context: one
contexts: [{name: one, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: 'https://h'${cluster}}}]
users: [{name: u, user: {exec: {command: ./plugin, ${stanza}}}}]
`
  return connectionOf(await parseKubeconfig(text, join(directory, 'config')), { clock })
}

const print = (status: object, apiVersion = api) =>
  `echo '${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}'`

const tokenOf = ({ token }: Connection) => (typeof token === 'function' ? token() : token)

describe('a credential plugin', () => {
  it('gives a token', async () => {
    expect(await tokenOf(await connect(print({ token: 'secret' })))).toBe('secret')
  })

  it('need not say that what it gives is a credential', async () => {
    expect(await tokenOf(await connect(`echo '{"apiVersion":"${api}","status":{"token":"secret"}}'`))).toBe('secret')
  })

  it('is not run for who has other credentials', async () => {
    const plugin = `exec: {command: ./nowhere, apiVersion: ${api}, interactiveMode: Never}`
    const connectAs = async (user: string, choice: object = {}) => {
      const text = `{current-context: o, contexts: [{name: o, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: x}}], users: [{name: u, user: {${user}}}]}`
      return connectionOf(await parseKubeconfig(text, join(directory, 'config')), { clock, ...choice })
    }
    const pair = 'client-certificate-data: Q0VSVA==, client-key-data: S0VZ'
    expect(await connectAs(`${pair}, ${plugin}`)).toMatchObject({ cert: 'CERT', key: 'KEY' })
    expect(await connectAs(`token: t, ${plugin}`)).toMatchObject({ token: 't' })
    expect(await connectAs(`username: me, ${plugin}`)).toMatchObject({ basic: { username: 'me' } })
    expect(await connectAs(plugin, { withoutPlugin: true })).toEqual({ server: 'x', namespace: 'default' })
    await expect(connectAs(plugin)).rejects.toThrow('nowhere not found')
  })

  it('cannot ask where the command reads standard input', async () => {
    const plugin = `exec: {command: ./nowhere, apiVersion: ${api}, interactiveMode: Always}`
    const text = `{current-context: o, contexts: [{name: o, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: x}}], users: [{name: u, user: {${plugin}}}]}`
    const config = await parseKubeconfig(text, join(directory, 'config'))
    await expect(connectionOf(config, { clock, isInputTaken: true })).rejects.toThrow(
      'standard input is unavailable: used by stdin resource manifest reader',
    )
  })

  it('gives a certificate with its key', async () => {
    const connection = await connect(print({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }))
    expect(connection).toMatchObject({ server: 'https://h', cert: 'CERT', key: 'KEY', namespace: 'default' })
  })

  it('gives another certificate when the one before has ended', async () => {
    const end = formatTime(clock.now() + 60_000)
    const count = `echo run >> ${directory}/runs`
    const connection = await connect(
      `${count}; n=$(wc -l < ${directory}/runs); echo '{"apiVersion":"${api}","status":{"expirationTimestamp":"${end}","clientCertificateData":"CERT'$n'","clientKeyData":"KEY'$n'"}}'`,
    )
    expect(await connection.tlsNow?.()).toEqual({ cert: 'CERT1', key: 'KEY1' })
    await clock.advance('2m')
    expect(await connection.tlsNow?.()).toEqual({ cert: 'CERT2', key: 'KEY2' })
  })

  it('is asked again when what it gave has ended, and not before', async () => {
    const end = formatTime(clock.now() + 60_000)
    const count = `echo run >> ${directory}/runs`
    const script = `${count}; echo '{"apiVersion":"${api}","kind":"ExecCredential","status":{"token":"t'$(wc -l < ${directory}/runs)'","expirationTimestamp":"${end}"}}'`
    const connection = await connect(script)
    expect(await Promise.all([tokenOf(connection), tokenOf(connection)])).toEqual(['t1', 't1'])
    await clock.advance('2m')
    expect(await tokenOf(connection)).toBe('t2')
  })

  it('is asked again when the server does not take what it gave, once for all who were refused', async () => {
    const count = `echo run >> ${directory}/runs`
    const script = `${count}; echo '{"apiVersion":"${api}","kind":"ExecCredential","status":{"token":"t'$(wc -l < ${directory}/runs)'"}}'`
    const connection = await connect(script)
    expect(await tokenOf(connection)).toBe('t1')
    connection.onUnauthorized?.('t1')
    connection.onUnauthorized?.('t1')
    expect(await Promise.all([tokenOf(connection), tokenOf(connection)])).toEqual(['t2', 't2'])
    // The answer to a request that was made with the one before comes late.
    connection.onUnauthorized?.('t1')
    expect(await tokenOf(connection)).toBe('t2')
  })

  it('gets its arguments, its variables, and what it wants to know', async () => {
    const script = `printf '%s|%s|%s' "$1" "$WHO" "$KUBERNETES_EXEC_INFO" > ${directory}/seen; ${print({ token: 't' })}`
    await connect(
      script,
      `apiVersion: ${api}, interactiveMode: IfAvailable, args: [login], env: [{name: WHO, value: me}], provideClusterInfo: true`,
      ', certificate-authority-data: Q0E=, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]',
    )
    const [argument, variable, info = ''] = (await readFile(join(directory, 'seen'), 'utf8')).split('|')
    expect([argument, variable]).toEqual(['login', 'me'])
    expect(JSON.parse(info)).toEqual({
      apiVersion: api,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: { server: 'https://h', 'certificate-authority-data': 'Q0E=', config: { audience: 'a' } },
      },
    })
  })
})

describe('a credential plugin that wants to know the cluster', () => {
  it('is told its authority, where that is in a file, too', async () => {
    await writeFile(join(directory, 'ca.pem'), 'CA')
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > ${directory}/seen; ${print({ token: 't' })}`
    const exec = `apiVersion: ${api}, interactiveMode: Never, provideClusterInfo: true`
    await connect(script, exec, ', certificate-authority: ca.pem')
    const { spec } = JSON.parse(await readFile(join(directory, 'seen'), 'utf8'))
    expect(spec.cluster).toEqual({ server: 'https://h', 'certificate-authority-data': 'Q0E=' })
  })
})

describe('of a credential plugin it is said', () => {
  it.each<[string, string, string, string]>([
    ['that it fails', 'exit 3', '', 'plugin failed with exit code 3'],
    [
      'that it prints something else',
      'echo hello',
      '',
      "printed no JSON: couldn't get version/kind; json parse error: ",
    ],
    ['that it prints another object', `echo '{"kind":"Status"}'`, '', 'printed no ExecCredential'],
    ['that it prints too much', 'yes 2>/dev/null', '', 'printed more than'],
    [
      'that it speaks another version',
      print({ token: 't' }, 'client.authentication.k8s.io/v1beta1'),
      '',
      `is configured to use API version ${api}, and returned version client.authentication.k8s.io/v1beta1`,
    ],
    ['that it gives nothing', print({}), '', "didn't return a token or cert/key pair"],
    [
      'that it gives a certificate alone',
      print({ clientCertificateData: 'C' }),
      '',
      'only certificate or key, not both',
    ],
    ['that its time is none', print({ token: 't', expirationTimestamp: 'soon' }), '', 'is no time: "soon"'],
    ['that its version is unknown', '', 'apiVersion: v9, interactiveMode: Never', 'invalid apiVersion "v9"'],
    ['that its version is missing', '', 'args: []', 'apiVersion must be specified'],
    [
      'that it must say whether it asks',
      '',
      `apiVersion: ${api}`,
      'interactiveMode must be specified for u to use exec authentication plugin',
    ],
    [
      'that it asks in an unknown way',
      '',
      `apiVersion: ${api}, interactiveMode: Maybe`,
      'invalid interactiveMode for u: "Maybe"',
    ],
    [
      'that its variables have no names',
      '',
      `apiVersion: ${api}, interactiveMode: Never, env: [{value: a}]`,
      'env variable name must be specified for u to use exec authentication plugin',
    ],
    [
      'all that is missing',
      '',
      'args: []',
      'apiVersion must be specified for u to use exec authentication plugin; interactiveMode must be specified for u',
    ],
    [
      'that it cannot ask where there is no terminal',
      '',
      `apiVersion: ${api}, interactiveMode: Always`,
      'exec plugin cannot support interactive mode: standard input is not a terminal',
    ],
  ])('%s', async (_, script, exec, message) => {
    await expect(connect(script, exec)).rejects.toThrow(message)
  })

  it('that it is not there, with advice', async () => {
    const exec = `command: no-such-plugin, apiVersion: ${api}, interactiveMode: Never, installHint: get it from us`
    const text = `{current-context: o, contexts: [{name: o, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: x}}], users: [{name: u, user: {exec: {${exec}}}}]}`
    const connection = connectionOf(await parseKubeconfig(text, '/nowhere/config'), { clock })
    await expect(connection).rejects.toThrow('executable no-such-plugin not found\n\nget it from us')
  })
})
