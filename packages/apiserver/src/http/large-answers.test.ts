import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectOverTls } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { adminToken, TestServer } from './testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, bytes: number) => ({ metadata: { name }, data: { text: 'x'.repeat(bytes) } })

/** A network that can be told to let what is sent come together. */
class Network extends Duplex {
  readonly #socket: Socket
  #held: Buffer[] | undefined

  constructor(port: number) {
    super()
    this.#socket = connect({ host: '127.0.0.1', port })
    this.#socket.on('data', (chunk) => {
      if (!this.push(chunk)) this.#socket.pause()
    })
    this.#socket.on('end', () => this.push(null))
  }

  hold(): void {
    this.#held = []
  }

  release(): void {
    this.#socket.write(Buffer.concat(this.#held ?? []))
    this.#held = undefined
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (this.#held === undefined) this.#socket.write(chunk)
    else this.#held.push(chunk)
    done()
  }
}

it('a request that comes in pieces while a large answer is on its way is answered, too', async () => {
  // More than the system takes off the server's hands.
  for (let count = 0; count < 16; count += 1) {
    const stored = await server.call(configMaps, { method: 'POST', body: configMap(`large-${count}`, 900_000) })
    expect(stored.code).toBe(201)
  }
  const network = new Network(server.port)
  const client = connectOverTls({ socket: network, rejectUnauthorized: false })
  await once(client, 'secureConnect')
  const auth = `Host: a\r\nAuthorization: Bearer ${adminToken}\r\n`
  client.write(`GET ${configMaps} HTTP/1.1\r\n${auth}\r\n`)
  // The answer has begun, and waits for somebody to read it.
  await once(client, 'readable')
  const body = JSON.stringify(configMap('second', 5_000))
  const headers = `${auth}Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n`
  network.hold()
  for (const piece of [`POST ${configMaps} HTTP/1.1\r\n${headers}\r\n`, body.slice(0, 1_000), body.slice(1_000)]) {
    await new Promise((resolve) => client.write(piece, resolve))
  }
  network.release()
  let text = ''
  for await (const chunk of client) text += String(chunk)
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201'])
})
