import type { IncomingMessage } from 'node:http'
import type { Server } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '@coracle/environment'
import { WorkTurns } from '../work-turns.ts'

/**
 * What the headers that are being received from those who have not said who they are may take together. Beyond it whoever
 * holds most goes: a request that comes in one piece holds nothing, so that this keeps nobody out.
 */
export const strangersHeaderBytesMax = 32 * 1024 * 1024

/** No method that the parser knows is longer. */
const methodBytesMax = 16

interface Stranger {
  readonly socket: Duplex
  /** The first bytes of the connection that the parser has had, as many as a method may have. */
  begun: Buffer
  heldBytes: number
  /** The last request whose head came whole. */
  latest: IncomingMessage | undefined
  /** Whether that was with the bytes at hand. */
  isNew: boolean
}

/**
 * Counts the bytes of unfinished headers per connection until a request on it is authenticated. Node reads a connection
 * past JavaScript where nobody listens to its bytes, which is faster: so only those are listened to whose first bytes are
 * not a whole head, and those whose last request was anonymous.
 */
export class StrangerMemory {
  readonly #clock: Clock
  /** What strangers send in pieces is read as there is time for it. */
  readonly #turns: WorkTurns
  readonly #max: number
  readonly #strangers = new Map<Duplex, Stranger>()
  #heldBytes = 0

  constructor(clock: Clock, max = strangersHeaderBytesMax) {
    this.#clock = clock
    this.#turns = new WorkTurns(clock)
    this.#max = max
  }

  /** Bytes of unfinished headers. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Looks at the first bytes of each connection before the server's parser gets them. `firstBytesTimeoutMs`: who says nothing
   * for so long after its handshake goes.
   */
  guard(server: Server, firstBytesTimeoutMs: number): void {
    const accept = server.listeners('secureConnection') as ((socket: Duplex) => void)[]
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: Duplex) => {
      const leave = () => socket.destroy()
      const timer = this.#clock.setTimer(firstBytesTimeoutMs, leave)
      const stopWaiting = () => timer.cancel()
      const give = () => {
        const first = socket.read() as Buffer | null
        if (first === null) return
        timer.cancel()
        socket.off('readable', give).off('end', leave).off('error', ignore).off('close', stopWaiting)
        socket.unshift(first)
        for (const listener of accept) listener.call(server, socket)
        if (!first.includes(headEnd)) this.#listenTo(socket)
      }
      socket.on('readable', give).on('end', leave).on('error', ignore).on('close', stopWaiting)
    })
  }

  /**
   * What has come on a connection before the bytes that the parser is at, where that was no more than the beginning of a method: the
   * parser has taken it for the beginning of one it knows, and tells of none of it.
   */
  begunBy(socket: Duplex): Buffer {
    return this.#strangers.get(socket)?.begun ?? noBytes
  }

  /** Notes that a request has come of which it is not known, or not believed, who made it. */
  onAnonymous(request: IncomingMessage): void {
    const { socket } = request
    const known = this.#strangers.get(socket)
    if (known !== undefined) this.#finishHead(known, request)
    // Not from within the parser, which is about to go on.
    else this.#clock.defer(() => this.#listenTo(socket))
  }

  /** Notes that a request has come and who made it is known. */
  onIdentified(request: IncomingMessage): void {
    if (this.#strangers.size === 0) return
    const known = this.#strangers.get(request.socket)
    if (known === undefined) return
    this.#finishHead(known, request)
    // What else it sends is its own affair, unless it is anonymous again.
    this.#strangers.delete(request.socket)
  }

  #listenTo(socket: Duplex): void {
    if (socket.destroyed || this.#strangers.has(socket)) return
    const stranger: Stranger = { socket, begun: noBytes, heldBytes: 0, latest: undefined, isNew: false }
    this.#strangers.set(socket, stranger)
    if (listened.has(socket)) return
    listened.add(socket)
    socket.on('data', (chunk: Buffer) => this.#onData(socket, chunk))
    socket.on('close', () => this.#forget(socket))
  }

  #onData(socket: Duplex, chunk: Buffer): void {
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return
    const { isNew, latest, begun } = stranger
    const { length } = chunk
    if (begun.length < methodBytesMax) stranger.begun = Buffer.concat([begun, chunk.subarray(0, methodBytesMax)])
    stranger.isNew = false
    // The parser has had these bytes. They ended a head, or belong to a body, of which little is taken from strangers.
    if (isNew || latest?.complete === false) return
    stranger.heldBytes += length
    this.#heldBytes += length
    while (this.#heldBytes > this.#max) this.#endLargest()
    const wait = socket.destroyed ? undefined : this.#turns.take(true)
    if (wait === undefined) return
    socket.pause()
    void wait.then(() => socket.resume())
  }

  #finishHead(stranger: Stranger, request: IncomingMessage): void {
    stranger.latest = request
    stranger.isNew = true
    this.#heldBytes -= stranger.heldBytes
    stranger.heldBytes = 0
  }

  #forget(socket: Duplex): void {
    this.#heldBytes -= this.#strangers.get(socket)?.heldBytes ?? 0
    this.#strangers.delete(socket)
  }

  /** Its parser gives its memory back when the connection closes. */
  #endLargest(): void {
    let largest: Stranger | undefined
    for (const each of this.#strangers.values()) {
      if (largest === undefined || each.heldBytes > largest.heldBytes) largest = each
    }
    if (largest === undefined) return
    this.#forget(largest.socket)
    largest.socket.destroy()
  }
}

const noBytes = Buffer.alloc(0)

const headEnd = Buffer.from('\r\n\r\n')

const listened = new WeakSet<Duplex>()

const ignore = (): void => {}
