import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NodeInfo } from './node-info.ts'
import { makeNode } from './testing/objects.ts'
import { type Contribution, TopologySums } from './topology-sums.ts'

const contribution = fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: -2, max: 3 }))
const change = fc.record({
  node: fc.constantFrom('a', 'b', 'c', 'd'),
  contributions: fc.option(fc.array(contribution, { maxLength: 3 })),
})

it('sums are what counting all nodes again gives, however they have come and changed', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const now = new Map<string, readonly Contribution[]>()
      const sums = new TopologySums(({ name }) => now.get(name) ?? [])
      for (const { node, contributions } of changes) {
        if (contributions === null) {
          now.delete(node)
          sums.remove(node)
        } else {
          now.set(node, contributions)
          sums.put(new NodeInfo(makeNode({ name: node })))
        }
        const counted = new Map<string, number>()
        for (const [place, amount] of [...now.values()].flat()) counted.set(place, (counted.get(place) ?? 0) + amount)
        expect([...'xyz'].map((place) => sums.get(place))).toEqual([...'xyz'].map((place) => counted.get(place) ?? 0))
        expect(sums.size).toBe(counted.size)
        expect(sums.minimum).toBe(Math.min(...counted.values()))
        expect(sums.hasAny).toBe([...counted.values()].some((sum) => sum !== 0))
      }
    }),
  )
})

it('an adjustment that is taken back leaves nothing', () => {
  const sums = new TopologySums(() => [['x', 0]])
  sums.put(new NodeInfo(makeNode()))
  sums.adjust('x', 2)
  sums.adjust('y', -1)
  expect([sums.get('x'), sums.get('y'), sums.size, sums.minimum]).toEqual([2, -1, 2, -1])
  sums.adjust('y', 1)
  sums.adjust('x', -2)
  expect([sums.get('x'), sums.get('y'), sums.size, sums.minimum, sums.hasAny]).toEqual([0, 0, 1, 0, false])
})
