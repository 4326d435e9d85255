import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestTooLarge, tooManyRequests } from '@coracle/api'
import { busyMessage } from '../store-errors.ts'
import type { WorkTurns } from '../work-turns.ts'
import { ClientGoneError } from './respond.ts'

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

/** Reads bodies within their limits, one by one and together. */
export class BodyReader {
  readonly #turns: WorkTurns
  #heldBytes = 0
  #hugeCount = 0
  readonly #waiting: (() => void)[] = []
  readonly #awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>()

  constructor(turns: WorkTurns) {
    this.#turns = turns
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
      this.#heldBytes += body.length
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
      this.#heldBytes -= body.length
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
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = []
      let length = 0
      let held = 0
      let problem: unknown
      const release = () => {
        this.#heldBytes -= held
        held = 0
      }
      const detach = () => {
        request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      }
      const fail = (error: unknown) => {
        release()
        detach()
        reject(error)
      }
      const discard = (why: unknown) => {
        problem = why
        chunks = []
        release()
      }
      const onData = (chunk: Buffer) => {
        length += chunk.length
        if (problem !== undefined) {
          if (length > discardedBytesMax) fail(problem)
          return
        }
        held += chunk.length
        this.#heldBytes += chunk.length
        chunks.push(chunk)
        if (length > bodyBytesMax) discard(tooLarge())
        else if (this.#heldBytes > bodiesBytesMax) discard(tooManyRequests(busyMessage, 1))
      }
      const onEnd = () => {
        detach()
        const wait = length >= largeBodyBytesMin && problem === undefined ? this.#turns.take(true) : undefined
        if (wait === undefined) finish()
        else void wait.then(finish)
      }
      const finish = () => {
        release()
        const [only] = chunks
        if (problem !== undefined) reject(problem)
        else resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length))
      }
      const onGone = () => fail(problem ?? new ClientGoneError())
      if (Number(request.headers['content-length'] ?? 0) > discardedBytesMax) return reject(tooLarge())
      if (request.headers.expect !== undefined) this.#awaitingContinue.get(request)?.writeContinue()
      request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
    })
  }
}
