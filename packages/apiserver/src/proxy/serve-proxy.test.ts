import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { connect as connectOverTls } from 'node:tls'
import { gunzipSync, gzipSync } from 'node:zlib'
import { endpoints, nodes, type Pod, pods, services } from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AdmissionPlugin } from '../admission/admission.ts'
import { apiServerUser } from '../api-server-user.ts'
import { adminToken, TestServer } from '../http/testing/test-server.ts'
import type { NodeAgent, NodeGateway } from '../node-gateway.ts'
import { issueClientCertificate } from '../security/certificates.ts'
import { granting } from '../security/testing/granting.ts'
import { nodeGateway, pod } from '../testing/test-core.ts'

const podPath = '/api/v1/namespaces/default/pods/web/proxy'
const address = '10.0.0.1'

/** A way to whatever listens here, as nodes have to their pods. */
const portForward = async () => async (port: number, stream: Duplex) => {
  const socket = connect({ host: '127.0.0.1', port })
  await once(socket, 'connect').catch(() => {
    throw new Error(`dial tcp ${address}:${port}: connect: connection refused`)
  })
  await Promise.all([pipeline(stream, socket), pipeline(socket, stream)])
}

interface Setup extends Partial<NodeGateway> {
  readonly admission?: readonly AdmissionPlugin[]
  readonly grants?: Parameters<typeof granting>[0]
}

/** A server, and a pod `web` at whose port `handler` answers. */
async function served(handler: RequestListener | Server, { admission = [], grants, ...node }: Setup = {}) {
  const backend = typeof handler === 'function' ? createServer(handler) : handler
  backend.listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const { port } = backend.address() as AddressInfo
  const authorizer = grants === undefined ? {} : { authorizer: granting(grants) }
  const server = await TestServer.start({ nodes: nodeGateway({ portForward, ...node }), admission, ...authorizer })
  onTestFinished(async () => {
    await server.close()
    backend.close()
    backend.closeAllConnections()
  })
  const client = server.core.client(apiServerUser)
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
  const main = { name: 'main', image: 'x', ports: [{ containerPort: port }] }
  const created = await client.create(
    pods,
    pod('web', {}, { nodeName: 'n1', containers: [main] } as unknown as Pod['spec']),
  )
  const running = { state: { running: {} }, ready: true, restartCount: 0, image: 'x', imageID: 'x' }
  const containerStatuses = [{ name: 'main', ...running }]
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], containerStatuses }
  await client.update(pods, { ...created, status } as Pod, { subresource: 'status' })
  return { server, client, port }
}

/** Tells what has come. */
const echo: RequestListener = (request, response) => {
  void text(request).then((body) => {
    const { method, url, headers } = request
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method, url, headers, body }))
  })
}

