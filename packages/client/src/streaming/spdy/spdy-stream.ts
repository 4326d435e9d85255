import { Duplex } from 'node:stream'
import type { SpdyHeaders } from './headers.ts'

/** How much of a stream may come before its reader has taken any of it, where the other end heeds windows. */
export const streamWindowBytes = 256 * 1024

/** What a data frame carries at most: a stream that has much to send lets others in between. */
const dataFrameBytesMax = 32 * 1024

/** What a stream asks of its session. */
export interface StreamSession {
  /** Sends data; `done` is called when there is room for more. */
  sendData(stream: SpdyStream, bytes: Uint8Array, fin: boolean, done: () => void): void
  sendReset(stream: SpdyStream): void
  /** `bytes` of a stream have been read. */
  onRead(stream: SpdyStream, bytes: number): void
  onClosed(stream: SpdyStream): void
}

/**
 * One stream of a session: bytes both ways, each way with an end of its own. Destroying it before both have ended resets
 * it. A slow reader makes the other end wait: with windows on this stream alone, without on all of the session.
 */
export class SpdyStream extends Duplex {
  readonly id: number
  readonly headers: SpdyHeaders
  readonly #session: StreamSession
  /** Bytes that may be sent in all; undefined: without limit. */
  #granted: number | undefined
  #updates = 0
  #sent = 0
  #received = 0
  #read = 0
  #onRoom: (() => void) | undefined
  #isReset = false
  /** Whether the other end has said that nothing more comes. */
  #isEnded = false

  constructor(session: StreamSession, id: number, headers: SpdyHeaders, window: number | undefined) {
    // With nothing to be kept in stock, `_read` means that all that has come has been read.
    super({ readableHighWaterMark: 0, writableHighWaterMark: dataFrameBytesMax })
    this.id = id
    this.headers = headers
    this.#session = session
    this.#granted = window
    // Whoever uses it hears of errors by its end.
    this.on('error', () => {})
  }

  /** Takes what has come, and gives how many bytes it has kept of it. */
  receive(bytes: Uint8Array, fin: boolean): number {
    if (this.#isEnded || this.destroyed) return 0
    this.#isEnded = fin
    this.#received += bytes.length
    if (bytes.length > 0) this.push(bytes)
    if (fin) this.push(null)
    return bytes.length
  }

  /** What has come and was not acknowledged as read. */
  get unreadBytes(): number {
    return this.#received - this.#read
  }

  /** The other end lets so much come on each stream before it acknowledges any. */
  setWindow(initial: number): void {
    this.#granted = initial + this.#updates
    this.#resume()
  }

  /** The other end lets so much more come. */
  addWindow(delta: number): void {
    this.#updates += delta
    if (this.#granted !== undefined) this.#granted += delta
    this.#resume()
  }

  /**
   * The other end has reset it, or the session has ended. What has come before can still be read: upstream's servers reset all streams
   * once they have sent their last.
   */
  abandon(error: Error | undefined): void {
    this.#isReset = true
    this.#resume()
    if (this.readableLength === 0) {
      this.destroy(error)
      return
    }
    this.once('end', () => this.destroy(error))
    if (!this.#isEnded) this.push(null)
    this.#isEnded = true
  }

  override _read(): void {
    const more = this.#received - this.#read
    this.#read = this.#received
    if (more > 0) this.#session.onRead(this, more)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#send(chunk, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (this.#isReset) callback()
    else this.#session.sendData(this, Buffer.alloc(0), true, () => callback())
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const isOver = this.readableEnded && this.writableFinished
    if (!isOver && !this.#isReset) this.#session.sendReset(this)
    this.#session.onClosed(this)
    callback(error)
  }

  #send(chunk: Buffer, callback: () => void): void {
    if (this.destroyed || this.#isReset) {
      callback()
      return
    }
    const room = this.#granted === undefined ? chunk.length : this.#granted - this.#sent
    const bytes = Math.min(chunk.length, room, dataFrameBytesMax)
    if (bytes <= 0) {
      this.#onRoom = () => this.#send(chunk, callback)
      return
    }
    this.#sent += bytes
    const rest = chunk.subarray(bytes)
    const done = rest.length === 0 ? callback : () => this.#send(rest, callback)
    this.#session.sendData(this, chunk.subarray(0, bytes), false, done)
  }

  #resume(): void {
    const resume = this.#onRoom
    this.#onRoom = undefined
    resume?.()
  }
}
