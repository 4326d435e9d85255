import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../freeze.ts'
import { type ApiError, badRequest } from '../status.ts'
import { listShiftsMax } from './json-document.ts'
import { applyJsonPatch, isFailedTest, type JsonPatchOperation } from './json-patch.ts'

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
    [{ op: 'copy', from: '/nope', path: '/c' }, { c: null }],
    [{ op: 'test', path: '/a/b', value: [1, 2, 3] }, {}],
    [{ op: 'test', path: '/absent', value: null }, {}],
    [{ op: 'add', path: '/a/b/-1', value: 4 }, { a: { b: [1, 2, 3, 4] } }],
    [{ op: 'add', path: '/a/b/-4', value: 0 }, { a: { b: [0, 1, 2, 3] } }],
    [{ op: 'remove', path: '/a/b/-1' }, { a: { b: [1, 2] } }],
    [{ op: 'replace', path: '/a/b/-3', value: 0 }, { a: { b: [0, 2, 3] } }],
    [{ op: 'replace', path: '/nope', value: 1 }, { nope: 1 }],
    [{ op: 'test', path: '/a/b/-2', value: 2 }, {}],
    // Go's Atoi reads the positions.
    [{ op: 'replace', path: '/a/b/01', value: 0 }, { a: { b: [1, 0, 3] } }],
    [{ op: 'remove', path: '/a/b/+1' }, { a: { b: [1, 3] } }],
    // What stands before the first slash is passed over.
    [{ op: 'add', path: 'c/d', value: 9 }, { d: 9 }],
  ])('%j', (operation, difference) => {
    expect(apply(operation)).toEqual({ ...document, ...difference })
  })

  it('removes members and replaces the whole', () => {
    expect(apply({ op: 'remove', path: '/a' }, { op: 'remove', path: '/x~1y' })).toEqual({
      'm~n': 2,
      keep: { me: true },
    })
    expect(apply({ op: 'replace', path: '', value: { b: 2 } })).toEqual({ b: 2 })
    expect(apply({ op: 'replace', path: '', value: [1] })).toEqual([1])
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
      { op: 'add', path: '/nope/x', value: 1 },
      'add operation does not apply: doc is missing path: "/nope/x": missing value',
    ],
    [
      { op: 'add', path: '/a/b/4', value: 1 },
      "error in add for path: '/a/b/4': Unable to access invalid index: 4: invalid index referenced",
    ],
    [
      { op: 'add', path: '/a/b/x', value: 1 },
      `error in add for path: '/a/b/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'add', path: '', value: {} }, 'add operation does not apply: doc is missing path: "": missing value'],
    [
      { op: 'test', path: '/a/b/9223372036854775807', value: 1 },
      "error in test for path: '/a/b/9223372036854775807': Unable to access invalid index: 9223372036854775807: invalid index referenced",
    ],
    [
      { op: 'test', path: '/a/b/9223372036854775808', value: 1 },
      `error in test for path: '/a/b/9223372036854775808': strconv.Atoi: parsing "9223372036854775808": value out of range`,
    ],
    [{ op: 'add', path: 'c', value: 1 }, 'add operation does not apply: doc is missing path: "c": missing value'],
    [{ op: 'test', path: 'c', value: 1 }, 'test operation does not apply: is missing path: c: missing value'],
    [{ op: 'replace', path: 'c', value: 1 }, 'replace operation does not apply: doc is missing path: c: missing value'],
    [{ op: 'remove', path: '/a/b/-' }, `error in remove for path: '/a/b/-': strconv.Atoi: parsing "-": invalid syntax`],
    [
      { op: 'remove', path: '/a/b/-4' },
      "error in remove for path: '/a/b/-4': Unable to access invalid index: -4: invalid index referenced",
    ],
    [{ op: 'remove', path: '' }, 'remove operation does not apply: doc is missing path: "": missing value'],
    [{ op: 'replace', path: '', value: 1 }, 'replace operation value must be object or array'],
    [{ op: 'replace', path: '', value: null }, 'replace operation value must be object or array'],
    [
      { op: 'replace', path: '/nope/x', value: 1 },
      'replace operation does not apply: doc is missing path: /nope/x: missing value',
    ],
    [
      { op: 'replace', path: '/a/b/3', value: 1 },
      'replace operation does not apply: doc is missing key: /a/b/3: missing value',
    ],
    [{ op: 'test', path: '/a/b', value: [1] }, 'testing value /a/b failed: test failed'],
    [
      { op: 'test', path: '/nope/x', value: null },
      'test operation does not apply: is missing path: /nope/x: missing value',
    ],
    [
      { op: 'test', path: '/a/b/3', value: null },
      "error in test for path: '/a/b/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: 'copy', from: '/nope/b', path: '/c' },
      'copy operation does not apply: doc is missing from path: /nope/b: missing value',
    ],
    [
      { op: 'copy', from: '/a/b/3', path: '/c' },
      "error in copy for from: '/a/b/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: 'copy', from: '/a', path: '/c/d' },
      'copy operation does not apply: doc is missing destination path: /c/d: missing value',
    ],
    [
      { op: 'copy', from: '/a', path: '/a/b/9' },
      'error while adding value during copy: Unable to access invalid index: 9: invalid index referenced',
    ],
    [
      { op: 'move', from: '/nope/b', path: '/c' },
      'move operation does not apply: doc is missing from path: /nope/b: missing value',
    ],
    [
      { op: 'move', from: '/keep/nope', path: '/c' },
      "error in move for path: 'nope': Unable to remove nonexistent key: nope: missing value",
    ],
    [
      { op: 'move', from: '/a', path: '/a/b/c' },
      'move operation does not apply: doc is missing destination path: /a/b/c: missing value',
    ],
    [
      { op: 'move', from: '/keep', path: '/a/b/9' },
      "error in move for path: '/a/b/9': Unable to access invalid index: 9: invalid index referenced",
    ],
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
    ['x', 'json: cannot unmarshal string into Go value of type jsonpatch.Patch'],
    [[{ op: 'remove' }, 1], 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  ])('%j is no patch', (patch, message) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it.each([
    [null, 'Unexpected kind: unknown'],
    [{ path: '/a' }, 'Unexpected kind: unknown'],
    [{ op: 1, path: '/a' }, 'Unexpected kind: unknown'],
    [{ op: 'grow', path: '/a' }, 'Unexpected kind: grow'],
    [{ op: 'add' }, 'add operation failed to decode path: missing value'],
    [{ op: 'remove', path: 1 }, 'remove operation failed to decode path: missing value'],
    [{ op: 'replace' }, 'replace operation failed to decode path: operation missing path field: missing value'],
    [
      { op: 'test', path: 1 },
      'test operation failed to decode path: json: cannot unmarshal number into Go value of type string',
    ],
    [{ op: 'move', path: '/a' }, 'move operation failed to decode from: operation, missing from field: missing value'],
    [
      { op: 'copy', path: '/a', from: [] },
      'copy operation failed to decode from: json: cannot unmarshal array into Go value of type string',
    ],
    [{ op: 'copy', from: '/a' }, 'copy operation failed to decode path: missing value'],
  ])('%j says not what to do', (operation, why) => {
    expect(() => applyJsonPatch(document, [operation])).toThrow(doesNotApply(why))
  })

  it('tells a test of the patch that failed from what else does not apply', () => {
    const errorOf = (operation: object) => {
      try {
        return applyJsonPatch(document, [operation])
      } catch (error) {
        return error
      }
    }
    expect(isFailedTest(errorOf({ op: 'test', path: '/a', value: 1 }))).toBe(true)
    expect(isFailedTest(errorOf({ op: 'test', path: '/a/b/3', value: 1 }))).toBe(false)
    expect(isFailedTest(errorOf({ op: 'remove', path: '/: test failed/a' }))).toBe(false)
    expect(isFailedTest(badRequest('test failed'))).toBe(false)
    expect(isFailedTest(new Error('testing value /a failed: test failed'))).toBe(false)
    expect(isFailedTest(undefined)).toBe(false)
  })

  it('refuses patches of more than ten thousand operations', () => {
    const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/keep', value: 1 }))
    expect(() => applyJsonPatch(document, patch)).toThrow(
      expect.objectContaining({
        code: 413,
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    )
  })

  it('refuses to double what it copies until memory is full', () => {
    const patch = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${index}` }))
    expect(() => applyJsonPatch(document, patch)).toThrow(
      doesNotApply(
        'Unable to complete the copy, the accumulated size increase of copy is 4718731, exceeding the limit 3145728',
      ),
    )
  })

  it('copies up to three mebibytes of JSON in all', () => {
    const text = 'x'.repeat(1024 * 1024 - 2)
    const copies = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ op: 'copy', from: '/text', path: `/${index}` }))
    expect(applyJsonPatch({ text }, copies(3))).toEqual({ 0: text, 1: text, 2: text, text })
    expect(() => applyJsonPatch({ text }, copies(4))).toThrow(
      doesNotApply(expect.stringMatching(/^Unable to complete the copy.* 4194304, exceeding the limit 3145728$/)),
    )
  })

  it('keeps a copy apart from its original', () => {
    expect(
      applyJsonPatch(deepFreeze({ a: { list: [1] } }), [
        { op: 'add', path: '/a/list/-', value: 2 },
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/a/list/-', value: 3 },
        { op: 'remove', path: '/b/list/0' },
      ]),
    ).toEqual({ a: { list: [1, 2, 3] }, b: { list: [2] } })
  })

  it('moves what it has changed, and changes what it has moved', () => {
    expect(
      applyJsonPatch(deepFreeze({ a: { x: 1 }, b: [] }), [
        { op: 'add', path: '/a/y', value: 2 },
        { op: 'move', from: '/a', path: '/b/0' },
        { op: 'replace', path: '/b/0/x', value: 3 },
        { op: 'test', path: '/b', value: [{ x: 3, y: 2 }] },
      ]),
    ).toEqual({ b: [{ x: 3, y: 2 }] })
  })

  it('never changes the values a patch brings', () => {
    const patch = deepFreeze([
      { op: 'add', path: '/made', value: { list: [1] } },
      { op: 'add', path: '/made/list/-', value: 2 },
    ])
    expect(applyJsonPatch({}, patch)).toEqual({ made: { list: [1, 2] } })
  })

  it('takes the key __proto__ for data', () => {
    const own = JSON.parse('{"__proto__": {"a": 1}}') as object
    const added = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { a: 1 } }])
    expect(JSON.stringify(added)).toBe(JSON.stringify(own))
    expect(Object.getPrototypeOf(added)).toBe(Object.prototype)
    expect(applyJsonPatch(deepFreeze(own), [{ op: 'remove', path: '/__proto__/a' }])).toEqual(
      JSON.parse('{"__proto__": {}}'),
    )
    expect(() => applyJsonPatch({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }])).toThrow(
      doesNotApply('add operation does not apply: doc is missing path: "/__proto__/polluted": missing value'),
    )
  })

  it('reads each object on the way to its changes once, however many these are', () => {
    const data = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key-${index}`, index]))
    const reads = (operations: number) => {
      let count = 0
      const get = (target: typeof data, key: string | symbol) => {
        count += 1
        return target[String(key)]
      }
      const counted = new Proxy(data, { get })
      const patch = Array.from({ length: operations }, (_, index) => [
        { op: 'add', path: `/data/new-${index}`, value: index },
        { op: 'replace', path: `/data/key-${index}`, value: 'changed' },
        { op: 'remove', path: `/data/key-${index}` },
        { op: 'test', path: `/data/new-${index}`, value: index },
      ])
      applyJsonPatch({ data: counted }, patch.flat())
      return count
    }
    expect(reads(10)).toBe(1_000)
    expect(reads(1_000)).toBe(1_000)
  })

  it('refuses to shift the elements of long lists without end', () => {
    const list = Array.from({ length: 100_000 }, () => 0)
    const inserts = (count: number) => Array.from({ length: count }, () => ({ op: 'add', path: '/0', value: 1 }))
    expect(applyJsonPatch(list, inserts(10))).toHaveLength(100_010)
    expect(() => applyJsonPatch(list, inserts(2_000))).toThrow(
      expect.objectContaining({
        code: 413,
        message: `The patch inserts and removes too much before long lists: it shifts more than ${listShiftsMax} elements, replace the list instead`,
      }),
    )
  })

  it('refuses to move objects into one another without end', () => {
    const patch: JsonPatchOperation[] = [{ op: 'add', path: '/a', value: {} }]
    for (let depth = 0; depth < 4_000; depth += 1) {
      patch.push({ op: 'add', path: '/b', value: {} }, { op: 'move', from: '/a', path: '/b/a' })
      patch.push({ op: 'move', from: '/b', path: '/a' })
    }
    expect(() => applyJsonPatch({}, patch.slice(0, 9_999))).toThrow('exceeded max depth')
    expect(applyJsonPatch({}, patch.slice(0, 1 + 3 * 100))).toBeDefined()
  })

  it('does what applying its operations one by one does', () => {
    fc.assert(
      fc.property(fc.array(arbitraryOperation, { maxLength: 12 }), (patch) => {
        const start = deepFreeze({ a: { b: [1, { c: 2 }], d: {} }, b: [[0], 'x'] })
        const stepwise = attempt(() =>
          patch.reduce<unknown>((value, operation) => deepFreeze(applyJsonPatch(value, [operation])), start),
        )
        expect(attempt(() => applyJsonPatch(start, deepFreeze(patch)))).toEqual(stepwise)
      }),
      { numRuns: 500 },
    )
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

const doesNotApply = (why: unknown) =>
  expect.objectContaining({
    code: 422,
    status: expect.objectContaining({ details: { causes: [expect.objectContaining({ message: why })] } }),
  })

const arbitraryPath = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', '0', '1', '-', '__proto__'), { maxLength: 3 })
  .map((tokens) => tokens.map((token) => `/${token}`).join(''))

const arbitraryOperation: fc.Arbitrary<JsonPatchOperation> = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace'), path: arbitraryPath, value: fc.jsonValue({ maxDepth: 2 }) }),
  fc.record({ op: fc.constant('remove'), path: arbitraryPath }),
  fc.record({ op: fc.constantFrom('move', 'copy'), path: arbitraryPath, from: arbitraryPath }),
)

/** What it returns, or the error's causes. */
function attempt(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as ApiError).status
  }
}
