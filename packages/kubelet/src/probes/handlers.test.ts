import { createServer as createHttp } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { testContainer } from '../testing/pods.ts'
import { type Handler, runHandler } from './handlers.ts'

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

function check(handler: Handler, port = 0, signal = new AbortController().signal) {
  const runtime = createSimulatedRuntime({ environment: virtualEnvironment() })
  const container = testContainer({ ports: [{ name: 'http', containerPort: port }] })
  return runHandler(
    handler,
    { runtime, containerId: 'c0', container, address: '127.0.0.1', userAgent: 'kube-probe/1.36', timeoutSeconds: 1 },
    signal,
  )
}

describe('handlers', () => {
  it.each([
    [200, { ok: true, output: '' }],
    [304, { ok: true, warning: true, output: 'Probe terminated redirects, Response body: ' }],
    [404, { ok: false, answered: true, output: 'HTTP probe failed with statuscode: 404' }],
  ])('httpGet: %i', async (code, expected) => {
    const port = await listening(
      createHttp((request, response) => {
        const asked = request.url === '/health?x=1' && request.headers['x-probe'] === 'yes'
        response.writeHead(asked ? code : 500).end()
      }),
    )
    const httpGet = { port: 'http', path: '/health?x=1', httpHeaders: [{ name: 'X-Probe', value: 'yes' }] }
    expect(await check({ httpGet }, port)).toEqual(expected)
  })

  it.each<[string, Handler, string]>([
    [
      'a port of no name that the container has',
      { httpGet: { port: 'nope' } },
      'strconv.Atoi: parsing "nope": invalid syntax',
    ],
    ['the same', { tcpSocket: { port: 'nope' } }, 'strconv.Atoi: parsing "nope": invalid syntax'],
    ['a port that there cannot be', { tcpSocket: { port: '70000' } }, 'invalid port number: 70000'],
    ['a host that there cannot be', { httpGet: { port: 80, host: 'a b' } }, 'parse "http://a b:80/": invalid URL'],
  ])('%s says nothing of the container', async (_what, handler, output) => {
    expect(await check(handler)).toEqual({ ok: false, unknown: true, output })
  })

  describe('httpGet', () => {
    /** Answers each path with a status, a body, and where to go on. */
    const serve = (answers: Readonly<Record<string, readonly [number, string, string?]>>) =>
      listening(
        createHttp((request, response) => {
          const [code, body, location] = answers[request.url ?? ''] ?? [404, '']
          response.writeHead(code, location === undefined ? {} : { location }).end(body)
        }),
      )

    it('follows redirects on the same host', async () => {
      const port = await serve({ '/a': [302, '', '/b'], '/b': [307, '', '/c'], '/c': [500, ''] })
      expect(await check({ httpGet: { port, path: '/a' } })).toMatchObject({
        ok: false,
        output: 'HTTP probe failed with statuscode: 500',
      })
    })

    it('takes a redirect to another host for a success, with a warning', async () => {
      const port = await serve({ '/': [302, 'go there', 'http://example.invalid/'] })
      expect(await check({ httpGet: { port } })).toEqual({
        ok: true,
        warning: true,
        output: 'Probe terminated redirects, Response body: go there',
      })
    })

    it('does not run in circles', async () => {
      const port = await serve({ '/': [302, '', '/'] })
      expect(await check({ httpGet: { port } })).toEqual({
        ok: false,
        output: `Get "http://127.0.0.1:${port}/": stopped after 10 redirects`,
      })
    })

    it('sends what it is told to send, and says who it is otherwise', async () => {
      const seen: unknown[] = []
      const port = await listening(
        createHttp(({ headers }, response) => {
          seen.push([headers.host, headers['user-agent'], headers.accept, headers['x-a']])
          response.end()
        }),
      )
      await check({ httpGet: { port } })
      const httpHeaders = [
        { name: 'Host', value: 'shop.example' },
        { name: 'User-Agent', value: 'me' },
        { name: 'Accept', value: '' },
        { name: 'X-A', value: '1' },
        { name: 'X-A', value: '2' },
      ]
      await check({ httpGet: { port, httpHeaders } })
      expect(seen).toEqual([
        [`127.0.0.1:${port}`, 'kube-probe/1.36', '*/*', undefined],
        ['shop.example', 'me', undefined, '1, 2'],
      ])
    })

    it.each([
      ['fails', 500, {}],
      ['leads elsewhere on the same host', 302, { location: '/next' }],
    ])('leaves a server that %s and goes on talking', async (_what, code, headers) => {
      const left = Promise.withResolvers<void>()
      const port = await listening(
        createHttp((request, response) => {
          if (request.url === '/next') return void response.end()
          response.once('close', left.resolve)
          response.writeHead(code, headers)
          response.write('there is more to come')
        }),
      )
      expect(await check({ httpGet: { port } })).toMatchObject({ ok: code === 302 })
      await left.promise
    })

    it('fails where the server begins to speak something else', async () => {
      const port = await listening(
        createHttp(({ socket }) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
        }),
      )
      expect(await check({ httpGet: { port } })).toEqual({
        ok: false,
        answered: true,
        output: 'HTTP probe failed with statuscode: 101',
      })
    })

    it('says why there is no answer', async () => {
      const server = createHttp()
      const port = await listening(server)
      const late = AbortSignal.abort(new Error('timed out after 1s'))
      expect(await check({ httpGet: { port } }, 0, late)).toMatchObject({
        ok: false,
        output: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
      })
      await new Promise((resolve) => server.close(resolve))
      const { output } = await check({ httpGet: { port, path: 'x' } })
      expect(output).toMatch(`Get "http://127.0.0.1:${port}/x": dial tcp 127.0.0.1:${port}: connect: connection re`)
    })
  })

  it('exec: a command that cannot be run says nothing of the container', async () => {
    expect(await check({ exec: { command: ['true'] } })).toMatchObject({ ok: false, unknown: true })
  })

  it('tcpSocket: open and closed', async () => {
    const server = createTcp()
    const port = await listening(server)
    expect(await check({ tcpSocket: { port } })).toEqual({ ok: true, output: '' })
    await new Promise((resolve) => server.close(resolve))
    expect(await check({ tcpSocket: { port } })).toMatchObject({
      ok: false,
      output: expect.stringContaining(`dial tcp 127.0.0.1:${port}: connect: connection re`),
    })
  })

  it.each([
    [1, { ok: true, output: 'service healthy' }],
    [2, { ok: false, output: 'service unhealthy (responded with "NOT_SERVING")' }],
  ])('grpc: status %i', async (status, expected) => {
    const server = createHttp2()
    server.on('stream', (stream, headers) => {
      const body: Buffer[] = []
      stream.on('data', (piece: Buffer) => body.push(piece))
      stream.on('end', () => {
        const service = Buffer.concat(body).subarray(7).toString()
        const known = headers[':path'] === '/grpc.health.v1.Health/Check' && service === 'shop'
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': known ? '0' : '5' }))
        stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, status]))
      })
    })
    const port = await listening(server as unknown as Server)
    expect(await check({ grpc: { port, service: 'shop' } })).toEqual(expected)
    expect(await check({ grpc: { port, service: 'other' } })).toEqual({
      ok: false,
      output: 'error: health rpc probe failed: rpc error: code = NotFound desc = ',
    })
  })

  it.each([
    ['no such place: 100%25', 'no such place: 100%'],
    ['100% wrong, %zz and %C3%A4', '100% wrong, %zz and ä'],
  ])('grpc: a server says "%s"', async (sent, told) => {
    const server = createHttp2()
    server.on('stream', (stream) => {
      const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '2', 'grpc-message': sent }
      stream.respond(headers, { endStream: true })
    })
    const port = await listening(server as unknown as Server)
    expect(await check({ grpc: { port } })).toEqual({
      ok: false,
      output: `error: health rpc probe failed: rpc error: code = Unknown desc = ${told}`,
    })
  })

  it('grpc: has no time where that is over before it begins', async () => {
    // It takes connections, and never says a word.
    const sockets: Socket[] = []
    const port = await listening(createTcp((socket) => void sockets.push(socket)))
    const late = AbortSignal.abort(new Error('timed out after 1s'))
    const told = `timeout: failed to connect service "127.0.0.1:${port}" within 1s: context deadline exceeded`
    expect(await check({ grpc: { port } }, 0, late)).toEqual({ ok: false, output: told })
    for (const socket of sockets) socket.destroy()
  })

  it('grpc: asks for a service with a long name', async () => {
    const server = createHttp2()
    const asked = Promise.withResolvers<Buffer>()
    server.on('stream', (stream) => {
      const body: Buffer[] = []
      stream.on('data', (piece: Buffer) => body.push(piece))
      stream.on('end', () => {
        asked.resolve(Buffer.concat(body))
        stream.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true })
      })
    })
    const port = await listening(server as unknown as Server)
    const service = 'a'.repeat(300)
    await check({ grpc: { port, service } })
    // Five bytes of gRPC's own, then field 1 with its length: 300 is 0b10_0101100.
    const message = Buffer.concat([Buffer.from([0x0a, 0xac, 0x02]), Buffer.from(service)])
    expect((await asked.promise).toString('latin1', 5)).toBe(message.toString('latin1'))
  })
})
