import { describe, expect, it } from 'vitest'
import { any, atomicList, mapList, mapOf, object, optional, setList, string } from '../schema/builders.ts'
import type { Schema } from '../schema/schema.ts'
import { atomicParts } from './atomic-parts.ts'

const inner = object('', '', {
  name: optional(string(), ''),
  args: optional(atomicList(string()), ''),
  whole: optional(object('', '', { args: optional(atomicList(string()), '') }, { mapType: 'atomic' }), ''),
})
const schema: Schema = object('', '', {
  name: optional(string(), ''),
  args: optional(atomicList(inner), ''),
  tags: optional(setList(string()), ''),
  items: optional(mapList(inner, ['name']), ''),
  selector: optional(mapOf(string(), { mapType: 'atomic' }), ''),
  labels: optional(mapOf(atomicList(string())), ''),
  anything: optional(any, ''),
})

describe('the parts of a value that exist only as a whole', () => {
  it.each<[string, unknown, readonly string[]]>([
    [
      'are no scalars, objects, sets and keyed lists',
      { name: 'x', tags: ['a'], items: [{ name: 'a' }], labels: {} },
      [],
    ],
    ['are atomic lists, with what is whole in them', { args: [{}, { args: [] }] }, ['.args', '.args[1].args']],
    [
      'are atomic maps and objects',
      { selector: {}, items: [{ whole: { args: [] } }] },
      ['.items[0].whole', '.items[0].whole.args', '.selector'],
    ],
    ['are found within elements of lists', { items: [{ name: 'a' }, { args: ['x'] }] }, ['.items[1].args']],
    ['are not looked for under the keys of maps', { labels: { a: ['x'] } }, []],
    ['are lists that no schema describes, and no objects', { anything: [1] }, ['.anything']],
    ['are none in an object that no schema describes', { anything: { a: [1] } }, []],
    ['are not what is of another type', { args: {}, name: ['x'], selector: 'x', items: { a: [] } }, []],
  ])('%s', (_, value, paths) => {
    expect(atomicParts(schema, value)).toEqual(paths)
  })
})
