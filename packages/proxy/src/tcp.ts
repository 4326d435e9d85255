import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { isLoopback } from '@coracle/api'
import { type Clock, keptAlive } from '@coracle/environment'
import type { Balancer } from './balancer.ts'
import type { Backend, Frontend, Listening } from './frontends.ts'
import type { ConnectThroughNode, Places } from './network.ts'

/** How long a backend may take to accept a connection before another one is tried. */
export const connectTimeoutMs = 3000
/** The same for one of another machine: its node has to be found and to prove what it is, and dials the pod in its turn. */
export const connectThroughNodeTimeoutMs = 5000

/** What connections of one proxy share. */
export interface TcpConnections {
  readonly places: Places
  readonly clock: Clock
  /** Those under way, of clients and to backends. */
  readonly sockets: Set<Duplex>
  /** The way to backends of other machines; without it they accept nothing. */
  readonly throughNode?: ConnectThroughNode
}

/** Listens on an address and port, and carries each connection to a backend that accepts it. Rejects with the system's error. */
export async function listenTcp(
  { address, port }: Pick<Frontend, 'address' | 'port'>,
  balancer: Balancer,
  connections: TcpConnections,
): Promise<Listening> {
  // A client is not read from before there is somebody to write to.
  const server = createServer(
    { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, ...keptAlive },
    (client) => void carry(client, balancer, connections),
  )
  server.listen({ host: address, port, exclusive: true })
  await once(server, 'listening')
  // An error later is that of a connection that could not be taken, for want of descriptors: its client is refused.
  server.on('error', () => {})
  // The address is free at once; what `close` itself waits for are the connections, which go on.
  return { close: () => void server.close() }
}

async function carry(client: Socket, balancer: Balancer, connections: TcpConnections): Promise<void> {
  const { places, sockets } = connections
  if (!places.take()) {
    client.resetAndDestroy()
    return
  }
  sockets.add(client)
  client.once('close', () => {
    places.giveBack()
    sockets.delete(client)
  })
  // It may go before there is anybody to tell.
  client.on('error', () => {})
  const from = client.remoteAddress ?? ''
  for (const backend of balancer.order(from)) {
    const server = await connected(backend, connections)
    if (client.destroyed) {
      server?.destroy()
      return
    }
    if (server === undefined) continue
    balancer.visited(from, backend)
    sockets.add(server)
    server.once('close', () => sockets.delete(server))
    join(client, server)
    return
  }
  client.resetAndDestroy()
}

/** A connection to a backend; undefined where it does not accept one in time. */
function connected(backend: Backend, { clock, throughNode }: TcpConnections): Promise<Duplex | undefined> {
  if (backend.throughNode === undefined) return dialled(backend, clock)
  return connectedThrough(backend.throughNode, backend, throughNode, clock)
}

async function connectedThrough(
  nodeName: string,
  backend: Backend,
  throughNode: ConnectThroughNode | undefined,
  clock: Clock,
): Promise<Duplex | undefined> {
  const tooLate = new AbortController()
  const timer = clock.setTimer(connectThroughNodeTimeoutMs, () => tooLate.abort(new Error('i/o timeout')))
  const late = new Promise<'failed'>((resolve) => {
    tooLate.signal.addEventListener('abort', () => resolve('failed'), { once: true })
  })
  const connecting = (throughNode?.(nodeName, backend, tooLate.signal) ?? Promise.reject(new Error('no way'))).catch(
    () => 'failed' as const,
  )
  const socket = await Promise.race([connecting, late])
  timer.cancel()
  if (socket === 'failed') {
    // One that comes when nobody waits any longer.
    void connecting.then((unused) => unused instanceof Duplex && unused.destroy())
    return undefined
  }
  // Loopback of another machine is not reached from here.
  if (socket === undefined) return isLoopback(backend.address) ? undefined : dialled(backend, clock)
  socket.on('error', () => {})
  return socket
}

function dialled({ address, port }: Backend, clock: Clock): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, ...keptAlive })
    const fail = () => {
      timer.cancel()
      socket.destroy()
      resolve(undefined)
    }
    const timer = clock.setTimer(connectTimeoutMs, fail)
    socket.on('error', fail)
    socket.once('connect', () => {
      timer.cancel()
      socket.off('error', fail)
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}

/** Carries bytes both ways, an end of one way as an end of that way, and a reset as a reset where the connection is this host's. */
function join(client: Socket, server: Duplex): void {
  client.pipe(server)
  server.pipe(client)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.once('close', () => {
      if (one.errored !== null) reset(other)
      // What ended in good order has been passed on, and is flushed; what was destroyed has nothing more to say.
      else if (!one.readableEnded) other.destroy()
    })
  }
}

/** There is none over TLS, where a connection ends without the end that TLS has of its own. */
function reset(stream: Duplex): void {
  if (stream instanceof Socket && !('encrypted' in stream)) stream.resetAndDestroy()
  else stream.destroy()
}
