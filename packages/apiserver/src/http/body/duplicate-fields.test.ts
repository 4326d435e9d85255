import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasDuplicateFields } from './duplicate-fields.ts'
import { oddFields } from './odd-fields.ts'

const duplicatesIn = (text: string): readonly string[] =>
  hasDuplicateFields(text, JSON.parse(text)) ? oddFields(text, new Set()) : []

describe('hasDuplicateFields', () => {
  it.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"replicas":1,"replicas":2}}', ['spec.replicas']],
    ['{"c":[{"n":1},{"n":1,"n":2}]}', ['c[1].n']],
    ['{ "a" : 1 , "b" : "x:y", "a" : [ true , null , -1.5e3 ] , "b" : {} }', ['a', 'b']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a\\"":1,"a\\"":2}', ['a"']],
    ['[[{"x":{"y":1,"y":2}}]]', ['[0][0].x.y']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ])('finds the repeated fields of %s', (text, expected) => {
    expect(duplicatesIn(text)).toEqual(expected.map((path) => `duplicate field ${JSON.stringify(path)}`))
  })

  it('tells once of a field that occurs three times', () => {
    expect(duplicatesIn('{"a":1,"a":2,"a":3}')).toEqual(['duplicate field "a"'])
  })

  it('finds none in any JSON that was written from a value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(duplicatesIn(text)).toEqual([])
      }),
    )
  })

  it('finds a field that was put into an object a second time', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (key, first, second) => {
        const pair = (value: unknown) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`
        expect(duplicatesIn(`{"outer":[{${pair(first)},${pair(second)}}]}`)).toEqual([
          `duplicate field ${JSON.stringify(`outer[0].${key}`)}`,
        ])
      }),
    )
  })

  it('takes colons, quotes and backslashes in strings for what they are', () => {
    expect(duplicatesIn('{"a":"\\\\","b":"\\":\\"","c":":::"}')).toEqual([])
  })
})

describe('oddFields', () => {
  it('tells of what is not known and of what occurs twice in the order of the text', () => {
    const text = '{"spec":{"x":1,"n":1,"n":2,"x":2,"y":{"a":1,"a":2}}}'
    expect(oddFields(text, new Set(['unknown field "spec.x"', 'unknown field "spec.y"']))).toEqual([
      'unknown field "spec.x"',
      'duplicate field "spec.n"',
      'unknown field "spec.y"',
    ])
  })

  it('quotes them as Go does', () => {
    expect(oddFields('{"a\\"\\u007f":1,"\\u0001é":1,"\\u0001é":2}', new Set(['unknown field "a\\"\\x7f"']))).toEqual([
      'unknown field "a\\"\\x7f"',
      'duplicate field "\\x01é"',
    ])
  })
})
