import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import type { Clock } from '@coracle/environment'
import { WorkTurns } from '../work-turns.ts'

/** A client that has not said anything by then goes; the TLS handshake has as long again. */
export const firstBytesTimeoutMs = 32_000

/** Every TLS connection begins with a handshake record. */
const handshakeRecord = 0x16

const refusal = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/**
 * Tells those who speak plain HTTP to a server of TLS what is wrong, in upstream's words, instead of closing on them without one.
 * Node's server has closed the connection by the time it could be told, so that the first bytes are looked at before it gets them.
 *
 * A handshake takes a millisecond or two. Of many that begin at one time some wait, the oldest longest: who came just now
 * is there to see it through, and a flood of connections does not keep out the next one.
 */
export function refusePlainHttp(server: Server, clock: Clock): void {
  const handshakes = new WorkTurns(clock, { newestFirst: true })
  const accept = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const leave = () => socket.destroy()
    const timer = clock.setTimer(firstBytesTimeoutMs, leave)
    const give = () => {
      const first = socket.read() as Buffer | null
      if (first === null) return
      socket.off('readable', give).off('end', leave)
      if (isPlainHttp(first)) {
        // What else it says must be read: a connection that is closed over unread bytes is reset, and the answer lost.
        socket.resume().end(refusal, leave)
        return
      }
      const begin = () => {
        if (socket.destroyed) return
        timer.cancel()
        socket.off('error', ignore).off('close', stopWaiting).unshift(first)
        for (const listener of accept) listener.call(server, socket)
      }
      const wait = handshakes.take(true)
      if (wait === undefined) begin()
      else void wait.then(begin)
    }
    const stopWaiting = () => timer.cancel()
    socket.on('readable', give).on('error', ignore).on('end', leave).on('close', stopWaiting)
  })
}

/** A method's capital letters. */
const isPlainHttp = (bytes: Buffer): boolean => {
  const first = bytes[0] ?? handshakeRecord
  return first !== handshakeRecord && first >= 0x41 && first <= 0x5a
}

const ignore = (): void => {}
