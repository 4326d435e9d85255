import { describe, expect, it } from 'vitest'
import { type BackOff, nextBackOff, restartAtMs } from './back-off.ts'

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
