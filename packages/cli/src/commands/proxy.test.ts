import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server as HttpServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from '../program.ts'
import { type RecordingHost, recordingHost } from '../testing/recording-host.ts'

/** More than all buffers on the way hold. */
const floodBytes = 16_000_000

const { clock } = realEnvironment()

let directory: string
let api: HttpServer
let received: IncomingMessage[]
let url: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'proxy-'))
  received = []
  api = createServer((message, response) => {
    received.push(message)
    if (message.url === '/watch') {
      response.writeHead(200, { 'x-answer': 'yes' })
      response.write('first\n')
    } else message.pipe(response)
  })
  api.on('upgrade', (message, socket) => {
    received.push(message)
    if (message.url === '/busy') {
      socket.end('HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntry \r\n5\r\nlater\r\n0\r\n\r\n')
      return
    }
    if (message.url === '/flood') {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
      socket.end(Buffer.alloc(floodBytes))
      return
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
})

afterEach(async () => {
  api.closeAllConnections()
  api.close()
  await rm(directory, { recursive: true })
})

interface Running {
  readonly address: string
  readonly host: RecordingHost
  stop(): Promise<number>
}

/** A proxy that serves until it is stopped. */
async function proxy(...flags: readonly string[]): Promise<Running> {
  let started: (address: string) => void = () => {}
  const address = new Promise<string>((resolve) => {
    started = resolve
  })
  const host = recordingHost({
    workingDirectory: directory,
    onOutput: (text) => {
      const [, found] = /Starting to serve on (.*)\n/.exec(text) ?? []
      if (found !== undefined) started(found)
    },
  })
  // A socket has no port.
  const port = flags.some((flag) => flag.startsWith('--unix-socket=')) ? [] : ['--port=0']
  const ended = run(['proxy', '--server', url, '--token=secret', ...port, ...flags], host)
  const found = await Promise.race([
    address,
    ended.then((code) => Promise.reject(new Error(`${code}: ${host.written.stderr}`))),
  ])
  return {
    address: found,
    host,
    stop: () => {
      host.interrupt()
      return ended
    },
  }
}

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

async function ask(address: string, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const where = address.startsWith('/')
    ? { socketPath: address }
    : { host: '127.0.0.1', port: Number(address.split(':').at(-1)) }
  const call = request({ ...where, path, method, headers: { host: 'localhost', ...headers }, agent: false })
  call.end(body)
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  return answer
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return text
}

describe('proxy', () => {
  it('sends requests on with the credentials of the connection, until it is interrupted', async () => {
    const { address, stop } = await proxy()
    const headers = { authorization: 'Bearer mine', accept: 'application/yaml' }
    const answer = await ask(address, '/api/v1/pods?limit=1', { method: 'POST', body: 'hello', headers })
    expect([answer.statusCode, await textOf(answer)]).toEqual([200, 'hello'])
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/pods?limit=1',
      headers: { authorization: 'Bearer secret', accept: 'application/yaml' },
    })
    expect(await stop()).toBe(0)
    await expect(ask(address, '/')).rejects.toThrow('ECONNREFUSED')
  })

  it.each<[string, readonly string[], string]>([
    ['leaves out the path of the address of the server', [], '/version'],
    ['puts that path before each request where asked to', ['--append-server-path'], '/base/version'],
  ])('%s', async (_, flags, expected) => {
    const { address, stop } = await proxy('--server', `${url}/base/`, ...flags)
    expect((await ask(address, '/version')).statusCode).toBe(200)
    expect(received[0]?.url).toBe(expected)
    await stop()
  })

  it('probes connections to the server that say nothing, as often as it is told to', async () => {
    const probing = vi.spyOn(Socket.prototype, 'setKeepAlive')
    const { address, stop } = await proxy('--keepalive=90s')
    await ask(address, '/version')
    expect(probing.mock.calls).toContainEqual([true, 90_000])
    probing.mockRestore()
    await stop()
  })

  it('passes on what comes when it comes', async () => {
    const { address, stop } = await proxy()
    const answer = await ask(address, '/watch')
    expect(answer.headers['x-answer']).toBe('yes')
    expect(String((await once(answer, 'data'))[0])).toBe('first\n')
    answer.destroy()
    await stop()
  })

  it('passes on protocols that are none of its business', async () => {
    const { address, stop } = await proxy()
    const port = Number(address.split(':').at(-1))
    const call = request({
      port,
      path: '/stream',
      headers: { host: 'localhost', connection: 'Upgrade', upgrade: 'echo' },
    })
    call.end()
    const [answer, socket] = await once(call, 'upgrade')
    expect(answer.statusCode).toBe(101)
    socket.write('ping')
    expect(String((await once(socket, 'data'))[0])).toBe('ping')
    expect(received[0]?.headers).toMatchObject({ upgrade: 'echo', authorization: 'Bearer secret' })
    socket.destroy()
    await stop()
  })

  const upgrade = (address: string, path: string, headers: object = {}) =>
    request({
      port: Number(address.split(':').at(-1)),
      path,
      headers: { host: 'localhost', connection: 'Upgrade', upgrade: 'echo', ...headers },
      agent: false,
    })

  it('passes on to slow readers all that came before the other side ended', async () => {
    const { address, stop } = await proxy()
    const call = upgrade(address, '/flood')
    call.end()
    const [, socket, head] = (await once(call, 'upgrade')) as [IncomingMessage, Socket, Buffer]
    let bytes = head.length
    for await (const chunk of socket) {
      bytes += chunk.length
      for (let turn = 0; turn < 10; turn += 1) await new Promise<void>((resolve) => clock.defer(resolve))
    }
    expect(bytes).toBe(floodBytes)
    await stop()
  })

  it('passes on an answer in parts to who wanted another protocol', async () => {
    const { address, stop } = await proxy()
    const call = upgrade(address, '/busy')
    call.end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await textOf(answer)]).toEqual([503, 'try later'])
    await stop()
  })

  it('answers clients that offer HTTP/2 as it answers others', async () => {
    const { address, stop } = await proxy()
    const offer = {
      upgrade: 'h2c',
      connection: 'Upgrade, HTTP2-Settings',
      'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
    }
    const call = upgrade(address, '/api/v1/pods', { ...offer, 'content-length': 5 })
    call.end('hello')
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await textOf(answer)]).toEqual([200, 'hello'])
    expect(received[0]?.headers).not.toHaveProperty('upgrade')
    await stop()
  })

  it('goes on where a connection cannot be taken', async () => {
    const listens = vi.spyOn(Server.prototype, 'listen')
    const { address, stop } = await proxy()
    for (const server of new Set(listens.mock.contexts)) (server as Server).emit('error', new Error('accept EMFILE'))
    listens.mockRestore()
    expect((await ask(address, '/version')).statusCode).toBe(200)
    await stop()
  })

  it.each<[string, readonly string[], string, Asked, number]>([
    ['other hosts', [], '/', { headers: { host: 'evil.example' } }, 403],
    ['other hosts that are accepted', ['--accept-hosts=^good'], '/', { headers: { host: 'good.example:80' } }, 200],
    ['exec', [], '/api/v1/namespaces/a/pods/b/exec', { method: 'POST' }, 403],
    ['exec without a filter', ['--disable-filter'], '/api/v1/namespaces/a/pods/b/exec', {}, 200],
    ['methods that are rejected', ['--reject-methods=POST,PUT'], '/', { method: 'PUT' }, 403],
    ['paths that are not accepted', ['--accept-paths=^/api/'], '/version', {}, 403],
    ['paths beside the prefix', ['--api-prefix=/k8s'], '/version', {}, 404],
    ['paths under the prefix', ['--api-prefix=/k8s'], '/k8s/version', {}, 200],
    ['exec under the prefix', ['--api-prefix=/k8s'], '/k8s/api/v1/namespaces/a/pods/b/exec', { method: 'POST' }, 403],
    ['exec in escapes', [], '/api/v1/namespaces/a/pods/b/ex%65c', { method: 'POST' }, 403],
    ['escapes that are none', [], '/api/%zz', {}, 400],
  ])('judges %s', async (_, flags, path, asked, code) => {
    const { address, stop } = await proxy(...flags)
    expect((await ask(address, path, asked)).statusCode).toBe(code)
    expect(received.length).toBe(code === 200 ? 1 : 0)
    await stop()
  })

  it.each<[string, string]>([
    ['//k8s/healthz', '/k8s/healthz'],
    ['/k8s//api/v1/namespaces/a/pods/b/exec', '/k8s/api/v1/namespaces/a/pods/b/exec'],
    ['/k8s/a/../healthz?verbose=a&b', '/k8s/healthz?verbose=a&b'],
    ['/k8s/%2e%2e/healthz', '/healthz'],
    ['//k8s/%20a', '/k8s/%20a'],
    ['/k8s', '/k8s/'],
    ['/site', '/site/'],
  ])('redirects %s to %s', async (path, location) => {
    const { address, stop } = await proxy('--api-prefix=/k8s', '--www=site', '--www-prefix=/site/')
    const answer = await ask(address, path)
    expect([answer.statusCode, answer.headers.location]).toEqual([301, location])
    expect(await textOf(answer)).toBe(`<a href="${location.replace('&', '&#38;')}">Moved Permanently</a>.\n\n`)
    const written = await ask(address, path, { method: 'POST' })
    expect([written.statusCode, written.headers['content-type'], await textOf(written)]).toEqual([301, undefined, ''])
    expect(received).toEqual([])
    await stop()
  })

  it.each<[string, string, string, string]>([
    ['escapes as they came', '--api-prefix=/k8s', '/k8s/api/v1/a%2Fb?x=%2F', '/api/v1/a%2Fb?x=%2F'],
    ['a prefix like that of the API with the path', '--api-prefix=/api', '/api/v1/pods', '/api/v1/pods'],
  ])('sends %s', async (_, flag, path, expected) => {
    const { address, stop } = await proxy(flag)
    expect((await ask(address, path)).statusCode).toBe(200)
    expect(received[0]?.url).toBe(expected)
    await stop()
  })

  it('serves files whatever paths and hosts of the API are accepted', async () => {
    await mkdir(join(directory, 'site'))
    await writeFile(join(directory, 'site', 'a b'), 'a file')
    const { address, stop } = await proxy('--www=site', '--accept-paths=^/api/')
    const answer = await ask(address, '/static/a%20b')
    expect([answer.statusCode, await textOf(answer)]).toEqual([200, 'a file'])
    await stop()
  })

  it('serves the whole file system where that is asked for', async () => {
    await writeFile(join(directory, 'file'), 'a file')
    const { address, stop } = await proxy('--www=/')
    expect(await textOf(await ask(address, `/static${join(directory, 'file')}`))).toBe('a file')
    await stop()
  })

  it.runIf(process.platform === 'linux')('leaves no file open for callers that have gone', async () => {
    const file = join(directory, 'large')
    await writeFile(file, Buffer.alloc(16_000_000))
    const { address, stop } = await proxy('--www=.')
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === file
        } catch {
          return false
        }
      }).length
    const answer = await ask(address, '/static/large')
    expect(open()).toBe(1)
    answer.destroy()
    await expect.poll(open).toBe(0)
    await stop()
  })

  it('serves files beside the API, and none outside', async () => {
    await mkdir(join(directory, 'site'))
    await writeFile(join(directory, 'site', 'index.html'), '<p>')
    await mkdir(join(directory, 'site', 'a&b'))
    await writeFile(join(directory, 'site', 'a&b', 'one file'), '1')
    await writeFile(join(directory, 'hidden'), 'hidden')
    const { address, stop } = await proxy('--www=site', '--www-prefix=/site/')
    const page = await ask(address, '/site/')
    expect([page.headers['content-type'], await textOf(page)]).toEqual(['text/html; charset=utf-8', '<p>'])
    const list = await textOf(await ask(address, '/site/a&b/'))
    expect(list).toContain('<a href="./one%20file">one file</a>')
    expect((await ask(address, '/site/nothing')).statusCode).toBe(404)
    for (const path of ['/site/../hidden', '/site/%2e%2e/hidden', '/site/%2e%2e%2fhidden']) {
      const answer = await ask(address, path)
      expect([answer.statusCode, answer.headers.location]).toEqual([301, '/hidden'])
    }
    await stop()
  })

  it('may serve on a socket', async () => {
    const { address, stop } = await proxy('--unix-socket=api.sock')
    expect(address).toBe(join(directory, 'api.sock'))
    expect((await ask(address, '/version')).statusCode).toBe(200)
    await stop()
    await expect(proxy('--unix-socket=api.sock', '--port=0')).rejects.toThrow(
      'cannot set --unix-socket and --port at the same time',
    )
  })

  it('says what is wrong', async () => {
    await expect(proxy('--accept-hosts=(')).rejects.toThrow('--accept-hosts: "(" is no regular expression')
    const { address, stop } = await proxy()
    await expect(proxy(`--port=${address.split(':').at(-1)}`)).rejects.toThrow('bind: address already in use')
    api.closeAllConnections()
    api.close()
    const answer = await ask(address, '/')
    expect([answer.statusCode, await textOf(answer)]).toEqual([502, expect.stringContaining('ECONNREFUSED')])
    await stop()
  })
})
