import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestTooLarge, tooManyRequests } from '@coracle/api'
import { busyMessage } from '../store-errors.ts'
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

/** Reads bodies within their limits, one by one and together. */
export class BodyReader {
  #heldBytes = 0
  readonly #awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>()

  /** The client sends its body when it is told to (`Expect: 100-continue`), which `read` does. */
  expectContinue(request: IncomingMessage, response: ServerResponse): void {
    this.#awaitingContinue.set(request, response)
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
      const settle = () => {
        release()
        request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      }
      const fail = (error: unknown) => {
        settle()
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
        settle()
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