describe('requests through pods/proxy', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('reach the pod as they are: %s', async (method) => {
    const { server } = await served(echo)
    const call = { method, ...(method === 'GET' ? {} : { body: 'hello' }) }
    const { code, json } = await server.call(`${podPath}/a%20b/c/?q=%2F&r`, call)
    const { url, body } = json
    expect([code, json.method, url, body]).toEqual([200, method, '/a%20b/c/?q=%2F&r', method === 'GET' ? '' : 'hello'])
  })

  it('give HEAD its length, and no body', async () => {
    const { server } = await served((_, response) => response.writeHead(200, { 'content-length': 7 }).end())
    const { code, headers, text: body } = await server.call(`${podPath}/`, { method: 'HEAD' })
    expect([code, headers['content-length'], body]).toEqual([200, '7', ''])
  })

  it('leave the connection to the next, though the pod has answered before all had come', async () => {
    const { server } = await served((_, response) => response.end('early'))
    const socket = await server.connect()
    onTestFinished(() => void socket.destroy())
    let told = ''
    socket.on('data', (chunk) => {
      told += chunk
    })
    const heard = async (part: string) => {
      while (!told.includes(part)) await once(socket, 'data')
    }
    const head = `Host: x\r\nAuthorization: Bearer ${adminToken}\r\n`
    const length = 1024 * 1024
    socket.write(`POST ${podPath}/ HTTP/1.1\r\n${head}Content-Length: ${length}\r\n\r\nx`)
    await heard('early')
    socket.write('x'.repeat(length - 1))
    socket.write(`GET /version HTTP/1.1\r\n${head}\r\n`)
    await heard('gitVersion')
  })

  it('get the type of an answer that does not tell it', async () => {
    const { server } = await served((request, response) => {
      if (request.url === '/encoded') response.setHeader('content-encoding', 'gzip')
      if (request.url === '/empty') response.end()
      else response.end('hello')
    })
    const typeAndText = async (path: string, method = 'GET') => {
      const { headers, text: body } = await server.call(`${podPath}${path}`, { method })
      return [headers['content-type'], body]
    }
    expect(await typeAndText('/text')).toEqual(['text/plain; charset=utf-8', 'hello'])
    expect(await typeAndText('/text', 'HEAD')).toEqual([undefined, ''])
    expect(await typeAndText('/encoded')).toEqual([undefined, 'hello'])
    expect(await typeAndText('/empty')).toEqual([undefined, ''])
  })

  it('tell the pod where they came from, and not who makes them', async () => {
    const { server } = await served(echo)
    const headers = {
      'x-own': 'kept',
      'x-forwarded-for': '192.0.2.1',
      'x-remote-user': 'root',
      connection: 'x-hop',
      'x-hop': '1',
    }
    const { json } = await server.call(`${podPath}/a/../b/`, { headers })
    expect(json.headers).toMatchObject({
      'x-own': 'kept',
      'x-forwarded-for': '192.0.2.1, 127.0.0.1',
      'x-forwarded-uri': `${podPath}/b/`,
      host: `127.0.0.1:${server.port}`,
    })
    for (const name of ['authorization', 'x-remote-user', 'x-hop']) {
      expect(json.headers).not.toHaveProperty(name)
    }
    expect(json.url).toBe('/b/')
  })

  it('lead to the directory where the path is the pod alone', async () => {
    const { server } = await served(echo)
    const { code, headers } = await server.call(`${podPath}?q=1`)
    expect([code, headers.location]).toEqual([301, `${podPath}/?q=1`])
    expect((await server.call(podPath, { method: 'POST', body: 'x' })).json.url).toBe('/')
  })

  it('bring back status, reason and headers, but no rights for other origins', async () => {
    const { server } = await served((_, response) => {
      response.writeHead(418, 'No Coffee', {
        'x-own': 'kept',
        'access-control-allow-origin': '*',
        'set-cookie': ['a', 'b'],
      })
      response.end('tea')
    })
    const { code, headers, text: body } = await server.call(`${podPath}/`)
    expect([code, body, headers['x-own'], headers['set-cookie']]).toEqual([418, 'tea', 'kept', ['a', 'b']])
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('follow redirects through the server', async () => {
    const { server, port } = await served((request, response) =>
      response.writeHead(302, { location: request.url === '/a' ? `http://${address}:${port}/b` : '/c' }).end(),
    )
    expect((await server.call(`${podPath}/a`)).headers.location).toBe(`${podPath}/b`)
    expect((await server.call(`${podPath}/x`)).headers.location).toBe(`${podPath}/c`)
  })

  it.each([
    ['plain', (page: string) => Buffer.from(page), (bytes: Buffer) => bytes.toString(), {}],
    ['compressed', gzipSync, (bytes: Buffer) => gunzipSync(bytes).toString(), { 'content-encoding': 'gzip' }],
  ])('bring back pages whose links lead through the server: %s', async (_what, encode, decode, encoding) => {
    const { server } = await served((_, response) => {
      const page = encode('<a href="/b">b</a>')
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-length': page.length,
        ...encoding,
      })
      response.end(page)
    })
    const { bytes, headers } = await server.call(`${podPath}/`)
    expect(decode(bytes)).toBe(`<a href="${podPath}/b">b</a>`)
    expect(headers['content-length']).toBeUndefined()
  })

  it.each([
    ['what is no page', { 'content-type': 'application/xml' }],
    ['what is encoded in a way unknown here', { 'content-type': 'text/html', 'content-encoding': 'br' }],
  ])('bring back %s unchanged', async (_what, headers) => {
    const { server } = await served((_, response) => response.writeHead(200, headers).end('<a href="/b">'))
    expect((await server.call(`${podPath}/`)).text).toBe('<a href="/b">')
  })

  it('bring back an answer piece by piece', async () => {
    let more = (_: string): void => {}
    const { server } = await served((_, response) => {
      response.write('{"n":1}\n')
      more = (line) => response.write(line)
    })
    const lines = await server.lines(`${podPath}/`)
    expect(await lines.next()).toEqual({ n: 1 })
    more('{"n":2}\n')
    expect(await lines.next()).toEqual({ n: 2 })
    lines.close()
  })

  it('bring back the head of an answer before there is anything else', async () => {
    const { server } = await served((_, response) => response.writeHead(200, { 'x-own': 'here' }).flushHeaders())
    const { answer, close } = await server.lines(`${podPath}/`)
    expect(answer.headers['x-own']).toBe('here')
    close()
  })

  it('end at the pod when the client goes', async () => {
    let gone: Promise<unknown> | undefined
    const { server } = await served((_, response) => {
      gone = once(response, 'close')
      response.write('{"n":1}\n')
    })
    const lines = await server.lines(`${podPath}/`)
    await lines.next()
    lines.close()
    await gone
  })

  it('carry bodies longer than any object, in both directions', async () => {
    const { server } = await served((request, response) => void pipeline(request, response))
    const body = Buffer.alloc(8 * 1024 * 1024, 'abcdefg')
    const { bytes } = await server.call(`${podPath}/`, { method: 'POST', body })
    expect(bytes.equals(body)).toBe(true)
  })

  it('send chunks as chunks, when the client is told to go on', async () => {
    const { server } = await served(echo)
    const headers = { expect: '100-continue', 'transfer-encoding': 'chunked' }
    const { json } = await server.call(`${podPath}/`, { method: 'POST', body: 'hello', headers })
    expect([json.body, json.headers['transfer-encoding']]).toEqual(['hello', 'chunked'])
  })

  it('go over TLS where that is asked for, whoever the pod says it is', async () => {
    const { pki } = await TestServer.start().then(async (other) => {
      await other.close()
      return other
    })
    const secure = createSecureServer({ cert: pki.serving.certificatePem, key: pki.serving.keyPem }, echo)
    const { server, port } = await served(secure as unknown as Server)
    const { json } = await server.call(`/api/v1/namespaces/default/pods/https:web:${port}/proxy/x`)
    expect(json.url).toBe('/x')
  })
})

