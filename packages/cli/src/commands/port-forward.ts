import { type AddressInfo, createServer, isIPv4, isIPv6, type Server, type Socket } from 'node:net'
import type { KubernetesObject, Pod, Service } from '@coracle/api'
import { openPortForward, type PortForward } from '@coracle/client/streaming'
import { CliError, UsageError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { findPod, type PodWait } from '../resources/find-pod.ts'
import { type ConnectionFlags, withSession } from '../session.ts'
import { podKey } from './exec.ts'

export interface PortForwardFlags extends ConnectionFlags, PodWait {
  /** Absent: localhost. */
  readonly address: readonly string[]
}

/** A local port, 0 for any that is free, and the port of the pod that is behind it. */
export interface ForwardedPort {
  readonly local: number
  readonly remote: number
}

/** `coracle port-forward POD PORT…`, `coracle port-forward TYPE/NAME LOCAL:REMOTE…` */
export async function portForward(host: Host, args: readonly string[], flags: PortForwardFlags): Promise<void> {
  const [target, ...texts] = args
  if (target === undefined || texts.length === 0) {
    throw new UsageError('TYPE/NAME and list of ports are required for port-forward')
  }
  await withSession(host, flags, async (session) => {
    const { pod, owner } = await findPod(host, session, target, flags)
    const ports = texts.map((text) => portOf(text, owner, pod))
    const phase = pod.status?.phase ?? 'Pending'
    if (phase !== 'Running')
      throw new CliError(`unable to forward port because pod is not running. Current status=${phase}`)
    const addresses = addressesOf(flags.address.length === 0 ? ['localhost'] : flags.address)
    const way = await openPortForward(session.client, host.environment.clock, podKey(session, pod))
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
  return names.flatMap((name): readonly ListenAddress[] => {
    if (name === 'localhost') return ['127.0.0.1', '::1'].map((address) => ({ address, isOptional: true }))
    if (!isIPv4(name) && !isIPv6(name)) throw new CliError(`${name} is not a valid IP`)
    return [{ address: name, isOptional: false }]
  })
}

/**
 * `80`, `8080:80`, `:80`; the port of the pod may have a name. The ports of a Service stand for those behind them. Throws a CliError
 * where it is none.
 */
export function portOf(text: string, owner: KubernetesObject, pod: Pod): ForwardedPort {
  const parts = text.split(':')
  if (parts.length > 2) throw new CliError(`invalid port format '${text}'`)
  const [localText = '', remoteText = localText] = parts
  const asked = portNumber(remoteText, 'remote')
  if (asked === 0) throw new CliError('remote port must be > 0')
  const isService = owner.kind === 'Service'
  const remote = isService ? targetPortOf(owner as Service, remoteText, pod) : (asked ?? namedPortOf(pod, remoteText))
  const sameLocal = isService ? servicePortOf(owner as Service, remoteText)?.port : remote
  if (remote === undefined) throw new CliError(`Pod '${pod.metadata.name}' does not have a named port '${remoteText}'`)
  if (parts.length === 1) return { local: asked ?? sameLocal ?? remote, remote }
  const local = localText === '' ? 0 : portNumber(localText, 'local')
  if (local === undefined) throw parseError('local', localText, 'invalid syntax')
  return { local, remote }
}

/** The port that a number is; undefined for a name. Throws a CliError for a number that is no port. */
function portNumber(text: string, side: 'local' | 'remote'): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const port = Number(text)
  if (port > 0xffff) throw parseError(side, text, 'value out of range')
  return port
}

const parseError = (side: 'local' | 'remote', text: string, why: string): CliError =>
  new CliError(`error parsing ${side} port '${text}': strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`)

function namedPortOf({ spec }: Pod, name: string): number | undefined {
  return spec.containers.flatMap(({ ports = [] }) => ports).find((port) => port.name === name)?.containerPort
}

function servicePortOf({ spec }: Service, text: string) {
  return (spec?.ports ?? []).find(({ port, name }) => String(port) === text || name === text)
}

function targetPortOf(service: Service, text: string, pod: Pod): number {
  const { name = '' } = service.metadata
  const found = servicePortOf(service, text)
  if (found === undefined) throw new CliError(`Service ${name} does not have a service port ${text}`)
  if (found.protocol === 'UDP') throw new CliError(`UDP protocol is not supported for ${text}`)
  const { targetPort = found.port } = found
  // Without an address of its own there is nothing that translates.
  if (service.spec?.clusterIP === 'None')
    return typeof targetPort === 'number' ? found.port : (namedPortOf(pod, targetPort) ?? found.port)
  const remote = typeof targetPort === 'number' ? targetPort : namedPortOf(pod, targetPort)
  if (remote === undefined) throw new CliError(`Pod '${pod.metadata.name}' does not have a named port '${targetPort}'`)
  return remote
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
        server.off('error', reject)
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
