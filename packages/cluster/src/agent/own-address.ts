import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { type Environment, sleep } from '@coracle/environment'
import { hostAndPort } from './host-and-port.ts'

const retryMs = 1_000
const connectTimeoutMs = 10_000

/**
 * The address from which this machine reaches a server; where nobody answers there, the one from which it would. Goes on trying for as long
 * as no way leads to it.
 */
export async function ownAddress(server: string, { clock, logger }: Environment, signal: AbortSignal): Promise<string> {
  const { address, port } = hostAndPort(server)
  for (let isTold = false; ; ) {
    try {
      return await attempt(address, port)
    } catch (error) {
      if (!isTold)
        logger.warn('the server cannot be reached, will try again', { server, error: (error as Error).message })
      isTold = true
    }
    const likely = await sourceTowards(address, port)
    if (likely !== undefined) return likely
    await sleep(clock, retryMs, signal, { keepsProcess: true })
  }

  function attempt(host: string, toPort: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: toPort })
      const timer = clock.setTimer(connectTimeoutMs, () => socket.destroy(new Error('it has not answered')))
      socket.once('close', () => timer.cancel())
      socket.once('error', reject)
      socket.once('connect', () => {
        resolve(socket.localAddress ?? '')
        socket.destroy()
      })
    })
  }
}

/** What the system would send from: to connect a socket of datagrams sends nothing. Undefined where no way leads there. */
function sourceTowards(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    const end = (found: string | undefined): void => {
      resolve(found)
      socket.close()
    }
    socket.connect(port, host, (error?: Error) => end(error === undefined ? socket.address().address : undefined))
  })
}
