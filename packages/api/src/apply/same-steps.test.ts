import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { list, mapList, mapOf, object, optional, setList, string, stringMap } from '../schema/builders.ts'
import type { Schema } from '../schema/schema.ts'
import { differenceSteps } from './difference.ts'
import { type Change, haveSameSteps } from './same-steps.ts'

const item = object('', '', { name: optional(string(), ''), value: optional(string(), '') })
const schema: Schema = object('', '', {
  phase: optional(string(), ''),
  labels: optional(stringMap, ''),
  selector: optional({ ...stringMap, mapType: 'atomic' }, ''),
  command: optional(list(string()), ''),
  written: { ...optional(list(string()), ''), alwaysWritten: true },
  tags: optional(setList(string()), ''),
  items: optional(mapList(item, ['name']), ''),
  parts: optional(mapOf(item), ''),
})

const name = fc.constantFrom('a', 'b', 'constructor', '__proto__')
const text = fc.constantFrom('', 'x', 'y')
const texts = fc.array(text, { maxLength: 2 })
const itemValue = fc.record({ name, value: text }, { requiredKeys: ['name'] })
const absentToo = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined | null> =>
  fc.oneof({ weight: 6, arbitrary: values }, fc.constantFrom(undefined, null))
const value = fc.record(
  {
    phase: absentToo(text),
    labels: absentToo(fc.dictionary(name, text, { maxKeys: 2 })),
    selector: absentToo(fc.dictionary(name, text, { maxKeys: 2 })),
    command: absentToo(texts),
    written: absentToo(texts),
    tags: absentToo(texts),
    items: absentToo(fc.array(itemValue, { maxLength: 2 })),
    parts: absentToo(fc.dictionary(name, absentToo(itemValue), { maxKeys: 2 })),
  },
  { requiredKeys: [] },
)

describe('two changes that are found to have the same steps', () => {
  it('have the same steps', () => {
    let found = 0
    const state = fc.oneof(fc.constant({}), value)
    // One member is looked at by itself as well: whole values are seldom alike.
    const member = fc.constantFrom(...Object.keys((schema as { readonly fields: object }).fields))
    fc.assert(
      fc.property(state, state, state, state, member, (before, after, otherBefore, otherAfter, each) => {
        const only = (of: object) => ({ [each]: (of as Record<string, unknown>)[each] })
        for (const part of [(of: object) => of, only]) {
          const [change, other]: readonly Change[] = [
            { before: part(before), after: part(after) },
            { before: part(otherBefore), after: part(otherAfter) },
          ] as const
          if (change === undefined || other === undefined || !haveSameSteps(schema, change, other)) continue
          found += 1
          const [steps, otherSteps] = [change, other].map((of) => differenceSteps(schema, of.before, of.after))
          expect(otherSteps).toEqual(steps)
        }
      }),
      { numRuns: 5_000 },
    )
    expect(found).toBeGreaterThan(500)
  })

  const created = (after: object): Change => ({ before: {}, after })
  const shared = { tags: ['x'] }

  it.each<[string, Change, Change]>([
    ['texts that are others', created({ phase: 'x' }), created({ phase: 'y' })],
    ['labels of the same keys', created({ labels: { a: 'x' } }), created({ labels: { a: 'y' } })],
    ['lists as a whole', created({ command: ['x', 'y'] }), created({ command: ['y'] })],
    [
      'elements of the same keys',
      created({ items: [{ name: 'a', value: 'x' }] }),
      created({ items: [{ name: 'a', value: 'y' }] }),
    ],
    ['the same value', created(shared), created(shared)],
    [
      'texts that have changed',
      { before: { phase: 'x' }, after: { phase: 'y' } },
      { before: { phase: 'y' }, after: { phase: 'x' } },
    ],
    ['nothing', { before: { phase: 'x' }, after: { phase: 'x' } }, { before: { phase: 'y' }, after: { phase: 'y' } }],
  ])('may differ in %s', (_, change, other) => {
    expect(haveSameSteps(schema, change, other)).toBe(true)
  })

  it.each<[string, Change, Change]>([
    ['their members', created({ phase: 'x' }), created({ phase: 'x', tags: ['x'] })],
    ['keys of labels', created({ labels: { a: 'x' } }), created({ labels: { b: 'x' } })],
    ['names of elements', created({ items: [{ name: 'a' }] }), created({ items: [{ name: 'b' }] })],
    ['members of a set', created({ tags: ['x'] }), created({ tags: ['y'] })],
    [
      'what has changed',
      { before: { phase: 'x' }, after: { phase: 'y' } },
      { before: { phase: 'x' }, after: { phase: 'x' } },
    ],
    ['what was there', { before: {}, after: { phase: 'y' } }, { before: { phase: 'x' }, after: { phase: 'y' } }],
  ])('do not differ in %s', (_, change, other) => {
    expect(haveSameSteps(schema, change, other)).toBe(false)
  })
})
