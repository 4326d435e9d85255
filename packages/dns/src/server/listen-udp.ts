import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Listening, ListensAt } from './listening.ts'
import type { Respond } from './responder.ts'

/** Answers datagrams. What cannot be sent is lost, as datagrams are: whoever asked asks again. Rejects with the system's error. */
export async function listenUdp({ address, port }: ListensAt, respond: Respond): Promise<Listening> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const end = answerDatagrams(socket, respond)
  try {
    socket.bind({ address, port, exclusive: true })
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  socket.on('error', () => {})
  return {
    port: socket.address().port,
    close() {
      end()
      socket.close()
    },
  }
}

/** Answers what comes to a socket, until the returned function is called. */
export function answerDatagrams(socket: Socket, respond: Respond): () => void {
  let isOpen = true
  socket.on('message', (message, from) => {
    // Who says that it has no port cannot be answered: nothing can be sent there, and nobody asks from there but to see what happens.
    if (from.port === 0) return
    const send = (answer: Buffer | undefined): void => {
      if (answer !== undefined && isOpen) socket.send(answer, from.port, from.address, () => {})
    }
    const answer = respond(message, 'udp')
    if (answer instanceof Promise) void answer.then(send)
    else send(answer)
  })
  return () => {
    isOpen = false
  }
}
