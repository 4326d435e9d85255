import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { deepEqual } from './equality.ts'
import { deepFreeze } from './freeze.ts'

it('does not look at the order of members', () => {
  expect(deepEqual({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 })).toBe(true)
})

it('takes undefined for absence', () => {
  expect(deepEqual({ a: undefined }, {})).toBe(true)
  expect(deepEqual({}, { a: undefined })).toBe(true)
})

it.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 1 }],
  [
    [1, 2],
    [2, 1],
  ],
  [[], {}],
  [null, {}],
  [0, null],
  ['1', 1],
  [{}, { constructor: 1 }],
  [{ toString: 1 }, {}],
])('tells %j from %j', (a, b) => {
  expect(deepEqual(a, b)).toBe(false)
})

it('agrees with a copy', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => deepEqual(value, structuredClone(value))))
})

it('freezes all the way down', () => {
  const value = deepFreeze({ a: [{ b: 1 }] })
  expect(Object.isFrozen(value.a[0])).toBe(true)
})
