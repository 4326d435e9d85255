import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { strangersHeaderBytesMax } from './stranger-memory.ts'
import { adminToken, TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const megabyte = 1_000_000
const beginning = 'GET /version HTTP/1.1\r\nHost: a\r\nX: '
const auth = `Authorization: Bearer ${adminToken}\r\n`

/** Connections that have sent a megabyte of headers, each without an end. */
async function hold(
  count: number,
  before: (socket: Socket) => Promise<void> = async () => {},
): Promise<readonly Socket[]> {
  const held: Socket[] = []
  for (let index = 0; index < count; index += 1) {
    const socket = await server.connect()
    await before(socket)
    socket.write(beginning)
    await new Promise((resolve) => socket.write('x'.repeat(megabyte), resolve))
    held.push(socket.resume())
  }
  return held
}

/** Resolves when so many of the connections have been closed. */
const closedOf = (sockets: readonly Socket[], wanted: number): Promise<void> =>
  new Promise((resolve) => {
    let left = wanted
    const onClose = () => {
      left -= 1
      if (left === 0) resolve()
    }
    for (const socket of sockets) {
      if (socket.closed) onClose()
      else socket.once('close', onClose)
    }
  })

const answerOn = async (socket: Socket): Promise<string> => {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk.toString('latin1')
}

describe('headers without an end', () => {
  const count = Math.ceil(strangersHeaderBytesMax / megabyte) + 20

  it.each([
    ['the first of their connection', async () => {}],
    [
      'after an anonymous request',
      async (socket: Socket) => {
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
        expect(await answerOn(socket)).toContain('200 OK')
      },
    ],
    [
      'after a wrong token',
      async (socket: Socket) => {
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n\r\n')
        expect(await answerOn(socket)).toContain('401 Unauthorized')
      },
    ],
  ])('are bounded together, %s', async (_, before) => {
    const held = await hold(count, before)
    // Others get in meanwhile, and what they send whole is not held against them.
    expect((await server.call('/version')).code).toBe(200)
    const excess = count - Math.floor(strangersHeaderBytesMax / megabyte)
    await closedOf(held, excess)
    expect((await server.call('/version', { as: 'anonymous' })).code).toBe(200)
    expect(held.some(({ closed }) => !closed)).toBe(true)
    for (const socket of held) socket.destroy()
  })

  it('may be long where they end', async () => {
    const socket = await server.connect()
    socket.write(`${beginning}${'x'.repeat(megabyte)}`)
    await new Promise((resolve) => socket.write('\r\nConnection: close\r\n', resolve))
    socket.write(`${auth}\r\n`)
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 200 OK/)
    socket.destroy()
  })
})

it('a server that closes ends connections that have said nothing', async () => {
  const own = await TestServer.start()
  const silent = [await own.connect('plain'), await own.connect('tls')]
  const closed = Promise.all(silent.map((socket) => once(socket.resume(), 'close')))
  await own.close()
  await closed
})
