import { expect, it } from 'vitest'
import { readCustomSchema } from '../../custom/read-custom-schema.ts'
import { FieldPath } from '../../field-path.ts'
import { isAsBefore } from './as-before.ts'

const item = { type: 'object', properties: { name: { type: 'string' }, n: { type: 'integer' } }, required: ['name'] }
const mapList = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: item }
const { schema } = readCustomSchema(
  {
    type: 'object',
    properties: {
      keyed: mapList,
      plain: { type: 'array', items: item },
      byName: { type: 'object', additionalProperties: mapList },
    },
  },
  FieldPath.of('s'),
  { group: 'example.com', version: 'v1', kind: 'X' },
)
const [a, b] = [
  { name: 'a', n: 1 },
  { name: 'b', n: 2 },
]

it.each([
  ['elements of map lists in another order', { keyed: [a, b] }, { keyed: [b, a] }, true],
  ['such lists in a map', { byName: { x: [a, b] } }, { byName: { x: [b, a] } }, true],
  ['other lists in another order', { plain: [a, b] }, { plain: [b, a] }, false],
  ['an element that is another', { keyed: [a, b] }, { keyed: [a, { name: 'b', n: 3 }] }, false],
  ['an element more', { keyed: [a, b] }, { keyed: [a] }, false],
  ['an element less', { keyed: [a] }, { keyed: [a, b] }, false],
  ['another key', { keyed: [a] }, { keyed: [{ ...a, name: 'c' }] }, false],
  ['a field more', { keyed: [a], plain: [] }, { keyed: [a] }, false],
  ['another field', { keyed: [] }, { plain: [] }, false],
  ['what was no list', { keyed: [a] }, { keyed: 'a' }, false],
  ['the same', { keyed: [a], plain: [b] }, { keyed: [a], plain: [b] }, true],
] as const)('%s', (_what, value, old, expected) => {
  expect(isAsBefore(schema, value, old)).toBe(expected)
})
