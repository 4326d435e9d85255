import { Readable, Writable } from 'node:stream'
import type { Clock } from '@coracle/environment'
import type { WebSocket } from 'ws'
import { StallWatch } from './stall-watch.ts'

/** What of a channel may have come before its reader has taken it; then the whole connection is read no further. */
export const channelBytesMax = 256 * 1024

/** One message that comes, at most: what upstream's servers take. Some clients send all of an input in one. */
export const messageBytesMax = 32 * 1024 * 1024
/** What is sent in one message: others get their turn between two. */
const sentBytesMax = 64 * 1024

/** Stands in the place of the channel where a message says that a channel has ended (v5.channel.k8s.io). */
const closeSignal = 255

export interface ChannelSocketOptions {
  readonly clock: Clock
  /** Messages are text: a digit and base64 (base64.channel.k8s.io). */
  readonly isBase64: boolean
  /** Called for whatever comes or goes. */
  readonly onActivity?: () => void
}

/** Byte streams over a WebSocket, each message beginning with the number of its channel (channel.k8s.io, all versions). */
export class ChannelSocket {
  readonly #socket: WebSocket
  readonly #options: ChannelSocketOptions
  readonly #readers = new Map<number, Readable>()
  readonly #stall: StallWatch

  constructor(socket: WebSocket, options: ChannelSocketOptions) {
    this.#socket = socket
    this.#options = options
    this.#stall = new StallWatch(options.clock, () => socket.ping())
    socket.on('message', (message: Buffer) => this.#onMessage(message))
    socket.on('close', () => this.#onClose())
    // It is followed by a close.
    socket.on('error', () => {})
  }

  /** What comes on a channel. It ends with the connection, or before where the other end says so. */
  readable(channel: number): Readable {
    // With nothing to be kept in stock, `read` means that all that has come has been read.
    const reader = new Readable({ read: () => this.#makeRoom(), highWaterMark: 0 })
    reader.on('error', () => {}).on('close', () => this.#makeRoom())
    this.#readers.set(channel, reader)
    return reader
  }

  /** Sends on a channel; what is written waits until the connection has taken it. */
  writable(channel: number): Writable {
    const writer = new Writable({
      write: (chunk: Buffer, _encoding, callback) => this.#send(channel, chunk, callback),
      highWaterMark: sentBytesMax,
    })
    return writer.on('error', () => {})
  }

  /** Sends a message without content: it tells that a channel is there. */
  announce(channel: number): void {
    this.#send(channel, Buffer.alloc(0), () => {})
  }

  /** Says that nothing more comes on a channel. Only v5 knows that. */
  endChannel(channel: number): void {
    this.#send(closeSignal, Buffer.from([channel]), () => {})
  }

  #send(channel: number, chunk: Uint8Array, callback: (error?: Error | null) => void): void {
    if (chunk.length > sentBytesMax) {
      const rest = chunk.subarray(sentBytesMax)
      const goOn = (error?: Error | null) => (error ? callback(error) : this.#send(channel, rest, callback))
      this.#send(channel, chunk.subarray(0, sentBytesMax), goOn)
      return
    }
    if (this.#socket.readyState !== this.#socket.OPEN) {
      callback(new Error('the connection has been closed'))
      return
    }
    this.#options.onActivity?.()
    const message = this.#options.isBase64
      ? String(channel) + Buffer.from(chunk).toString('base64')
      : Buffer.concat([Buffer.from([channel]), chunk])
    this.#socket.send(message, (error) => callback(error ?? null))
  }

  #onMessage(message: Buffer): void {
    this.#options.onActivity?.()
    const first = message[0]
    if (first === undefined) return
    const { isBase64 } = this.#options
    const channel = isBase64 ? first - 0x30 : first
    if (channel === closeSignal) {
      this.#endReader(message[1] ?? closeSignal)
      return
    }
    const reader = this.#readers.get(channel)
    if (reader === undefined || reader.destroyed || reader.readableEnded) return
    const bytes = isBase64 ? Buffer.from(message.toString('latin1', 1), 'base64') : message.subarray(1)
    if (bytes.length > 0) reader.push(bytes)
    if (reader.readableLength <= channelBytesMax) return
    this.#socket.pause()
    this.#stall.begin()
  }

  #endReader(channel: number): void {
    const reader = this.#readers.get(channel)
    this.#readers.delete(channel)
    reader?.push(null)
  }

  #makeRoom(): void {
    if (!this.#socket.isPaused) return
    const isFull = (reader: Readable) => !reader.destroyed && reader.readableLength > channelBytesMax
    if (this.#readers.values().some(isFull)) return
    this.#stall.end()
    this.#socket.resume()
  }

  #onClose(): void {
    this.#stall.end()
    for (const channel of [...this.#readers.keys()]) this.#endReader(channel)
  }
}
