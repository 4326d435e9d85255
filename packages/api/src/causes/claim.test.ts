import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CauseClaim } from './cause.ts'
import { becauseLengthMax, causeHeaderBytesMax, causeHeaderOf, parseCauseHeader, seenRevisionsMax } from './claim.ts'

const name = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => text.isWellFormed())
const claim: fc.Arbitrary<CauseClaim> = fc.record(
  {
    because: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }),
    reconcile: fc.record({
      controller: name,
      object: fc.record(
        { apiVersion: name, kind: name, name, namespace: name, uid: name },
        {
          requiredKeys: ['apiVersion', 'kind', 'name'],
        },
      ),
      seen: fc.array(fc.integer({ min: 1, max: 2 ** 40 }), { maxLength: seenRevisionsMax }),
    }),
  },
  { requiredKeys: [] },
)

const object = { apiVersion: 'v1', kind: 'Pod', name: 'web' }

describe('the header that says why a client writes', () => {
  it('says on arrival what was sent, in characters that a header may have', () => {
    fc.assert(
      fc.property(claim, (sent) => {
        const value = causeHeaderOf(sent)
        expect(value ?? '').toMatch(/^[\x20-\x7e]*$/)
        expect(parseCauseHeader(value ?? '{}')).toEqual(sent)
      }),
    )
  })

  it('is left out where there is nothing to say', () => {
    expect(causeHeaderOf({})).toBeUndefined()
  })

  it('leaves out the end of a long reason', () => {
    const { because = '' } = parseCauseHeader(causeHeaderOf({ because: 'x'.repeat(becauseLengthMax + 1) }) ?? '')
    expect(because).toBe(`${'x'.repeat(becauseLengthMax - 1)}…`)
  })

  it.each([
    ['no JSON', 'why', 'is no JSON'],
    ['no object', '[]', 'it must be an object'],
    ['a reason that is no text', '{"because":1}', 'because must be a text'],
    ['an empty reason', '{"because":""}', 'because must be a text'],
    [
      'a reason beyond the limit',
      JSON.stringify({ because: 'x'.repeat(becauseLengthMax + 1) }),
      `because is longer than ${becauseLengthMax} characters`,
    ],
    ['a value beyond the limit', 'x'.repeat(causeHeaderBytesMax + 1), `is longer than ${causeHeaderBytesMax} bytes`],
    ['no controller', JSON.stringify({ reconcile: { object } }), 'reconcile.controller must be a text'],
    ['no object of it', JSON.stringify({ reconcile: { controller: 'a' } }), 'reconcile.object must be an object'],
    [
      'an object without a name',
      JSON.stringify({ reconcile: { controller: 'a', object: { ...object, name: undefined } } }),
      'reconcile.object.name must be a text',
    ],
    [
      'what is no revision',
      JSON.stringify({ reconcile: { controller: 'a', object, seen: ['1'] } }),
      'reconcile.seen must be a list of revisions',
    ],
    [
      'too many revisions',
      JSON.stringify({ reconcile: { controller: 'a', object, seen: Array(seenRevisionsMax + 1).fill(1) } }),
      `reconcile.seen has more than ${seenRevisionsMax} revisions`,
    ],
  ])('is refused with %s, and the error names the field', (_what, value, message) => {
    expect(() => parseCauseHeader(value)).toThrow(new RangeError(message))
  })
})
