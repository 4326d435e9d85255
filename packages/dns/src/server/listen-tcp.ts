import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Clock, Timer } from '@coracle/environment'
import { framed } from '../forward/exchange.ts'
import type { Listening, ListensAt } from './listening.ts'
import type { Respond } from './responder.ts'

/** Connections at a time. Resolvers come this way with what was too long for a datagram. */
export const connectionsMax = 200
/** One that says nothing for so long, or takes nothing, is ended. */
export const idleMs = 10_000
/** Questions of one connection under way; it is not read from until some are answered. */
export const questionsMax = 32
/** No question is longer: a name, and what EDNS says. */
export const questionBytesMax = 4096

/** Answers over TCP, each question as soon as it can be (RFC 7766). Rejects with the system's error. */
export async function listenTcp({ address, port }: ListensAt, respond: Respond, clock: Clock): Promise<Listening> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    converse(socket, respond, clock)
  })
  server.maxConnections = connectionsMax
  server.listen({ host: address, port, exclusive: true })
  await once(server, 'listening')
  server.on('error', () => {})
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function converse(socket: Socket, respond: Respond, clock: Clock): void {
  let received: Buffer = Buffer.alloc(0)
  let underWay = 0
  let isFull = false
  let timer: Timer = clock.setTimer(idleMs, () => socket.destroy())
  const alive = (): void => {
    timer.cancel()
    timer = clock.setTimer(idleMs, () => socket.destroy())
  }
  const answered = (answer: Buffer | undefined): void => {
    underWay -= 1
    if (socket.destroyed) return
    if (answer !== undefined && !socket.write(framed(answer))) isFull = true
    read()
  }
  const read = (): void => {
    while (!isFull && underWay < questionsMax && received.length >= 2) {
      const length = received.readUInt16BE(0)
      if (length > questionBytesMax) return void socket.destroy()
      if (received.length < 2 + length) break
      const message = received.subarray(2, 2 + length)
      received = received.subarray(2 + length)
      underWay += 1
      alive()
      const answer = respond(message, 'tcp')
      if (answer instanceof Promise) void answer.then(answered)
      else {
        underWay -= 1
        if (answer !== undefined && !socket.write(framed(answer))) isFull = true
      }
    }
    if (isFull || underWay >= questionsMax) socket.pause()
    else socket.resume()
  }
  socket.on('error', () => {})
  socket.once('close', () => timer.cancel())
  socket.on('drain', () => {
    isFull = false
    alive()
    read()
  })
  socket.on('data', (bytes) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes])
    read()
  })
}
