import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubernetesVersion } from '@coracle/api'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { connectionFor } from './connection.ts'
import { recordingHost, runCommand } from './testing/recording-host.ts'

let received: IncomingMessage[]
let answer: (response: ServerResponse) => void
let server: ReturnType<typeof createServer>
let url: string

beforeEach(async () => {
  received = []
  answer = (response) => response.end('{"kind":"Answer"}')
  server = createServer((request, response) => {
    received.push(request)
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const ask = (...flags: readonly string[]) => runCommand(['get', '--raw', '/readyz', '--server', url, ...flags])

describe('flags of every command', () => {
  it('say as whom a request is made', async () => {
    const flags = ['--as=jane', '--as-uid=7', '--as-group=dev', '--as-group=ops', '--as-user-extra=scope=a=b']
    await ask(...flags, '--username=root', '--password=pw')
    expect(received[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('root:pw').toString('base64')}`,
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': 'dev, ops',
      'impersonate-extra-scope': 'a=b',
    })
    expect(await ask('--as-group=dev')).toMatchObject({
      code: 1,
      stderr: 'error: requesting uid, groups or user-extra for  without impersonating a user\n',
    })
  })

  it('name files that are read again as those of the kubeconfig are, and go before these', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'flags-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text)
      return join(directory, name)
    }
    const ca = file('ca.pem', '-----BEGIN kubeconfig')
    const user = `{client-certificate: ${file('a.crt', 'A')}, client-key: ${file('a.key', 'A')}}`
    const kubeconfig = file(
      'config',
      `{current-context: one, contexts: [{name: one, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ${ca}}}], users: [{name: u, user: ${user}}]}`,
    )
    const pair = {
      clientCertificate: file('b.crt', '-----BEGIN b.crt'),
      clientKey: file('b.key', '-----BEGIN b.key'),
    }
    const connection = await connectionFor(recordingHost(), { kubeconfig, ...pair })
    expect(await connection.tlsNow?.()).toEqual({
      ca: '-----BEGIN kubeconfig',
      cert: '-----BEGIN b.crt',
      key: '-----BEGIN b.key',
    })
  })

  it('send nothing that is secret to an address without a scheme, which is one without TLS', async () => {
    const secrets = ['--token=secret', '--username=root', '--password=pw', '--insecure-skip-tls-verify']
    expect(await ask('--server', url.replace('http://', ''), '--as=jane', ...secrets)).toMatchObject({ code: 0 })
    expect(received[0]?.headers).toMatchObject({ 'impersonate-user': 'jane' })
    expect(received[0]?.headers.authorization).toBeUndefined()
  })

  it('give up a request after a time', async () => {
    answer = () => {}
    expect(await ask('--request-timeout=20ms')).toMatchObject({
      code: 1,
      stderr:
        'Unable to connect to the server: context deadline exceeded (Client.Timeout exceeded while awaiting headers)\n',
    })
    expect(await ask('--request-timeout=soon')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Invalid timeout value'),
    })
    answer = (response) => response.end()
    expect(await ask('--request-timeout=0')).toMatchObject({ code: 0 })
  })

  it('count warnings as failures', async () => {
    answer = (response) => response.setHeader('Warning', '299 - "old field"').end('ok')
    expect(await ask()).toMatchObject({ code: 0, stdout: 'ok', stderr: 'Warning: old field\n' })
    expect(await ask('--warnings-as-errors')).toMatchObject({
      code: 1,
      stdout: 'ok',
      stderr: 'Warning: old field\nerror: 1 warning received\n',
    })
  })

  it('refuse a server of another version', async () => {
    let gitVersion: string = kubernetesVersion
    answer = (response) => response.end(JSON.stringify({ gitVersion }))
    expect(await ask('--match-server-version')).toMatchObject({ code: 0 })
    gitVersion = 'v1.20.2'
    expect(await ask('--match-server-version')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: server version (v1.20.2) differs from client version (${kubernetesVersion})\n`,
    })
  })

  it('are accepted where they ask for what there is anyway', async () => {
    const flags = ['--cache-dir=/nowhere', '--disable-compression', '--log-flush-frequency=5s', '--vmodule=a=2']
    expect(await ask(...flags)).toMatchObject({ code: 0 })
  })
})

describe('create --dry-run=client', () => {
  const create = (line: string) =>
    runCommand(['create', ...line.split(' '), '--dry-run=client', '-o', 'name', '--server', url])

  it.each([
    ['secret generic s --from-literal=a=b', 'secret/s'],
    ['deployment d --image=x -n team', 'deployment.apps/d'],
    ['namespace n -n team', 'namespace/n'],
    ['clusterrole r --verb=get --non-resource-url=/healthz', 'clusterrole.rbac.authorization.k8s.io/r'],
    ['job j --image=x', 'job.batch/j'],
  ])('%s asks no server', async (line, name) => {
    expect(await create(line)).toEqual({ code: 0, stdout: `${name}\n`, stderr: '' })
    expect(received).toEqual([])
  })

  it.each(['role r --verb=get --resource=pods', 'job j --from=cronjob/c'])('%s has to', async (line) => {
    await create(line)
    expect(received).not.toEqual([])
  })
})

describe('-v tells of requests', () => {
  const time = String.raw`I\d{4} \d\d:\d\d:\d\d\.\d{6} `
  const told = async (level: number, ...flags: readonly string[]) => (await ask('-v', String(level), ...flags)).stderr

  it('nothing below 6', async () => {
    expect(await told(5)).toBe('')
  })

  it('what came of them at 6', async () => {
    expect(await told(6)).toMatch(
      new RegExp(`^${time}"Response" verb="GET" url="${url}/readyz" status="200 OK" milliseconds=\\d+\n$`),
    )
    expect(await ask('--v=6')).toMatchObject({ stderr: expect.stringContaining('"Response"') })
  })

  it('their headers at 7, and nothing secret', async () => {
    const text = await told(7, '--token=hidden')
    expect(text).toContain('"Request" verb="GET"')
    expect(text).toContain('\tauthorization: Bearer <masked>\n')
    expect(text).not.toContain('hidden')
  })

  it('their bodies at 8, shortened', async () => {
    const ofVersion = async (level: number) =>
      (await runCommand(['version', '--server', url, '-v', String(level)])).stderr
    expect(await ofVersion(8)).toContain(String.raw`"Response Body" body="{\"kind\":\"Answer\"}"`)
    answer = (response) => response.end('x'.repeat(2000))
    expect(await ofVersion(8)).toContain(`"Response Body" body="${'x'.repeat(1024)}" [truncated 976 chars]`)
    expect(await ofVersion(9)).toContain(`"Response Body" body="${'x'.repeat(2000)}"\n`)
  })

  it('no body of what is shown as it comes, at 8', async () => {
    const text = await told(8)
    expect(text).toContain('"Response" verb="GET"')
    expect(text).not.toContain('Body')
    expect(text).toContain('\taccept: application/json, */*\n')
  })

  it('how to send them with curl at 9', async () => {
    expect(await told(9, '--token=hidden')).toMatch(/curl -v -XGET .*-H "authorization: Bearer <masked>".* 'http:/)
  })
})
