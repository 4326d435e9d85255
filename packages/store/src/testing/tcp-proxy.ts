import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { realClock } from '@coracle/environment'

/** A way to a TCP server that can be made slow, silent or closed. */
export class TcpProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** How long each piece takes in each direction. */
  delayMs = 0
  /** Whether nothing comes through any more, without either side hearing of it. */
  silent = false
  /** Whether no answer comes through any more. */
  mute = false
  /** All that has not come through, of either side, a character for each byte. */
  lost = ''

  private constructor(server: Server) {
    this.#server = server
  }

  static async to(target: string): Promise<TcpProxy> {
    const [host = '', port = ''] = target.split(':')
    const server = createServer()
    const proxy = new TcpProxy(server)
    server.on('connection', (socket) => proxy.#join(socket, connect(Number(port), host)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  get address(): string {
    const address = this.#server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen')
    return `127.0.0.1:${address.port}`
  }

  /** Ends all connections there are. New ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.cut()
    await once(this.#server, 'close')
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => this.#pass(to, bytes, to === near))
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
    }
  }

  #pass(to: Socket, bytes: Buffer, isAnswer: boolean): void {
    const write = () => {
      if (this.silent || (this.mute && isAnswer)) this.lost += bytes.toString('latin1')
      else if (!to.destroyed) to.write(bytes)
    }
    if (this.delayMs === 0) write()
    else realClock.setTimer(this.delayMs, write)
  }
}
