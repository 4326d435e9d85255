import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket as TcpSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endpointSlices, forbidden, namespaces, services } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type Environment, realEnvironment, VirtualClock, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClusterDns, createClusterDns } from './cluster-dns.ts'
import { type Exchange, framed, hostExchange } from './forward/exchange.ts'
import { connectionsMax, idleMs, listenTcp, questionBytesMax, questionsMax } from './server/listen-tcp.ts'
import type { Respond } from './server/responder.ts'
import { answerTo, query, read } from './testing/messages.ts'
import { headless, makeNamespace, makeService, makeSlice } from './testing/objects.ts'

// Over real sockets, asked by Node's resolver.

let environment: Environment
let client: FakeClient
let directory: string
let dns: ClusterDns
let resolver: Resolver
let port: number
const closers: (() => void)[] = []

/** The server that the host asks, on a port of its own. */
let elsewhere: Socket
let elsewhereTcpPort = 0
let elsewhereAnswers: (question: Buffer) => Buffer | undefined

/** Asks whom it is told at the port that this test listens on. */
const toElsewhere: Exchange = {
  udp: (server, ...rest) => hostExchange.udp({ ...server, port: elsewhere.address().port }, ...rest),
  tcp: (server, ...rest) => hostExchange.tcp({ ...server, port: elsewhereTcpPort }, ...rest),
}

beforeEach(async () => {
  environment = realEnvironment()
  client = createFakeClient(environment)
  directory = mkdtempSync(join(tmpdir(), 'coracle-'))
  const resolvConf = join(directory, 'resolv.conf')
  writeFileSync(resolvConf, 'nameserver 127.0.0.1\n')
  elsewhereAnswers = (question) => answerTo(question, { addresses: ['203.0.113.1'] })
  elsewhere = createSocket('udp4')
  elsewhere.on('message', (question, from) => {
    const answer = elsewhereAnswers(question)
    if (answer !== undefined) elsewhere.send(answer, from.port, from.address)
  })
  elsewhere.bind(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  dns = createClusterDns({ client, environment, domain: 'cluster.local', resolvConf, exchange: toElsewhere })
  await client.create(namespaces, makeNamespace('shop'))
  await client.create(services, makeService())
  await client.create(services, makeService('db', headless))
  await client.create(
    services,
    makeService('out', { type: 'ExternalName', externalName: 'www.example', clusterIP: '' }),
  )
  await client.create(
    endpointSlices,
    makeSlice(
      'db',
      Array.from({ length: 200 }, (_, index) => ({ addresses: [`10.1.0.${index}`], hostname: `db-${index}` })),
    ),
  )
  // Another address of loopback than what it asks.
  const { port: udpPort } = await dns.listen('UDP', { address: '127.0.0.2', port: 0 })
  port = udpPort
  await dns.listen('TCP', { address: '127.0.0.2', port })
  resolver = new Resolver({ timeout: 5000, tries: 1 })
  resolver.setServers([`127.0.0.2:${port}`])
})

afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await dns.close()
  elsewhere.close()
  rmSync(directory, { recursive: true })
})

