import { describe, expect, it } from 'vitest'
import { AvailableCount } from './available-count.ts'

/** The count of these times, in seconds, with some of them taken out again. */
function counting(times: readonly number[], removed: readonly number[] = []): AvailableCount {
  const count = new AvailableCount()
  for (const at of times) count.add(at)
  for (const at of removed) count.remove(at)
  return count
}

describe('the count of times that have come', () => {
  it.each<readonly [string, readonly number[], readonly number[], number, number | undefined]>([
    ['has none at first', [], [], 0, undefined],
    ['has those of now, and knows the next', [5, 10, 30, 20], [], 2, 20],
    ['has each time as often as it was added', [10, 10, 20, 20], [], 2, 20],
    ['has no time that was taken out', [5, 10, 20], [10], 1, 20],
    ['takes out one of several that are the same', [10, 10, 10, 20, 20], [10, 20], 2, 20],
    ['knows the next where the one before it was taken out', [20, 30], [20], 0, 30],
    ['does not know of a next where all were taken out', [20], [20], 0, undefined],
    ['does not have what never comes, and does not wait for it', [5, Infinity, Infinity], [Infinity], 1, undefined],
  ])('%s', (_, times, removed, come, next) => {
    expect(counting(times, removed).at(10)).toEqual({ come, next })
  })

  it('goes on with time', () => {
    const count = counting([10, 20, 20, 30])
    expect([9, 10, 20, 40].map((now) => count.at(now))).toEqual([
      { come: 0, next: 10 },
      { come: 1, next: 20 },
      { come: 3, next: 30 },
      { come: 4, next: undefined },
    ])
  })

  it('follows what changes about times that have come', () => {
    const count = counting([5, 10])
    count.at(10)
    count.add(7)
    count.add(10)
    count.remove(5)
    expect(count.at(10)).toEqual({ come: 3, next: undefined })
  })
})
