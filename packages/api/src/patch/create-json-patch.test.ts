import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonPatch } from './create-json-patch.ts'
import { applyJsonPatch } from './json-patch.ts'

/** Values over few keys, so that two of them have much in common. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, '', 'a'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b/c', 'd~e', '~1', '', '__proto__'), tie('value'), { maxKeys: 4 }),
  ),
}))

/** No document is a mere scalar: nothing may replace the whole by one. */
const documents = value.map((each) => ({ value: each }))

describe('a JSON patch made of two documents', () => {
  it('makes the one of the other', () => {
    fc.assert(
      fc.property(documents, documents, (from, to) => {
        expect(applyJsonPatch(from, createJsonPatch(from, to))).toEqual(to)
      }),
    )
  })

  it('says nothing where they are equal', () => {
    fc.assert(fc.property(documents, (document) => createJsonPatch(document, structuredClone(document)).length === 0))
  })

  it('touches only what differs', () => {
    const from = { spec: { containers: [{ name: 'a', image: 'x' }], replicas: 1 }, old: 1 }
    const to = { spec: { containers: [{ name: 'a', image: 'y' }], replicas: 1, zone: 'b' }, gone: undefined }
    expect(createJsonPatch(from, to)).toEqual([
      { op: 'remove', path: '/old' },
      { op: 'replace', path: '/spec/containers/0/image', value: 'y' },
      { op: 'add', path: '/spec/zone', value: 'b' },
    ])
  })
})
