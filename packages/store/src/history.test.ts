import fc from 'fast-check'
import { expect, it } from 'vitest'
import { History } from './history.ts'
import type { StoreEvent } from './store.ts'

const changesOf = (revision: number, ...keys: string[]): StoreEvent[] =>
  keys.map((key) => ({
    type: 'put',
    key,
    value: new Uint8Array(0),
    revision,
    createRevision: revision,
    previousRevision: 0,
  }))

/** A history of `count` revisions, each with a change of the key named as itself. */
function historyOf(count: number, historyMax = Infinity): History {
  const history = new History(historyMax)
  for (let revision = 1; revision <= count; revision++) history.push(changesOf(revision, String(revision)))
  return history
}

const keysAfter = (history: History, revision: number) => history.after(revision).map(({ key }) => key)

it('tells the changes after a revision, in order', () => {
  const history = historyOf(2)
  history.push([])
  history.push(changesOf(4, 'b', 'a'))
  expect(keysAfter(history, 0)).toEqual(['1', '2', 'b', 'a'])
  expect(keysAfter(history, 1)).toEqual(['2', 'b', 'a'])
  expect(keysAfter(history, 3)).toEqual(['b', 'a'])
  expect(keysAfter(history, 4)).toEqual([])
  expect([history.compacted, history.last]).toEqual([0, 4])
})

it('forgets up to a revision, and numbers the rest as before', () => {
  const history = historyOf(10)
  for (const compacted of [1, 3, 3, 2, 7]) history.compact(compacted)
  expect([history.compacted, history.last]).toEqual([7, 10])
  expect(keysAfter(history, 7)).toEqual(['8', '9', '10'])
  expect(keysAfter(history, 9)).toEqual(['10'])
  history.push(changesOf(11, '11'))
  expect(keysAfter(history, 9)).toEqual(['10', '11'])
})

it('may forget everything, and goes on', () => {
  const history = historyOf(3)
  history.compact(3)
  expect([history.compacted, history.last, history.after(3)]).toEqual([3, 3, []])
  history.push(changesOf(4, '4'))
  expect(keysAfter(history, 3)).toEqual(['4'])
})

it('keeps as many revisions as it is told', () => {
  const history = historyOf(100, 3)
  expect([history.compacted, history.last, keysAfter(history, 97)]).toEqual([97, 100, ['98', '99', '100']])
})

it('is, after any pushes and compactions, what a list of all changes without the forgotten ones is', () => {
  const step = fc.oneof(
    fc.record({ keys: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }) }),
    fc.record({ compact: fc.integer({ min: 0, max: 1 }), back: fc.integer({ min: 0, max: 6 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), (steps, historyMax) => {
      const history = new History(historyMax)
      const all: StoreEvent[] = []
      let [last, compacted] = [0, 0]
      for (const each of steps) {
        if ('keys' in each) {
          last += 1
          const events = changesOf(last, ...each.keys)
          all.push(...events)
          history.push(events)
          compacted = Math.max(compacted, last - historyMax)
        } else {
          const to = Math.max(0, last - each.back)
          history.compact(to)
          compacted = Math.max(compacted, to)
        }
        expect([history.compacted, history.last]).toEqual([compacted, last])
        for (let from = compacted; from <= last; from += 1)
          expect(history.after(from)).toEqual(all.filter(({ revision }) => revision > from))
      }
    }),
  )
})
