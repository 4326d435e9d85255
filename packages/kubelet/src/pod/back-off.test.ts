import { describe, expect, it } from 'vitest'
import { type BackedOffRun, type BackOff, nextBackOff, presumedBackOff, restartAtMs } from './back-off.ts'

/** The waits of a container that ends `runMs` after each start. */
function waits(count: number, runMs: number): number[] {
  let backOff: BackOff | undefined
  let nowMs = 0
  return Array.from({ length: count }, () => {
    const finishedAtMs = nowMs + runMs
    const startAtMs = restartAtMs(backOff, finishedAtMs)
    backOff = nextBackOff(backOff, finishedAtMs, startAtMs)
    nowMs = startAtMs
    return (startAtMs - finishedAtMs) / 1000
  })
}

describe('restart back-off', () => {
  it('restarts at once, then after 10 s, doubling to 5 min', () => {
    expect(waits(8, 1000)).toEqual([0, 10, 20, 40, 80, 160, 300, 300])
  })

  it('starts over after a run of more than 10 min', () => {
    expect(waits(3, 601_000)).toEqual([0, 0, 0])
  })
})

describe('a back-off that nobody remembers', () => {
  /** What is remembered of a container whose runs last so long, when the last of them has ended, and what is presumed then. */
  function afterRuns(...lengthsMs: readonly number[]): readonly [BackOff | undefined, BackOff | undefined] {
    let backOff: BackOff | undefined
    const runs: BackedOffRun[] = []
    let nowMs = 0
    for (const [attempt, lengthMs] of lengthsMs.entries()) {
      const finishedAtMs = nowMs + lengthMs
      runs.unshift({ image: 'i', attempt, startedAtMs: nowMs, finishedAtMs })
      if (attempt === lengthsMs.length - 1) break
      nowMs = restartAtMs(backOff, finishedAtMs)
      backOff = nextBackOff(backOff, finishedAtMs, nowMs)
    }
    const [latest = { image: 'i', attempt: 0 }, previous] = runs
    return [backOff, presumedBackOff(latest, previous)]
  }

  it.each([1, 2, 3, 5, 9])('is presumed as it was after %i short runs', (count) => {
    const [remembered, presumed] = afterRuns(...Array.from({ length: count }, () => 1000))
    expect(presumed).toEqual(remembered)
  })

  it('is the first wait after a run of more than 10 min, however many there were', () => {
    const [remembered, presumed] = afterRuns(1000, 1000, 1000, 601_000, 1000)
    expect(presumed).toEqual(remembered)
    expect(presumed?.delayMs).toBe(10_000)
  })

  it('begins anew with another image', () => {
    const previous = { image: 'old', attempt: 8, startedAtMs: 0, finishedAtMs: 1000 }
    const presumed = presumedBackOff({ image: 'new', attempt: 9, startedAtMs: 2000, finishedAtMs: 3000 }, previous)
    expect(restartAtMs(presumed, 3000)).toBe(3000)
    expect(nextBackOff(presumed, 3000, 3000).delayMs).toBe(10_000)
  })
})