describe('requests that cannot be sent on', () => {
  it('say that nothing listens', async () => {
    const { server } = await served(echo)
    const message = `error trying to reach service: dial tcp ${address}:1: connect: connection refused`
    expect(await server.failure('/api/v1/namespaces/default/pods/web:1/proxy/')).toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message,
    })
  })

  it('say why a node gives no way to its pod', async () => {
    const simulated = () => Promise.reject(new Error('simulated pods listen on no port'))
    const { server } = await served(echo, { portForward: simulated })
    const { message } = await server.failure(`${podPath}/`)
    expect(message).toBe('error trying to reach service: simulated pods listen on no port')
  })

  it('say that the pod broke off', async () => {
    const { server } = await served((request) => request.socket.destroy())
    const { code, message } = await server.failure(`${podPath}/`)
    expect([code, message]).toEqual([503, 'error trying to reach service: socket hang up'])
  })

  it.each([
    ['a pod that is not there', '/api/v1/namespaces/default/pods/nobody/proxy/', 404, 'pods "nobody" not found'],
    ['a name that is none', '/api/v1/namespaces/default/pods/a:b:c:d/proxy/', 400, 'invalid pod request "a:b:c:d"'],
    ['a subresource that sends nothing on', '/api/v1/namespaces/default/pods/web/log/x', 404, 'could not find'],
    ['a watch of it', '/api/v1/watch/namespaces/default/pods/web/proxy', 404, 'could not find'],
  ])('name %s', async (_what, path, code, message) => {
    const { server } = await served(echo)
    const failure = await server.failure(path)
    expect(failure.code).toBe(code)
    expect(failure.message).toContain(message)
  })

  it('are those of methods that HTTP does not have', async () => {
    const { server } = await served(echo)
    expect((await server.failure(`${podPath}/`, { method: 'PROPFIND' })).code).toBe(405)
  })

  it.each([
    ['GET', 'get'],
    ['POST', 'create'],
    ['PUT', 'update'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
  ])('are those that may not be made: %s needs the right to %s pods/proxy', async (method, verb) => {
    const refusing = async (rules: readonly string[]) => {
      const { server } = await served(echo, { grants: { somebody: rules } })
      const as = issueClientCertificate(realEnvironment(), server.pki.ca, { user: 'somebody', groups: [] })
      return (await server.call(`${podPath}/`, { method, as })).code
    }
    const others = ['get', 'create', 'update', 'patch', 'delete'].filter((each) => each !== verb)
    expect(await refusing([`${verb} core pods/proxy`])).toBe(200)
    expect(await refusing([`${others.join(',')} core pods/proxy`, `${verb} core pods`])).toBe(403)
  })

  it('are those that admission refuses: it sees them as connections', async () => {
    const seen: unknown[] = []
    const plugin: AdmissionPlugin = {
      name: 'test',
      validate: ({ operation, subresource, name }, object) => {
        if (operation === 'CONNECT') seen.push({ subresource, name, object })
      },
    }
    const { server, port } = await served(echo, { admission: [plugin] })
    await server.call(`/api/v1/namespaces/default/pods/web:${port}/proxy/a/b`)
    expect(seen).toMatchObject([
      { subresource: 'proxy', name: `web:${port}`, object: { kind: 'PodProxyOptions', path: '/a/b' } },
    ])
  })
})

