import { describe, expect, it } from 'vitest'
import { sortObjects } from './sort-objects.ts'

const sorted = (values: readonly unknown[]) =>
  sortObjects(
    values.map((key) => ({ key })),
    '.key',
    (item) => item,
  ).map(({ key }) => key)

describe('sortObjects', () => {
  it('orders numbers and quantities by size, and texts by their characters', () => {
    expect(sorted([10, 9, -1])).toEqual([-1, 9, 10])
    expect(sorted([2n ** 60n + 1n, 5, 2n ** 60n, 1e20])).toEqual([5, 2n ** 60n, 2n ** 60n + 1n, 1e20])
    expect(sorted(['1Ki', '1500m', '10', '9', '100m'])).toEqual(['100m', '1500m', '9', '10', '1Ki'])
    expect(sorted(['web-9', 'web-10', 'Web', 'db'])).toEqual(['Web', 'db', 'web-10', 'web-9'])
  })

  it('puts first what lacks the field', () => {
    expect(sorted(['b', undefined, 'a'])).toEqual([undefined, 'a', 'b'])
  })

  it('refuses a field that none has, and one without an order', () => {
    expect(() => sortObjects([{ a: 1 }], '.b', (item) => item)).toThrow(
      'couldn\'t find any field with path "{.b}" in the list of objects',
    )
    expect(() => sorted([{}, {}])).toThrow('cannot be sorted')
  })
})
