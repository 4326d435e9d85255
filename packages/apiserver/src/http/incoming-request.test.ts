import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { realClock, virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { WorkTurns } from '../work-turns.ts'
import { BodyReader } from './body/body-reader.ts'
import { IncomingRequest } from './incoming-request.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server of such requests and a client with one connection to it. */
async function start(handler: Handler) {
  const bodies = new BodyReader(new WorkTurns(virtualEnvironment().clock))
  const server = createServer({ IncomingMessage: IncomingRequest }, handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  /** Begins a request whose body `end` ends. */
  const begin = (method = 'POST', headers: Readonly<Record<string, string>> = {}) =>
    request({ host: '127.0.0.1', port, agent, method, headers })
  return {
    bodies,
    server,
    begin,
    /** The answer to a request with this body. */
    async ask(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
      const sent = begin(body === '' ? 'GET' : 'POST', headers).end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return text(answer)
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.close().closeAllConnections()
      await once(server, 'close')
    },
  }
}

const large = 'x'.repeat(200_000)

it.each([
  ['at once', (read: () => void) => read()],
  ['once it has come', (read: () => void) => realClock.defer(() => realClock.defer(read))],
])('gives the body to whoever reads it %s', async (_, later) => {
  await using at = await start((request, response) =>
    later(() => void at.bodies.read(request).then((body) => response.end(`${body}.`))),
  )
  for (const body of ['', 'one', large, '', 'two']) expect(await at.ask(body)).toBe(`${body}.`)
  expect(await at.ask('in pieces', { 'Transfer-Encoding': 'chunked' })).toBe('in pieces.')
  expect(at.bodies.heldBytes).toBe(0)
})

it('is a stream to whoever takes it for one', async () => {
  await using at = await start((request, response) => void request.pipe(response))
  for (const body of ['', 'one', large, '']) expect(await at.ask(body)).toBe(body)
})

it('ends the stream that somebody reads already when its body turns out to be empty', async () => {
  const requests: IncomingMessage[] = []
  await using at = await start((request, response) => {
    requests.push(request)
    request.pipe(response)
  })
  const sent = at.begin('POST', { 'Transfer-Encoding': 'chunked' })
  sent.flushHeaders()
  await expect.poll(() => requests[0]?.readableFlowing).toBe(true)
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  expect(await text(answer)).toBe('')
})

it('holds up no other request where nobody reads its body', async () => {
  await using at = await start((_, response) => response.end('unread'))
  const connections: unknown[] = []
  at.server.on('connection', (socket) => connections.push(socket))
  for (const body of ['', 'one', large, '', 'two']) expect(await at.ask(body)).toBe('unread')
  expect(connections).toHaveLength(1)
})

/** When a body is read: at once, or when some of it is in the stream already. */
const whenRead: readonly [string, (request: IncomingMessage, read: () => void) => void][] = [
  ['at once', (_, read) => read()],
  [
    'when some of it has come',
    async (request, read) => {
      while (request.readableLength === 0) await new Promise<void>((resolve) => realClock.defer(resolve))
      read()
    },
  ],
]

it.each(whenRead)('says that its client has gone before the end of a body that is read %s', async (_, later) => {
  const failures: unknown[] = []
  await using at = await start((request) =>
    later(request, () => void at.bodies.read(request).catch((error) => failures.push(error))),
  )
  const sent = at.begin()
  sent.on('error', () => {}).write('begun')
  await expect.poll(() => at.bodies.heldBytes).toBe(5)
  sent.destroy()
  await expect.poll(() => failures).toEqual([expect.objectContaining({ name: 'ClientGoneError' })])
  expect(at.bodies.heldBytes).toBe(0)
})

it.each(whenRead)('keeps nothing of a body that is read %s and whose request has its answer', async (_, later) => {
  const failures: unknown[] = []
  const responses: ServerResponse[] = []
  await using at = await start((request, response) => {
    responses.push(response)
    if (responses.length > 1) return
    later(request, () => at.bodies.read(request).catch((error) => failures.push(error)))
  })
  const sent = at.begin()
  sent.write('begun')
  await expect.poll(() => at.bodies.heldBytes).toBe(5)
  responses[0]?.end('too late')
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  expect(await text(answer)).toBe('too late')
  expect(failures).toEqual([expect.objectContaining({ name: 'ClientGoneError' })])
  expect(at.bodies.heldBytes).toBe(0)
  sent.end('and ended')
  const next = at.ask('')
  await expect.poll(() => responses.length).toBe(2)
  responses[1]?.end('next')
  expect(await next).toBe('next')
})
