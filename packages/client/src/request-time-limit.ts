import type { Clock } from '@coracle/environment'
import type { RawRequest } from './http-transport.ts'

export interface TimeLimit {
  /** The request, which fails with an Error that says so when its time is over. */
  readonly request: RawRequest
  /** To be called when it is over, one way or the other. */
  end(): void
}

/** Gives a request no more than `timeoutMs`, all attempts and the whole answer included. */
export function limitTime(request: RawRequest, timeoutMs: number | undefined, clock: Clock): TimeLimit {
  if (timeoutMs === undefined) return { request, end: () => {} }
  const controller = new AbortController()
  const timer = clock.setTimer(timeoutMs, () => {
    controller.abort(new Error(`no answer to ${request.method} ${request.path} within ${timeoutMs} ms`))
  })
  const signal = request.signal === undefined ? controller.signal : AbortSignal.any([request.signal, controller.signal])
  return { request: { ...request, signal }, end: () => timer.cancel() }
}
