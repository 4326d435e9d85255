import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Cause } from './cause.ts'
import { chainLinksMax, chainOf } from './chain.ts'

/** A cause: by a reconcile that had seen some revisions, or asked for by somebody. */
function causeOf(revision: number, seen?: readonly number[]): Cause {
  const object = { apiVersion: 'v1', kind: 'Pod', name: 'web' }
  return {
    apiVersion: 'coracle.dev/v1',
    kind: 'Cause',
    metadata: { name: String(revision), creationTimestamp: '2026-01-01T00:00:00Z' },
    revision,
    changes: [{ operation: 'update', group: '', resource: 'pods', name: 'web' }],
    user: 'jane',
    request: { verb: 'update' },
    ...(seen === undefined ? {} : { reconcile: { controller: 'test', object, seen } }),
  }
}

type Record = ReadonlyMap<number, Cause>
const recordOf = (causes: readonly Cause[]): Record => new Map(causes.map((cause) => [cause.revision, cause]))
const chain = (record: Record, revision: number) => chainOf((each) => record.get(each), revision)

/** Any record: causes name any revisions, later ones and their own too, and some causes are missing. */
const anyRecord: fc.Arbitrary<Record> = fc
  .uniqueArray(
    fc.tuple(fc.integer({ min: 1, max: 40 }), fc.option(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 5 }))),
    { selector: ([revision]) => revision, maxLength: 40 },
  )
  .map((causes) => recordOf(causes.map(([revision, seen]) => causeOf(revision, seen ?? undefined))))

describe('the chain of causes of a revision', () => {
  it('leads from a change to the request that began it', () => {
    const record = recordOf([causeOf(1), causeOf(2), causeOf(3, [1]), causeOf(5, [3, 2]), causeOf(6, [5])])
    expect(chain(record, 5).map(({ cause, from, end }) => [cause.revision, from, end])).toEqual([
      [5, [3, 2], undefined],
      [3, [1], undefined],
      [2, [], 'request'],
      [1, [], 'request'],
    ])
  })

  it('ends where only time has passed, and where the record goes no further back', () => {
    expect(chain(recordOf([causeOf(5, [])]), 5)).toMatchObject([{ end: 'time' }])
    expect(chain(recordOf([causeOf(5, [5, 9])]), 5)).toMatchObject([{ end: 'time' }])
    expect(chain(recordOf([causeOf(5, [4])]), 5)).toMatchObject([{ end: 'forgotten' }])
    expect(chain(recordOf([causeOf(5)]), 4)).toEqual([])
  })

  it('never names what is as late as itself, nor anything twice', () => {
    fc.assert(
      fc.property(anyRecord, fc.integer({ min: 1, max: 40 }), (record, revision) => {
        const links = chain(record, revision)
        const revisions = links.map(({ cause }) => cause.revision)
        expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => b - a))
        for (const { cause, from } of links) {
          for (const earlier of from) {
            expect(earlier).toBeLessThan(cause.revision)
            expect(revisions).toContain(earlier)
          }
        }
      }),
    )
  })

  it('begins with the revision itself; everything else is there for something later, and every branch has an end', () => {
    fc.assert(
      fc.property(anyRecord, fc.integer({ min: 1, max: 40 }), (record, revision) => {
        const links = chain(record, revision)
        expect(links.length > 0).toBe(record.has(revision))
        const named = new Set(links.flatMap(({ from }) => from))
        for (const [index, { cause, from, end }] of links.entries()) {
          expect(index === 0 ? cause.revision === revision : named.has(cause.revision)).toBe(true)
          expect(end === undefined).toBe(from.length > 0)
          expect(end === 'request').toBe(cause.reconcile === undefined)
        }
      }),
    )
  })

  it('is bounded', () => {
    const causes = Array.from({ length: chainLinksMax + 10 }, (_, index) => causeOf(index + 1, [index]))
    expect(chain(recordOf(causes), causes.length)).toHaveLength(chainLinksMax)
  })
})
