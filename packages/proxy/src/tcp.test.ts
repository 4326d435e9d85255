import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, realEnvironment, virtualEnvironment } from '@coracle/environment'
import { isKeptAlive, tellsKeptAlive } from '@coracle/environment/testing/kept-alive'
import { afterEach, describe, expect, it } from 'vitest'
import { Balancer } from './balancer.ts'
import type { Backend, Listening } from './frontends.ts'
import { type ConnectThroughNode, Places } from './network.ts'
import { connectThroughNodeTimeoutMs, connectTimeoutMs, listenTcp, type TcpConnections } from './tcp.ts'

const { clock, random } = realEnvironment()
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

/** A server on a port of its own, and every connection it got. */
async function serve(onConnection: (socket: Socket) => void): Promise<Backend> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    closers.push(() => socket.destroy())
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return { address: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

const answering = (text: string) => serve((socket) => socket.end(text))

/** A port where nobody listens. */
async function nobody(): Promise<Backend> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { address: '127.0.0.1', port }
}

const heldServer =
  "require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })"

/** A port whose server takes no connections, and whose queue of those is full: nobody is refused, and nobody gets through. */
async function silent(): Promise<Backend> {
  const child = spawn(process.execPath, ['-e', heldServer], { stdio: ['ignore', 'pipe', 'inherit'] })
  closers.push(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  const backend = { address: '127.0.0.1', port: Number(port) }
  for (let index = 0; index < 4; index += 1) {
    const filler = connect({ host: backend.address, port: backend.port })
    filler.on('error', () => {})
    closers.push(() => filler.destroy())
    if (index < 2) await once(filler, 'connect')
  }
  return backend
}

interface Opened {
  readonly listening: Listening
  readonly balancer: Balancer
  readonly connections: TcpConnections
  connect(): Socket
}

/** A frontend on a port of its own with these backends. */
async function open(
  backends: readonly Backend[],
  places = new Places(),
  affinityMs?: number,
  givenClock: Clock = clock,
  throughNode?: ConnectThroughNode,
): Promise<Opened> {
  const { port } = await nobody()
  const balancer = new Balancer(clock, random)
  balancer.set(backends, affinityMs)
  const connections = {
    places,
    clock: givenClock,
    sockets: new Set<Duplex>(),
    ...(throughNode === undefined ? {} : { throughNode }),
  }
  const listening = await listenTcp({ address: '127.0.0.1', port }, balancer, connections)
  closers.push(() => {
    listening.close()
    for (const socket of connections.sockets) socket.destroy()
  })
  return {
    listening,
    balancer,
    connections,
    connect() {
      const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      closers.push(() => socket.destroy())
      return socket
    },
  }
}

/** All that comes until the other end has no more to say; rejects where it ends the connection otherwise. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

describe('a TCP frontend', () => {
  it('carries bytes both ways, however many', async () => {
    const echo = await serve((socket) => socket.pipe(socket))
    const socket = (await open([echo])).connect()
    const sent = 'x'.repeat(5_000_000)
    socket.end(sent)
    expect(await textOf(socket)).toBe(sent)
  })

  it.skipIf(!tellsKeptAlive)(
    'finds out that either end is gone that has said nothing of it',
    { meta: { needs: 'Linux' } },
    async () => {
      const accepted = Promise.withResolvers<Socket>()
      const backend = await serve(accepted.resolve)
      const client = (await open([backend])).connect()
      await once(client, 'connect')
      const { remotePort: proxyPort = 0 } = await accepted.promise
      await expect.poll(() => isKeptAlive(proxyPort, backend.port)).toBe(true)
      await expect.poll(() => isKeptAlive(client.remotePort ?? 0, client.localPort ?? 0)).toBe(true)
    },
  )

  it('passes on the end of one way while the other goes on', async () => {
    const late = await serve((socket) => {
      let asked = ''
      socket.on('data', (chunk) => {
        asked += String(chunk)
      })
      socket.on('end', () => socket.end(`you asked ${asked}`))
    })
    const socket = (await open([late])).connect()
    socket.end('why')
    expect(await textOf(socket)).toBe('you asked why')
  })

  it('passes on what a server says before it hears anything', async () => {
    const socket = (await open([await answering('hello')])).connect()
    expect(await textOf(socket)).toBe('hello')
  })

  it('lets nothing pile up: a client that does not read stops its server', async () => {
    let written = 0
    const flood = await serve((socket) => {
      const write = (): void => {
        while (socket.write(Buffer.alloc(65_536))) written += 65_536
        socket.once('drain', write)
      }
      write()
    })
    const { connect: open1 } = await open([flood])
    const socket = open1()
    socket.pause()
    await once(socket, 'connect')
    // Until nothing has moved for so many turns of the event loop.
    for (let quiet = 0, before = -1; quiet < 1000; before = written) {
      quiet = before === written && written > 0 ? quiet + 1 : 0
      await new Promise<void>((resolve) => clock.defer(resolve))
    }
    expect(written).toBeLessThan(30_000_000)
  })

  it('tries another backend where one does not accept', async () => {
    const { connect: open1 } = await open([await nobody(), await answering('second'), await nobody()])
    for (let turn = 0; turn < 10; turn += 1) expect(await textOf(open1())).toBe('second')
  })

  it('tries another where one does not answer in time', async () => {
    const { clock: held } = virtualEnvironment()
    const full = await silent()
    const opened = await open([full], new Places(), 60_000, held)
    const second = await answering('second')
    opened.balancer.set([full, second], 60_000)
    opened.balancer.visited('127.0.0.1', full)
    const socket = opened.connect()
    const text = textOf(socket)
    await once(socket, 'connect')
    for (let turn = 0; turn < 50; turn += 1) await new Promise<void>((resolve) => clock.defer(resolve))
    await held.advance(connectTimeoutMs)
    expect(await text).toBe('second')
  })

  it('resets a client where no backend accepts, or there is none any more', async () => {
    const opened = await open([await nobody()])
    await expect(textOf(opened.connect())).rejects.toThrow('ECONNRESET')
    opened.balancer.set([], undefined)
    await expect(textOf(opened.connect())).rejects.toThrow('ECONNRESET')
  })

  it('passes on a reset, either way', async () => {
    const socket = (await open([await serve((server) => server.resetAndDestroy())])).connect()
    await expect(textOf(socket)).rejects.toThrow('ECONNRESET')

    const { promise, resolve } = Promise.withResolvers<Socket>()
    const other = (await open([await serve(resolve)])).connect()
    other.write('hello')
    const server = await promise
    await once(server, 'data')
    other.resetAndDestroy()
    const [error] = await once(server, 'error')
    expect(error).toMatchObject({ code: 'ECONNRESET' })
  })

  it('keeps a client with the backend it had', async () => {
    const backends = await Promise.all(['a', 'b', 'c', 'd'].map(answering))
    const { connect: open1 } = await open(backends, new Places(), 60_000)
    const first = await textOf(open1())
    for (let turn = 0; turn < 10; turn += 1) expect(await textOf(open1())).toBe(first)
  })

  it('takes no more connections than it has places for, and gives places back', async () => {
    const echo = await serve((socket) => socket.pipe(socket))
    const { connect: open1, connections } = await open([echo], new Places(2))
    const held = [open1(), open1()]
    for (const socket of held) {
      socket.write('x')
      await once(socket, 'data')
    }
    await expect(textOf(open1())).rejects.toThrow('ECONNRESET')
    for (const socket of held) {
      socket.end()
      await once(socket.resume(), 'close')
    }
    while (connections.sockets.size > 0) await new Promise<void>((resolve) => clock.defer(resolve))
    const socket = open1()
    socket.end('again')
    expect(await textOf(socket)).toBe('again')
  })

  it('goes on with connections that there are when it takes no more', async () => {
    const echo = await serve((socket) => socket.pipe(socket))
    const { connect: open1, listening } = await open([echo])
    const socket = open1()
    socket.write('x')
    await once(socket, 'data')
    listening.close()
    const [error] = await once(open1(), 'error')
    expect(error).toMatchObject({ code: 'ECONNREFUSED' })
    socket.end('still here')
    expect(await textOf(socket)).toBe('still here')
  })

  it('says why it cannot listen', async () => {
    const taken = await answering('first')
    const listening = listenTcp(taken, new Balancer(clock, random), { places: new Places(), clock, sockets: new Set() })
    await expect(listening).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  describe('with a backend of another machine', () => {
    const there: Backend = { address: '127.9.9.9', port: 1, throughNode: 'far' }

    it('asks its node for a connection, each end of which ends for itself', async () => {
      const late = await serve((socket) => {
        let asked = ''
        socket.on('data', (chunk) => {
          asked += String(chunk)
        })
        socket.on('end', () => socket.end(`you asked ${asked}`))
      })
      const asked: unknown[] = []
      const through: ConnectThroughNode = async (nodeName, { address, port }) => {
        asked.push([nodeName, address, port])
        return connect({ host: late.address, port: late.port, allowHalfOpen: true })
      }
      const socket = (await open([there], new Places(), undefined, clock, through)).connect()
      socket.end('why')
      expect(await textOf(socket)).toBe('you asked why')
      expect(asked).toEqual([['far', '127.9.9.9', 1]])
    })

    it('tries another where the node refuses, or there is no way to it', async () => {
      const refused = () => Promise.reject(new Error('away'))
      for (const through of [refused, undefined]) {
        const second = await answering('second')
        const { connect: open1, balancer } = await open([there, second], new Places(), 60_000, clock, through)
        balancer.visited('127.0.0.1', there)
        expect(await textOf(open1())).toBe('second')
      }
    })

    it('tries another where the node does not answer in time, and gives up what comes later', async () => {
      const { clock: held } = virtualEnvironment()
      const { promise, resolve } = Promise.withResolvers<Duplex>()
      const isAsked = Promise.withResolvers<AbortSignal>()
      const through: ConnectThroughNode = (_node, _backend, signal) => {
        isAsked.resolve(signal)
        return promise
      }
      const second = await answering('second')
      const opened = await open([there, second], new Places(), 60_000, held, through)
      opened.balancer.visited('127.0.0.1', there)
      const text = textOf(opened.connect())
      const signal = await isAsked.promise
      await held.advance(connectThroughNodeTimeoutMs)
      expect(signal.aborted).toBe(true)
      expect(await text).toBe('second')
      const tooLate = connect({ host: second.address, port: second.port })
      resolve(tooLate)
      await once(tooLate, 'close')
      expect(tooLate.destroyed).toBe(true)
    })
  })
})
