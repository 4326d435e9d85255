import { connect } from 'node:net'
import { type Environment, sleep } from '@coracle/environment'
import { hostAndPort } from './host-and-port.ts'

const retryMs = 1_000
const connectTimeoutMs = 10_000

/** The address from which this machine reaches a server. Goes on trying for as long as the server is not to be reached. */
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
