import { type AddressInfo, createServer, isIPv4, isIPv6, type Server, type Socket } from 'node:net'
import { openPortForward, type PortForward, UpgradeError } from '@coracle/client/streaming'
import { CliError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { findPod, type PodWait } from '../resources/find-pod.ts'
import { type ConnectionFlags, withSession } from '../session.ts'
import { podKey } from './exec.ts'
import { type ForwardedPort, parsePort, translatePorts } from './forwarded-ports.ts'

export interface PortForwardFlags extends ConnectionFlags, PodWait {
  /** Absent: localhost. */
  readonly address?: readonly string[]
}

/** `coracle port-forward POD PORT…`, `coracle port-forward TYPE/NAME LOCAL:REMOTE…` */
export async function portForward(host: Host, args: readonly string[], flags: PortForwardFlags): Promise<void> {
  const [target, ...texts] = args
  if (target === undefined || texts.length === 0) {
    throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
  }
  await withSession(host, flags, async (session) => {
    const { pod, owner } = await findPod(host, session, target, flags)
    const translated = translatePorts(texts, owner, pod)
    const phase = pod.status?.phase ?? 'Pending'
    if (phase !== 'Running')
      throw new CliError(`unable to forward port because pod is not running. Current status=${phase}`)
    const addresses = addressesOf(flags.address ?? ['localhost'])
    const ports = translated.map(parsePort)
    const way = await openPortForward(session.client, host.environment.clock, podKey(session, pod)).catch(
      (error: unknown) => {
        if (!(error instanceof UpgradeError)) throw error
        throw new CliError(`error upgrading connection: ${error.message}`)
      },
    )
    const listeners = new Listeners(host, way)
    const interrupted = Promise.withResolvers<'interrupted'>()
    const stopInterrupts = host.onInterrupt(() => interrupted.resolve('interrupted'))
    try {
      await listeners.listen(ports, addresses)
      const end = await Promise.race([interrupted.promise, way.closed.then(() => 'lost' as const)])
      if (end === 'lost') throw new CliError('lost connection to pod')
    } finally {
      stopInterrupts()
      listeners.close()
      way.close()
    }
  })
}

interface ListenAddress {
  readonly address: string
  /** It is enough where one of those that are optional can be had. */
  readonly isOptional: boolean
}

function addressesOf(names: readonly string[]): readonly ListenAddress[] {
  if (names.length === 0) throw new CliError('you must specify at least 1 address')
  return names.flatMap((name): readonly ListenAddress[] => {
    if (name === 'localhost') return ['127.0.0.1', '::1'].map((address) => ({ address, isOptional: true }))
    if (!isIPv4(name) && !isIPv6(name)) throw new CliError(`${name} is not a valid IP`)
    return [{ address: name, isOptional: false }]
  })
}

/** The local ports of one run of the command. */
class Listeners {
  readonly #host: Host
  readonly #way: PortForward
  readonly #servers: Server[] = []
  readonly #sockets = new Set<Socket>()

  constructor(host: Host, way: PortForward) {
    this.#host = host
    this.#way = way
  }

  /** Listens on all ports. What cannot be is told; rejects where no port is left. */
  async listen(ports: readonly ForwardedPort[], addresses: readonly ListenAddress[]): Promise<void> {
    let listening = 0
    for (const port of ports) {
      const problem = await this.#listenOn(port, addresses)
      if (problem === undefined) listening += 1
      else this.#host.stderr.write(`Unable to listen on port ${port.local}: ${problem}\n`)
    }
    if (listening > 0) return
    const listed = ports.map(({ local, remote }) => `{${local} ${remote}}`).join(' ')
    throw new CliError(`unable to listen on any of the requested ports: [${listed}]`)
  }

  close(): void {
    for (const server of this.#servers) server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Undefined, or why the port cannot be had. */
  async #listenOn({ local, remote }: ForwardedPort, addresses: readonly ListenAddress[]): Promise<string | undefined> {
    let port = local
    const problems: string[] = []
    let optional = 0
    for (const { address, isOptional } of addresses) {
      try {
        port = await this.#serve(address, port, remote)
        const shown = address.includes(':') ? `[${address}]` : address
        this.#host.stdout.write(`Forwarding from ${shown}:${port} -> ${remote}\n`)
        if (isOptional) optional += 1
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        const why = code === 'EADDRINUSE' ? 'bind: address already in use' : message
        problems.push(`unable to create listener: Error listen tcp ${address}:${port}: ${why}`)
        if (!isOptional) optional = Number.NEGATIVE_INFINITY
      }
    }
    const isThere = problems.length === 0 || optional > 0
    return isThere ? undefined : `Listeners failed to create with the following errors: [${problems.join(' ')}]`
  }

  #serve(address: string, port: number, remote: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void this.#connect(socket, remote))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: address, port, ipv6Only: true }, () => {
        // A connection that cannot be taken, for want of files, is lost to whoever opened it; the next may be taken.
        server.off('error', reject).on('error', () => {})
        this.#servers.push(server)
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  async #connect(socket: Socket, remote: number): Promise<void> {
    this.#host.stdout.write(`Handling connection for ${socket.localPort}\n`)
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket))
    try {
      const { stream, problem } = await this.#way.connect(remote)
      // It may have gone while the way was opened: nobody would end the other side.
      if (socket.destroyed) stream.destroy()
      socket.once('close', () => stream.destroy())
      stream.once('close', () => socket.end())
      socket.pipe(stream)
      stream.pipe(socket)
      const text = await problem
      if (text !== '')
        this.#host.stderr.write(`error: an error occurred forwarding ${socket.localPort} -> ${remote}: ${text}\n`)
    } catch (error) {
      this.#host.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`)
      socket.destroy()
    }
  }
}
