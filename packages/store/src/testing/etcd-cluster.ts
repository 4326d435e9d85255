import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { EtcdServer } from './etcd-server.ts'
import { ownPorts } from './own-ports.ts'

/** The way from other members to one, which can be closed to each of them. */
class PeerProxy {
  readonly #server: Server
  readonly #mayPass: (from: string) => boolean
  readonly #connections = new Map<Socket, string>()

  private constructor(server: Server, mayPass: (from: string) => boolean) {
    this.#server = server
    this.#mayPass = mayPass
  }

  static async to(port: number, mayPass: (from: string) => boolean): Promise<PeerProxy> {
    const server = createServer()
    const proxy = new PeerProxy(server, mayPass)
    server.on('connection', (near) => proxy.#join(near, port))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen')
    return `http://127.0.0.1:${address.port}`
  }

  /** Ends the connections that may not pass any more. */
  look(): void {
    for (const [near, from] of this.#connections) if (!this.#mayPass(from)) near.destroy()
  }

  close(): void {
    this.#server.close()
    for (const near of this.#connections.keys()) near.destroy()
  }

  /** Members say who they are in a header of each request; those of one connection are from one member. */
  #join(near: Socket, port: number): void {
    near.on('error', () => {})
    near.once('data', (first) => {
      const from = /^X-Server-From: (\w+)/im.exec(first.toString('latin1'))?.[1]?.toLowerCase() ?? ''
      if (!this.#mayPass(from)) return void near.destroy()
      this.#connections.set(near, from)
      const far = connect(port, '127.0.0.1')
      far.on('error', () => {}).once('close', () => near.destroy())
      near.once('close', () => {
        this.#connections.delete(near)
        far.destroy()
      })
      far.write(first)
      near.pipe(far).pipe(near)
    })
  }
}

/** What a cluster says of a member, in etcd's own JSON. */
interface MemberStatus {
  readonly header: { readonly member_id: string; readonly revision?: string }
  readonly leader?: string
}

/** A real etcd of three members on loopback, of which any can be killed, stopped, or cut off from the others. */
export class EtcdCluster {
  readonly members: readonly EtcdServer[]
  readonly #proxies: readonly PeerProxy[]
  readonly #ids: readonly string[]
  readonly #isolated: Set<string>

  private constructor(
    members: readonly EtcdServer[],
    proxies: readonly PeerProxy[],
    ids: readonly string[],
    isolated: Set<string>,
  ) {
    this.members = members
    this.#proxies = proxies
    this.#ids = ids
    this.#isolated = isolated
  }

  static async start(args: readonly string[] = []): Promise<EtcdCluster> {
    const isolated = new Set<string>()
    const ports = await ownPorts(6)
    const of = (index: number): [number, number] => [ports[2 * index] ?? 0, ports[2 * index + 1] ?? 0]
    const ids: string[] = []
    const proxies = await Promise.all(
      [0, 1, 2].map((index) => {
        const mayPass = (from: string) => !isolated.has(from) && !isolated.has(ids[index] ?? '')
        return PeerProxy.to(of(index)[1], mayPass)
      }),
    )
    const all = proxies.map(({ url }, index) => `m${index}=${url}`).join(',')
    const members = await Promise.all(
      proxies.map(({ url }, index) =>
        EtcdServer.start({
          ports: of(index),
          args: [
            ...['--name', `m${index}`, '--initial-cluster', all, '--initial-advertise-peer-urls', url],
            ...['--heartbeat-interval', '50', '--election-timeout', '500', ...args],
          ],
        }),
      ),
    )
    for (const member of members) ids.push(BigInt((await statusOf(member)).header.member_id).toString(16))
    return new EtcdCluster(members, proxies, ids, isolated)
  }

  /** Where its members are, that of this number first. */
  serversFrom(first: number): readonly string[] {
    const addresses = this.members.map(({ address }) => address)
    return [...addresses.slice(first), ...addresses.slice(0, first)]
  }

  member(index: number): EtcdServer {
    const member = this.members[index]
    if (member === undefined) throw new RangeError(`there is no member ${index}`)
    return member
  }

  /** The number of the member that leads, as member `asked` knows it. */
  async leader(asked = 0): Promise<number> {
    for (;;) {
      const { leader = '0' } = await statusOf(this.member(asked))
      const index = this.#ids.indexOf(BigInt(leader).toString(16))
      if (index >= 0) return index
    }
  }

  /** Cuts a member off from the others, or lets it to them again; its clients reach it all the same. */
  isolate(index: number): void {
    this.#isolated.add(this.#ids[index] ?? '')
    for (const proxy of this.#proxies) proxy.look()
  }

  heal(): void {
    this.#isolated.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) proxy.close()
    await Promise.all(this.members.map((member) => member[Symbol.asyncDispose]()))
  }
}

async function statusOf({ address }: EtcdServer): Promise<MemberStatus> {
  const answer = await fetch(`http://${address}/v3/maintenance/status`, { method: 'POST', body: '{}' })
  return (await answer.json()) as MemberStatus
}
