import { describe, expect, it } from 'vitest'
import { type FieldError, requiredField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { atomicList, mapOf, object, optional, string } from './builders.ts'
import { inCheckedOrder } from './checked-order.ts'

const item = object('', 'An item.', { a: optional(string(), ''), b: optional(string(), '') }, { checkedOrder: ['b'] })
const whole = object(
  '',
  'A whole.',
  { x: optional(string(), ''), y: optional(string(), '') },
  { checkedOrder: ['', 'x'] },
)
const schema = object('', 'What is checked.', {
  items: optional(atomicList(item), ''),
  values: optional(mapOf(item), ''),
  whole: optional(whole, ''),
})

const error = (text: string): FieldError => ({ ...requiredField(FieldPath.root), field: text, message: text })
const order = (bySchema: readonly string[], byRules: readonly string[]) =>
  inCheckedOrder(schema, bySchema.map(error), byRules.map(error)).map(({ field }) => field)

describe('errors of a schema and of rules', () => {
  it.each<[string, string[], string[], string[]]>([
    [
      'are told field by field, as they are looked at',
      ['items[0].a', 'items[10].b', 'items[2].b'],
      ['items[0].b', 'items[2].a', 'values[k].a'],
      ['items[0].b', 'items[0].a', 'items[2].b', 'items[2].a', 'items[10].b', 'values[k].a'],
    ],
    [
      'leave rules in the order they have',
      ['items[1].a'],
      ['whole', 'items[0].a'],
      ['items[1].a', 'whole', 'items[0].a'],
    ],
    ['of an object as a whole come last', ['items[0].a'], ['items[0]'], ['items[0].a', 'items[0]']],
    [
      'of an object as a whole come where they are said to',
      ['whole.y', 'whole.x'],
      ['whole'],
      ['whole', 'whole.x', 'whole.y'],
    ],
    [
      'of a list or a map as a whole come first',
      ['values[k].b', 'items[0].b', 'values', 'items'],
      [],
      ['items', 'items[0].b', 'values', 'values[k].b'],
    ],
    ['of keys have no order among them', ['values[b].a', 'values[a].b'], [], ['values[a].b', 'values[b].a']],
    [
      'of fields that are not in the schema come last',
      ['whole.x'],
      ['other', 'items[0].z'],
      ['whole.x', 'other', 'items[0].z'],
    ],
    [
      'of what is within such fields come as they are told',
      ['other.b', 'other.a', 'items[0].z.b', 'items[0].z'],
      ['items[0]'],
      ['items[0].z.b', 'items[0].z', 'items[0]', 'other.b', 'other.a'],
    ],
  ])('%s', (_, bySchema, byRules, expected) => expect(order(bySchema, byRules)).toEqual(expected))

  it('of one field are told by the schema first', () => {
    const told = inCheckedOrder(schema, [error('items[0].a')], [{ ...error('items[0].a'), message: 'by a rule' }])
    expect(told.map(({ message }) => message)).toEqual(['items[0].a', 'by a rule'])
  })

  it('of what is created come where they belong, too', () => {
    const told = inCheckedOrder(schema, [error('items[2].b')], [error('values[k].a')], [error('items[1].b')])
    expect(told.map(({ field }) => field)).toEqual(['items[1].b', 'items[2].b', 'values[k].a'])
  })

  it('of a custom kind stay as its schema tells them', () => {
    const custom = { ...schema, dialect: 'structural' as const }
    const errors = [error('whole.x'), error('items[0].a')]
    expect(inCheckedOrder(custom, errors, [])).toEqual(errors)
  })

  it.each([
    [1000, 'values[k].a'],
    [1001, 'whole.x'],
  ])('are put in order where there are not too many to be shown: %i', (count, first) => {
    const errors = Array.from({ length: count }, (_, index) => error(index === 0 ? 'whole.x' : 'values[k].a'))
    expect(inCheckedOrder(schema, errors, [])[0]?.field).toBe(first)
  })
})