describe('connections through pods/proxy', () => {
  const upgradeRequest = (path: string) =>
    [
      `GET ${path} HTTP/1.1`,
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: abc',
      `Authorization: Bearer ${adminToken}`,
      '\r\n',
    ].join('\r\n')

  const secureConnection = async (server: TestServer) => {
    const socket = connectOverTls({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    onTestFinished(() => void socket.destroy())
    return socket
  }

  it('become whatever the pod agrees to, and carry bytes both ways until one side ends', async () => {
    const backend = createServer()
    let asked: IncomingMessage | undefined
    backend.on('upgrade', (request, socket) => {
      asked = request
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: y\r\n\r\nearly ',
      )
      socket.on('data', (chunk) => socket.end(`got ${chunk}`))
    })
    const { server } = await served(backend)
    const socket = await secureConnection(server)
    socket.write(`${upgradeRequest(`${podPath}/ws?x=1`)}hello`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/)
    expect(answer).toContain('X-Own: y\r\n')
    expect(answer).toMatch(/\r\n\r\nearly got hello$/)
    expect(asked?.url).toBe('/ws?x=1')
    expect(asked?.headers).toMatchObject({ 'sec-websocket-key': 'abc', 'x-forwarded-for': '127.0.0.1' })
    expect(asked?.headers).not.toHaveProperty('authorization')
  })

  it('say why the pod does not agree', async () => {
    const { server } = await served((_, response) => response.writeHead(403, { 'x-own': 'y' }).end('no'))
    const socket = await secureConnection(server)
    socket.write(upgradeRequest(`${podPath}/ws`))
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/)
    expect(answer).toContain('x-own: y')
    expect(answer).toContain('no')
  })

  it('are refused where the pod answers as if nothing had been asked for', async () => {
    const { server } = await served(echo)
    const socket = await secureConnection(server)
    socket.write(upgradeRequest(`${podPath}/ws`))
    expect(await text(socket)).toContain('invalid upgrade response: status code 200')
  })
})

