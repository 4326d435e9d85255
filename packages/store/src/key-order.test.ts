import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareKeys } from './key-order.ts'

it('orders as the bytes of UTF-8 do', () => {
  // Characters from both sides of the surrogates, so that most pairs tell UTF-16 order from UTF-8 order.
  const key = fc.string({
    unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{103ff}', '\u{10ffff}'),
    maxLength: 4,
  })
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { numRuns: 1000 },
  )
})
