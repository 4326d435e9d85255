import type { Duplex } from 'node:stream'
import type { Clock } from '@coracle/environment'
import { StallWatch } from '../stall-watch.ts'
import {
  controlFrame,
  dataFrameHeader,
  type Frame,
  FrameReader,
  frameTypes,
  resetStatus,
  synStreamFrame,
  windowSettingFrame,
} from './frames.ts'
import { HeaderWriter, type SpdyHeaders } from './headers.ts'
import { SpdyError } from './spdy-error.ts'
import { SpdyStream, type StreamSession, streamWindowBytes } from './spdy-stream.ts'

/** Streams open at one time; the other end is refused more. */
export const spdyStreamsMax = 1_000
/** What all streams of a session together may hold that has come and has not been read: beyond it no more is read. */
export const heldBytesMax = 8 * 1024 * 1024
/** What may wait to be sent when the other end asks for yet another answer: whoever asks without reading goes. */
export const answersBytesMax = 1024 * 1024
/** How long a session that is closed waits for the other end to close too. */
const closeGraceMs = 5_000

export interface SpdySessionOptions {
  readonly role: 'client' | 'server'
  readonly clock: Clock
  /** Whether a stream with these headers may be opened by the other end. Absent: none. */
  readonly accepts?: (headers: SpdyHeaders) => boolean
  /** A stream that the other end has opened, and that was accepted. */
  readonly onStream?: (stream: SpdyStream) => void
  /** Called for whatever comes or goes on streams. */
  readonly onActivity?: () => void
}

/**
 * One end of a SPDY/3.1 session over a connection: as much of the protocol as exec, attach and port-forward use.
 *
 * Flow control is used where both ends announce a window, which the client does first. Upstream's implementation
 * (moby/spdystream) neither announces one nor heeds any: of such an end no more is read while one of its streams is full.
 */
export class SpdySession {
  /** Resolves when the connection has ended, whatever ended it. */
  readonly closed: Promise<void>
  readonly #connection: Duplex
  readonly #options: SpdySessionOptions
  readonly #streams = new Map<number, SpdyStream>()
  readonly #replies = new Map<number, PromiseWithResolvers<SpdyStream>>()
  readonly #writer = new HeaderWriter()
  readonly #reader = new FrameReader((frame) => this.#onFrame(frame))
  readonly #port: StreamSession
  /** Streams that hold more than a stream may. */
  readonly #full = new Set<SpdyStream>()
  readonly #waiting: (() => void)[] = []
  readonly #stall: StallWatch
  #nextId: number
  #nextPingId: number
  #latestRemoteId = 0
  #peerWindow: number | undefined
  #heldBytes = 0
  #isClosing = false
  #isOver = false

