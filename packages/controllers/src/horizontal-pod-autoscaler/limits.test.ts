import type { ScalingRules } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startMs } from '../testing/objects.ts'
import { limit, limitByRules } from './limits.ts'
import { firstMemory, type ScaleEvent } from './memory.ts'

type Reason = 'DesiredWithinRange' | 'TooFewReplicas' | 'TooManyReplicas' | 'ScaleUpLimit' | 'ScaleDownLimit'

/** So many pods in so many seconds, and such a share of them in so many seconds; none of either where the number is 0. */
type Rates = readonly [pods: number, podsSeconds: number, percent: number, percentSeconds: number]

const rulesOf = ([pods, podsSeconds, percent, percentSeconds]: Rates): ScalingRules => ({
  selectPolicy: 'Max',
  policies: [
    ...(pods === 0 ? [] : [{ type: 'Pods', value: pods, periodSeconds: podsSeconds }]),
    ...(percent === 0 ? [] : [{ type: 'Percent', value: percent, periodSeconds: percentSeconds }]),
  ],
})

/** What a behavior has that says nothing of a direction. */
const usualUp: ScalingRules = {
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const usualDown: ScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

/** Changes spread evenly over the last two minutes, so that the last is at their end. */
const changes = (sizes: readonly number[]): readonly ScaleEvent[] =>
  sizes.map((change, index) => ({
    change,
    atMs: startMs - Math.floor(((sizes.length - index) * 120_000) / (sizes.length + 1)),
  }))

interface Given {
  readonly current: number
  readonly wanted: number
  readonly min?: number
  readonly max?: number
  readonly up?: Rates
  readonly down?: Rates
  readonly grown?: readonly number[]
  readonly shrunk?: readonly number[]
}

describe('the rates of a behavior (TestScalingWithRules)', () => {
  it.each<[string, Given, number, Reason]>([
    ['within the bounds', { current: 5, wanted: 7, min: 3, max: 8 }, 7, 'DesiredWithinRange'],
    ['below the fewest', { current: 3, wanted: 1, min: 2, max: 8 }, 2, 'TooFewReplicas'],
    ['none where none may be', { current: 1, wanted: 0, min: 0, max: 10 }, 0, 'DesiredWithinRange'],
    ['above the most, which is less than there are', { current: 20, wanted: 1000, max: 10 }, 10, 'TooManyReplicas'],
    ['above the most', { current: 100, wanted: 1000, min: 100, max: 150 }, 150, 'TooManyReplicas'],
    ['a share of three', { current: 3, wanted: 1000, max: 2000, up: [0, 0, 1, 60] }, 4, 'ScaleUpLimit'],
    [
      'twenty of a thousand',
      { current: 1000, wanted: 3, min: 3, max: 2000, down: [20, 60, 0, 0] },
      980,
      'ScaleDownLimit',
    ],
    ['as usual', { current: 10, wanted: 50 }, 20, 'ScaleUpLimit'],
    ['more pods than the share', { current: 10, wanted: 500, up: [100, 60, 100, 60] }, 110, 'ScaleUpLimit'],
    ['fewer pods than the share', { current: 10, wanted: 500, up: [2, 60, 100, 60] }, 20, 'ScaleUpLimit'],
    ['as many pods as are wanted', { current: 10, wanted: 50, up: [100, 60, 0, 0] }, 50, 'DesiredWithinRange'],
    ['as large a share as is wanted', { current: 10, wanted: 50, up: [0, 0, 10_000, 60] }, 50, 'DesiredWithinRange'],
    ['so many pods', { current: 10, wanted: 50, up: [30, 60, 0, 0] }, 40, 'ScaleUpLimit'],
    ['such a share', { current: 10, wanted: 50, up: [0, 0, 200, 60] }, 30, 'ScaleUpLimit'],
    ['down by more pods than the share', { current: 100, wanted: 2, down: [20, 60, 1, 60] }, 80, 'ScaleDownLimit'],
    ['down by few pods', { current: 100, wanted: 2, down: [2, 60, 1, 60] }, 98, 'ScaleDownLimit'],
    ['down to the fewest', { current: 10, wanted: 0, down: [100, 60, 0, 0] }, 1, 'TooFewReplicas'],
    ['down to the fewest by a share', { current: 10, wanted: 2, min: 5, down: [0, 0, 100, 60] }, 5, 'TooFewReplicas'],
    ['down by so many pods', { current: 10, wanted: 2, down: [5, 60, 0, 0] }, 5, 'ScaleDownLimit'],
    ['down by such a share', { current: 10, wanted: 5, down: [0, 0, 50, 60] }, 5, 'DesiredWithinRange'],
    [
      'after growth',
      { current: 100, wanted: 500, max: 200, up: [300, 60, 0, 0], grown: [1, 5, 9] },
      200,
      'TooManyReplicas',
    ],
    [
      'no more after growth that was too much',
      { current: 100, wanted: 500, up: [5, 120, 0, 0], grown: [1, 5, 9] },
      100,
      'ScaleUpLimit',
    ],
    [
      'pods from before the growth',
      { current: 100, wanted: 500, up: [150, 120, 0, 0], grown: [1, 5, 9] },
      235,
      'ScaleUpLimit',
    ],
    [
      'a share from before the growth',
      { current: 100, wanted: 500, up: [0, 0, 200, 120], grown: [1, 5, 9] },
      255,
      'ScaleUpLimit',
    ],
    ['down as usual', { current: 10, wanted: 5, shrunk: [1, 5, 9] }, 5, 'DesiredWithinRange'],
    [
      'down to the fewest again',
      { current: 100, wanted: 0, down: [115, 120, 0, 0], shrunk: [1, 5, 9] },
      1,
      'TooFewReplicas',
    ],
    [
      'down by a share of all',
      { current: 100, wanted: 2, min: 5, down: [0, 0, 100, 120], shrunk: [1, 5, 9] },
      5,
      'TooFewReplicas',
    ],
    ['no further down', { current: 100, wanted: 2, down: [5, 120, 0, 0], shrunk: [1, 5, 9] }, 100, 'ScaleDownLimit'],
    ['down from before', { current: 100, wanted: 0, down: [0, 0, 50, 120], shrunk: [2, 4, 6] }, 56, 'ScaleDownLimit'],
    [
      'no further down by a share',
      { current: 100, wanted: 0, down: [0, 0, 10, 120], shrunk: [10, 10, 10] },
      100,
      'ScaleDownLimit',
    ],
    [
      'down by more than all',
      { current: 10, wanted: 5, down: [0, 0, 1000, 120], shrunk: [10, 10, 10] },
      5,
      'DesiredWithinRange',
    ],
  ])('%s', (_what, { current, wanted, min = 1, max = 1000, up, down, grown = [], shrunk = [] }, replicas, reason) => {
    const memory = { ...firstMemory(current, startMs), scaleUps: changes(grown), scaleDowns: changes(shrunk) }
    const rules = { up: up === undefined ? usualUp : rulesOf(up), down: down === undefined ? usualDown : rulesOf(down) }
    expect(limitByRules(memory, { current, wanted }, { min, max }, rules, startMs)).toMatchObject({ replicas, reason })
  })
})

describe('the usual rate (TestConvertDesiredReplicasWithRules)', () => {
  it.each<[number, number, number, number, number, Reason]>([
    [5, 7, 3, 8, 7, 'DesiredWithinRange'],
    [3, 1, 2, 8, 2, 'TooFewReplicas'],
    [1, 0, 0, 10, 0, 'DesiredWithinRange'],
    [20, 1000, 1, 10, 10, 'TooManyReplicas'],
    [3, 1000, 1, 2000, 6, 'ScaleUpLimit'],
  ])('from %d to %d of %d to %d is %d: %s', (current, wanted, min, max, replicas, reason) => {
    expect(limit(current, wanted, { min, max })).toMatchObject({ replicas, reason })
  })
})
