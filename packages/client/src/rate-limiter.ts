import type { Clock } from '@coracle/environment'

/** First and longest wait of a key that keeps failing (client-go's defaults). */
export const retryFirstMs = 5
export const retryLongestMs = 1_000_000

/** Retries of all keys together: so many at once, then so many a second (client-go's defaults). */
export const retryBurst = 100
export const retriesPerSecond = 10

/** How long a key that has failed waits before it is tried again. */
export interface RateLimiter {
  /** Counts a failure of the key, and says how long to wait now. */
  delayMs(key: string): number
  /** The key has succeeded: it begins anew. */
  forget(key: string): void
  /** How often the key has failed since it was forgotten. */
  failures(key: string): number
}

/** Waits that double with each failure of a key. */
export function exponentialRateLimiter(options: Partial<ExponentialOptions> = {}): RateLimiter {
  const { firstMs = retryFirstMs, longestMs = retryLongestMs } = options
  const failed = new Map<string, number>()
  return {
    delayMs(key) {
      const failures = failed.get(key) ?? 0
      failed.set(key, failures + 1)
      return Math.min(longestMs, firstMs * 2 ** failures)
    },
    forget: (key) => void failed.delete(key),
    failures: (key) => failed.get(key) ?? 0,
  }
}

export interface ExponentialOptions {
  readonly firstMs: number
  readonly longestMs: number
}

/** A token bucket that all keys share: it is full at first, and each failure takes a token or waits for one. */
export function bucketRateLimiter(clock: Clock, options: Partial<BucketOptions> = {}): RateLimiter {
  const { perSecond = retriesPerSecond, burst = retryBurst } = options
  let tokens = burst
  let atMs = clock.monotonicMs()
  return {
    delayMs() {
      const nowMs = clock.monotonicMs()
      // Below zero are the tokens that are promised already.
      tokens = Math.min(burst, tokens + ((nowMs - atMs) / 1000) * perSecond) - 1
      atMs = nowMs
      return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000
    },
    forget: () => {},
    failures: () => 0,
  }
}

export interface BucketOptions {
  readonly perSecond: number
  readonly burst: number
}

/** The longest of the waits that several limiters ask for. */
export function slowestRateLimiter(...limiters: readonly RateLimiter[]): RateLimiter {
  return {
    delayMs: (key) => Math.max(0, ...limiters.map((limiter) => limiter.delayMs(key))),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key)
    },
    failures: (key) => Math.max(0, ...limiters.map((limiter) => limiter.failures(key))),
  }
}

/**
 * Upstream's for controllers (client-go's DefaultTypedControllerRateLimiter): each key waits 5 ms at first and up to 1,000 s; all
 * together are tried again 100 at once and then 10 a second.
 */
export function defaultRateLimiter(clock: Clock): RateLimiter {
  return slowestRateLimiter(exponentialRateLimiter(), bucketRateLimiter(clock))
}
