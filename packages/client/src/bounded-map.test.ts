import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

describe('a bounded map', () => {
  it('gives up what was least recently read or written', () => {
    const map = new BoundedMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    expect(map.get('a')).toBe(1)
    map.set('c', 3)
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3])
    map.set('a', 4)
    map.set('d', 5)
    expect(['a', 'c', 'd'].map((key) => map.get(key))).toEqual([4, undefined, 5])
  })

  it('holds nothing where nothing is to be held', () => {
    const map = new BoundedMap<string, number>(0)
    map.set('a', 1)
    map.set('b', 2)
    expect([map.get('a'), map.get('b')]).toEqual([undefined, undefined])
  })

  it('does what a list of its keys in the order of their use does', () => {
    const step = fc.record({ key: fc.integer({ min: 0, max: 9 }), value: fc.option(fc.integer(), { nil: undefined }) })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), fc.array(step, { maxLength: 400 }), (sizeMax, steps) => {
        const map = new BoundedMap<number, number>(sizeMax)
        let used: readonly (readonly [number, number])[] = []
        for (const { key, value } of steps) {
          const before = used.find(([each]) => each === key)
          const now = value ?? before?.[1]
          const others = used.filter(([each]) => each !== key)
          if (value === undefined) expect(map.get(key)).toBe(now)
          else map.set(key, value)
          used = now === undefined ? others : [...others, [key, now] as const].slice(-sizeMax || used.length + 1)
          if (sizeMax === 0) used = []
        }
        for (const [key, value] of used) expect(map.get(key)).toBe(value)
      }),
    )
  })
})
