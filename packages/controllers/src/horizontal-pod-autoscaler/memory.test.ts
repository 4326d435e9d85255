import type { ScalingPolicy } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startMs } from '../testing/objects.ts'
import { changeWithin, firstMemory, type Memory, remembered, upTo, withScaleEvent } from './memory.ts'
import { stabilize, stabilizeDown } from './stabilization.ts'

const policy = (periodSeconds: number): ScalingPolicy => ({ type: 'Pods', value: 1, periodSeconds })
const ago = (seconds: number) => startMs - seconds * 1000
const events = (...past: readonly (readonly [change: number, seconds: number])[]) =>
  past.map(([change, seconds]) => ({ change, atMs: ago(seconds) }))

describe('the changes of the count that are remembered', () => {
  const before: Memory = {
    ...firstMemory(3, startMs),
    scaleUps: events([1, 61], [2, 60], [3, 59]),
    scaleDowns: events([4, 61], [5, 60]),
  }

  it.each([
    ['growth', 2, { scaleUps: [2, 3, 2], scaleDowns: [5] }],
    ['shrinking', -2, { scaleUps: [2, 3], scaleDowns: [5, 2] }],
  ])('end with the last %s, and begin where the longest policy of both directions does', (_, change, expected) => {
    for (const policies of [
      { up: [policy(30), policy(60)], down: [policy(45)] },
      { up: [], down: [policy(60)] },
    ]) {
      const { recommendations, scaleUps, scaleDowns } = withScaleEvent(before, change, policies, startMs)
      const sizes = (of: Memory['scaleUps']) => of.map((each) => each.change)
      expect({ scaleUps: sizes(scaleUps), scaleDowns: sizes(scaleDowns) }).toEqual(expected)
      expect([...scaleUps, ...scaleDowns]).toContainEqual({ change: 2, atMs: startMs })
      expect(recommendations).toBe(before.recommendations)
    }
  })

  it('are none but the last without policies', () => {
    const { scaleUps, scaleDowns } = withScaleEvent(before, 2, { up: [], down: [] }, startMs)
    expect([scaleUps, scaleDowns]).toEqual([events([2, 0]), []])
  })

  it('are so many at most, the oldest being forgotten', () => {
    const full = {
      ...before,
      scaleUps: Array.from({ length: remembered.scaleEventsMax }, (_, index) => ({ change: index, atMs: startMs })),
    }
    const { scaleUps } = withScaleEvent(full, 9, { up: [policy(60)], down: [] }, startMs)
    expect(scaleUps.slice(0, 1)).toEqual([{ change: 1, atMs: startMs }])
    expect(scaleUps).toHaveLength(remembered.scaleEventsMax)
  })

  it('count within a period that does not include its beginning', () => {
    expect(changeWithin(before.scaleUps, policy(60), startMs)).toBe(3)
    expect(changeWithin(before.scaleUps, policy(61), startMs)).toBe(5)
  })
})

describe('the recommendations that are remembered', () => {
  const recommended = (...past: readonly (readonly [replicas: number, seconds: number])[]): Memory => ({
    ...firstMemory(0, startMs),
    recommendations: past.map(([replicas, seconds]) => ({ replicas, atMs: ago(seconds) })),
  })

  it('are those of the longer window, and the new one', () => {
    const past = recommended([1, 61], [2, 60], [3, 30])
    const wanted = recommended([2, 60], [3, 30], [4, 0])
    expect(stabilize(past, 3, 4, { up: 60, down: 30 }, startMs).memory).toEqual(wanted)
    expect(stabilize(past, 3, 4, { up: 30, down: 60 }, startMs).memory).toEqual(wanted)
  })

  it('are those of five minutes without a behavior, of which the oldest counts', () => {
    const past = recommended([9, 301], [5, 300], [1, 30])
    expect(stabilizeDown(past, 2, startMs)).toEqual({ replicas: 5, memory: recommended([5, 300], [1, 30], [2, 0]) })
  })

  it('are so many at most, the oldest being forgotten', () => {
    const full = recommended(
      ...Array.from({ length: remembered.recommendationsMax }, (_, index) => [index, 1] as const),
    )
    const { recommendations } = stabilizeDown(full, 7, startMs).memory
    expect(recommendations.at(0)).toEqual({ replicas: 1, atMs: ago(1) })
    expect(recommendations).toHaveLength(remembered.recommendationsMax)
  })

  it('begin with the count there is', () => {
    expect(firstMemory(3, startMs)).toEqual(recommended([3, 0]))
  })
})

it('keeps what was remembered when the clock is put back for as long as if it had just been', () => {
  const [recommendation] = firstMemory(7, startMs + 3_600_000).recommendations
  const old = { replicas: 5, atMs: ago(30) }
  const memory = {
    recommendations: recommendation === undefined ? [] : [old, recommendation],
    scaleUps: events([2, -3600]),
    scaleDowns: events([1, 10]),
  }
  expect(upTo(startMs, memory)).toEqual({
    recommendations: [old, { replicas: 7, atMs: startMs }],
    scaleUps: events([2, 0]),
    scaleDowns: events([1, 10]),
  })
})
