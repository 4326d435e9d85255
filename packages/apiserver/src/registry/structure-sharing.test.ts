import { deepEqual, type JsonObject, member } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shared } from './structure-sharing.ts'

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.integer({ min: 0, max: 1 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value')),
  ),
})).value

/** The parts of `value` that equal the part of `old` at the same place are that part. */
function expectMaximal(old: unknown, value: unknown): void {
  if (deepEqual(old, value)) {
    expect(value).toBe(old)
    return
  }
  if (typeof old !== 'object' || typeof value !== 'object' || old === null || value === null) return
  if (Array.isArray(old) !== Array.isArray(value)) return
  for (const name of Object.keys(value)) {
    expectMaximal(member(old as JsonObject, name), member(value as JsonObject, name))
  }
}

describe('sharing', () => {
  it('changes nothing, and shares all that is the same', () => {
    fc.assert(
      fc.property(json, json, (old, value) => {
        const result = shared(old, value)
        expect(deepEqual(result, value)).toBe(true)
        expectMaximal(old, result)
      }),
    )
  })

  it('finds what was copied to be the old', () => {
    fc.assert(
      fc.property(json, (old) => {
        expect(shared(old, structuredClone(old))).toBe(old)
      }),
    )
  })
})
