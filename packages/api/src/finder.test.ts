import { expect, it } from 'vitest'
import { finderOf, lookedThroughMax, repeatedAt } from './finder.ts'

it.each([3, lookedThroughMax, lookedThroughMax + 1, 3000])('finds the first of %i items with a key', (count) => {
  let looks = 0
  const items = Array.from({ length: count }, (_, index) => ({ index }))
  const find = finderOf(items, ({ index }) => {
    looks += 1
    return index - (index % 2)
  })
  const found = items.map(({ index }) => find(index))
  expect(found).toEqual(items.map((item) => (item.index % 2 === 0 ? item : undefined)))
  expect(looks).toBeLessThanOrEqual(count * lookedThroughMax)
})

it('tells where texts repeat', () => {
  expect([...repeatedAt(['a', 'b', 'a', 'c', 'b', 'a'])]).toEqual([2, 4, 5])
  expect([...repeatedAt([])]).toEqual([])
})
