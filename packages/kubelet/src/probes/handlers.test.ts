import { createServer as createHttp } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net'
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

function check(handler: Handler, port = 0) {
  const runtime = createSimulatedRuntime({ environment: virtualEnvironment() })
  const container = testContainer({ ports: [{ name: 'http', containerPort: port }] })
  return runHandler(
    handler,
    { runtime, containerId: 'c0', container, address: '127.0.0.1' },
    new AbortController().signal,
  )
}

describe('handlers', () => {
  it.each([
    [200, { ok: true, output: '' }],
    [302, { ok: true, output: '' }],
    [404, { ok: false, output: 'HTTP probe failed with statuscode: 404' }],
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

  it('tcpSocket: open and closed', async () => {
    const server = createTcp()
    const port = await listening(server)
    expect(await check({ tcpSocket: { port } })).toEqual({ ok: true, output: '' })
    await new Promise((resolve) => server.close(resolve))
    expect(await check({ tcpSocket: { port } })).toMatchObject({
      ok: false,
      output: expect.stringContaining(`dial tcp 127.0.0.1:${port}`),
    })
  })

  it.each([
    [1, { ok: true, output: '' }],
    [2, { ok: false, output: 'service unhealthy (responded with status 2)' }],
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
    expect(await check({ grpc: { port, service: 'other' } })).toMatchObject({ ok: false })
  })
})
