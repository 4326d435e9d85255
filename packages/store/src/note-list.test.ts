import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NoteList } from './note-list.ts'

const note = Buffer.from('why')

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
              if (!('isNoted' in rest && rest.isNoted)) continue
              list.add(index + 1, note)
              model.push(index + 1)
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

  it('are made when they are read', () => {
    let made = 0
    const lazy = {
      get bytes() {
        made += 1
        return note
      },
    }
    const list = new NoteList(2)
    for (const revision of [1, 2, 3]) list.add(revision, lazy)
    expect(made).toBe(0)
    expect(list.newest({ limit: 1 })).toEqual([{ revision: 3, note }])
    expect(made).toBe(1)
  })

  it('are no less than none', () => {
    expect(() => new NoteList(-1)).toThrow('notesMax is not a count: -1')
    const none = new NoteList(0)
    none.add(1, note)
    expect(none.newest({ limit: 1 })).toEqual([])
  })
})
