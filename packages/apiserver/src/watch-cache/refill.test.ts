import type { Entry } from '@coracle/store'
import { expect, it } from 'vitest'
import { changesTo } from './refill.ts'

const entry = (key: string, modRevision: number, createRevision = 1): Entry => ({
  key,
  value: Buffer.from(key),
  modRevision,
  createRevision,
})

/** What changes from keys held at revisions, of which all were known at revision 10, to what is there at revision 20. */
function changesFrom(held: Readonly<Record<string, number>>, entries: readonly Entry[]) {
  const changes = changesTo(entries, 20, {
    keys: Object.keys(held),
    revisionOf: (key) => held[key],
    knownTo: 10,
  })
  return changes.map(({ type, key, value, revision, createRevision, previousRevision }) => {
    return `${revision} ${type} ${key}=${Buffer.from(value)} created ${createRevision} was ${previousRevision}`
  })
}

it.each([
  ['what is as it was', { a: 5 }, [entry('a', 5)], []],
  ['what is new', {}, [entry('a', 12, 12)], ['12 put a=a created 12 was 0']],
  ['what has changed, once or often', { a: 5 }, [entry('a', 15)], ['15 put a=a created 1 was 5']],
  ['what was there when all was known', { a: 10 }, [entry('a', 15, 10)], ['15 put a=a created 10 was 10']],
  ['what is gone', { a: 5 }, [], ['20 delete a= created 5 was 5']],
  [
    'what was deleted and made anew',
    { a: 5 },
    [entry('a', 15, 11)],
    ['15 delete a= created 5 was 5', '15 put a=a created 11 was 0'],
  ],
])('%s', (_, held, entries, changes) => {
  expect(changesFrom(held, entries)).toEqual(changes)
})

it('all in the order of their revisions, a deletion before what came in its place', () => {
  const entries = [entry('a', 18), entry('b', 15, 12), entry('c', 11, 11)]
  expect(changesFrom({ a: 5, b: 6, gone: 7 }, entries).map((each) => each.split('=')[0])).toEqual([
    '11 put c',
    '15 delete b',
    '15 put b',
    '18 put a',
    '20 delete gone',
  ])
})
