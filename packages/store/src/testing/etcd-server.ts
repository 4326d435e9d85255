import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ownPorts } from './own-ports.ts'

/** What tests that need etcd say where there is none. */
export const needsEtcd = { meta: { needs: 'etcd (Debian: apt-get install etcd-server)' } }

/** Whether this machine has etcd. */
export const hasEtcd: boolean = spawnSync('etcd', ['--version']).status === 0

export interface EtcdServerOptions {
  /** Further arguments. */
  readonly args?: readonly string[]
  /** How clients reach it: `https` where `args` name certificates. */
  readonly scheme?: 'http' | 'https'
  /** Where it listens for clients and for other members: ports of its own unless given. */
  readonly ports?: readonly [number, number]
}

/** A real etcd of one member, on ports of its own of loopback, in a temporary directory. */
export class EtcdServer {
  readonly address: string
  readonly #directory: string
  readonly #peerAddress: string
  readonly #options: EtcdServerOptions
  #child: ChildProcess | undefined

  private constructor(directory: string, address: string, peerAddress: string, options: EtcdServerOptions) {
    this.#directory = directory
    this.address = address
    this.#peerAddress = peerAddress
    this.#options = options
  }

  /** Resolves when it serves. */
  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const directory = await mkdtemp(join(tmpdir(), 'coracle-etcd-'))
    const [port, peerPort] = options.ports ?? (await ownPorts(2))
    const server = new EtcdServer(directory, `127.0.0.1:${port}`, `127.0.0.1:${peerPort}`, options)
    await server.start()
    return server
  }

  /** Starts it again on what it has kept, where it was before. */
  async start(): Promise<void> {
    const { args = [], scheme = 'http' } = this.#options
    const client = `${scheme}://${this.address}`
    const peer = `http://${this.#peerAddress}`
    const child = spawn(
      'etcd',
      [
        ...['--data-dir', this.#directory, '--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
        ...args,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.#child = child
    const lines: string[] = []
    const ready = Promise.withResolvers<void>()
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (lines.length < 200) lines.push(line)
      if (line.includes('ready to serve client requests')) ready.resolve()
    })
    child.once('exit', (code) => ready.reject(new Error(`etcd ended with ${code}:\n${lines.join('\n')}`)))
    child.once('error', ready.reject)
    await ready.promise
  }

  /** Stops it without its clients hearing of it, and lets it go on. */
  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Ends it, as far as its clients see in the middle of everything. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
