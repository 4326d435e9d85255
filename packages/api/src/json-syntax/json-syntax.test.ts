import { describe, expect, it } from 'vitest'
import { jsonSyntaxError } from './json-syntax.ts'

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