  /** `head`: what has come on the connection already. */
  constructor(connection: Duplex, options: SpdySessionOptions, head: Buffer = Buffer.alloc(0)) {
    this.#connection = connection
    this.#options = options
    this.#nextId = options.role === 'client' ? 1 : 2
    this.#nextPingId = this.#nextId
    this.#stall = new StallWatch(options.clock, () => this.#ping())
    this.#port = {
      sendData: (stream, bytes, fin, done) => this.#sendData(stream, bytes, fin, done),
      sendReset: ({ id }) => this.#sendReset(id, resetStatus.cancel),
      onRead: (stream, bytes) => this.#onRead(stream, bytes),
      onClosed: (stream) => this.#forget(stream),
    }
    this.closed = new Promise((resolve) => connection.once('close', () => resolve()))
    connection.on('data', (piece: Buffer) => this.#receive(piece))
    connection.on('drain', () => this.#onDrain())
    connection.on('end', () => this.#end())
    connection.on('error', () => this.#end())
    connection.on('close', () => this.#end())
    if (options.role === 'client') this.#write(windowSettingFrame(streamWindowBytes))
    if (head.length > 0) this.#receive(head)
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size
  }

  /** Opens a stream. Resolves when the other end has accepted it, and rejects where it does not. */
  openStream(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.#isClosing || this.#isOver) return Promise.reject(new Error('the connection has been closed'))
    const id = this.#nextId
    this.#nextId += 2
    const stream = new SpdyStream(this.#port, id, headers, this.#peerWindow)
    const reply = Promise.withResolvers<SpdyStream>()
    this.#streams.set(id, stream)
    this.#replies.set(id, reply)
    this.#write(synStreamFrame(id, this.#writer.write(headers)))
    return reply.promise
  }

  /** Says that nothing more will come, sends what is on its way, and closes the connection. */
  close(): void {
    if (this.#isClosing || this.#isOver) return
    this.#isClosing = true
    this.#write(controlFrame(frameTypes.goAway, [this.#latestRemoteId, 0]))
    this.#connection.end()
    // Closed over bytes that nobody has read, a connection loses what is still on its way to the other end.
    this.#connection.resume()
    this.#stall.end()
    const timer = this.#options.clock.setTimer(closeGraceMs, () => this.#connection.destroy())
    void this.closed.then(() => timer.cancel())
  }

  #receive(piece: Buffer): void {
    if (this.#isOver || this.#isClosing) return
    try {
      this.#reader.push(piece)
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error
      // There is no telling where the next frame begins.
      this.#connection.destroy()
      this.#end()
    }
  }

  #onFrame(frame: Frame): void {
    switch (frame.type) {
      case 'data':
        this.#onData(frame)
        break
      case 'synStream':
        this.#onSynStream(frame)
        break
      case 'synReply':
        this.#onSynReply(frame.streamId, frame.fin)
        break
      case 'rstStream':
        this.#onReset(frame.streamId)
        break
      case 'settings':
        this.#onSettings(frame.initialWindow)
        break
      case 'ping':
        // Our own come back with the same number.
        if (frame.id % 2 !== this.#nextPingId % 2) this.#answer(controlFrame(frameTypes.ping, [frame.id]))
        break
      case 'windowUpdate':
        this.#streams.get(frame.streamId)?.addWindow(frame.delta)
        break
      case 'headers':
        if (frame.fin) this.#streams.get(frame.streamId)?.receive(Buffer.alloc(0), true)
        break
      case 'goAway':
        // It opens no more; what is open goes on.
        break
    }
  }

  #onData({ streamId, fin, bytes }: Extract<Frame, { readonly type: 'data' }>): void {
    this.#options.onActivity?.()
    const stream = this.#streams.get(streamId)
    // What was on its way when a stream was reset is nobody's any more.
    if (stream === undefined) return
    this.#heldBytes += stream.receive(bytes, fin)
    if (stream.readableLength > 2 * streamWindowBytes) this.#full.add(stream)
    if (this.#full.size === 0 && this.#heldBytes <= heldBytesMax) return
    this.#connection.pause()
    this.#stall.begin()
  }

  #onSynStream({ streamId, fin, headers }: Extract<Frame, { readonly type: 'synStream' }>): void {
    this.#options.onActivity?.()
    if (streamId % 2 === this.#nextId % 2 || streamId <= this.#latestRemoteId) {
      this.#answer(controlFrame(frameTypes.rstStream, [streamId, resetStatus.protocolError]))
      return
    }
    this.#latestRemoteId = streamId
    const { accepts, onStream } = this.#options
    if (this.#streams.size >= spdyStreamsMax || accepts?.(headers) !== true) {
      this.#answer(controlFrame(frameTypes.rstStream, [streamId, resetStatus.refusedStream]))
      return
    }
    const stream = new SpdyStream(this.#port, streamId, headers, this.#peerWindow)
    this.#streams.set(streamId, stream)
    this.#answer(controlFrame(frameTypes.synReply, [streamId], this.#writer.write(new Map())))
    if (fin) stream.receive(Buffer.alloc(0), true)
    onStream?.(stream)
  }

  #onSynReply(streamId: number, fin: boolean): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    this.#replies.get(streamId)?.resolve(stream)
    this.#replies.delete(streamId)
    if (fin) stream.receive(Buffer.alloc(0), true)
  }

  #onReset(streamId: number): void {
    this.#replies.get(streamId)?.reject(new Error('the other end has refused the stream'))
    this.#replies.delete(streamId)
    this.#streams.get(streamId)?.abandon(new Error('the other end has reset the stream'))
  }

  #onSettings(initialWindow: number | undefined): void {
    if (initialWindow === undefined) return
    if (this.#peerWindow === undefined && this.#options.role === 'server') {
      this.#answer(windowSettingFrame(streamWindowBytes))
    }
    this.#peerWindow = initialWindow
    for (const stream of this.#streams.values()) stream.setWindow(initialWindow)
  }

  #onRead(stream: SpdyStream, bytes: number): void {
    if (this.#peerWindow !== undefined && !stream.readableEnded) {
      this.#write(controlFrame(frameTypes.windowUpdate, [stream.id, bytes]))
    }
    this.#release(stream, bytes)
  }

  #release(stream: SpdyStream, bytes: number): void {
    this.#heldBytes -= bytes
    this.#full.delete(stream)
    if (this.#full.size > 0 || this.#heldBytes > heldBytesMax || !this.#connection.isPaused()) return
    this.#stall.end()
    this.#connection.resume()
  }

  #forget(stream: SpdyStream): void {
    if (this.#streams.get(stream.id) !== stream) return
    this.#streams.delete(stream.id)
    this.#release(stream, stream.unreadBytes)
  }

  #sendData(stream: SpdyStream, bytes: Uint8Array, fin: boolean, done: () => void): void {
    if (this.#isOver) {
      done()
      return
    }
    this.#options.onActivity?.()
    this.#connection.cork()
    this.#write(dataFrameHeader(stream.id, bytes.length, fin))
    if (bytes.length > 0) this.#write(bytes)
    this.#connection.uncork()
    if (this.#connection.writableNeedDrain) this.#waiting.push(done)
    else done()
  }

  /** Streams that wait go on one after the other, for as long as the connection takes it. */
  #onDrain(): void {
    while (!this.#connection.writableNeedDrain) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      next()
    }
  }

  #sendReset(streamId: number, status: number): void {
    this.#write(controlFrame(frameTypes.rstStream, [streamId, status]))
  }

  /** Sends what the other end has asked for, unless it asks and does not read. */
  #answer(frame: Buffer): void {
    if (this.#connection.writableLength > answersBytesMax) this.#connection.destroy()
    else this.#write(frame)
  }

  #ping(): void {
    this.#write(controlFrame(frameTypes.ping, [this.#nextPingId]))
    this.#nextPingId += 2
  }

  #write(bytes: Uint8Array): void {
    if (!this.#isOver && this.#connection.writable) this.#connection.write(bytes)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stall.end()
    const error = new Error('the connection has been closed')
    for (const stream of [...this.#streams.values()]) stream.abandon(error)
    for (const reply of this.#replies.values()) reply.reject(error)
    this.#replies.clear()
    for (const done of this.#waiting.splice(0)) done()
    if (this.#connection.writable) this.#connection.end()
    const timer = this.#options.clock.setTimer(closeGraceMs, () => this.#connection.destroy())
    void this.closed.then(() => timer.cancel())
  }
}
