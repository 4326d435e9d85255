import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { tcpBytesMax } from '../wire/numbers.ts'

/** Sends a question to another server, and gives what comes back to `take`, until that says that it is what it waited for. */
export interface Exchange {
  /** Over UDP, from a port of its own. Rejects with the system's error, or the signal's reason. */
  udp(server: Server, question: Buffer, take: (message: Buffer) => boolean, signal: AbortSignal): Promise<void>
  /** Over TCP. Rejects too where the server ends the connection. */
  tcp(server: Server, question: Buffer, take: (message: Buffer) => boolean, signal: AbortSignal): Promise<void>
}

export interface Server {
  readonly address: string
  readonly port: number
}

/** The sockets of this host. */
export const hostExchange: Exchange = {
  udp({ address, port }, question, take, signal) {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    return new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      socket.on('error', reject)
      // What is connected hears of a port that nobody listens at, and takes nothing from others.
      socket.connect(port, address, (error?: Error) => (error ? reject(error) : socket.send(question)))
      socket.on('message', (message) => {
        if (take(message)) resolve()
      })
    }).finally(() => socket.close())
  },
  tcp({ address, port }, question, take, signal) {
    const socket = connect({ host: address, port, noDelay: true })
    let received = Buffer.alloc(0)
    return new Promise<void>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the connection has ended')))
      socket.on('connect', () => socket.write(framed(question)))
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes])
        while (received.length >= 2) {
          const end = 2 + received.readUInt16BE(0)
          if (received.length < end) return
          if (take(received.subarray(2, end))) return resolve()
          received = received.subarray(end)
        }
      })
    }).finally(() => socket.destroy())
  },
}

/** A message with its length before it, as it goes over TCP. */
export function framed(message: Buffer): Buffer {
  if (message.length > tcpBytesMax) throw new RangeError('a message is too long')
  const out = Buffer.allocUnsafe(2 + message.length)
  out.writeUInt16BE(message.length, 0)
  message.copy(out, 2)
  return out
}
