import type { Random } from '@coracle/environment'

export interface BackOffOptions {
  readonly initialMs: number
  /** No wait is longer than this, jitter apart. */
  readonly maxMs: number
  /** Each wait is up to this fraction longer, by chance, so that many clients do not return in step. */
  readonly jitter: number
}

/** Waits that double from one failure to the next. */
export interface BackOff {
  /** How long to wait after one more failure. */
  nextMs(): number
  /** Things work again: the next wait is the shortest. */
  reset(): void
}

/** A back-off that draws its jitter from `random`. */
export function createBackOff({ initialMs, maxMs, jitter }: BackOffOptions, random: Random): BackOff {
  let waitMs = initialMs
  return {
    nextMs() {
      const plainMs = waitMs
      waitMs = Math.min(maxMs, waitMs * 2)
      return plainMs * (1 + jitter * random.next())
    },
    reset() {
      waitMs = initialMs
    },
  }
}
