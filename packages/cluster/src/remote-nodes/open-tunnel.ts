import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Bytes of an answer's first line and headers. */
const headerBytesMax = 16 * 1024

/**
 * Asks on a fresh connection for one that leads on (HTTP CONNECT): `target` is `address:port`. Rejects, with the connection ended, where that is
 * refused, and once the signal is aborted.
 */
export async function openTunnel(
  socket: Duplex,
  target: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Duplex> {
  const leave = () => void socket.destroy(new Error('the request was given up'))
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await new Promise((resolve, reject) => {
      const request = httpRequest({
        method: 'CONNECT',
        path: target,
        headers: { Host: target, ...headers },
        maxHeaderSize: headerBytesMax,
        createConnection: () => socket,
      })
      request.on('error', reject)
      request.once('connect', ({ statusCode: code = 0, statusMessage }: IncomingMessage, _: Duplex, head: Buffer) => {
        if (code !== 200) {
          socket.destroy()
          return reject(new Error(`a connection to ${target} was refused: ${code} ${statusMessage}`))
        }
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      request.end()
    })
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
