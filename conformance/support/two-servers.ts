import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { EtcdServer } from '../../packages/store/src/testing/etcd-server.ts'
import { Program, type ProgramOptions } from './program.ts'

/** Times of leader election that a test can wait for. */
const quickElection = [
  ...['--leader-elect-lease-duration', '3s', '--leader-elect-renew-deadline', '2s'],
  ...['--leader-elect-retry-period', '500ms'],
]

/** As much as the servers take. */
const headersBytesMax = 1024 * 1024

/** Two servers of one cluster, and the etcd that they share. */
export class TwoServers {
  readonly etcd: EtcdServer
  /** Has the nodes. */
  readonly first: Program
  readonly second: Program

  private constructor(etcd: EtcdServer, first: Program, second: Program) {
    this.etcd = etcd
    this.first = first
    this.second = second
  }

  /** They have the same keys and token, so that a client of one is a client of the other. */
  static async start(options: Pick<ProgramOptions, 'args' | 'env'> = {}): Promise<TwoServers> {
    const etcd = await EtcdServer.start()
    const args = (options.args ?? []).filter((arg) => arg !== '--memory')
    const shared = ['--store', `etcd://${etcd.address}`, ...quickElection]
    const start = async (more: readonly string[], dataDir?: string) =>
      Program.start({
        ...(options.env === undefined ? {} : { env: options.env }),
        ...(dataDir === undefined ? {} : { dataDir }),
        args: [...args, ...shared, ...more],
      })
    try {
      const first = await start(['--node-prefix', 'node-'])
      const dataDir = await mkdtemp(join(tmpdir(), 'coracle-second-'))
      for (const name of ['pki', 'token']) {
        await cp(join(first.dataDir, name), join(dataDir, name), { recursive: true })
      }
      return new TwoServers(etcd, first, await start(['--nodes', '0'], dataDir))
    } catch (error) {
      await etcd[Symbol.asyncDispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.second.end('SIGINT')
    await this.first[Symbol.asyncDispose]()
    await rm(this.second.dataDir, { recursive: true, force: true })
    await this.etcd[Symbol.asyncDispose]()
  }
}

/** One program to its tests: two servers on one etcd, of which one gets the writes and the other answers the reads. */
export async function startAsTwoServers(options: ProgramOptions): Promise<Program> {
  const servers = await TwoServers.start(options)
  const { first, second } = servers
  const proxy = await SplittingProxy.start(first, second)
  const kubeconfig = await readFile(first.kubeconfig, 'utf8')
  await writeFile(first.kubeconfig, kubeconfig.replaceAll(first.address, proxy.address))
  first.standBehind(proxy.address, async () => {
    await proxy.close()
    await second.end('SIGINT')
    await rm(second.dataDir, { recursive: true, force: true })
    await servers.etcd[Symbol.asyncDispose]()
  })
  return first
}

/** Passes requests on: those that read to one server, all others to the other. What nodes know is asked where the nodes are. */
class SplittingProxy {
  readonly #server: Server
  readonly #agent: Agent

  private constructor(server: Server, agent: Agent) {
    this.#server = server
    this.#agent = agent
  }

  static async start(writing: Program, reading: Program): Promise<SplittingProxy> {
    const pki = (name: string) => readFile(join(writing.dataDir, 'pki', name), 'utf8')
    const [ca, cert, key] = await Promise.all([pki('ca.crt'), pki('apiserver.crt'), pki('apiserver.key')])
    const token = (await readFile(join(writing.dataDir, 'token'), 'utf8')).trim()
    const agent = new Agent({ ca, keepAlive: true })
    const [writes, reads] = [writing.address, reading.address]
    const server = createServer(
      { ca, cert, key, requestCert: true, rejectUnauthorized: false, maxHeaderSize: headersBytesMax },
      (incoming: IncomingMessage, response: ServerResponse) => {
        const isRead = incoming.method === 'GET' || incoming.method === 'HEAD'
        const isOfNode = /\/pods\/[^/]+\/(log|exec|attach|portforward)|^\/apis\/metrics\.k8s\.io\//.test(
          incoming.url ?? '',
        )
        const headers = { ...incoming.headers }
        // The certificate a client has shown stays here; the administrator's token stands for it.
        const socket = incoming.socket as TLSSocket
        const hasShown = Object.keys(socket.getPeerCertificate() ?? {}).length > 0
        if (hasShown && headers.authorization === undefined)
          headers.authorization = `Bearer ${socket.authorized ? token : 'of another authority'}`
        const target = isRead && !isOfNode ? reads : writes
        const { method } = incoming
        const outgoing = request(target + incoming.url, { method: method ?? 'GET', headers, agent }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          // A watch may have nothing to say for long.
          response.flushHeaders()
          answer.pipe(response)
          answer.once('error', () => response.destroy())
        })
        outgoing.once('error', () => response.destroy())
        response.once('close', () => outgoing.destroy())
        incoming.pipe(outgoing)
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new SplittingProxy(server, agent)
  }

  get address(): string {
    const address = this.#server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen')
    return `https://127.0.0.1:${address.port}`
  }

  async close(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }
}
