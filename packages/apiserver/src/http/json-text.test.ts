import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { duplicateFields, jsonSyntaxError } from './json-text.ts'

const duplicatesIn = (text: string) => duplicateFields(text, JSON.parse(text))

describe('duplicateFields', () => {
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
    expect(duplicatesIn(text)).toEqual(expected)
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
        expect(duplicatesIn(`{"outer":[{${pair(first)},${pair(second)}}]}`)).toEqual([`outer[0].${key}`])
      }),
    )
  })

  it('takes colons, quotes and backslashes in strings for what they are', () => {
    expect(duplicatesIn('{"a":"\\\\","b":"\\":\\"","c":":::"}')).toEqual([])
  })
})

describe('jsonSyntaxError', () => {
  // What Go's encoding/json says of these texts.
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['[1,', 'unexpected end of JSON input'],
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['kind: Pod', "invalid character 'k' looking for beginning of value"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ])('says of %j: %s', (text, expected) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(jsonSyntaxError(text)).toBe(expected)
  })

  it('survives texts that nest without end', () => {
    expect(jsonSyntaxError('['.repeat(1_000_000))).toBe('unexpected end of JSON input')
  })
})
