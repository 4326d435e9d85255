import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameHash } from './name-hash.ts'

// Upstream hashes the text of a Go structure, which nobody else has: others can rely on its form alone, and on what it tells apart.
describe('the hash of a template', () => {
  it('has the form of upstream’s: the ten digits of a number of 32 bits at most, each as a letter or digit that makes no words', () => {
    fc.assert(
      fc.property(fc.json(), fc.option(fc.nat(), { nil: undefined }), (json, collisions) => {
        expect(nameHash(JSON.parse(json), collisions)).toMatch(/^[4-9bcdf]{1,10}$/)
      }),
    )
  })

  it('is the same whatever the order of the fields', () => {
    const ordered = { a: { b: 1, c: [{ d: 2, e: 3 }] }, f: 'g' }
    const other = { f: 'g', a: { c: [{ e: 3, d: 2 }], b: 1 } }
    expect(nameHash(other, 1)).toBe(nameHash(ordered, 1))
    expect(nameHash({ ...ordered, f: 'h' }, 1)).not.toBe(nameHash(ordered, 1))
  })

  it('is another for each collision, so that a name that is taken is not tried again', () => {
    const hashes = [undefined, ...Array.from({ length: 1000 }, (_, count) => count)].map((count) =>
      nameHash({ a: 1 }, count),
    )
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