describe('a resolver', () => {
  it('finds services, their ports and their names', async () => {
    expect(await resolver.resolve4('web.shop.svc.cluster.local', { ttl: true })).toEqual([
      { address: '10.96.0.7', ttl: 30 },
    ])
    expect(await resolver.resolveSrv('_http._tcp.web.shop.svc.cluster.local')).toMatchObject([
      { name: 'web.shop.svc.cluster.local', port: 80, priority: 0, weight: 100 },
    ])
    expect(await resolver.reverse('10.96.0.7')).toEqual(['web.shop.svc.cluster.local'])
    expect(await resolver.resolveTxt('dns-version.cluster.local')).toEqual([['1.1.0']])
    expect(await resolver.resolveSoa('cluster.local')).toMatchObject({
      nsname: 'ns.dns.cluster.local',
      hostmaster: 'hostmaster.cluster.local',
      minttl: 30,
    })
  })

  it('learns that there is none, or nothing of that kind', async () => {
    await expect(resolver.resolve4('gone.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolver.resolve6('web.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ENODATA' })
  })

  it('finds all endpoints, over TCP where they are many', async () => {
    const found = await resolver.resolve4('db.shop.svc.cluster.local')
    expect(new Set(found).size).toBe(200)
    expect(await resolver.resolve4('db-7.db.shop.svc.cluster.local')).toEqual(['10.1.0.7'])
  })

  it('finds names of others, and services that are such', async () => {
    expect(await resolver.resolve4('example.com')).toEqual(['203.0.113.1'])
    expect(await resolver.resolve4('out.shop.svc.cluster.local')).toEqual(['203.0.113.1'])
    expect(await resolver.resolveCname('out.shop.svc.cluster.local')).toEqual(['www.example'])
  })

  it('learns that those have failed who know names of others', async () => {
    elsewhereAnswers = (question) => answerTo(question, { rcode: 2 })
    await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    await expect(resolver.resolve4('out.shop.svc.cluster.local')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })

  it('gets a long answer of others over TCP', async () => {
    const addresses = Array.from({ length: 300 }, (_, index) => `203.0.${index >> 7}.${index & 127}`)
    elsewhereAnswers = (question) => answerTo(question, { head: 0x0200 })
    const server = createServer((socket) =>
      socket.once('data', (bytes) => socket.end(framed(answerTo(bytes.subarray(2), { addresses })))),
    )
    server.listen(0, '127.0.0.1')
    closers.push(() => server.close())
    await once(server, 'listening')
    elsewhereTcpPort = (server.address() as AddressInfo).port
    expect(await resolver.resolve4('example.com')).toHaveLength(300)
  })

  it('gets endpoints in another order each time', async () => {
    const firsts = new Set<string | undefined>()
    for (let turn = 0; turn < 20; turn += 1) firsts.add((await resolver.resolve4('db.shop.svc.cluster.local'))[0])
    expect(firsts.size).toBeGreaterThan(5)
  })
})

/** What comes back over UDP; only one answer is waited for. */
async function exchanged(...messages: readonly Buffer[]): Promise<Buffer> {
  const socket = createSocket('udp4')
  try {
    for (const message of messages) socket.send(message, port, '127.0.0.2')
    const [answer] = await once(socket, 'message')
    return answer
  } finally {
    socket.close()
  }
}

describe('who asks otherwise', () => {
  it.each([
    ['for a whole zone', query('cluster.local', 'AXFR'), 5],
    ['for the names of another network', query('cluster.local', 'A', { class: 3 }), 5],
    ['to change something', query('cluster.local', 'SOA', { head: 0x2800 }), 4],
    ['what cannot be read', query('cluster.local').subarray(0, 20), 1],
    ['for everything', query('web.shop.svc.cluster.local', 255), 0],
  ])('%s', async (_, message, rcode) => {
    const answer = read(await exchanged(message))
    expect(answer).toMatchObject({ id: 4711, rcode, answers: [] })
  })

  it('hears nothing where that is an answer or nothing', async () => {
    const messages = [Buffer.alloc(3), query('web.shop.svc.cluster.local', 'A', { id: 1, head: 0x8000 })]
    const answer = await exchanged(...messages, query('web.shop.svc.cluster.local', 'A', { id: 2 }))
    expect(read(answer).id).toBe(2)
  })

  it('gets no more bytes than it takes, and no more than a frame takes', async () => {
    for (const [udpBytes, bytesMax] of [
      [undefined, 512],
      [100, 512],
      [800, 800],
      [65_535, 1232],
    ] as const) {
      const message = query('db.shop.svc.cluster.local', 'A', udpBytes === undefined ? {} : { udpBytes })
      const answer = await exchanged(message)
      expect(answer.length).toBeLessThanOrEqual(bytesMax)
      expect(answer.length).toBeGreaterThan(bytesMax - 32)
      expect(read(answer).isTruncated).toBe(true)
    }
  })
})

describe('who may not see namespaces', () => {
  it('answers all the same, after a while', async () => {
    const virtual = virtualEnvironment()
    const limited: FakeClient = Object.create(client, {
      list: {
        value: (...args: Parameters<FakeClient['list']>) =>
          args[0].plural === 'namespaces' ? Promise.reject(forbidden(args[0], '', 'no')) : client.list(...args),
      },
    })
    const own = createClusterDns({ client: limited, environment: virtual, domain: 'cluster.local', resolvConf: '' })
    closers.push(() => void own.close())
    const listening = own.listen('UDP', { address: '127.0.0.2', port: 0 })
    await virtual.clock.advance('5s')
    const asking = new Resolver({ timeout: 5000, tries: 1 })
    asking.setServers([`127.0.0.2:${(await listening).port}`])
    expect(await asking.resolve4('web.shop.svc.cluster.local')).toEqual(['10.96.0.7'])
  })
})

describe('a server that asks itself', () => {
  it('does not', async () => {
    writeFileSync(join(directory, 'resolv.conf'), 'nameserver 127.0.0.2\n')
    let asked = 0
    const count = async (): Promise<void> => {
      asked += 1
    }
    const own = createClusterDns({
      client,
      environment,
      domain: 'cluster.local',
      resolvConf: join(directory, 'resolv.conf'),
      exchange: { udp: count, tcp: count },
    })
    const { port: ownPort } = await own.listen('UDP', { address: '127.0.0.2', port: 0 })
    closers.push(() => void own.close())
    const asking = new Resolver({ timeout: 5000, tries: 1 })
    asking.setServers([`127.0.0.2:${ownPort}`])
    await expect(asking.resolve4('example.com')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    expect(asked).toBe(0)
  })
})

describe('connections', () => {
  const open = async (respond: Respond, clock = environment.clock) => {
    const listening = await listenTcp({ address: '127.0.0.2', port: 0 }, respond, clock)
    closers.push(() => listening.close())
    return async (): Promise<TcpSocket> => {
      const socket = connect(listening.port, '127.0.0.2')
      socket.on('error', () => {})
      closers.push(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }
  }
  const closed = (socket: TcpSocket) => once(socket, 'close')

  it('carry several questions, and answers as soon as there are such', async () => {
    const later = Promise.withResolvers<Buffer>()
    const dial = await open((message) => (message[0] === 1 ? later.promise : Buffer.from([message[0] ?? 0])))
    const socket = await dial()
    socket.write(Buffer.concat([1, 2, 3].map((each) => framed(Buffer.from([each])))))
    const received: Buffer[] = []
    socket.on('data', (bytes) => {
      received.push(bytes)
      if (Buffer.concat(received).length === 6) later.resolve(Buffer.from([1]))
      if (Buffer.concat(received).length === 9) socket.end()
    })
    await closed(socket)
    expect([...Buffer.concat(received)]).toEqual([0, 1, 2, 0, 1, 3, 0, 1, 1])
  })

  it('end where a question is longer than questions are', async () => {
    const socket = await (await open(() => undefined))()
    const head = Buffer.alloc(2)
    head.writeUInt16BE(questionBytesMax + 1)
    socket.write(head)
    await closed(socket)
  })

  it('have so many questions under way, and no more are read', async () => {
    const answers: ((answer: Buffer) => void)[] = []
    const dial = await open(() => new Promise<Buffer>((resolve) => answers.push(resolve)))
    const socket = await dial()
    socket.write(Buffer.concat(Array.from({ length: questionsMax + 5 }, () => framed(Buffer.from([1])))))
    await expect.poll(() => answers.length).toBe(questionsMax)
    answers[0]?.(Buffer.from([1]))
    await expect.poll(() => answers.length).toBe(questionsMax + 1)
  })

  it('end that say nothing', async () => {
    const clock = new VirtualClock()
    const socket = await (await open(() => undefined, clock))()
    socket.resume()
    // The server has it when it has answered another.
    await clock.advance(`${idleMs}ms`)
    await expect
      .poll(async () => {
        await clock.advance(`${idleMs}ms`)
        return socket.destroyed
      })
      .toBe(true)
  })

  it('are so many', async () => {
    const dial = await open((message) => message)
    const all = await Promise.all(Array.from({ length: connectionsMax }, dial))
    const last = all.at(-1) as TcpSocket
    last.write(framed(Buffer.from([1])))
    await once(last, 'data')
    const more = await dial()
    more.resume()
    await closed(more)
  })

  it('with the server end all', async () => {
    const socket = connect(port, '127.0.0.2')
    await once(socket, 'connect')
    socket.write(framed(query('web.shop.svc.cluster.local')))
    const [bytes] = await once(socket, 'data')
    expect(read((bytes as Buffer).subarray(2)).addresses).toEqual(['10.96.0.7'])
    const end = closed(socket)
    await dns.close()
    await end
  })
})
