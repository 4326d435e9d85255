import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Clock } from '@coracle/environment'
import type { Balancer } from './balancer.ts'
import type { Backend, Frontend, Listening } from './frontends.ts'
import type { Places } from './network.ts'

/** A client that has sent nothing for so long, and got nothing, is forgotten: its next datagram may go to another backend. */
export const idleMs = 60_000
/** How often it is looked for those. */
const lookMs = 15_000

interface Session {
  readonly backend: Backend
  readonly socket: Socket
  /** On the monotonic clock. */
  lastMs: number
}

/**
 * Listens for datagrams, and passes those of each client on to one backend, from a socket of the client's own, over which the
 * answers come. A backend that is there no longer is replaced at the client's next datagram. Rejects with the system's error.
 */
export async function listenUdp(
  { address, port }: Pick<Frontend, 'address' | 'port'>,
  balancer: Balancer,
  { places, clock, sockets }: { readonly places: Places; readonly clock: Clock; readonly sockets: Set<Socket> },
): Promise<Listening> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.bind({ address, port, exclusive: true })
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  sockets.add(socket)
  // What could not be sent is lost, as datagrams are.
  socket.on('error', () => {})
  const sessions = new Map<string, Session>()
  const end = (client: string, session: Session): void => {
    sessions.delete(client)
    sockets.delete(session.socket)
    session.socket.close()
    places.giveBack()
  }
  const begin = (client: string, from: { readonly address: string; readonly port: number }): Session | undefined => {
    const [backend] = balancer.order(from.address)
    // Who may not come takes nobody's place.
    if (backend === undefined) return undefined
    // Lookups of names are a client each: half of the places are left to others, and who was still for longest gives way.
    const [stillest] = sessions
    if (stillest !== undefined && sessions.size >= places.max / 2) end(...stillest)
    if (!places.take()) return undefined
    balancer.visited(from.address, backend)
    const own = createSocket(isIPv6(backend.address) ? 'udp6' : 'udp4')
    const session = { backend, socket: own, lastMs: clock.monotonicMs() }
    own.on('error', () => {})
    own.on('message', (answer, { address: sender, port: senderPort }) => {
      if (sender !== backend.address || senderPort !== backend.port) return
      session.lastMs = clock.monotonicMs()
      socket.send(answer, from.port, from.address)
    })
    sockets.add(own)
    sessions.set(client, session)
    return session
  }
  socket.on('message', (datagram, from) => {
    // Nothing can be sent there.
    if (from.port === 0) return
    const client = `${from.address} ${from.port}`
    let session = sessions.get(client)
    if (session !== undefined && !balancer.has(session.backend)) {
      end(client, session)
      session = undefined
    }
    session ??= begin(client, from)
    if (session === undefined) return
    sessions.delete(client)
    sessions.set(client, session)
    session.lastMs = clock.monotonicMs()
    session.socket.send(datagram, session.backend.port, session.backend.address)
  })
  const look = (): void => {
    const oldest = clock.monotonicMs() - idleMs
    for (const [client, session] of sessions) if (session.lastMs <= oldest) end(client, session)
    timer = clock.setTimer(lookMs, look, { housekeeping: true })
  }
  let timer = clock.setTimer(lookMs, look, { housekeeping: true })
  return {
    close() {
      timer.cancel()
      for (const [client, session] of sessions) end(client, session)
      sockets.delete(socket)
      socket.close()
    },
  }
}
