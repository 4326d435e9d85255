import type { IncomingMessage as NodeIncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What is overridden here of Node.js's class and not declared as it is there. */
interface Message extends NodeIncomingMessage {
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
  /** Whether the body was over before anything of it came: the stream is told when somebody reads it. */
  #isEmpty = false
  /** Whether all of the body has gone past the stream. */
  #isOver = false

  /** Has the body go to `sink`. False where it is in the stream already and has to be read there. */
  sendBodyTo(sink: BodySink): boolean {
    if (this.#isStreamed) return false
    if (this.destroyed) {
      sink.abort()
      return true
    }
    this.#sink = sink
    if (this.#isEmpty) this.push(null)
    return true
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
    return super.push(chunk)
  }

  override _read(size: number): void {
    super._read(size)
    this.#isStreamed = true
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
    sink.abort()
  }
}
