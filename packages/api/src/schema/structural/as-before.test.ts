import { expect, it } from 'vitest'
import { readCustomSchema } from '../../custom/read-custom-schema.ts'
import { FieldPath } from '../../field-path.ts'
import type { KubernetesObject } from '../../meta.ts'
import { compile } from '../compile.ts'
import { isAsBefore } from './as-before.ts'

const item = { type: 'object', properties: { name: { type: 'string' }, n: { type: 'integer' } }, required: ['name'] }
const mapList = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: item }
const openObject = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  'x-kubernetes-preserve-unknown-fields': true,
}
const { schema } = readCustomSchema(
  {
    type: 'object',
    properties: {
      keyed: mapList,
      plain: { type: 'array', items: item },
      byName: { type: 'object', additionalProperties: mapList },
      open: { ...openObject, required: ['must'] },
      closed: { ...item, required: ['must'] },
      openItems: { ...mapList, items: { ...item, 'x-kubernetes-preserve-unknown-fields': true } },
      openPlain: { type: 'array', items: openObject },
      anything: { 'x-kubernetes-preserve-unknown-fields': true },
      anyValues: { type: 'object', additionalProperties: true, maxProperties: 0 },
      embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, maxProperties: 2 },
      described: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { apiVersion: { type: 'string' }, kind: { type: 'string' } },
      },
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
  ['an object in the place of a list', { keyed: { x: 1 } }, { keyed: { x: 1 } }, false],
  ['an empty one there', { keyed: {} }, { keyed: {} }, true],
  ['one in the place of a number', { closed: { n: { x: 1 } } }, { closed: { n: { x: 1 } } }, false],
  ['a list in the place of an object', { closed: [{ x: 1 }] }, { closed: [{ x: 1 }] }, true],
  ['another field', { keyed: [] }, { plain: [] }, false],
  ['what was no list', { keyed: [a] }, { keyed: 'a' }, false],
  ['the same', { keyed: [a], plain: [b] }, { keyed: [a], plain: [b] }, true],
  ['what is described of an open object', { open: { n: 1 } }, { open: { n: 1 } }, true],
  ['what is not described of it', { open: { n: 1, x: 1 } }, { open: { n: 1, x: 1 } }, false],
  [
    'the same in an element of a map list',
    { openItems: [{ name: 'a', x: 1 }] },
    { openItems: [{ name: 'a', x: 1 }] },
    false,
  ],
  ['the same in another list', { openPlain: [{ x: 1 }] }, { openPlain: [{ x: 1 }] }, true],
  ['any text', { anything: 'x' }, { anything: 'x' }, true],
  ['any list', { anything: [{ x: 1 }] }, { anything: [{ x: 1 }] }, true],
  ['any object', { anything: { x: 1 } }, { anything: { x: 1 } }, false],
  ['any object without fields', { anything: {} }, { anything: {} }, true],
  ['values that nobody describes', { anyValues: { x: 1 } }, { anyValues: { x: 1 } }, false],
  ['an embedded object', { embedded: { kind: 'A' } }, { embedded: { kind: 'A' } }, false],
  ['one whose type is described', { described: { kind: 'A' } }, { described: { kind: 'A' } }, true],
  ['its metadata', { described: { metadata: { name: 'a' } } }, { described: { metadata: { name: 'a' } } }, false],
] as const)('%s', (_what, value, old, expected) => {
  expect(isAsBefore(schema, value, old)).toBe(expected)
})

it.each<[string, object, readonly string[]]>([
  ['has fields that nobody describes', { open: { x: 1 } }, ['s.open.must']],
  ['could have such fields', { open: { n: 1 } }, []],
  ['can have none', { closed: { name: 'a' } }, []],
  ['has values that nobody describes', { anyValues: { x: 1 } }, ['s.anyValues']],
  ['has become a list', { keyed: { x: 1 } }, ['s.keyed']],
  ['has become a number', { closed: { name: 'a', must: 1, n: { x: 1 } } }, ['s.closed.n']],
  ['has become a list and is empty', { keyed: {} }, []],
  ['is an embedded object', { embedded: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } } }, ['s.embedded']],
  ['has one that is wrong in a part that is described', { open: { must: 1, n: 'x' } }, []],
])('what is wrong and as it was is told again where it %s', (_what, value, fields) => {
  const options = { path: FieldPath.of('s') }
  const object = value as KubernetesObject
  // It is told each time, and not only when it is first looked through.
  compile(schema).validate({ ...object }, { ...options, old: object })
  const told = compile(schema).validate({ ...object }, { ...options, old: object })
  expect(told.map(({ field }) => field)).toEqual(fields)
  expect(compile(schema).validate(object, options)).not.toEqual([])
})
