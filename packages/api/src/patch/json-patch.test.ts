import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../freeze.ts'
import { applyJsonPatch, type JsonPatchOperation } from './json-patch.ts'

const document = deepFreeze({ a: { b: [1, 2, 3] }, 'x/y': 1, 'm~n': 2, keep: { me: true } })
const apply = (...patch: readonly JsonPatchOperation[]): unknown => applyJsonPatch(document, patch)

describe('applyJsonPatch', () => {
  it.each<[JsonPatchOperation, object]>([
    [{ op: 'add', path: '/c', value: 9 }, { c: 9 }],
    [{ op: 'add', path: '/a/b/1', value: 9 }, { a: { b: [1, 9, 2, 3] } }],
    [{ op: 'add', path: '/a/b/-', value: 9 }, { a: { b: [1, 2, 3, 9] } }],
    [{ op: 'add', path: '/a/b', value: null }, { a: { b: null } }],
    [{ op: 'remove', path: '/a/b/0' }, { a: { b: [2, 3] } }],
    [{ op: 'replace', path: '/a/b/2', value: { z: 1 } }, { a: { b: [1, 2, { z: 1 }] } }],
    [{ op: 'replace', path: '/x~1y', value: 5 }, { 'x/y': 5 }],
    [{ op: 'replace', path: '/m~0n', value: 5 }, { 'm~n': 5 }],
    [
      { op: 'move', from: '/a/b/0', path: '/c' },
      { a: { b: [2, 3] }, c: 1 },
    ],
    [{ op: 'copy', from: '/a/b', path: '/c' }, { c: [1, 2, 3] }],
    [{ op: 'test', path: '/a/b', value: [1, 2, 3] }, {}],
    [{ op: 'test', path: '/absent', value: null }, {}],
    [{ op: 'add', path: '/a/b/-1', value: 4 }, { a: { b: [1, 2, 3, 4] } }],
    [{ op: 'add', path: '/a/b/-4', value: 0 }, { a: { b: [0, 1, 2, 3] } }],
    [{ op: 'remove', path: '/a/b/-1' }, { a: { b: [1, 2] } }],
    [{ op: 'replace', path: '/a/b/-3', value: 0 }, { a: { b: [0, 2, 3] } }],
    [{ op: 'test', path: '/a/b/-2', value: 2 }, {}],
  ])('%j', (operation, difference) => {
    expect(apply(operation)).toEqual({ ...document, ...difference })
  })

  it('removes members and replaces the whole', () => {
    expect(apply({ op: 'remove', path: '/a' }, { op: 'remove', path: '/x~1y' })).toEqual({
      'm~n': 2,
      keep: { me: true },
    })
    expect(apply({ op: 'replace', path: '', value: 1 })).toBe(1)
  })

  it('takes a value that is left out for null', () => {
    expect(applyJsonPatch({ a: 1 }, [{ op: 'add', path: '/a' }])).toEqual({ a: null })
  })

  it('shares what it does not change', () => {
    const after = apply({ op: 'add', path: '/a/c', value: 1 }) as typeof document
    expect(after.keep).toBe(document.keep)
    expect(after.a.b).toBe(document.a.b)
  })

  it.each<[JsonPatchOperation, string]>([
    [
      { op: 'remove', path: '/nope' },
      "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value",
    ],
    [
      { op: 'remove', path: '/nope/x' },
      'remove operation does not apply: doc is missing path: "/nope/x": missing value',
    ],
    [
      { op: 'replace', path: '/nope', value: 1 },
      'replace operation does not apply: doc is missing key: /nope: missing value',
    ],
    [
      { op: 'add', path: '/nope/x', value: 1 },
      'add operation does not apply: doc is missing path: "/nope/x": missing value',
    ],
    [
      { op: 'add', path: '/a/b/4', value: 1 },
      'add operation does not apply: doc is missing path: "/a/b/4": Unable to access invalid index: 4: invalid index referenced',
    ],
    [
      { op: 'remove', path: '/a/b/-' },
      'remove operation does not apply: doc is missing path: "/a/b/-": Unable to access invalid index: -: invalid index referenced',
    ],
    [
      { op: 'remove', path: '/a/b/-4' },
      'remove operation does not apply: doc is missing path: "/a/b/-4": Unable to access invalid index: -4: invalid index referenced',
    ],
    [{ op: 'test', path: '/a/b', value: [1] }, 'testing value /a/b failed: test failed'],
    [
      { op: 'copy', from: '/nope', path: '/c' },
      'copy operation does not apply: doc is missing path: "/nope": missing value',
    ],
    [{ op: 'move', from: '/a', path: '/a/b/c' }, 'move operation does not apply: /a/b/c is inside /a'],
    [
      { op: 'remove', path: '/constructor' },
      "error in remove for path: '/constructor': Unable to remove nonexistent key: constructor: missing value",
    ],
  ])('%j does not apply', (operation, why) => {
    expect(() => apply(operation)).toThrow(
      expect.objectContaining({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
        status: expect.objectContaining({ details: { causes: [expect.objectContaining({ message: why })] } }),
      }),
    )
  })

  it.each([
    [{}, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    [[{ op: 'grow', path: '/a' }], 'Unexpected kind: grow'],
    [[{ op: 'remove' }], 'operation missing path field'],
    [[{ op: 'move', path: '/a' }], 'operation missing from field'],
  ])('%j is no patch', (patch, message) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('refuses patches of more than ten thousand operations', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/keep', value: 1 }))
    expect(() => applyJsonPatch(document, patch)).toThrow(
      expect.objectContaining({
        code: 413,
        message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    )
  })

  it('refuses to double what it copies until memory is full', () => {
    const patch = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${index}` }))
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ code: 413 }))
  })

  it('takes back what it added', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (object, key, value) => {
        fc.pre(!Object.hasOwn(object, key))
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const added = applyJsonPatch(deepFreeze(object), [{ op: 'add', path, value }])
        expect(
          applyJsonPatch(added, [
            { op: 'test', path, value },
            { op: 'remove', path },
          ]),
        ).toEqual({ ...object })
      }),
    )
  })
})
