import type { Readable } from 'node:stream'
import type { Clock } from '@coracle/environment'
import type { RawRequest } from './http-transport.ts'

/** A request was given up, since its time was over. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError'
}

export interface TimeLimit {
  /** The request, which fails with a RequestTimeoutError when its time is over. */
  readonly request: RawRequest
  /** To be called when it is over, one way or the other. */
  end(): void
}

/** Gives a request no more than `timeoutMs`, all attempts and the whole answer included. */
export function limitTime(request: RawRequest, timeoutMs: number | undefined, clock: Clock): TimeLimit {
  if (timeoutMs === undefined) return { request, end: () => {} }
  const controller = new AbortController()
  const timer = clock.setTimer(timeoutMs, () => {
    controller.abort(new RequestTimeoutError(`no answer to ${request.method} ${request.path} within ${timeoutMs} ms`))
  })
  const signal = request.signal === undefined ? controller.signal : AbortSignal.any([request.signal, controller.signal])
  return { request: { ...request, signal }, end: () => timer.cancel() }
}

/** A response, or the signal's reason as soon as it is aborted: undici hears of that only once it is connected. */
export function untilAborted<R extends { readonly body: Pick<Readable, 'on' | 'destroy'> }>(
  call: Promise<R>,
  signal: AbortSignal,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    call.then(
      (response) => {
        signal.removeEventListener('abort', onAbort)
        // Nobody takes what comes too late, nor hears that it was broken off.
        if (signal.aborted) response.body.on('error', () => {}).destroy()
        resolve(response)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      },
    )
  })
}