describe('requests through services/proxy', () => {
  async function withService(ports: readonly object[], endpointPorts: (port: number) => readonly object[]) {
    const made = await served(echo)
    const { client, port } = made
    const metadata = { name: 'web', namespace: 'default' }
    await client.create(services, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } } as never)
    const addresses = [{ ip: address, targetRef: { kind: 'Pod', name: 'web', namespace: 'default' } }]
    const subsets = [{ addresses, ports: endpointPorts(port) }]
    await client.create(endpoints, { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets } as never)
    return made
  }
  const named = () => withService([{ name: 'http', port: 80 }], (port) => [{ name: 'http', port }])

  it.each(['web:http', 'web:80', 'http:web:http'])('reach a pod behind it: %s', async (id) => {
    const { server } = await named()
    expect((await server.call(`/api/v1/namespaces/default/services/${id}/proxy/x`)).json.url).toBe('/x')
  })

  it('need name no port where it has one without a name', async () => {
    const { server } = await withService([{ port: 80 }], (port) => [{ port }])
    const { json } = await server.call('/api/v1/namespaces/default/services/web/proxy/x')
    expect(json.headers['x-forwarded-uri']).toBe('/api/v1/namespaces/default/services/web/proxy/x')
  })

  it.each([
    ['web', 503, 'no endpoints available for service "web"'],
    ['web:other', 503, 'no endpoints available for service "web:other"'],
    ['web:81', 503, 'no service port 81 found for service "web"'],
    ['other', 404, 'services "other" not found'],
    ['x:web:80', 400, 'invalid service request "x:web:80"'],
  ])('say what is wrong with %s', async (id, code, message) => {
    const { server } = await named()
    expect(await server.failure(`/api/v1/namespaces/default/services/${id}/proxy/`)).toMatchObject({ code, message })
  })
})

describe('requests through nodes/proxy', () => {
  const path = (rest: string, id = 'n1') => `/api/v1/nodes/${id}/proxy${rest}`

  /** The agent of a node, which tells what has come. */
  const agentOf = (nodeName: string): NodeAgent => {
    const backend = createServer(echo)
    const connect = async () => {
      const [here, there] = duplexPair()
      backend.emit('connection', there)
      return here
    }
    return { host: `${nodeName}:10250`, connect }
  }
  const own = { ownAgent: agentOf }
  const elsewhere = { remoteAgent: async (nodeName: string) => agentOf(nodeName) }

  it.each([
    ['of this process', own],
    ['of another machine', elsewhere],
  ])('reach the agent, also at its port: one %s', async (_where, node) => {
    const { server } = await served(echo, node)
    for (const id of ['n1', 'n1:10250', 'https:n1:10250']) {
      const { json } = await server.call(path('/stats/summary?only_cpu_and_memory=true', id))
      expect([json.method, json.url]).toEqual(['GET', '/stats/summary?only_cpu_and_memory=true'])
    }
    const { json } = await server.call(path('/run/default/web/main?cmd=ls'), { method: 'POST', body: 'x' })
    expect([json.method, json.url, json.body]).toEqual(['POST', '/run/default/web/main?cmd=ls', 'x'])
  })

  it.each([
    '/run/default/web/main?cmd=ls',
    '//exec/default/web/main?command=ls',
    '/x/../attach/default/web/main',
    '/portForward/default/web',
  ])('take the right to create for what runs or connects, by GET too: %s', async (below) => {
    const { server } = await served(echo, { ...own, grants: { jane: ['read core nodes/proxy'] } })
    const headers = { 'impersonate-user': 'jane' }
    expect((await server.call(path('/pods'), { headers })).code).toBe(200)
    expect(await server.failure(path(below), { headers })).toMatchObject({
      code: 403,
      message: expect.stringContaining('cannot create resource "nodes/proxy"'),
    })
  })

  it('end with their client, though the way to the agent is found after it has gone', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const way = Promise.withResolvers<Duplex>()
    const connect = (signal: AbortSignal) => {
      asked.resolve(signal)
      return way.promise
    }
    const { server } = await served(echo, { ownAgent: () => ({ host: 'n1:10250', connect }) })
    const socket = await server.connect()
    socket.write(
      `POST ${path('/x')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\nContent-Length: 5\r\n\r\n`,
    )
    const signal = await asked.promise
    socket.destroy()
    if (!signal.aborted) await once(signal, 'abort')
    const [here, there] = duplexPair()
    way.resolve(here)
    await once(there.resume(), 'end')
  })

  it('say that the agent cannot be reached', async () => {
    const { server } = await served(echo)
    const message = 'error trying to reach service: node "n1" is not connected to this server'
    expect(await server.failure(path('/healthz'))).toMatchObject({ code: 503, message })
  })

  it.each([
    [path('/healthz', 'n1:22'), 400, 'address not allowed'],
    [path('/healthz', 'n2'), 404, 'nodes "n2" not found'],
  ])('refuse %s', async (of, code, message) => {
    const { server } = await served(echo, own)
    expect(await server.failure(of)).toMatchObject({ code, message })
  })
})
