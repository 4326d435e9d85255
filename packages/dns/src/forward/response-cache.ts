import { BoundedMap } from '@coracle/client'
import type { Clock } from '@coracle/environment'
import type { Response } from '../wire/response.ts'

/** So long an answer of others is kept at most, in seconds, as kubeadm's `cache 30` says. */
export const keptSecondsMax = 30
/** So many are kept, as many as CoreDNS keeps. */
export const keptMax = 10_000
/** A larger one is asked for again. */
export const keptBytesMax = 2048

interface Kept {
  readonly response: Response
  /** On the monotonic clock. */
  readonly fromMs: number
  readonly untilMs: number
}

/** Answers of other servers, by question. Those of failures and lost ones are not kept. */
export class ResponseCache {
  readonly #clock: Clock
  readonly #kept = new BoundedMap<string, Kept>(keptMax)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** An answer that is still good, and how old it is. */
  get(key: string): { readonly response: Response; readonly ageSeconds: number } | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= kept.untilMs) return undefined
    return { response: kept.response, ageSeconds: Math.floor((nowMs - kept.fromMs) / 1000) }
  }

  put(key: string, response: Response): void {
    const seconds = Math.min(response.keptSeconds, keptSecondsMax)
    if (seconds <= 0 || response.message.length > keptBytesMax) return
    const fromMs = this.#clock.monotonicMs()
    this.#kept.set(key, { response, fromMs, untilMs: fromMs + seconds * 1000 })
  }
}
