import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NoteList } from './note-list.ts'
import type { StoreEvent } from './store.ts'

const note = Buffer.from('why')
const event = (revision: number, isNoted: boolean): StoreEvent => {
  const plain = { type: 'put', key: 'a', value: note, revision, createRevision: 1, previousRevision: 0 } as const
  return isNoted ? { ...plain, note } : plain
}

describe('notes in memory', () => {
  it('are the last ones that were added and not forgotten', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('add' as const), isNoted: fc.boolean() }),
      fc.record({ type: fc.constant('forget' as const), revision: fc.nat({ max: 60 }) }),
    )
    fc.assert(
      fc.property(
        fc.nat({ max: 8 }),
        fc.array(step, { maxLength: 60 }),
        fc.nat({ max: 60 }),
        (notesMax, steps, before) => {
          const list = new NoteList(notesMax)
          let model: number[] = []
          for (const [index, { type, ...rest }] of steps.entries()) {
            if (type === 'add') {
              list.add([event(index + 1, 'isNoted' in rest && rest.isNoted)])
              if ('isNoted' in rest && rest.isNoted) model.push(index + 1)
              model = model.slice(Math.max(0, model.length - notesMax))
            } else if ('revision' in rest) {
              list.forget(rest.revision)
              model = model.filter((revision) => revision > rest.revision)
            }
          }
          const expected = model.filter((revision) => revision < before).reverse()
          for (const limit of [1, 3, 1000]) {
            expect(list.newest({ before, limit }).map(({ revision }) => revision)).toEqual(expected.slice(0, limit))
          }
        },
      ),
    )
  })

  it('are no less than none', () => {
    expect(() => new NoteList(-1)).toThrow('notesMax is not a count: -1')
    const none = new NoteList(0)
    none.add([event(1, true)])
    expect(none.newest({ limit: 1 })).toEqual([])
  })
})
