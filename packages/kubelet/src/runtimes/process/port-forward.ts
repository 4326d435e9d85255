import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Connects a stream to a port. Resolves when the connection has ended, and rejects, in Go's words, where nothing listens there
 * or the connection breaks. The stream may end its side before; once the port's side has ended nothing more is sent to it.
 */
export function forwardPort(host: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    if (stream.destroyed) return resolve()
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
    const leave = () => socket.destroy()
    let isConnected = false
    let failure: Error | undefined
    signal.addEventListener('abort', leave, { once: true })
    stream.once('close', leave)
    socket.once('connect', () => {
      isConnected = true
      stream.pipe(socket)
      if (stream.readableEnded) socket.end()
      socket.pipe(stream)
    })
    socket.once('end', () => {
      stream.unpipe(socket)
      // What is on its way to the client goes there.
      if (stream.destroyed || stream.writableFinished) leave()
      else stream.once('finish', leave)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      failure = isConnected ? error : new Error(`dial tcp ${host}:${port}: connect: ${reasonOf(error)}`)
    })
    socket.once('close', () => {
      signal.removeEventListener('abort', leave)
      stream.off('close', leave)
      stream.unpipe(socket)
      if (failure === undefined) resolve()
      else reject(failure)
    })
  })
}

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ECONNREFUSED' ? 'connection refused' : message
