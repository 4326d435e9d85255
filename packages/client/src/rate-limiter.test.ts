import { VirtualClock } from '@coracle/environment'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bucketRateLimiter, defaultRateLimiter, exponentialRateLimiter, slowestRateLimiter } from './rate-limiter.ts'

describe('rate limiters', () => {
  it('double the wait of each key by itself, up to the longest, until it is forgotten', () => {
    const limiter = exponentialRateLimiter({ firstMs: 10, longestMs: 50 })
    expect([1, 2, 3, 4].map(() => limiter.delayMs('a'))).toEqual([10, 20, 40, 50])
    expect(limiter.delayMs('b')).toBe(10)
    expect([limiter.failures('a'), limiter.failures('b'), limiter.failures('c')]).toEqual([4, 1, 0])
    limiter.forget('a')
    expect([limiter.failures('a'), limiter.delayMs('a')]).toEqual([0, 10])
  })

  it('never wait longer than the longest, however often a key has failed', () => {
    const limiter = exponentialRateLimiter()
    for (let failure = 0; failure < 2000; failure++) limiter.delayMs('a')
    expect(limiter.delayMs('a')).toBe(1_000_000)
  })

  it('let through a burst, and then so many a second', async () => {
    const clock = new VirtualClock()
    const limiter = bucketRateLimiter(clock, { perSecond: 2, burst: 3 })
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => limiter.delayMs(key))).toEqual([0, 0, 0, 500, 1000])
    await clock.advance(1500)
    expect(limiter.delayMs('f')).toBe(0)
    expect(limiter.delayMs('g')).toBe(500)
    await clock.advance('1h')
    expect(['a', 'b', 'c', 'd'].map((key) => limiter.delayMs(key))).toEqual([0, 0, 0, 500])
  })

  it('let through no more in any time than the burst and the rate allow', async () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(steps, async (waitsMs) => {
        const clock = new VirtualClock()
        const limiter = bucketRateLimiter(clock, { perSecond: 10, burst: 5 })
        const starts: number[] = []
        for (const waitMs of waitsMs) {
          await clock.advance(waitMs)
          starts.push(clock.monotonicMs() + limiter.delayMs('k'))
        }
        for (const [from, start] of starts.entries()) {
          for (const [to, end] of starts.entries()) {
            if (to >= from) expect(to - from + 1).toBeLessThanOrEqual(5 + (end - start) / 100 + 1e-6)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('wait as long as the slowest of several wants', () => {
    const limiter = slowestRateLimiter(exponentialRateLimiter({ firstMs: 1 }), exponentialRateLimiter({ firstMs: 7 }))
    expect([limiter.delayMs('a'), limiter.delayMs('a'), limiter.failures('a')]).toEqual([7, 14, 2])
    limiter.forget('a')
    expect(limiter.failures('a')).toBe(0)
  })

  it('wait by default as those of upstream: 5 ms doubling for a key, ten a second after a hundred for all', () => {
    const limiter = defaultRateLimiter(new VirtualClock())
    for (let key = 0; key < 100; key++) expect(limiter.delayMs(`k${key}`)).toBe(5)
    expect(limiter.delayMs('late')).toBe(100)
    expect(limiter.delayMs('later')).toBe(200)
  })
})
