import { describe, expect, it } from 'vitest'
import { exactInteger, parseExactJson, parseFiniteJson } from './exact-json.ts'

it.each([
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '[1,{"a":[9007199254740993,2.5]}]',
  '{"text":"9223372036854775807"}',
])('%s is written as it was read', (text) => {
  expect(JSON.stringify(parseExactJson(text))).toBe(text)
})

it('keeps for bigints what numbers do not hold and 64 bits do', () => {
  const text = '[9007199254740991, 9007199254740993, 9223372036854775808, 9007199254740993.0, 9007199254740993e0]'
  expect(parseExactJson(text)).toEqual([2 ** 53 - 1, 9007199254740993n, 2 ** 63, 9007199254740992, 9007199254740992])
})

it('refuses what is no JSON', () => {
  expect(() => parseExactJson('{"a":12345678901234567890,}')).toThrow(SyntaxError)
})

it.each([
  [17n, 17],
  [-(2n ** 53n) + 1n, -(2 ** 53) + 1],
  [2n ** 53n, 2n ** 53n],
  [2n ** 63n - 1n, 2n ** 63n - 1n],
  [-(2n ** 63n), -(2n ** 63n)],
  [2n ** 63n, 2 ** 63],
])('holds %s as it can', (value, held) => {
  expect(exactInteger(value)).toBe(held)
})

describe('a number that no float64 holds', () => {
  it.each(['1e400', '-1E+400', `1${'0'.repeat(400)}`])('is refused: %s', (text) => {
    expect(() => parseFiniteJson(`{"a":[${text}]}`)).toThrow(
      `json: cannot unmarshal number ${text} into Go value of type float64`,
    )
  })

  it.each(['1e300', '0e999', '1e-999', '"1e400"'])('is not %s', (text) => {
    expect(parseFiniteJson(text)).toBe(JSON.parse(text))
  })
})
