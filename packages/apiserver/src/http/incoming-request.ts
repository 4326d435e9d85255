import type { IncomingMessage as NodeIncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What is overridden here of Node.js's class and not declared as it is there. */
interface Message extends NodeIncomingMessage {
  /** Whether somebody reads the stream: then Node.js leaves the rest of the body to them once the answer has gone out. */
  _consuming: boolean
  get readableEnded(): boolean
  _dump(): void
}

/** Node.js's class, as a value: not imported, as in server-response.ts. */
const { IncomingMessage } = process.getBuiltinModule('node:http') as unknown as {
  readonly IncomingMessage: Omit<typeof NodeIncomingMessage, 'prototype'> & (new (socket: Socket) => Message)
}

/** Takes a body as it comes. */
export interface BodySink {
  /** Some of it has come. */
  write(chunk: Buffer): void
  /** All of it has come. */
  end(): void
  /** The rest of it will not come, or nobody needs it: the client has gone, or has its answer. */
  abort(): void
}

/**
 * A request whose body goes straight from the parser to its reader. Most bodies are one small piece, for which the buffer, the events and
 * the deferred calls of a stream take longer than reading it does. To everybody else it is the stream that Node.js makes of it.
 */
export class IncomingRequest extends IncomingMessage {
  #sink: BodySink | undefined
  /** Whether the body goes to the stream: some of it has, or somebody has begun to read there. */
  #isStreamed = false
  /** Whether somebody has begun to read the stream. */
  #isRead = false
  /** Whether the end of the body is in the stream. */
  #isEnded = false
  /** Whether the body was over before anything of it came: the stream is told when somebody reads it. */
  #isEmpty = false
  /** Whether all of the body has gone past the stream. */
  #isOver = false

  /** Has the body go to `sink`, with what of it has come. False where somebody reads the stream: then it has to be read there. */
  sendBodyTo(sink: BodySink): boolean {
    if (this.#isRead) return false
    if (this.destroyed) {
      sink.abort()
      return true
    }
    this.#sink = sink
    if (this.#isStreamed) this.#sendBegun(sink)
    else if (this.#isEmpty) this.push(null)
    return true
  }

  /** What is in the stream. It is as if nobody had read it there: its end is for the sink to hear of, and so is an answer before it. */
  #sendBegun(sink: BodySink): void {
    const begun = super.read() as Buffer | null
    this._consuming = false
    if (begun !== null) sink.write(begun)
    if (!this.#isEnded) return
    this.#isOver = true
    sink.end()
  }

  /** The parser calls this with each piece of the body, and with null at its end. False: it is to wait before it reads on. */
  override push(chunk: Buffer | null): boolean {
    if (this.#sink !== undefined) {
      if (chunk !== null) this.#sink.write(chunk)
      else {
        this.#isOver = true
        this.#sink.end()
      }
      return true
    }
    this.#isEmpty = chunk === null && !this.#isStreamed
    if (this.#isEmpty) return true
    this.#isStreamed = true
    this.#isEnded ||= chunk === null
    return super.push(chunk)
  }

  override _read(size: number): void {
    super._read(size)
    if (this.#sink !== undefined) return
    this.#isStreamed = true
    this.#isRead = true
    if (this.#isEmpty) super.push(null)
    this.#isEmpty = false
  }

  override get readableEnded(): boolean {
    return this.#isOver || super.readableEnded
  }

  /** Node.js calls this when the answer has gone out and nobody has read the stream. */
  override _dump(): void {
    this.#isOver ||= this.#isEmpty
    if (this.#isOver) return
    this.#abort()
    super._dump()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    super._destroy(error, callback)
    this.#abort()
  }

  #abort(): void {
    const sink = this.#sink
    if (sink === undefined || this.#isOver) return
    this.#sink = undefined
    this.#isStreamed = true
    this.#isRead = true
    sink.abort()
  }
}
