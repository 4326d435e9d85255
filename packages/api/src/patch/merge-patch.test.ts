import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepEqual } from '../equality.ts'
import { deepFreeze } from '../freeze.ts'
import type { JsonObject } from '../json.ts'
import { applyMergePatch, createJsonMergePatch } from './merge-patch.ts'

describe('applyMergePatch', () => {
  // The examples of RFC 7386, appendix A.
  it.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // As upstream's library has it, which differs from the RFC in what it makes of nulls in lists.
    [{}, { a: [{ b: null }, null, [{ c: null, d: 1 }]] }, { a: [{}, null, [{ d: 1 }]] }],
    [{ a: [1] }, { a: [{ b: null }] }, { a: [{}] }],
    [
      {},
      { a: { b: [{ c: { d: null, e: 1 }, f: [null, { g: null }] }] } },
      { a: { b: [{ c: { e: 1 }, f: [null, {}] }] } },
    ],
    [{ a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ])('%j with %j is %j', (document, patch, result) => {
    expect(applyMergePatch(deepFreeze(document), deepFreeze(patch))).toEqual(result)
  })

  it('returns the document where nothing changes, and shares the rest where something does', () => {
    const document = deepFreeze({ a: { b: [1] }, c: { d: 1 } })
    expect(applyMergePatch(document, { a: { b: [1] }, x: null })).toBe(document)
    expect((applyMergePatch(document, { a: { b: [2] } }) as typeof document).c).toBe(document.c)
  })

  it('refuses patches that nest without end', () => {
    let patch: unknown = 1
    for (let depth = 0; depth < 5000; depth += 1) patch = { a: patch }
    expect(() => applyMergePatch({}, patch)).toThrow('exceeded max depth')
  })
})

describe('createJsonMergePatch', () => {
  it('is the smallest change', () => {
    expect(createJsonMergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { b: { c: 1, d: 3 }, e: [1], f: 0 })).toEqual({
      a: null,
      b: { d: 3 },
      f: 0,
    })
  })

  it('takes what is undefined for absent', () => {
    expect(createJsonMergePatch({ a: undefined }, {})).toStrictEqual({})
    expect(createJsonMergePatch({}, { a: undefined })).toStrictEqual({})
    expect(createJsonMergePatch({ a: 1 }, { a: undefined })).toStrictEqual({ a: null })
  })

  it('leads from one value to the other', () => {
    fc.assert(
      fc.property(withoutNulls, withoutNulls, (from, to) => {
        const patch = createJsonMergePatch(from, to)
        expect(deepEqual(applyMergePatch(deepFreeze(from), deepFreeze(patch)), to)).toBe(true)
        expect(createJsonMergePatch(to, to)).toEqual({})
      }),
    )
  })
})

const withoutNulls = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue(), { noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('null', '0')) as JsonObject)
