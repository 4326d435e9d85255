import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ApiError, requestTooLarge, tooManyRequests } from '@coracle/api'
import { busyMessage } from '../../store-errors.ts'
import type { WorkTurns } from '../../work-turns.ts'
import { type BodySink, IncomingRequest } from '../incoming-request.ts'
import { ClientGoneError } from '../respond.ts'

/** Upstream's limit of a request body. */
export const bodyBytesMax = 3 * 1024 * 1024

/** What all bodies being received may take together: more than this, and clients are asked to come back. */
export const bodiesBytesMax = 256 * 1024 * 1024

const tooLarge = () => requestTooLarge(`Request entity too large: limit is ${bodyBytesMax}`)

/**
 * What is received and thrown away of a body that is too long, so that its sender gets to read why. Beyond this the
 * connection is closed on it.
 */
export const discardedBytesMax = 32 * 1024 * 1024

/** Bodies of this size take so long to parse and check that no two are begun on in one turn of the event loop. */
export const largeBodyBytesMin = 64 * 1024

/** Bodies of this size take many times their bytes while they are worked on. */
export const hugeBodyBytesMin = 256 * 1024

/** How many bodies of that size are worked on at a time. Others wait, as the bytes they came in. */
export const hugeBodiesMax = 8

/** What bodies take together that are being received, or wait to be worked on. */
interface HeldBytes {
  bytes: number
}

/** Reads bodies within their limits, one by one and together. */
export class BodyReader {
  readonly #turns: WorkTurns
  readonly #held: HeldBytes = { bytes: 0 }
  #hugeCount = 0
  readonly #waiting: (() => void)[] = []
  readonly #awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>()

  constructor(turns: WorkTurns) {
    this.#turns = turns
  }

  /** What bodies take together that are being received, or wait to be worked on. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  /** The client sends its body when it is told to (`Expect: 100-continue`), which `read` does. */
  expectContinue(request: IncomingMessage, response: ServerResponse): void {
    this.#awaitingContinue.set(request, response)
  }

  /** The body as it comes, for those who hold none of it. */
  stream(request: IncomingMessage): IncomingMessage {
    if (request.headers.expect !== undefined) this.#awaitingContinue.get(request)?.writeContinue()
    return request
  }

  /**
   * Reads the body and has `action` make of it what is to be made, when it is its turn. Rejects as `read` does, and as `action`.
   */
  use<T>(request: IncomingMessage, action: (body: Buffer) => Promise<T>): Promise<T> {
    return this.read(request).then((body) =>
      body.length < hugeBodyBytesMin ? action(body) : this.#useHuge(body, action),
    )
  }

  async #useHuge<T>(body: Buffer, action: (body: Buffer) => Promise<T>): Promise<T> {
    if (this.#hugeCount < hugeBodiesMax) this.#hugeCount += 1
    else {
      this.#held.bytes += body.length
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      this.#held.bytes -= body.length
    }
    try {
      return await action(body)
    } finally {
      // The place goes from one to the next.
      const next = this.#waiting.shift()
      if (next === undefined) this.#hugeCount -= 1
      else next()
    }
  }

  /**
   * The whole body. Rejects with RequestEntityTooLarge (413) where it is too long, with TooManyRequests (429) where
   * all bodies together are too much, with ClientGoneError where the client went before its end.
   */
  read(request: IncomingMessage): Promise<Buffer> {
    const { headers } = request
    if (Number(headers['content-length'] ?? 0) > discardedBytesMax) return Promise.reject(tooLarge())
    if (headers.expect !== undefined) this.#awaitingContinue.get(request)?.writeContinue()
    return new Promise((resolve, reject) => {
      const body = new ComingBody(this.#held, this.#turns, resolve, reject)
      if (!(request instanceof IncomingRequest && request.sendBodyTo(body))) readStream(request, body)
    })
  }
}

/** Reads a body from a stream. */
function readStream(request: IncomingMessage, body: ComingBody): void {
  const abort = () => body.abort()
  request
    .on('data', (chunk: Buffer) => body.write(chunk))
    .on('end', () => body.end())
    .on('error', abort)
    .on('close', abort)
}

/** A body that is being received. */
class ComingBody implements BodySink {
  readonly #all: HeldBytes
  readonly #turns: WorkTurns
  readonly #resolve: (body: Buffer) => void
  readonly #reject: (reason: unknown) => void
  #chunks: Buffer[] = []
  #length = 0
  #held = 0
  #problem: ApiError | undefined
  /** Whether nothing more of it is looked at. */
  #isOver = false

  constructor(all: HeldBytes, turns: WorkTurns, resolve: (body: Buffer) => void, reject: (reason: unknown) => void) {
    this.#all = all
    this.#turns = turns
    this.#resolve = resolve
    this.#reject = reject
  }

  write(chunk: Buffer): void {
    if (this.#isOver) return
    this.#length += chunk.length
    if (this.#problem !== undefined) {
      if (this.#length > discardedBytesMax) this.#fail(this.#problem)
      return
    }
    this.#held += chunk.length
    this.#all.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#length > bodyBytesMax) this.#discard(tooLarge())
    else if (this.#all.bytes > bodiesBytesMax) this.#discard(tooManyRequests(busyMessage, 1))
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const isLarge = this.#length >= largeBodyBytesMin && this.#problem === undefined
    const wait = isLarge ? this.#turns.take(true) : undefined
    if (wait === undefined) this.#finish()
    else void wait.then(() => this.#finish())
  }

  abort(): void {
    if (!this.#isOver) this.#fail(this.#problem ?? new ClientGoneError())
  }

  #finish(): void {
    this.#release()
    const [only] = this.#chunks
    if (this.#problem !== undefined) this.#reject(this.#problem)
    else
      this.#resolve(this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#length))
  }

  /** What is still to come is thrown away. */
  #discard(why: ApiError): void {
    this.#problem = why
    this.#chunks = []
    this.#release()
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#chunks = []
    this.#release()
    this.#reject(error)
  }

  #release(): void {
    this.#all.bytes -= this.#held
    this.#held = 0
  }
}
