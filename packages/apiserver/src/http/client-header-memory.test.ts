import { once } from 'node:events'
import type { Socket } from 'node:net'
import { VirtualClock } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClientHeaderMemory } from './client-header-memory.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

/** A connection and a request as Node has them, with only what is looked at. */
class FakeSocket {
  bytesRead = 0
  destroyed = false
  once(): this {
    return this
  }
  destroy(): void {
    this.destroyed = true
  }
}
type Request = Parameters<ClientHeaderMemory['onRequest']>[0]
const requestOn = (socket: FakeSocket) => ({ socket, headers: {}, complete: true }) as unknown as Request
const uploadOn = (socket: FakeSocket) =>
  ({ socket, headers: { 'content-length': '1000000' }, complete: false }) as unknown as Request & { complete: boolean }

describe('unfinished headers of clients that are known', () => {
  const start = (count: number) => {
    const clock = new VirtualClock(0)
    const memory = new ClientHeaderMemory(clock, 100, 300)
    const sockets = Array.from({ length: count }, () => new FakeSocket())
    for (const socket of sockets) memory.onRequest(requestOn(socket))
    return { clock, memory, sockets }
  }

  it('are bounded together: whoever holds most goes', async () => {
    const { clock, sockets } = start(5)
    await clock.advance('1s')
    sockets.forEach((socket, index) => {
      socket.bytesRead += 80 + index
    })
    await clock.advance('1s')
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false, true, true])
  })

  it('are over when the request has come whole', async () => {
    const { clock, memory, sockets } = start(5)
    await clock.advance('1s')
    for (const socket of sockets) {
      socket.bytesRead += 90
      memory.onRequest(requestOn(socket))
    }
    await clock.advance('1s')
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  })

  it('are not the bodies of requests under way', async () => {
    const { clock, memory, sockets } = start(5)
    const uploads = sockets.map(uploadOn)
    for (const upload of uploads) memory.onRequest(upload)
    await clock.advance('1s')
    for (const socket of sockets) socket.bytesRead += 1_000_000
    await clock.advance('1s')
    for (const upload of uploads) upload.complete = true
    await clock.advance('1s')
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  })

  it('cost nothing while too few connections are open to fill the limit', async () => {
    const { clock, sockets } = start(3)
    for (const socket of sockets) socket.bytesRead += 1_000
    await clock.advance('1s')
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  })
})

describe('on real connections', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start({ clientsHeaderBytesMax: 4_000_000 })
  })
  afterAll(() => server.close())

  it('closes those that hold most when headers without an end exceed the limit', async () => {
    const held: Socket[] = []
    for (let index = 0; index < 8; index += 1) {
      const socket = await server.connect()
      socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`)
      await once(socket, 'data')
      held.push(socket.resume())
    }
    // With what it has not read, the server's end arrives as a reset or as an end.
    const closed = Promise.race(
      held.map((socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))),
    )
    for (const socket of held) socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(900_000)}`)
    await closed
    expect((await server.call('/version')).code).toBe(200)
    for (const socket of held) socket.destroy()
  })
})
