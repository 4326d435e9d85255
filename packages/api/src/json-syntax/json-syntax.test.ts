import { describe, expect, it } from 'vitest'
import { jsonBytesError, jsonSyntaxError } from './json-syntax.ts'

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
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['{"a":é}', "invalid character 'Ã' looking for beginning of value"],
    ['[“a”]', "invalid character 'â' looking for beginning of value"],
    ['{} 😀', "invalid character 'ð' after top-level value"],
    ['\b', "invalid character '\\b' looking for beginning of value"],
    ['"\u0000"', "invalid character '\\x00' in string literal"],
    ['\u007f', "invalid character '\\x7f' looking for beginning of value"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ])('says of %j: %s', (text, expected) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(jsonSyntaxError(text)).toBe(expected)
  })

  it.each([
    ['ff', "invalid character 'ÿ' looking for beginning of value"],
    ['5b 80', "invalid character '\\u0080' looking for beginning of value"],
    ['7b 7d ad', "invalid character '\\u00ad' after top-level value"],
    ['7b c3 a9', "invalid character 'Ã' looking for beginning of object key string"],
    ['22 ff', 'unexpected end of JSON input'],
  ])('says of the bytes %s: %s', (hex, expected) => {
    expect(jsonBytesError(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toBe(expected)
  })

  it('survives texts that nest without end', () => {
    expect(jsonSyntaxError('['.repeat(1_000_000))).toBe('unexpected end of JSON input')
  })
})
