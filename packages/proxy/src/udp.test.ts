import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { parseCidr } from '@coracle/api'
import { type Clock, realEnvironment, seededRandom, virtualEnvironment } from '@coracle/environment'
import { afterEach, describe, expect, it } from 'vitest'
import { Balancer } from './balancer.ts'
import type { Backend } from './frontends.ts'
import { Places } from './network.ts'
import { idleMs, listenUdp } from './udp.ts'

const { clock: realClock } = realEnvironment()
const openSockets = (): number => process.getActiveResourcesInfo().filter((each) => each === 'UDPWrap').length

/** A socket that is closed is gone some turns of the event loop later. */
async function atMostOpen(count: number): Promise<void> {
  for (let turn = 0; turn < 1000 && openSockets() > count; turn += 1) {
    await new Promise<void>((resolve) => realClock.defer(resolve))
  }
}

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

async function bound(address = '127.0.0.1'): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.bind(0, address)
  await once(socket, 'listening')
  closers.push(() => socket.close())
  return socket
}

/** A server that says its name, the port it was asked from, and what it was asked. */
async function serve(name: string): Promise<Backend> {
  const socket = await bound()
  socket.on('message', (asked, { port, address }) => socket.send(`${name} ${port} ${asked}`, port, address))
  return { address: '127.0.0.1', port: socket.address().port }
}

async function open(backends: readonly Backend[], clock: Clock, places = new Places()) {
  const probe = createSocket('udp4')
  probe.bind(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  const balancer = new Balancer(clock, seededRandom(1))
  balancer.set(backends, undefined)
  const sockets = new Set<Socket>()
  const listening = await listenUdp({ address: '127.0.0.1', port }, balancer, {
    places,
    clock,
    sockets,
  })
  let isOpen = true
  const close = (): void => {
    if (isOpen) listening.close()
    isOpen = false
  }
  closers.push(close)
  return { port, balancer, sockets, close }
}

async function ask(client: Socket, port: number, question: string): Promise<readonly string[]> {
  client.send(question, port, '127.0.0.1')
  const [answer] = await once(client, 'message')
  return String(answer).split(' ')
}

describe('a UDP frontend', () => {
  it('keeps a client with one backend, and passes its answers back', async () => {
    const { clock } = virtualEnvironment()
    const { port } = await open(await Promise.all(['a', 'b', 'c'].map(serve)), clock)
    const client = await bound()
    const [name, from] = await ask(client, port, 'one')
    for (let turn = 0; turn < 5; turn += 1) expect(await ask(client, port, 'next')).toEqual([name, from, 'next'])
    const [, otherFrom] = await ask(await bound(), port, 'other')
    expect(otherFrom).not.toBe(from)
  })

  it('sends a client elsewhere whose backend is gone', async () => {
    const { clock } = virtualEnvironment()
    const [a, b] = [await serve('a'), await serve('b')]
    const { port, balancer, sockets } = await open([a], clock)
    const client = await bound()
    expect((await ask(client, port, 'x'))[0]).toBe('a')
    balancer.set([b], undefined)
    expect((await ask(client, port, 'x'))[0]).toBe('b')
    expect(sockets.size).toBe(2)
  })

  it('passes nothing on that says that it comes from no port: no answer could be sent there', async () => {
    const { clock } = virtualEnvironment()
    const { port, sockets } = await open([await serve('a')], clock)
    const [socket] = sockets
    socket?.emit('message', Buffer.from('x'), { address: '127.0.0.1', family: 'IPv4', port: 0, size: 1 })
    expect((await ask(await bound(), port, 'y'))[0]).toBe('a')
    expect(sockets.size).toBe(2)
  })

  it('passes on answers of the backend alone', async () => {
    const { clock } = virtualEnvironment()
    const { port } = await open([await serve('a')], clock)
    const client = await bound()
    const [, from = ''] = await ask(client, port, 'x')
    const stranger = await bound()
    await new Promise<void>((resolve) => stranger.send('strange', Number(from), '127.0.0.1', () => resolve()))
    expect((await ask(client, port, 'y'))[2]).toBe('y')
  })

  it('forgets a client that has been silent for a minute', async () => {
    const { clock } = virtualEnvironment()
    const { port, sockets } = await open([await serve('a')], clock)
    const client = await bound()
    const [, from] = await ask(client, port, 'x')
    await clock.advance(idleMs - 15_000)
    expect(sockets.size).toBe(2)
    expect((await ask(client, port, 'x'))[1]).toBe(from)
    await clock.advance(idleMs + 15_000)
    expect(sockets.size).toBe(1)
    expect((await ask(client, port, 'x'))[0]).toBe('a')
  })

  it('drops what comes from more clients than it has places for, and gives places back', async () => {
    const { clock } = virtualEnvironment()
    const places = new Places(3)
    const { port } = await open([await serve('a')], clock, places)
    const [client, other] = [await bound(), await bound()]
    await ask(client, port, 'x')
    // For connections.
    places.take()
    places.take()
    other.send('dropped', port, '127.0.0.1')
    expect((await ask(client, port, 'y'))[2]).toBe('y')
    await clock.advance(idleMs + 15_000)
    expect((await ask(other, port, 'z'))[2]).toBe('z')
  })

  it('leaves places to others: who was still for longest gives way to who is new', async () => {
    const { clock } = virtualEnvironment()
    const { port, sockets } = await open([await serve('a')], clock, new Places(4))
    const [first, second, third] = [await bound(), await bound(), await bound()]
    const [, from] = await ask(first, port, 'x')
    const [, secondFrom] = await ask(second, port, 'x')
    expect((await ask(first, port, 'x'))[1]).toBe(from)
    await ask(third, port, 'x')
    expect(sockets.size).toBe(3)
    expect((await ask(first, port, 'x'))[1]).toBe(from)
    expect((await ask(second, port, 'x'))[1]).not.toBe(secondFrom)
  })

  it('has nobody give way to who may not come', async () => {
    const { clock } = virtualEnvironment()
    const places = new Places(2)
    const { port, balancer } = await open([await serve('a')], clock, places)
    const range = parseCidr('127.0.0.1/32')
    balancer.set([await serve('b')], undefined, range === undefined ? [] : [range])
    const [client, stranger] = [await bound(), await bound('127.0.0.2')]
    const [, from] = await ask(client, port, 'x')
    await new Promise<void>((resolve) => stranger.send('y', port, '127.0.0.1', () => resolve()))
    expect((await ask(client, port, 'z'))[1]).toBe(from)
  })

  it('gives its address and all its sockets back', async () => {
    const { clock } = virtualEnvironment()
    const { port, sockets, close } = await open([await serve('a')], clock)
    await ask(await bound(), port, 'x')
    close()
    expect(sockets.size).toBe(0)
    const again = createSocket('udp4')
    again.bind(port, '127.0.0.1')
    await once(again, 'listening')
    again.close()
  })

  it('says why it cannot listen', async () => {
    const { clock } = virtualEnvironment()
    const taken = await serve('a')
    await atMostOpen(1)
    const listening = listenUdp(taken, new Balancer(clock, seededRandom(1)), {
      places: new Places(),
      clock,
      sockets: new Set(),
    })
    await expect(listening).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await atMostOpen(1)
    expect(openSockets()).toBe(1)
  })
})
