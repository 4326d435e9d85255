import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock, Timer } from '@coracle/environment'

/** What the unfinished headers of clients that have said who they are may take together. Beyond it whoever holds most goes. */
export const clientsHeaderBytesMax = 128 * 1024 * 1024

/** How often they are added up: what comes in between is above the limit for so long. */
const sweepIntervalMs = 250

interface Client {
  readonly socket: Socket
  /** The last request whose head came whole. */
  request: IncomingMessage
  /** Whether bytes of its body may still come, or may have come since the last sweep. */
  isBodyComing: boolean
  /** How many bytes had come when the last head or body was over, as far as that is known. */
  overBytes: number
  heldBytes: number
}

/**
 * Bounds what authenticated clients hold of headers without an end. Listening to every byte of theirs would cost each request
 * a microsecond (see `StrangerMemory`), so that their connections are looked over a few times a second instead: what has come
 * on one since its last request was whole belongs to the head of the next.
 */
export class ClientHeaderMemory {
  readonly #clock: Clock
  readonly #max: number
  readonly #clientsMin: number
  readonly #clients = new Map<Socket, Client>()
  #timer: Timer | undefined

  /** `headerBytesMax` is what one connection can hold: fewer connections than fill the limit are not looked at. */
  constructor(clock: Clock, headerBytesMax: number, max = clientsHeaderBytesMax) {
    this.#clock = clock
    this.#max = max
    this.#clientsMin = Math.floor(max / headerBytesMax)
  }

  /** Notes that a request of a client that is known has come. */
  onRequest(request: IncomingMessage): void {
    const { socket } = request
    const known = this.#clients.get(socket)
    if (known !== undefined) {
      known.request = request
      known.isBodyComing = hasBody(request)
      known.overBytes = socket.bytesRead
      return
    }
    if (socket.destroyed) return
    const { bytesRead: overBytes } = socket
    this.#clients.set(socket, { socket, request, isBodyComing: hasBody(request), overBytes, heldBytes: 0 })
    socket.once('close', () => this.#clients.delete(socket))
    if (this.#clients.size > this.#clientsMin) this.#schedule()
  }

  /** What comes on a connection from now on are no headers. */
  forget(connection: object): void {
    this.#clients.delete(connection as Socket)
  }

  close(): void {
    this.#timer?.cancel()
  }

  #schedule(): void {
    this.#timer ??= this.#clock.setTimer(sweepIntervalMs, () => {
      this.#timer = undefined
      this.#sweep()
      if (this.#clients.size > this.#clientsMin) this.#schedule()
    })
  }

  #sweep(): void {
    let totalBytes = 0
    for (const client of this.#clients.values()) {
      updateHeld(client)
      totalBytes += client.heldBytes
    }
    if (totalBytes <= this.#max) return
    for (const client of [...this.#clients.values()].sort((a, b) => b.heldBytes - a.heldBytes)) {
      if (totalBytes <= this.#max) return
      totalBytes -= client.heldBytes
      client.socket.destroy()
    }
  }
}

function updateHeld(client: Client): void {
  const { socket, request, isBodyComing } = client
  const bytes = socket.bytesRead
  if (isBodyComing) {
    client.isBodyComing = !request.complete
    client.overBytes = bytes
  }
  client.heldBytes = bytes - client.overBytes
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
